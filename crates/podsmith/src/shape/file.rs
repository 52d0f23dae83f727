//! The long spelling: filters and transformers in a pipeline file.

use std::fmt::Display;
use std::sync::Arc;

use podsmith_engine::transformer::Case;
use podsmith_engine::{Filter, Transformer, filter as keep, transformer as change};
use podsmith_object::decode::Decoder;
use podsmith_object::suggest;
use podsmith_object::yaml::{Key, Node, NodeData};

type AnyFilter = Arc<dyn Filter>;
type AnyTransformer = Arc<dyn Transformer>;

const FILTERS: [&str; 9] =
    ["kind", "namespace", "name", "labelSelector", "annotation", "jq", "any", "all", "not"];
const TRANSFORMERS: [&str; 7] = ["namespace", "name", "labels", "annotations", "jq", "if", "switch"];

/// Reads a list of filters.
pub fn filters(decoder: &Decoder<'_>, node: &Node, what: &str) -> Vec<AnyFilter> {
    decoder.sequence(node, what).iter().filter_map(|item| filter(decoder, item)).collect()
}

/// Reads a list of transformers.
pub fn transformers(decoder: &Decoder<'_>, node: &Node, what: &str) -> Vec<AnyTransformer> {
    decoder.sequence(node, what).iter().filter_map(|item| transformer(decoder, item)).collect()
}

/// The only entry of a mapping, or a report.
fn single<'n>(decoder: &Decoder<'_>, node: &'n Node, what: &str, valid: &[&str]) -> Option<&'n (Key, Node)> {
    let Some(entries) = node.as_mapping() else {
        decoder.error(node, format!("{what} must be a mapping, this is {}", node.describe()));
        return None;
    };
    if let [only] = entries {
        return Some(only);
    }
    let message = format!("{what} must have exactly one key, this has {}", entries.len());
    decoder.error_with_hint(node, message, format!("one of {}; put several in a list", valid.join(", ")));
    None
}

fn unknown(decoder: &Decoder<'_>, key: &Key, what: &str, valid: &[&'static str]) {
    let diagnostic = podsmith_object::Diagnostic::error(format!("unknown {what} `{}`", key.text))
        .with_hint_if(suggest::hint(&key.text, valid.iter().copied()));
    decoder.report(diagnostic, key.line, key.column);
}

/// A list of strings; one string stands for a list of one.
fn one_or_many(decoder: &Decoder<'_>, node: &Node, what: &str) -> Vec<String> {
    match node.as_str() {
        Some(one) => vec![one.to_owned()],
        None => decoder.strings(node, what),
    }
}

/// What a constructor made, or a report of why it could not.
fn checked<T>(decoder: &Decoder<'_>, node: &Node, made: Result<T, impl Display>) -> Option<T> {
    made.map_err(|error| decoder.error(node, error.to_string())).ok()
}

fn filter(decoder: &Decoder<'_>, node: &Node) -> Option<AnyFilter> {
    let (key, value) = single(decoder, node, "a filter", &FILTERS)?;
    match key.text.as_str() {
        "kind" => checked(decoder, value, keep::kind::one_of(one_or_many(decoder, value, "`kind`"))),
        "namespace" => Some(keep::namespace::one_of(one_or_many(decoder, value, "`namespace`"))),
        "name" => name_filter(decoder, value),
        "labelSelector" => {
            checked(decoder, value, keep::labels::selector(&decoder.string(value, "`labelSelector`")?))
        }
        "annotation" => annotation_filter(decoder, value),
        "jq" => checked(decoder, value, keep::jq::expression(&decoder.string(value, "`jq`")?)),
        "any" => Some(keep::or(filters(decoder, value, "`any`"))),
        "all" => Some(keep::and(filters(decoder, value, "`all`"))),
        "not" => condition(decoder, value).map(keep::not),
        _ => {
            unknown(decoder, key, "filter", &FILTERS);
            None
        }
    }
}

fn name_filter(decoder: &Decoder<'_>, node: &Node) -> Option<AnyFilter> {
    if node.as_mapping().is_none() {
        return Some(keep::name::exact(one_or_many(decoder, node, "`name`")));
    }
    const VALID: [&str; 4] = ["exact", "prefix", "suffix", "regex"];
    let (key, value) = single(decoder, node, "`name`", &VALID)?;
    match key.text.as_str() {
        "exact" => Some(keep::name::exact(one_or_many(decoder, value, "`exact`"))),
        "prefix" => decoder.string(value, "`prefix`").map(keep::name::prefix),
        "suffix" => decoder.string(value, "`suffix`").map(keep::name::suffix),
        "regex" => checked(decoder, value, keep::name::regex(&decoder.string(value, "`regex`")?)),
        _ => {
            unknown(decoder, key, "way to match a name", &VALID);
            None
        }
    }
}

