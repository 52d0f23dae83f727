//! Labels and volumes.

use podsmith_object::decode::Fields;
use podsmith_object::yaml::Node;
use podsmith_object::{Diagnostic, suggest};

use super::scalar::{Reader, plain_characters};
use super::valid_name;
use crate::spec::{Dialect, Sharing, Volume, VolumeKind};

pub(super) fn read_labels(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>) -> Vec<(String, String)> {
    let mut labels: Vec<(String, String)> = Vec::new();
    for (index, node) in fields.sequence("labels").iter().enumerate() {
        let what = format!("labels[{index}]");
        let Some(mut label) = reader.decoder.mapping(node, &what) else { continue };
        let name = reader.required_text(&mut label, "name", &format!("{what}.name"));
        let value = reader.optional_text(&mut label, "value", &format!("{what}.value")).unwrap_or_default();
        label.finish();
        let Some(name) = name else { continue };
        if !plain_characters(&value) || name.contains(['=', '\n', '\0']) {
            reader.decoder.error(node, format!("invalid characters in {what}: `{name}` = `{value}`"));
        }
        if labels.iter().any(|(known, _)| *known == name) {
            reader.decoder.error(node, format!("{what}.name `{name}` is already defined"));
        }
        labels.push((name, value));
    }
    labels
}

pub(super) fn read_all(
    reader: &Reader<'_>,
    items: &[Node],
    dialect: Dialect,
    source_dir: &str,
) -> Vec<Volume> {
    let mut volumes: Vec<Volume> = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let Some(volume) = read_one(reader, node, index, dialect, source_dir) else { continue };
        if volumes.iter().any(|known| known.name == volume.name) {
            reader.decoder.error(node, format!("volumes[{index}].name `{}` is already defined", volume.name));
            continue;
        }
        volumes.push(volume);
    }
    volumes
}

fn read_one(
    reader: &Reader<'_>,
    node: &Node,
    index: usize,
    dialect: Dialect,
    source_dir: &str,
) -> Option<Volume> {
    let what = format!("volumes[{index}]");
    let mut fields = reader.decoder.mapping(node, &what)?;
    let word = fields.require("type").and_then(|node| {
        reader.one_of(node, &format!("{what}.type"), &["ramdisk", "config", "volume", "host"])
    });
    let config = word == Some("config");
    let name = reader.name(&mut fields, &what, |name| {
        valid_name(name) || config && name.strip_prefix('_').is_some_and(valid_name)
    });
    let kind = read_kind(reader, &mut fields, &what, word, dialect, source_dir);
    fields.finish();
    Some(Volume { name: name?, kind: kind? })
}

fn read_kind(
    reader: &Reader<'_>,
    fields: &mut Fields<'_, '_, '_>,
    what: &str,
    word: Option<&str>,
    dialect: Dialect,
    source_dir: &str,
) -> Option<VolumeKind> {
    let size = fields.take("size");
    let shared = fields.take("shared");
    let encrypted = fields.take("encrypted");
    let bind = fields.take("bind");
    let only = |node: Option<&Node>, key: &str, owner: &str| {
        if let Some(node) = node {
            let message = format!("{what}.{key} is only for volumes of type {owner}");
            reader.decoder.error(node, message);
        }
    };
    let word = word?;
    if word != "ramdisk" {
        only(size, "size", "ramdisk");
    }
    if word != "volume" {
        only(shared, "shared", "volume");
    }
    if word != "host" {
        only(bind, "bind", "host");
    }
    if word != "config"
        && let Some(node) = encrypted
    {
        reader.decoder.error(node, format!("only config volumes can be encrypted, {what} is of type {word}"));
    }
    match word {
        "ramdisk" => Some(VolumeKind::Ramdisk {
            megabytes: size.map_or(Some(1), |node| megabytes(reader, node, what))?,
        }),
        "config" => Some(VolumeKind::Config {
            encrypted: encrypted.is_some_and(|node| is_encrypted(reader, node, what)),
        }),
        "volume" => {
            let shared = match shared {
                None if dialect == Dialect::Seed => Sharing::Pod,
                None => Sharing::No,
                Some(node) => match reader.one_of(node, &format!("{what}.shared"), &["no", "pod", "host"])? {
                    "pod" => Sharing::Pod,
                    "host" => Sharing::Host,
                    _ => Sharing::No,
                },
            };
            Some(VolumeKind::Volume { shared })
        }
        _ => host(reader, fields, bind, what, source_dir),
    }
}

fn megabytes(reader: &Reader<'_>, node: &Node, what: &str) -> Option<u64> {
    let text = reader.text(node, &format!("{what}.size"))?;
    let size = text.strip_suffix('M').and_then(|digits| digits.parse().ok()).filter(|size| *size > 0);
    if size.is_none() {
        let message = format!("{what}.size must be in megabytes, this is `{text}`");
        reader.decoder.error_with_hint(node, message, "write a number and `M`, such as `10M`");
    }
    size
}

/// The original ignores any other word with a warning; a secret that silently stays plain is a trap, so we refuse it.
fn is_encrypted(reader: &Reader<'_>, node: &Node, what: &str) -> bool {
    let text = reader.text(node, &format!("{what}.encrypted")).unwrap_or_default();
    match text.as_str() {
        "true" => true,
        "false" | "" => false,
        other => {
            let message = format!("{what}.encrypted must be true or false, this is `{other}`");
            let hint =
                suggest::nearest(other, ["true", "false"]).map(|word| format!("did you mean `{word}`?"));
            reader.decoder.report(Diagnostic::error(message).with_hint_if(hint), node.line, node.column);
            false
        }
    }
}

fn host(
    reader: &Reader<'_>,
    fields: &Fields<'_, '_, '_>,
    bind: Option<&Node>,
    what: &str,
    source_dir: &str,
) -> Option<VolumeKind> {
    let Some(node) = bind else {
        reader.decoder.error(fields.node(), format!("`bind` is missing in {what}, which is of type host"));
        return None;
    };
    let path = reader.text(node, &format!("{what}.bind")).filter(|path| !path.is_empty())?;
    if path.contains([':', '\n', '\0']) {
        reader
            .decoder
            .error(node, format!("{what}.bind `{path}` holds a character that a mount cannot have"));
    }
    let joined = std::path::Path::new(source_dir).join(&path);
    Some(VolumeKind::Host { bind: tidy(&joined) })
}

/// Removes `.` and resolves `..` in the text of a path, without asking the disk.
fn tidy(path: &std::path::Path) -> String {
    use std::path::Component;
    let mut out = std::path::PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out.to_string_lossy().into_owned()
}
