//! Custom resource definitions: names, versions, and whether their schemas are structural.

use podsmith_object::Value;

use super::cluster;
use super::names;
use super::node::{At, Faults};
use crate::crd::CustomType;
use crate::fault::Fault;

/// Checks a definition, and what a change may touch.
pub(super) fn definition(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let spec = object.child("spec");
    let name = object.at(&["metadata", "name"]);
    let (plural, group) = (spec.at(&["names", "plural"]), spec.child("group"));
    if old.is_none() && name.text() != format!("{}.{}", plural.text(), group.text()) {
        faults.invalid(&name, "must be spec.names.plural+\".\"+spec.group");
    }
    if group.is_empty() {
        faults.required(&group, "");
    } else {
        let wrong = names::dns_subdomain(group.text());
        if wrong.is_empty() && !group.text().contains('.') {
            faults.invalid(&group, "should be a domain with at least one dot");
        }
        faults.each(&group, wrong);
    }
    faults.one_of(&spec.child("scope"), &["Cluster", "Namespaced"]);
    versions(&spec, faults);
    resource_names(&spec.child("names"), faults);
    conversion(&spec.child("conversion"), faults);
    stored(object, faults);
    if let Some(old) = old {
        kept(object, old, faults);
    }
}

fn versions(spec: &At<'_>, faults: &mut Faults) {
    let list = spec.child("versions");
    let items = list.items();
    let schemas: Vec<&Value> =
        items.iter().map(|version| version.at(&["schema", "openAPIV3Schema"]).value).collect();
    let shared = schemas.first().is_some_and(|first| schemas.iter().all(|schema| schema == first));
    let mut seen: Vec<&str> = Vec::new();
    let mut unique = true;
    let mut storage = 0;
    for (at, version) in items.iter().enumerate() {
        let name = version.child("name");
        unique &= !seen.contains(&name.text());
        seen.push(name.text());
        storage += usize::from(version.child("storage").flag());
        for text in names::dns_1035_label(name.text()) {
            faults.push(Fault::invalid(format!("spec.versions[{at}]"), name.text(), text));
        }
        let mut schema = version.at(&["schema", "openAPIV3Schema"]);
        if shared {
            // Versions with one schema keep it in one place, and that place is named.
            if at > 0 {
                continue;
            }
            schema.path = "spec.validation.openAPIV3Schema".to_owned();
        }
        if !schema.is_set() {
            let at = At { path: format!("spec.versions[{at}].schema.openAPIV3Schema"), value: schema.value };
            faults.required(&at, "");
        } else {
            structural(&schema, faults);
        }
    }
    if !unique {
        faults.invalid(&list, "must contain unique version names");
    }
    if storage != 1 {
        faults.invalid(&list, "must have exactly one version marked as storage version");
    }
}

fn resource_names(given: &At<'_>, faults: &mut Faults) {
    let label = |faults: &mut Faults, at: &At<'_>| faults.each(at, names::dns_1035_label(at.text()));
    let mixed = |faults: &mut Faults, at: &At<'_>| {
        for text in names::dns_1035_label(&at.text().to_lowercase()) {
            faults.invalid(at, format!("may have mixed case, but should otherwise match: {text}"));
        }
    };
    let (plural, singular) = (given.child("plural"), given.child("singular"));
    let (kind, list_kind) = (given.child("kind"), given.child("listKind"));
    for at in [&plural, &kind, &singular, &list_kind] {
        if at.is_empty() {
            faults.required(at, "");
        }
    }
    if !plural.is_empty() {
        label(faults, &plural);
    }
    if !singular.is_empty() {
        label(faults, &singular);
    }
    for at in [&kind, &list_kind] {
        if !at.is_empty() {
            mixed(faults, at);
        }
    }
    for short in given.child("shortNames").items().iter().chain(&given.child("categories").items()) {
        label(faults, short);
    }
    if !kind.is_empty() && kind.text() == list_kind.text() {
        faults.invalid(&list_kind, "kind and listKind may not be the same");
    }
}

fn conversion(conversion: &At<'_>, faults: &mut Faults) {
    if !conversion.is_set() {
        return;
    }
    let strategy = conversion.child("strategy");
    faults.one_of(&strategy, &["None", "Webhook"]);
    let webhook = conversion.child("webhook");
    if strategy.text() == "Webhook" {
        let client = webhook.child("clientConfig");
        let shown = At { path: "spec.conversion.webhookClientConfig".to_owned(), value: client.value };
        if client.is_set() {
            cluster::client_config(&shown, faults);
        } else {
            faults.required(&shown, "required when strategy is set to Webhook");
        }
        if webhook.child("conversionReviewVersions").is_empty() {
            faults.push(Fault::required("spec.conversion.conversionReviewVersions", ""));
        }
    } else if webhook.is_set() {
        faults.push(Fault::forbidden(
            "spec.conversion.webhookClientConfig",
            "should not be set when strategy is not set to Webhook",
        ));
    }
}

