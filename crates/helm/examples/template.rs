//! `helm template RELEASE CHART [-n NAMESPACE] [-f VALUES]... [--set a=b]...` in thirty lines.

use std::io::Write as _;

use podsmith_helm::values::{SetMode, UserValues};
use podsmith_helm::{Chart, Release, RenderRequest, render};
use podsmith_object::files::DiskFiles;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: template RELEASE CHART [-n NAMESPACE] [-f VALUES]... [--set a=b]...";
    let (name, path) = arguments.next().zip(arguments.next()).ok_or(usage)?;
    let mut release = Release::new(name, "default");
    let mut values = UserValues::new();
    while let Some(flag) = arguments.next() {
        let argument = arguments.next().ok_or(usage)?;
        match flag.as_str() {
            "-n" => release.namespace = argument,
            "-f" => values.add_file(&argument, &std::fs::read_to_string(&argument)?)?,
            "--set" => values.add_set(&argument, SetMode::Typed)?,
            _ => return Err(usage.into()),
        }
    }
    let chart = match path.ends_with(".tgz") {
        true => Chart::load_archive(&path, &std::fs::read(&path)?),
        false => Chart::load_dir(&DiskFiles::new(&path), ""),
    };
    let request = RenderRequest {
        release: Some(release),
        values: values.into_values(),
        include_crds: true,
        ..RenderRequest::default()
    };
    let rendered = chart.and_then(|chart| render(&chart, &request)).map_err(|error| error.to_diagnostic())?;
    std::io::stdout().write_all(rendered.to_text().as_bytes())?;
    Ok(())
}
