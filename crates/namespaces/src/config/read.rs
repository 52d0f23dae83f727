//! Reading the configuration file: strict, every problem with its position.

use podsmith_object::decode::{Decoder, Fields};
use podsmith_object::yaml::{self, Node, ReadOptions};
use podsmith_object::{Diagnostics, GroupVersionKind, names};

use super::{Config, DEFAULT_MAX_DELETES, NamingPolicy, NamingProblem, OnConflict};
use crate::glob::Glob;
use crate::keys::{DEFAULT_PREFIX, Keys};

impl Config {
    /// Reads a file. An empty one is valid and propagates nothing but the tree itself.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, with positions.
    pub fn read(file: &str, text: &str) -> Result<Self, Diagnostics> {
        let node = match yaml::read_node(text, ReadOptions::default()) {
            Ok(node) => node,
            Err(error) => {
                let mut problems = Diagnostics::new();
                problems.push(error.to_diagnostic(file, text, 0));
                return Err(problems);
            }
        };
        let decoder = Decoder::new(file, text);
        let config = decoder.mapping(&node, "the configuration").map(|fields| config(&decoder, fields));
        decoder.finish(config.unwrap_or_default())
    }
}

fn config(decoder: &Decoder<'_>, mut fields: Fields<'_, '_, '_>) -> Config {
    let prefix = prefix(decoder, &mut fields);
    let keys = Keys::new(&prefix);
    let mut inherited = |key: &str| {
        globs(decoder, &mut fields, key, |glob| {
            let broken = keys.reserved().into_iter().find(|reserved| glob.matches(reserved));
            match broken {
                Some(key) => Some(format!("it matches `{key}`, which is never inherited")),
                None if keys.is_ours(glob.as_str()) => {
                    Some(format!("keys under `{}` are never inherited", keys.prefix))
                }
                None => None,
            }
        })
    };
    let (label_keys, annotation_keys) = (inherited("labelKeys"), inherited("annotationKeys"));
    let sub_label_keys = inherited("subNamespaceLabelKeys");
    let sub_annotation_keys = inherited("subNamespaceAnnotationKeys");
    let mut excludes = |key: &str| {
        globs(decoder, &mut fields, key, |glob| {
            let broken = [&keys.propagate, &keys.from].into_iter().find(|own| glob.matches(own))?;
            Some(format!("it matches `{broken}`, without which propagation stops after one level"))
        })
    };
    let (label_excludes, annotation_excludes) =
        (excludes("propagateLabelKeyExcludes"), excludes("propagateAnnotationKeyExcludes"));
    let watches = watches(decoder, &mut fields);
    let naming_policies = naming_policies(decoder, &mut fields);
    let on_conflict = match fields.word("onConflict", &["keep", "overwrite"]) {
        Some("overwrite") => OnConflict::Overwrite,
        _ => OnConflict::Keep,
    };
    let propagate_generated = fields.boolean("propagateGenerated").unwrap_or(false);
    let allow_cascading_deletion = fields.boolean("allowCascadingDeletion").unwrap_or(false);
    let max_deletes_per_minute = max_deletes(decoder, &mut fields);
    fields.finish();
    Config {
        keys,
        label_keys,
        annotation_keys,
        sub_label_keys,
        sub_annotation_keys,
        watches,
        label_excludes,
        annotation_excludes,
        naming_policies,
        on_conflict,
        propagate_generated,
        allow_cascading_deletion,
        max_deletes_per_minute,
    }
}

fn prefix(decoder: &Decoder<'_>, fields: &mut Fields<'_, '_, '_>) -> String {
    let Some(node) = fields.take("prefix") else { return DEFAULT_PREFIX.to_owned() };
    let Some(prefix) = decoder.string(node, "`prefix` of the configuration") else {
        return DEFAULT_PREFIX.to_owned();
    };
    match names::dns_subdomain(&prefix) {
        Ok(()) if prefix.contains('.') => return prefix,
        Ok(()) => decoder.error_with_hint(
            node,
            format!("`prefix` is `{prefix}`, which is no domain"),
            "it is the API group of SubNamespace too, so it needs a dot",
        ),
        Err(problem) => decoder.error(node, format!("`prefix`: {problem}")),
    }
    DEFAULT_PREFIX.to_owned()
}

