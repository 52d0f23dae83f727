//! Containers.

use podsmith_object::decode::Fields;
use podsmith_object::quantity::Quantity;
use podsmith_object::yaml::Node;
use podsmith_object::{Diagnostic, suggest};

use super::expose::{self, Owner, Ports};
use super::scalar::{Reader, plain_characters};
use super::{probe, valid_name};
use crate::spec::{Container, Dialect, Mount, Network, Restart, Volume};

pub(super) fn read_all(
    reader: &Reader<'_>,
    items: &[Node],
    dialect: Dialect,
    volumes: &[Volume],
) -> Vec<Container> {
    let mut containers: Vec<Container> = Vec::new();
    let mut ports = Ports::default();
    let mut targets = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let Some((container, wanted)) = read_one(reader, node, index, dialect, volumes, &mut ports) else {
            continue;
        };
        targets.extend(wanted);
        if containers.iter().any(|known| known.name == container.name) {
            reader
                .decoder
                .error(node, format!("containers[{index}].name `{}` is already defined", container.name));
        }
        containers.push(container);
    }
    for (node, name) in targets {
        if !containers.iter().any(|container| container.name == name) {
            let message = format!("could not find container `{name}` referenced in startupProbe/signal");
            let names = containers.iter().map(|container| container.name.as_str());
            let hint = suggest::hint(&name, names);
            reader.decoder.report(Diagnostic::error(message).with_hint_if(hint), node.line, node.column);
        }
    }
    containers
}

type Wanted<'n> = Vec<(&'n Node, String)>;

fn read_one<'n>(
    reader: &Reader<'_>,
    node: &'n Node,
    index: usize,
    dialect: Dialect,
    volumes: &[Volume],
    ports: &mut Ports,
) -> Option<(Container, Wanted<'n>)> {
    let what = &format!("containers[{index}]");
    let mut fields = reader.decoder.mapping(node, what)?;
    let name = reader.name(&mut fields, what, valid_name);
    let image = read_image(reader, &mut fields, what);
    let command = reader.texts(&mut fields, "command", &format!("{what}.command"));
    let args = reader.texts(&mut fields, "args", &format!("{what}.args"));
    let working_dir = read_working_dir(reader, &mut fields, what);
    let env = read_env(reader, &mut fields, what);
    let restart = read_restart(reader, &mut fields, what);
    let network = fields
        .take("network")
        .and_then(|node| reader.one_of(node, &format!("{what}.network"), &["host"]))
        .map_or(Network::Pod, |_| Network::Host);
    let signal = probe::signal(reader, &mut fields, what);
    let mounts = read_mounts(reader, &mut fields, what, volumes);
    let startup = probe::startup(reader, &mut fields, what);
    let readiness = probe::lasting(reader, &mut fields, "readinessProbe", what);
    let liveness = probe::lasting(reader, &mut fields, "livenessProbe", what);
    let cpu_millis = read_limit(reader, &mut fields, "cpu", what, Quantity::milli);
    let memory_bytes = read_limit(reader, &mut fields, "memory", what, Quantity::ceil);
    let expose = read_expose(reader, &mut fields, what, network, dialect, ports);
    fields.finish();
    let (startup, wanted) = startup.map_or((None, Vec::new()), |(probe, wanted)| (Some(probe), wanted));
    let container = Container {
        name: name?,
        image: image?,
        command,
        args,
        working_dir,
        env,
        restart,
        network,
        signal,
        mounts,
        startup,
        readiness,
        liveness,
        expose,
        cpu_millis,
        memory_bytes,
    };
    Some((container, wanted))
}

fn read_image(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str) -> Option<String> {
    let image = reader.required_text(fields, "image", &format!("{what}.image"))?;
    let invalid =
        image.starts_with('-') || image.contains(|c: char| c.is_whitespace() || c.is_control() || c == ';');
    if invalid {
        let node = fields.take("image")?;
        reader.decoder.error(node, format!("{what}.image `{image}` is invalid"));
    }
    Some(image)
}

fn read_working_dir(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str) -> Option<String> {
    let path = reader.optional_text(fields, "workingDir", &format!("{what}.workingDir"))?;
    if !plain_characters(&path) {
        let node = fields.take("workingDir")?;
        reader.decoder.error(node, format!("invalid characters in {what}.workingDir `{path}`"));
    }
    Some(path)
}

