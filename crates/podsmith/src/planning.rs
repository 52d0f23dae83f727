//! What plan, apply and delete share: the package that sources declare, plans on the screen and in files.

use std::io::{IsTerminal, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use podsmith_apply::ApplyError;
use podsmith_object::{Diagnostic, Diagnostics, names};
use podsmith_plan::planfile::PlanKey;
use podsmith_plan::text::{Detail, Palette};
use podsmith_plan::{Package, Plan, json, text};

use crate::cli::Global;
use crate::commands::render::ShapingArgs;
use crate::failure::Failure;
use crate::output::{self, Format, print_value};
use crate::target::{Target, data_directory};

/// The formats of plan, apply, delete and status.
pub const FORMATS: [Format; 3] = [Format::Text, Format::Json, Format::Yaml];

/// Renders the sources into the package that a plan is about.
///
/// # Errors
///
/// Everything that is wrong with the sources.
pub fn package(
    shaping: &ShapingArgs,
    name: Option<&str>,
    global: &Global,
    target: &Target,
) -> Result<(Package, Vec<Diagnostic>), Failure> {
    let (declared, options) = shaping.read(global)?;
    let name = name.map(str::to_owned).or_else(|| declared.package.clone());
    let name =
        name.or_else(|| shaping.chart.release.clone()).unwrap_or_else(|| default_name(&shaping.sources));
    let namespace = global.namespace.clone().or_else(|| declared.namespace.clone());
    let namespace = namespace.unwrap_or_else(|| target.default_namespace.clone());
    let (objects, warnings) = declared.render(&options)?;
    Ok((Package { name, namespace, objects }, warnings))
}

/// The name and namespace of the package, without rendering it.
///
/// # Errors
///
/// When the sources cannot be understood.
pub fn identity(shaping: &ShapingArgs, global: &Global) -> Result<(String, Option<String>), Failure> {
    let (declared, _) = shaping.read(global)?;
    let name = declared.package.clone().or_else(|| shaping.chart.release.clone());
    let name = name.unwrap_or_else(|| default_name(&shaping.sources));
    Ok((name, global.namespace.clone().or(declared.namespace)))
}

/// A package named after its first source: the file without its ending, or the directory.
fn default_name(sources: &[String]) -> String {
    let source = sources.first().map_or("", String::as_str);
    if source == "-" {
        return "default".to_owned();
    }
    let absolute = std::path::absolute(source).unwrap_or_else(|_| PathBuf::from(source));
    let mut path: &Path = &absolute;
    // `manifests/*.yaml` and `app/kustomization.yaml` are named after their directory.
    let special = |name: &str| {
        name.contains(['*', '?', '[', '{'])
            || matches!(
                name.split('.').next(),
                Some("kustomization" | "Kustomization" | "podsmith" | "pod" | "Chart")
            )
    };
    while let Some(name) = path.file_name().and_then(|name| name.to_str()) {
        if !special(name) {
            break;
        }
        path = path.parent().unwrap_or(Path::new(""));
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("default");
    let clean: String =
        stem.to_ascii_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let clean = clean.trim_matches('-').to_owned();
    if names::dns_label(&clean).is_ok() { clean } else { "default".to_owned() }
}

/// Prints a plan: data on stdout, its errors on stderr. In JSON and YAML the errors are part of the plan.
///
/// # Errors
///
/// When stdout cannot be written.
pub fn show(plan: &Plan, global: &Global, format: Format) -> Result<(), Failure> {
    match format {
        Format::Text => {
            let colored = output::colors(global, std::io::stdout().is_terminal());
            let palette = if colored { Palette::Ansi } else { Palette::Plain };
            let detail = if global.verbose > 0 { Detail::Everything } else { Detail::Changes };
            if plan.errors.is_empty() {
                std::io::stdout().lock().write_all(text::render(plan, palette, detail).as_bytes())?;
            }
            output::report(&plan.warnings, Some(global));
            output::report(&plan.errors, Some(global));
        }
        _ => print_value(&json::to_json(plan), format)?,
    }
    Ok(())
}

/// The failure for an error of the cluster.
pub fn told(error: &ApplyError) -> Failure {
    let mut told = error.diagnostics();
    if let ApplyError::PlanHasErrors(_) | ApplyError::Stale(_) = error {
        told.push(Diagnostic::error(error.to_string()).with_hint_if(error.hint()));
    }
    Failure::Failed(Diagnostics(told))
}

/// The key that seals secrets in saved plans; made once and kept beside the embedded cluster.
///
/// # Errors
///
/// When it cannot be read or written.
pub fn plan_key(global: &Global) -> Result<PlanKey, Failure> {
    let directory = data_directory(global)?;
    let path = directory.join("plan.key");
    let fail = |error: std::io::Error| Failure::message(format!("could not use {}: {error}", path.display()));
    if let Ok(bytes) = std::fs::read(&path)
        && let Ok(key) = <[u8; 32]>::try_from(bytes)
    {
        return Ok(PlanKey::new(key));
    }
    let mut key = [0; 32];
    std::fs::File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut key)).map_err(fail)?;
    std::fs::create_dir_all(&directory).map_err(fail)?;
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .map_err(fail)?;
    file.write_all(&key).map_err(fail)?;
    Ok(PlanKey::new(key))
}

/// Reads `90`, `30s`, `5m` or `1h`.
///
/// # Errors
///
/// Says what is valid.
pub fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(format!("`{text}` is no duration; write for example 90s, 5m or 1h")),
    };
    let number: u64 =
        number.parse().map_err(|_| format!("`{text}` is no duration; write for example 90s, 5m or 1h"))?;
    number.checked_mul(factor).map(Duration::from_secs).ok_or_else(|| format!("`{text}` is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_a_name_is_named_after_its_first_source() {
        for (source, name) in [
            ("shop.yaml", "shop"),
            ("app/web.pf", "web"),
            ("deploy/manifests/", "manifests"),
            ("deploy/*.yaml", "deploy"),
            ("overlays/prod/kustomization.yaml", "prod"),
            ("My App.yaml", "my-app"),
            ("-", "default"),
        ] {
            assert_eq!(default_name(&[source.to_owned()]), name, "{source}");
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert!(duration("5x").is_err());
        assert!(duration("").is_err());
    }
}
