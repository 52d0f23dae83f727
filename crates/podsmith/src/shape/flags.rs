//! The short spelling: `--filter kind=Deployment` and `--transform label=team=web`.

use std::sync::Arc;

use podsmith_engine::{Filter, Transformer, filter, transformer};
use podsmith_object::suggest;

const FILTERS: [&str; 6] = ["kind", "namespace", "name", "label", "annotation", "jq"];
const TRANSFORMS: [&str; 6] = ["namespace", "name-prefix", "name-suffix", "label", "annotation", "jq"];

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim)
}

fn unknown(word: &str, valid: &[&'static str], example: &str) -> String {
    match suggest::nearest(word, valid.iter().copied()) {
        Some(near) => format!("`{word}` is unknown; did you mean `{near}`?"),
        None => format!("`{word}` is unknown; valid are {}, for example `{example}`", valid.join(", ")),
    }
}

/// Parses a `--filter` value.
///
/// # Errors
///
/// Says which part is wrong and what is valid.
pub fn parse_filter(text: &str) -> Result<Arc<dyn Filter>, String> {
    if let Some(rest) = text.strip_prefix('!') {
        return Ok(filter::not(parse_filter(rest.trim_start())?));
    }
    let Some((key, value)) = text.split_once('=') else {
        return Err(format!("`{text}` has no `=`; write for example `kind=Deployment`"));
    };
    Ok(match key.trim() {
        "kind" => filter::kind::one_of(list(value)).map_err(|error| error.to_string())?,
        "namespace" => filter::namespace::one_of(list(value)),
        "name" => filter::name::exact(list(value)),
        "name^" => filter::name::prefix(value),
        "name$" => filter::name::suffix(value),
        "name~" => filter::name::regex(value).map_err(|error| error.to_string())?,
        "label" => filter::labels::selector(value).map_err(|error| error.to_string())?,
        "annotation" => match value.split_once('=') {
            None => filter::annotations::has([value]),
            Some(pair) => filter::annotations::matches([pair]),
        },
        "jq" => filter::jq::expression(value).map_err(|error| error.to_string())?,
        other => return Err(unknown(other, &FILTERS, "kind=Deployment")),
    })
}

/// Parses a `--transform` value.
///
/// # Errors
///
/// Says which part is wrong and what is valid.
pub fn parse_transform(text: &str) -> Result<Arc<dyn Transformer>, String> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(format!("`{text}` has no `=`; write for example `namespace=shop`"));
    };
    let pair = || {
        value.split_once('=').ok_or_else(|| format!("`{text}` needs a key and a value: `{key}=KEY=VALUE`"))
    };
    Ok(match key.trim() {
        "namespace" => transformer::namespace::set(value),
        "namespace?" => transformer::namespace::set_default(value),
        "name-prefix" => transformer::name::prefix(value),
        "name-suffix" => transformer::name::suffix(value),
        "label" => transformer::labels::set([pair()?]),
        "annotation" => transformer::annotations::set([pair()?]),
        "label-" => transformer::labels::remove([value]),
        "annotation-" => transformer::annotations::remove([value]),
        "jq" => transformer::jq::expression(value).map_err(|error| error.to_string())?,
        other => return Err(unknown(other, &TRANSFORMS, "namespace=shop")),
    })
}

#[cfg(test)]
mod tests {
    use podsmith_engine::{Engine, MemorySource, Sources};
    use podsmith_object::{Object, read_objects};

    use super::*;

    const OBJECTS: &str = "
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a, labels: {tier: front}, annotations: {k: v}}, spec: {replicas: 3}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: b, labels: {tier: data}}}
---
{apiVersion: v1, kind: Service, metadata: {name: web-svc}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: a}}
";

    fn objects() -> Vec<Object> {
        read_objects("objects.yaml", OBJECTS.as_bytes()).unwrap()
    }

    fn kept(flag: &str) -> String {
        let engine = Engine::builder()
            .renderer(Sources::new("memory", [MemorySource::new("objects", objects())]))
            .filter(parse_filter(flag).unwrap_or_else(|error| panic!("{error}")))
            .build()
            .unwrap();
        let names: Vec<String> = engine
            .render(Default::default())
            .unwrap()
            .objects
            .iter()
            .map(|object| object.name().to_owned())
            .collect();
        names.join(" ")
    }

    fn first_changed(flag: &str) -> Object {
        let engine = Engine::builder()
            .renderer(Sources::new("memory", [MemorySource::new("objects", objects())]))
            .transformer(parse_transform(flag).unwrap_or_else(|error| panic!("{error}")))
            .build()
            .unwrap();
        engine.render(Default::default()).unwrap().objects.remove(0)
    }

    #[test]
    fn every_filter_of_the_contract_works() {
        for (flag, expected) in [
            ("kind=Deployment,apps/v1/StatefulSet", "web db"),
            ("kind=v1/Service", "web-svc"),
            ("namespace=a,b", "web db"),
            ("name=web", "web"),
            ("name^=web", "web web-svc"),
            ("name$=svc", "web-svc"),
            ("name~=^.b$", "db"),
            ("label=tier in (front,data),!x", "web db"),
            ("annotation=k", "web"),
            ("annotation=k=w", ""),
            ("jq=.spec.replicas == 3", "web"),
            ("!namespace=a", "db web-svc a"),
            ("!!namespace=a", "web"),
        ] {
            assert_eq!(kept(flag), expected, "{flag}");
        }
    }

    #[test]
    fn every_transform_of_the_contract_works() {
        let check = |flag: &str, path: &[&str], expected: Option<&str>| {
            let object = first_changed(flag);
            assert_eq!(object.get(path).and_then(|value| value.as_str()), expected, "{flag}");
        };
        check("namespace=n", &["metadata", "namespace"], Some("n"));
        check("namespace?=n", &["metadata", "namespace"], Some("a"));
        check("name-prefix=p-", &["metadata", "name"], Some("p-web"));
        check("name-suffix=-s", &["metadata", "name"], Some("web-s"));
        check("label=a=b=c", &["metadata", "labels", "a"], Some("b=c"));
        check("label-=tier", &["metadata", "labels", "tier"], None);
        check("annotation=a=", &["metadata", "annotations", "a"], Some(""));
        check("annotation-=k", &["metadata", "annotations", "k"], None);
        check("jq=.metadata.labels.x = \"y\"", &["metadata", "labels", "x"], Some("y"));
    }

    fn refused<T>(result: Result<T, String>) -> String {
        result.err().expect("the flag is wrong")
    }

    #[test]
    fn a_wrong_flag_says_what_is_valid() {
        insta::assert_snapshot!(refused(parse_filter("knid=x")), @"`knid` is unknown; did you mean `kind`?");
        insta::assert_snapshot!(refused(parse_filter("Deployment")), @"`Deployment` has no `=`; write for example `kind=Deployment`");
        insta::assert_snapshot!(refused(parse_filter("label=a in b")), @"invalid selector `a in b`: `(` is missing at character 6");
        insta::assert_snapshot!(refused(parse_transform("label=a")), @"`label=a` needs a key and a value: `label=KEY=VALUE`");
        insta::assert_snapshot!(refused(parse_transform("zzz=a")), @"`zzz` is unknown; valid are namespace, name-prefix, name-suffix, label, annotation, jq, for example `namespace=shop`");
        assert!(parse_filter("kind=a//b").is_err());
        assert!(parse_filter("name~=(").is_err());
        assert!(parse_filter("jq=.a |").is_err());
    }
}