/// `annotation: key`, or `annotation: {key: value, …}` where null means "any value".
fn annotation_filter(decoder: &Decoder<'_>, node: &Node) -> Option<AnyFilter> {
    if let Some(key) = node.as_str() {
        return Some(keep::annotations::has([key]));
    }
    let Some(entries) = node.as_mapping() else {
        decoder.error(node, format!("`annotation` must be a key or a mapping, this is {}", node.describe()));
        return None;
    };
    let mut all = Vec::new();
    for (key, value) in entries {
        all.push(if value.is_null() {
            keep::annotations::has([key.text.as_str()])
        } else {
            keep::annotations::matches([(key.text.as_str(), decoder.string(value, "an annotation's value")?)])
        });
    }
    Some(keep::and(all))
}

fn transformer(decoder: &Decoder<'_>, node: &Node) -> Option<AnyTransformer> {
    if node.get("if").is_some() {
        let mut fields = decoder.mapping(node, "a conditional transformer")?;
        let condition = fields.require("if").and_then(|node| condition(decoder, node));
        let then = fields.require("then").map(|node| transformers(decoder, node, "`then`"));
        fields.finish();
        return Some(change::if_then(condition?, change::chain(then?)));
    }
    let (key, value) = single(decoder, node, "a transformer", &TRANSFORMERS)?;
    match key.text.as_str() {
        "namespace" => namespace(decoder, value),
        "name" => name_transformer(decoder, value),
        "labels" => strings(decoder, value, "`labels`", change::labels::set, change::labels::remove),
        "annotations" => {
            strings(decoder, value, "`annotations`", change::annotations::set, change::annotations::remove)
        }
        "jq" => checked(decoder, value, change::jq::expression(&decoder.string(value, "`jq`")?)),
        "switch" => switch(decoder, value),
        _ => {
            unknown(decoder, key, "transformer", &TRANSFORMERS);
            None
        }
    }
}

/// One filter, or a mapping of several that must all hold: `if: {namespace: [a], kind: [Job]}`.
fn condition(decoder: &Decoder<'_>, node: &Node) -> Option<AnyFilter> {
    match node.as_mapping() {
        Some(entries) if entries.len() > 1 => {
            let each = entries.iter().map(|entry| {
                let only = NodeData::Mapping(vec![entry.clone()]);
                filter(decoder, &Node { data: only, line: entry.0.line, column: entry.0.column })
            });
            each.collect::<Option<Vec<_>>>().map(keep::and)
        }
        _ => filter(decoder, node),
    }
}

fn namespace(decoder: &Decoder<'_>, node: &Node) -> Option<AnyTransformer> {
    if let Some(name) = node.as_str() {
        return Some(change::namespace::set(name));
    }
    let mut fields = decoder.mapping(node, "`namespace`")?;
    let (set, ensure) = (fields.string("set"), fields.string("ensure"));
    let force = fields.boolean("force").unwrap_or(false);
    fields.finish();
    match (set, ensure, force) {
        (Some(name), None, false) => Some(change::namespace::set(name)),
        (Some(name), None, true) => Some(change::namespace::set_with(name, change::namespace::Reach::Forced)),
        (None, Some(name), false) => Some(change::namespace::set_default(name)),
        _ => {
            decoder.error(node, "`namespace` needs either `set` (with an optional `force`) or `ensure`");
            None
        }
    }
}

fn name_transformer(decoder: &Decoder<'_>, node: &Node) -> Option<AnyTransformer> {
    const VALID: [&str; 3] = ["prefix", "suffix", "replace"];
    let (key, value) = single(decoder, node, "`name`", &VALID)?;
    match key.text.as_str() {
        "prefix" => decoder.string(value, "`prefix`").map(change::name::prefix),
        "suffix" => decoder.string(value, "`suffix`").map(change::name::suffix),
        "replace" => {
            let mut fields = decoder.mapping(value, "`replace`")?;
            let (from, to) = (fields.require_string("from"), fields.require_string("to"));
            fields.finish();
            Some(change::name::replace(from?, to?))
        }
        _ => {
            unknown(decoder, key, "way to change a name", &VALID);
            None
        }
    }
}

fn strings(
    decoder: &Decoder<'_>,
    node: &Node,
    what: &str,
    setter: impl Fn(indexmap::IndexMap<String, String>) -> AnyTransformer,
    remover: impl Fn(Vec<String>) -> AnyTransformer,
) -> Option<AnyTransformer> {
    let mut fields = decoder.mapping(node, what)?;
    let (set, remove) = (fields.string_map("set"), fields.strings("remove"));
    fields.finish();
    Some(change::chain([setter(set), remover(remove)]))
}

fn switch(decoder: &Decoder<'_>, node: &Node) -> Option<AnyTransformer> {
    let (mut cases, mut default) = (Vec::new(), None);
    let items = decoder.sequence(node, "`switch`");
    for (index, item) in items.iter().enumerate() {
        let mut fields = decoder.mapping(item, "a case of `switch`")?;
        if let Some(then) = fields.take("default") {
            if index + 1 < items.len() {
                decoder.error(item, "`default` must be the last case");
            }
            default = Some(change::chain(transformers(decoder, then, "`default`")));
        } else {
            let when = fields.require("when").and_then(|node| condition(decoder, node));
            let then = fields.require("then").map(|node| transformers(decoder, node, "`then`"));
            cases.push(Case::new(when?, change::chain(then?)));
        }
        fields.finish();
    }
    Some(change::switch(cases, default))
}