fn globs(
    decoder: &Decoder<'_>,
    fields: &mut Fields<'_, '_, '_>,
    key: &str,
    refuse: impl Fn(&Glob) -> Option<String>,
) -> Vec<Glob> {
    let mut out = Vec::new();
    for item in fields.sequence(key) {
        let Some(text) = decoder.string(item, &format!("an item of `{key}`")) else { continue };
        match Glob::new(&text) {
            Err(problem) => {
                decoder.error(item, format!("`{text}` in `{key}` is no valid pattern: {problem}"));
            }
            Ok(glob) => match refuse(&glob) {
                Some(reason) => decoder.error_with_hint(
                    item,
                    format!("`{text}` in `{key}` is not allowed: {reason}"),
                    "`*` does not match `/`; name the domain, as in `example.com/*`",
                ),
                None => out.push(glob),
            },
        }
    }
    out
}

fn watches(decoder: &Decoder<'_>, fields: &mut Fields<'_, '_, '_>) -> Vec<GroupVersionKind> {
    let mut out: Vec<GroupVersionKind> = Vec::new();
    for item in fields.sequence("watches") {
        let Some(mut watch) = decoder.mapping(item, "a watch") else { continue };
        let group = watch.string("group").unwrap_or_default();
        let (version, kind) = (watch.require_string("version"), watch.require_string("kind"));
        watch.finish();
        let (Some(version), Some(kind)) = (version, kind) else { continue };
        if let Some(problem) = unfit(&group, &kind) {
            decoder.error(item, problem);
            continue;
        }
        if let Some(twice) = out.iter().find(|gvk| *gvk.group == *group && *gvk.kind == *kind) {
            decoder.error(item, format!("{kind} is watched already, as {twice}"));
            continue;
        }
        out.push(GroupVersionKind::new(group, version, kind));
    }
    out
}

/// Kinds that are known to make no sense before anybody asks the cluster.
fn unfit(group: &str, kind: &str) -> Option<String> {
    match (group, kind) {
        ("", "Namespace") => Some("Namespace is not in a namespace, so it cannot be propagated".to_owned()),
        ("", "Event") | ("events.k8s.io", "Event") => Some("Events cannot be propagated".to_owned()),
        (_, "SubNamespace") => Some("SubNamespace makes the tree and cannot be propagated in it".to_owned()),
        _ => None,
    }
}

fn naming_policies(decoder: &Decoder<'_>, fields: &mut Fields<'_, '_, '_>) -> Vec<NamingPolicy> {
    let mut out = Vec::new();
    for item in fields.sequence("namingPolicies") {
        let Some(mut policy) = decoder.mapping(item, "a naming policy") else { continue };
        let (root_node, match_node) = (policy.take("root"), policy.take("match"));
        let root = policy.require_string("root");
        let pattern = policy.require_string("match");
        policy.finish();
        let (Some(root), Some(pattern)) = (root, pattern) else { continue };
        match NamingPolicy::new(&root, &pattern) {
            Ok(policy) => out.push(policy),
            Err(problem) => {
                let at: &Node = match (&problem, root_node, match_node) {
                    (NamingProblem::Root(_), Some(node), _) | (_, _, Some(node)) => node,
                    _ => item,
                };
                let cause = std::error::Error::source(&problem).map(ToString::to_string).unwrap_or_default();
                decoder.error_with_hint(at, problem.to_string(), cause);
            }
        }
    }
    out
}