fn read_env(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str) -> Vec<(String, String)> {
    let mut env = Vec::new();
    for (index, node) in fields.sequence("env").iter().enumerate() {
        let what = format!("{what}.env[{index}]");
        let Some(mut item) = reader.decoder.mapping(node, &what) else { continue };
        let name = reader.required_text(&mut item, "name", &format!("{what}.name"));
        let value = item
            .take("value")
            .map_or(Some(String::new()), |node| reader.text(node, &format!("{what}.value")));
        item.finish();
        let (Some(name), Some(value)) = (name, value) else { continue };
        let mut characters = name.bytes();
        let legal = characters.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && characters.all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !legal || value.contains('\0') {
            reader.decoder.error(node, format!("{what}.name `{name}` contains illegal characters"));
        }
        env.push((name, value));
    }
    env
}

fn read_restart(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str) -> Restart {
    let Some(node) = fields.take("restart") else { return Restart::Never };
    let what = format!("{what}.restart");
    let text = reader.text(node, &what).unwrap_or_default();
    match text.as_str() {
        "never" => Restart::Never,
        "always" => Restart::Always,
        "on-failure" => Restart::OnFailure,
        "on-config" => Restart::OnConfig,
        other if other == "on-interval" || other.starts_with("on-interval:") => {
            let seconds = other.strip_prefix("on-interval:").and_then(|digits| digits.parse().ok());
            let Some(seconds) = seconds else {
                reader.decoder.error(
                    node,
                    format!("{what} must be in the form on-interval:seconds, this is `{other}`"),
                );
                return Restart::Never;
            };
            Restart::OnInterval(seconds)
        }
        other => {
            let valid = ["never", "always", "on-failure", "on-config", "on-interval:N"];
            let message = format!("{what} `{other}` is invalid");
            let hint = suggest::hint(other, valid);
            reader.decoder.report(Diagnostic::error(message).with_hint_if(hint), node.line, node.column);
            Restart::Never
        }
    }
}

fn read_mounts(
    reader: &Reader<'_>,
    fields: &mut Fields<'_, '_, '_>,
    what: &str,
    volumes: &[Volume],
) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = Vec::new();
    for (index, node) in fields.sequence("mounts").iter().enumerate() {
        let what = format!("{what}.mounts[{index}]");
        let Some(mut item) = reader.decoder.mapping(node, &what) else { continue };
        let dest = reader.required_text(&mut item, "dest", &format!("{what}.dest"));
        let volume = reader.required_text(&mut item, "volume", &format!("{what}.volume"));
        item.finish();
        if let Some(dest) = dest.as_deref() {
            if !dest.starts_with('/') {
                reader.decoder.error(node, format!("{what}.dest `{dest}` must start with a slash"));
            } else if dest.contains([':', '\n', '\0']) {
                reader
                    .decoder
                    .error(node, format!("{what}.dest `{dest}` holds a character that a mount cannot have"));
            }
        }
        if let Some(name) = volume.as_deref()
            && !volumes.iter().any(|volume| volume.name == name)
        {
            let message = format!("volume `{name}` of {what} is not defined");
            let hint = suggest::hint(name, volumes.iter().map(|volume| volume.name.as_str()));
            reader.decoder.report(Diagnostic::error(message).with_hint_if(hint), node.line, node.column);
        }
        if let (Some(dest), Some(volume)) = (dest, volume) {
            if mounts.iter().any(|known| known.dest == dest) {
                reader.decoder.error(node, format!("{what}.dest `{dest}` is already mounted"));
            }
            mounts.push(Mount { dest, volume });
        }
    }
    mounts
}

fn read_limit(
    reader: &Reader<'_>,
    fields: &mut Fields<'_, '_, '_>,
    key: &str,
    what: &str,
    unit: impl Fn(Quantity) -> i128,
) -> Option<u64> {
    let node = fields.take(key)?;
    let text = reader.text(node, &format!("{what}.{key}"))?;
    let amount = Quantity::parse(&text)
        .ok()
        .map(unit)
        .and_then(|amount| u64::try_from(amount).ok())
        .filter(|a| *a > 0);
    if amount.is_none() {
        let message = format!("{what}.{key} `{text}` is not an amount");
        reader.decoder.error_with_hint(
            node,
            message,
            "write `cpu: 500m` or `cpu: 2`, `memory: 64Mi` or `memory: 1G`",
        );
    }
    amount
}

fn read_expose(
    reader: &Reader<'_>,
    fields: &mut Fields<'_, '_, '_>,
    what: &str,
    network: Network,
    dialect: Dialect,
    ports: &mut Ports,
) -> Vec<crate::spec::Expose> {
    let items = fields.sequence("expose");
    if network == Network::Host {
        if let Some(first) = items.first() {
            let message = format!("{what}.expose has no effect: the container uses the host's network");
            reader.decoder.report(Diagnostic::warning(message), first.line, first.column);
        }
        return Vec::new();
    }
    expose::read_all(reader, items, &format!("{what}.expose"), Owner::Container, dialect, ports)
}
