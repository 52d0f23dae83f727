//! Embeds the engine: reads YAML files, keeps the workloads, labels them, sorts them, prints them.
//!
//! `cargo run -p podsmith-engine --example embed -- DIRECTORY` (without one, it renders two objects of its own).

use std::io::Write;
use std::sync::Arc;

use podsmith_engine::{ApplyOrder, Engine, Sources, YamlSource, filter, transformer};
use podsmith_object::files::{DiskFiles, FileTree, MemoryFiles};
use podsmith_object::{Object, yaml};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Arc<dyn FileTree> = match std::env::args().nth(1) {
        Some(directory) => Arc::new(DiskFiles::new(directory)),
        None => Arc::new(
            MemoryFiles::new()
                .with(
                    "web/app.yaml",
                    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3}}",
                )
                .with("web/key.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: key}}"),
        ),
    };
    let engine = Engine::builder()
        .renderer(Sources::new("yaml", [YamlSource::parse(files, "**/*.yaml")?]))
        .filter(filter::kind::one_of(["Deployment", "StatefulSet", "Service"])?)
        .transformer(transformer::namespace::set_default("shop"))
        .post_renderer(ApplyOrder::new())
        .build()?;
    let rendered = engine
        .call()
        .filter(filter::jq::expression("(.spec.replicas // 1) > 0")?)
        .transformer(|mut object: Object| {
            object.set_label("team", "web");
            object
        })
        .render()?;
    for object in rendered.objects {
        writeln!(std::io::stdout(), "---\n{}", yaml::to_string(&object.into_value()))?;
    }
    Ok(())
}