fn max_deletes(decoder: &Decoder<'_>, fields: &mut Fields<'_, '_, '_>) -> u32 {
    let Some(node) = fields.take("maxDeletesPerMinute") else { return DEFAULT_MAX_DELETES };
    let what = "`maxDeletesPerMinute` of the configuration";
    let Some(number) = decoder.integer(node, what) else { return DEFAULT_MAX_DELETES };
    u32::try_from(number).unwrap_or_else(|_| {
        decoder.error_with_hint(
            node,
            format!("{what} is {number}, which is out of range"),
            "0 means no limit",
        );
        DEFAULT_MAX_DELETES
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let found = Config::read("ns.yaml", text).map(|_| ()).unwrap_err();
        found.0.iter().map(|d| format!("{}: {}", d.place.as_ref().unwrap(), d.message)).collect()
    }

    #[test]
    fn a_full_file_is_read() {
        let text = "\
prefix: accurate.cybozu.com
labelKeys: [team, 'example.com/*']
annotationKeys: [foo]
subNamespaceLabelKeys: [app]
subNamespaceAnnotationKeys: [note]
watches:
- group: rbac.authorization.k8s.io
  version: v1
  kind: Role
- version: v1
  kind: Secret
propagateLabelKeyExcludes: ['*kubernetes.io/*']
propagateAnnotationKeyExcludes: ['*kubernetes.io/*']
namingPolicies:
- root: ^app-(?P<team>.*)
  match: ^$team-.*
onConflict: overwrite
propagateGenerated: true
allowCascadingDeletion: true
maxDeletesPerMinute: 10
";
        let config = Config::read("ns.yaml", text).unwrap();
        assert_eq!(&*config.keys.prefix, "accurate.cybozu.com");
        assert!(config.inherits_label("example.com/a") && !config.inherits_label("foo"));
        assert!(config.inherits_annotation("foo") && !config.inherits_annotation("team"));
        assert!(config.takes_label("app") && config.takes_annotation("note"));
        assert_eq!(config.watches.len(), 2);
        assert_eq!(config.naming_policies.len(), 1);
        assert_eq!(config.on_conflict, OnConflict::Overwrite);
        assert_eq!(config.max_deletes_per_minute, 10);
    }

    #[test]
    fn an_empty_file_is_valid() {
        let config = Config::read("ns.yaml", "").unwrap();
        assert_eq!(&*config.keys.prefix, "innu.cybozu.com");
        assert_eq!(config.on_conflict, OnConflict::Keep);
    }

    #[test]
    fn unknown_keys_are_refused() {
        insta::assert_snapshot!(Config::read("ns.yaml", "labelkeys: []\n").map(|_| ()).unwrap_err(), @r#"
error: ns.yaml:1:1: unknown key `labelkeys` in the configuration
   |
 1 | labelkeys: []
   | ^
hint: did you mean `labelKeys`?
"#);
    }

    #[test]
    fn patterns_are_checked_by_matching_the_reserved_keys() {
        for key in ["labelKeys", "annotationKeys", "subNamespaceLabelKeys", "subNamespaceAnnotationKeys"] {
            for pattern in ["*/*", "innu*/type", "innu.cybozu.com/parent", "?nnu.cybozu.com/t*", "*/from"] {
                assert_eq!(problems(&format!("{key}: ['{pattern}']\n")).len(), 1, "{key} {pattern}");
            }
            assert!(
                Config::read("f", &format!("{key}: ['*', 'example.com/*', 'accurate.cybozu.com/x']\n"))
                    .is_ok()
            );
        }
        for key in ["propagateLabelKeyExcludes", "propagateAnnotationKeyExcludes"] {
            assert_eq!(problems(&format!("{key}: ['*/*']\n")).len(), 1, "{key}");
            assert!(Config::read("f", &format!("{key}: ['*kubernetes.io/*']\n")).is_ok());
        }
        assert_eq!(
            problems(
                "prefix: accurate.cybozu.com\nlabelKeys: [accurate.cybozu.com/x*, 'accurate.cybozu.com/*']\n"
            )
            .len(),
            2
        );
    }

    #[test]
    fn every_problem_has_its_place() {
        let text = "\
prefix: nodot
labelKeys: ['[a', 3]
watches:
- kind: Role
- {version: v1, kind: Namespace}
- {version: v1, kind: Secret}
- {version: v1, kind: Secret}
namingPolicies:
- {root: '(', match: a}
- {root: a, match: '['}
onConflict: keeep
maxDeletesPerMinute: -1
";
        insta::assert_snapshot!(problems(text).join("\n"), @r#"
ns.yaml:1:9: `prefix` is `nodot`, which is no domain
ns.yaml:2:13: `[a` in `labelKeys` is no valid pattern: a `[` is never closed
ns.yaml:2:19: an item of `labelKeys` must be a string, this is a number
ns.yaml:4:3: `version` is missing in a watch
ns.yaml:5:3: Namespace is not in a namespace, so it cannot be propagated
ns.yaml:7:3: Secret is watched already, as v1/Secret
ns.yaml:9:10: `root` is no valid regular expression
ns.yaml:10:20: `match` is no valid regular expression
ns.yaml:11:13: `onConflict` of the configuration is `keeep`, which is none of keep, overwrite
ns.yaml:12:22: `maxDeletesPerMinute` of the configuration is -1, which is out of range
"#);
    }
}