fn stored(object: &At<'_>, faults: &mut Faults) {
    let list = object.at(&["status", "storedVersions"]);
    if list.is_empty() {
        return faults.invalid(&list, "must have at least one stored version");
    }
    let versions = object.at(&["spec", "versions"]).items();
    let mut has_storage = false;
    for version in list.items() {
        match versions.iter().find(|known| known.child("name").text() == version.text()) {
            None => faults.push(Fault::invalid(
                version.path.as_str(),
                version.text(),
                "missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions"
                    .replace("v1", version.text()),
            )),
            Some(known) => has_storage |= known.child("storage").flag(),
        }
    }
    let storage = versions.iter().find(|version| version.child("storage").flag());
    if let (false, Some(storage)) = (has_storage, storage) {
        faults.invalid(&list, format!("must have the storage version {}", storage.child("name").text()));
    }
}

/// What stays once the definition was accepted.
fn kept(object: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (new, before) = (object.child("spec"), old.child("spec"));
    faults.immutable(&new.child("group"), &before.child("group"));
    faults.immutable(&new.at(&["names", "plural"]), &before.at(&["names", "plural"]));
    let established = old.at(&["status", "conditions"]).items().iter().any(|condition| {
        condition.child("type").text() == "Established" && condition.child("status").text() == "True"
    });
    if established {
        faults.immutable(&new.child("scope"), &before.child("scope"));
        faults.immutable(&new.at(&["names", "kind"]), &before.at(&["names", "kind"]));
    }
    if new.child("preserveUnknownFields").flag() && !before.child("preserveUnknownFields").flag() {
        faults.invalid(
            &new.child("preserveUnknownFields"),
            "must be false in order to use defaults in the schema",
        );
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Checks that a schema is structural; the faults are sorted by their text.
fn structural(schema: &At<'_>, faults: &mut Faults) {
    let mut found = Faults::default();
    invariants(schema, Level::Root, &mut found);
    found.list.sort_by_key(ToString::to_string);
    let shaped = found.list.is_empty();
    faults.list.append(&mut found.list);
    if shaped {
        defaults(schema, faults);
        lists(schema, faults);
    }
}

fn properties<'a>(schema: &At<'a>) -> Vec<(&'a str, At<'a>)> {
    schema.child("properties").entries()
}

fn invariants(schema: &At<'_>, level: Level, faults: &mut Faults) {
    let kind = schema.child("type");
    let flag = |key: &str| schema.child(key).flag();
    let items = schema.child("items");
    if kind.text() == "array" && !items.is_set() {
        faults.required(&items, "must be specified");
    }
    if items.is_set() {
        invariants(&items, Level::Item, faults);
    }
    for (_, inner) in properties(schema) {
        invariants(&inner, Level::Field, faults);
    }
    let additional = schema.child("additionalProperties");
    if additional.is_set() {
        if level == Level::Root {
            faults.forbidden(&additional, "must not be used at the root");
        }
        if additional.value.is_object() {
            invariants(&additional, Level::Field, faults);
        }
    }
    let embedded = flag("x-kubernetes-embedded-resource");
    if embedded && kind.text() != "object" {
        let text = "must be object if x-kubernetes-embedded-resource is true";
        if kind.is_empty() { faults.required(&kind, text) } else { faults.invalid(&kind, text) }
    } else if kind.is_empty()
        && !flag("x-kubernetes-int-or-string")
        && !flag("x-kubernetes-preserve-unknown-fields")
    {
        faults.required(
            &kind,
            match level {
                Level::Root => "must not be empty at the root",
                Level::Item => "must not be empty for specified array items",
                Level::Field => "must not be empty for specified object fields",
            },
        );
    }
    if level == Level::Root && !kind.is_empty() && kind.text() != "object" {
        faults.invalid(&kind, "must be object at the root");
    }
    if level == Level::Root || embedded {
        for key in ["kind", "apiVersion"] {
            let field = At {
                path: format!("{}.properties[{key}].type", schema.path),
                value: schema.at(&["properties", key, "type"]).value,
            };
            if schema.at(&["properties", key]).is_set() && field.text() != "string" {
                faults.push(Fault::invalid(field.path.as_str(), field.text(), "must be string"));
            }
        }
    }
    nested(schema, faults);
    pattern(schema, faults);
}

fn pattern(schema: &At<'_>, faults: &mut Faults) {
    let pattern = schema.child("pattern");
    if !pattern.is_empty()
        && let Err(error) = regex::Regex::new(pattern.text())
    {
        let reason = regex_reason(&error.to_string(), pattern.text());
        faults.invalid(&pattern, format!("must be a valid regular expression, but isn't: {reason}"));
    }
}

/// The common faults of expressions in the words of Go.
fn regex_reason(text: &str, pattern: &str) -> String {
    let what = if text.contains("unclosed group") {
        "missing closing )"
    } else if text.contains("unopened group") {
        "unexpected )"
    } else if text.contains("unclosed character class") {
        "missing closing ]"
    } else if text.contains("repetition operator missing") {
        "missing argument to repetition operator"
    } else {
        "invalid expression"
    };
    format!("error parsing regexp: {what}: `{pattern}`")
}

/// The alternatives of a schema restrict values and declare nothing.
fn nested(schema: &At<'_>, faults: &mut Faults) {
    let int_or_string = schema.child("x-kubernetes-int-or-string").flag();
    for key in ["anyOf", "allOf", "oneOf"] {
        for inner in schema.child(key).items() {
            // The usual way to write int-or-string names both types.
            if !(int_or_string && matches!(key, "anyOf" | "allOf")) {
                restricting(&inner, faults);
            }
        }
    }
    if schema.child("not").is_set() {
        restricting(&schema.child("not"), faults);
    }
}

fn restricting(schema: &At<'_>, faults: &mut Faults) {
    for (key, text) in [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
    ] {
        if !schema.child(key).is_empty() || schema.child(key).value.is_boolean() {
            faults.forbidden(&schema.child(key), text);
        }
    }
    for key in [
        "nullable",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
    ] {
        if schema.child(key).flag() {
            faults.forbidden(&schema.child(key), "must be false to be structural");
        }
    }
    if schema.child("items").is_set() {
        restricting(&schema.child("items"), faults);
    }
    for (key, inner) in properties(schema) {
        if key == "metadata" {
            faults.forbidden(&inner, "must not be specified in a nested context");
        }
        restricting(&inner, faults);
    }
    nested(schema, faults);
    pattern(schema, faults);
}

/// Every default must fit its own schema.
fn defaults(schema: &At<'_>, faults: &mut Faults) {
    let default = schema.child("default");
    if default.is_set() {
        let custom = podsmith_object::json!({"properties": {"value": schema.value}});
        let holder = podsmith_object::json!({"value": default.value});
        for fault in CustomType::new(Some(&custom)).validate(&holder) {
            let field = fault.field.replacen("value", &default.path, 1);
            let detail = fault.detail.replacen("value in body", " in body", 1);
            faults.push(Fault { field, detail, ..fault });
        }
    }
    for (_, inner) in properties(schema) {
        defaults(&inner, faults);
    }
    for key in ["items", "additionalProperties"] {
        if schema.child(key).value.is_object() {
            defaults(&schema.child(key), faults);
        }
    }
}

/// Keys of keyed lists must exist and be there in every item.
fn lists(schema: &At<'_>, faults: &mut Faults) {
    let (sort, keys) = (schema.child("x-kubernetes-list-type"), schema.child("x-kubernetes-list-map-keys"));
    if sort.is_set() && !matches!(sort.text(), "atomic" | "set" | "map") {
        faults.not_supported(&sort, &["atomic", "map", "set"]);
    }
    let map_type = schema.child("x-kubernetes-map-type");
    if map_type.is_set() && !matches!(map_type.text(), "atomic" | "granular") {
        faults.not_supported(&map_type, &["atomic", "granular"]);
    }
    if sort.text() == "map" {
        if keys.is_empty() {
            faults.required(&keys, "must not be empty if x-kubernetes-list-type is map");
        }
        let items = schema.child("items");
        let required: Vec<&str> = items.child("required").items().iter().map(|name| name.text()).collect();
        for key in keys.items() {
            let property = items.at(&["properties", key.text()]);
            if !property.is_set() {
                faults.invalid(&keys, "entries must all be names of item properties");
            } else if !required.contains(&key.text()) && !property.child("default").is_set() {
                let path = format!("{}.properties[{}].default", items.path, key.text());
                faults.push(Fault::required(path, "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"));
            }
        }
    } else if !keys.is_empty() {
        faults.forbidden(&keys, "may only be used if x-kubernetes-list-type is map");
    }
    for (_, inner) in properties(schema) {
        lists(&inner, faults);
    }
    for key in ["items", "additionalProperties"] {
        if schema.child(key).value.is_object() {
            lists(&schema.child(key), faults);
        }
    }
}
