//! How many objects a second go through `kube::Client` in this process: `creates [COUNT] [WRITERS]`.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, PostParams};
use podsmith_apiserver::{Cluster, ClusterOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let (count, writers) = (arguments.next().unwrap_or(20_000), arguments.next().unwrap_or(8));
    let cluster = Cluster::open(ClusterOptions::memory()).await?;
    let begun = Instant::now();
    let work = (0..writers).map(|writer| {
        let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
        tokio::spawn(async move {
            for number in 0..count / writers {
                let mut map = ConfigMap::default();
                map.metadata.name = Some(format!("m-{writer}-{number}"));
                map.data = Some([("key".to_owned(), "value".to_owned())].into());
                maps.create(&PostParams::default(), &map).await?;
            }
            Ok::<_, kube::Error>(())
        })
    });
    for done in futures::future::join_all(work).await {
        done??;
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{count} creates by {writers} writers: {:.0} a second", count as f64 / seconds);
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
    let begun = Instant::now();
    let found = maps.list(&ListParams::default()).await?.items.len();
    println!("list of {found}: {:.1} ms", begun.elapsed().as_secs_f64() * 1000.0);
    Ok(())
}
