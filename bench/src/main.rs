//! Runs Podsmith and its peers side by side in one run, compares their outputs first, and prints the ratios.
//!
//! Usage: `podsmith-bench [--quick] [render|overlay|filter|scale]...`. The peers come from `$PODSMITH_ORACLES` (see
//! `scripts/oracles.sh`); a peer that is missing is reported and its row is left out.

mod inputs;
mod measure;

use std::error::Error;
use std::path::{Path, PathBuf};

use measure::{Cost, median, run};
use podsmith_object::{json, read_objects, yaml};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Bench {
    directory: PathBuf,
    podsmith: PathBuf,
    oracles: PathBuf,
    quick: bool,
}

fn main() -> Result<()> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    let quick = wanted.iter().any(|word| word == "--quick");
    wanted.retain(|word| word != "--quick");
    let directory = tempfile::tempdir()?;
    let home = std::env::var("HOME").unwrap_or_default();
    let bench = Bench {
        directory: directory.path().to_owned(),
        podsmith: std::env::current_exe()?.with_file_name("podsmith"),
        oracles: std::env::var("PODSMITH_ORACLES")
            .map_or_else(|_| Path::new(&home).join(".cache/podsmith-oracles"), PathBuf::from),
        quick,
    };
    if !bench.podsmith.exists() {
        return Err(
            format!("{} is missing: run `cargo build --release` first", bench.podsmith.display()).into()
        );
    }
    let all = wanted.is_empty();
    let asked = |name: &str| all || wanted.iter().any(|word| word == name);
    show(format_args!(
        "{:<34} {:>12} {:>12} {:>9} {:>10} {:>10}",
        "workload", "podsmith", "peer", "ratio", "our peak", "peer peak"
    ));
    if asked("render") {
        bench.render()?;
    }
    if asked("overlay") {
        bench.overlay()?;
    }
    if asked("filter") {
        bench.filter()?;
    }
    if asked("scale") {
        bench.scale()?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the table is this program's output")]
fn show(line: std::fmt::Arguments<'_>) {
    println!("{line}");
}

impl Bench {
    fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&self.directory))?;
        std::fs::write(&path, text)?;
        Ok(path)
    }

    fn ours(&self, args: &[&str]) -> Vec<String> {
        std::iter::once(self.podsmith.display().to_string())
            .chain(args.iter().map(|arg| (*arg).to_owned()))
            .collect()
    }

    fn peer(&self, name: &str, args: &[&str]) -> Option<Vec<String>> {
        let program = self.oracles.join(name);
        if !program.exists() {
            show(format_args!("skipped: {name} is not in {}", self.oracles.display()));
            return None;
        }
        Some(
            std::iter::once(program.display().to_string())
                .chain(args.iter().map(|arg| (*arg).to_owned()))
                .collect(),
        )
    }

    /// Runs both once to compare outputs, then alternately, and prints the row.
    fn compare(&self, workload: &str, ours: &[String], peer: &[String], peer_runs: usize) -> Result<()> {
        let (our_output, peer_output) = (self.directory.join("ours.out"), self.directory.join("peer.out"));
        let mut our_costs = vec![run(ours, &our_output)?];
        let mut peer_costs = vec![run(peer, &peer_output)?];
        same_objects(&our_output, &peer_output).map_err(|difference| format!("{workload}: {difference}"))?;
        for _ in 1..peer_runs {
            our_costs.push(run(ours, &our_output)?);
            peer_costs.push(run(peer, &peer_output)?);
        }
        for _ in peer_runs..9 {
            our_costs.push(run(ours, &our_output)?);
        }
        if let (Some(ours), Some(peer)) = (median(our_costs), median(peer_costs)) {
            row(workload, ours, peer);
        }
        Ok(())
    }

    fn render(&self) -> Result<()> {
        for count in if self.quick { vec![100, 500] } else { vec![100, 1000, 5000] } {
            let manifests = self.file("base/all.yaml", &inputs::manifests(count))?;
            self.file("base/kustomization.yaml", "resources:\n- all.yaml\n")?;
            let base = self.directory.join("base").display().to_string();
            let Some(peer) = self.peer("kubectl", &["kustomize", &base]) else { return Ok(()) };
            let ours = self.ours(&["render", &manifests.display().to_string()]);
            self.compare(
                &format!("B1 read+write {count} objects"),
                &ours,
                &peer,
                if count > 1000 { 1 } else { 3 },
            )?;
        }
        Ok(())
    }

    fn overlay(&self) -> Result<()> {
        for count in if self.quick { vec![100, 500] } else { vec![100, 1000, 5000] } {
            self.file("base/all.yaml", &inputs::manifests(count))?;
            self.file("base/kustomization.yaml", "resources:\n- all.yaml\n")?;
            self.file("overlay/kustomization.yaml", inputs::OVERLAY)?;
            let overlay = self.directory.join("overlay").display().to_string();
            let Some(peer) = self.peer("kubectl", &["kustomize", &overlay]) else { return Ok(()) };
            let ours = self.ours(&["render", &overlay]);
            self.compare(
                &format!("B2 overlay {count} objects"),
                &ours,
                &peer,
                if count > 1000 { 1 } else { 3 },
            )?;
        }
        Ok(())
    }

    fn filter(&self) -> Result<()> {
        for count in if self.quick { vec![500] } else { vec![5000, 20_000] } {
            // gojq reads JSON; both read the same JSON stream.
            let objects = read_objects("inputs", inputs::manifests(count).as_bytes())?;
            let stream: String = objects.iter().map(|object| format!("{}\n", object.to_value())).collect();
            let path = self.file("objects.json", &stream)?.display().to_string();
            let Some(peer) = self.peer("gojq", &["-c", inputs::FILTER_JQ, &path]) else { return Ok(()) };
            let mut ours = self.ours(&["render", &path, "-o", "ndjson"]);
            ours.extend(inputs::filter_flags());
            self.compare(&format!("B4 filter {count} objects"), &ours, &peer, 9)?;
        }
        Ok(())
    }

    /// How our own cost grows, and how much memory it takes.
    fn scale(&self) -> Result<()> {
        let mut before: Option<(usize, f64)> = None;
        for count in if self.quick { vec![500, 2000] } else { vec![1000, 5000, 20_000, 100_000] } {
            let text = inputs::manifests(count);
            let path = self.file("scale.yaml", &text)?.display().to_string();
            let ours = self.ours(&["render", &path]);
            let output = self.directory.join("scale.out");
            let costs = (0..5).map(|_| run(&ours, &output)).collect::<std::io::Result<Vec<_>>>()?;
            let Some(cost) = median(costs) else { continue };
            let seconds = cost.wall.as_secs_f64();
            #[expect(clippy::cast_precision_loss, reason = "for display")]
            let (size, growth) = (
                cost.peak as f64 / text.len() as f64,
                before.map_or(String::new(), |(n, s)| {
                    format!("exponent {:.2}", (seconds / s).ln() / (count as f64 / n as f64).ln())
                }),
            );
            show(format_args!(
                "scale {count:>7} objects {:>8} KiB: {:>8.1} ms, peak {:>6.1} MiB = {size:.1}x input  {growth}",
                text.len() / 1024,
                seconds * 1e3,
                mebibytes(cost.peak)
            ));
            before = Some((count, seconds));
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn row(workload: &str, ours: Cost, peer: Cost) {
    show(format_args!(
        "{workload:<34} {:>9.1} ms {:>9.1} ms {:>8.1}x {:>6.1} MiB {:>6.1} MiB",
        ours.wall.as_secs_f64() * 1e3,
        peer.wall.as_secs_f64() * 1e3,
        peer.wall.as_secs_f64() / ours.wall.as_secs_f64(),
        mebibytes(ours.peak),
        mebibytes(peer.peak),
    ));
}

/// The same objects, whatever their order: the peers sort, we keep the order of the sources.
fn same_objects(ours: &Path, peer: &Path) -> std::result::Result<(), String> {
    let canonical = |path: &Path| -> std::result::Result<Vec<String>, String> {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        let options = yaml::ReadOptions::default();
        let objects = podsmith_object::read_objects_with("output", &bytes, options)
            .map_err(|error| error.to_string())?;
        let mut found: Vec<_> = objects.iter().map(|object| json::canonical(&object.to_value())).collect();
        found.sort_unstable();
        Ok(found)
    };
    let (ours, peer) = (canonical(ours)?, canonical(peer)?);
    if ours == peer {
        return Ok(());
    }
    let first = ours.iter().zip(&peer).find(|(a, b)| a != b);
    Err(format!("outputs differ: {} and {} objects; first difference {first:?}", ours.len(), peer.len()))
}
