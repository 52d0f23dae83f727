//! Serves a cluster: `serve [DATA_DIR] [ADDRESS]`. Without a directory it lives in memory.
#![allow(clippy::print_stdout)]

use podsmith_apiserver::{Cluster, ClusterOptions, ServeOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let options = match arguments.next().filter(|dir| !dir.is_empty()) {
        Some(dir) => ClusterOptions::directory(dir),
        None => ClusterOptions::memory(),
    };
    let mut serve = ServeOptions::default();
    if let Some(address) = arguments.next() {
        serve.address = address.parse()?;
    }
    let cluster = Cluster::open(options).await?;
    let served = cluster.serve(serve).await?;
    match &served.kubeconfig_path {
        Some(path) => println!("{}\n{}", served.url, path.display()),
        None => println!("{}\n{}", served.url, served.kubeconfig),
    }
    tokio::signal::ctrl_c().await?;
    served.stop().await;
    cluster.shutdown().await;
    Ok(())
}
