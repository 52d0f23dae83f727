//! Processes that are killed while they write: nothing acknowledged is lost, and the revision never goes back.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use podsmith_apiserver::{Cluster, ClusterOptions};
use podsmith_object::json;

const CHILD: &str = "PODSMITH_CRASH_DIRECTORY";
/// How often the writer is killed; `PODSMITH_CRASH_ROUNDS` says otherwise.
const ROUNDS: u32 = 6;

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"a": "x".repeat(200)}})).unwrap()
}

/// The writer: says what was acknowledged, one line each.
async fn write_until_killed(directory: &Path, round: &str) {
    let cluster = Cluster::open(ClusterOptions::directory(directory)).await.unwrap();
    let writers = (0..4).map(|writer| {
        let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
        let round = round.to_owned();
        async move {
            for number in 0u64.. {
                let name = format!("m-{round}-{writer}-{number}");
                let made = maps.create(&PostParams::default(), &config_map(&name)).await.unwrap();
                say(&format!("+ {name} {}", made.metadata.resource_version.unwrap()));
                if number % 3 == 2 {
                    maps.delete(&name, &DeleteParams::default()).await.unwrap();
                    say(&format!("- {name} 0"));
                }
            }
        }
    });
    futures::future::join_all(writers).await;
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    if let Some(directory) = std::env::var_os(CHILD) {
        let round = std::env::var("PODSMITH_CRASH_ROUND").unwrap();
        write_until_killed(Path::new(&directory), &round).await;
        return;
    }
    let rounds =
        std::env::var("PODSMITH_CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let directory = tempfile::tempdir().unwrap();
    let (mut kept, mut newest) = (std::collections::BTreeSet::new(), 0u64);
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "nothing_acknowledged_is_lost_when_the_process_is_killed", "--nocapture"])
            .env(CHILD, directory.path())
            .env("PODSMITH_CRASH_ROUND", round.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Killed after a number of writes that differs from round to round, in the middle of others.
        let mut left = 20 + (round * 37) % 60;
        while let Some(Ok(line)) = lines.next() {
            left = left.saturating_sub(1);
            if left == 0 {
                child.kill().unwrap();
            }
            let mut words = line.split(' ');
            match (words.next(), words.next(), words.next()) {
                (Some("+"), Some(name), Some(revision)) => {
                    kept.insert(name.to_owned());
                    newest = newest.max(revision.parse().unwrap_or(0));
                }
                (Some("-"), Some(name), _) => {
                    kept.remove(name);
                }
                _ => {}
            }
        }
        child.wait().unwrap();
        let cluster = Cluster::open(ClusterOptions::directory(directory.path())).await.unwrap();
        let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
        let list = maps.list(&ListParams::default()).await.unwrap();
        let there: std::collections::BTreeSet<String> =
            list.items.iter().filter_map(|map| map.metadata.name.clone()).collect();
        let lost: Vec<&String> =
            kept.iter().filter(|name| !there.contains(*name) && !was_deleting(name)).collect();
        assert!(lost.is_empty(), "round {round}: lost {lost:?}");
        let revision: u64 = list.metadata.resource_version.unwrap().parse().unwrap();
        assert!(revision >= newest, "round {round}: the revision went back from {newest} to {revision}");
        kept.retain(|name| there.contains(name));
        drop(maps);
        cluster.shutdown().await;
    }
}

/// Every third object is deleted; the kill may come after the deletion and before its line.
fn was_deleting(name: &str) -> bool {
    name.rsplit('-')
        .next()
        .and_then(|number| number.parse::<u64>().ok())
        .is_some_and(|number| number % 3 == 2)
}
