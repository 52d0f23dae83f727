//! Resources that CustomResourceDefinitions add.

use std::sync::Arc;

use kube_cel::CompiledSchema;
use podsmith_object::Value;
use podsmith_schema::crd::CustomType;

use super::{Resource, Subresource};
use crate::fields::{at, list, text, texts};

/// What a custom resource has besides what every resource has.
#[derive(Debug)]
pub struct Custom {
    /// Name of the CustomResourceDefinition.
    pub definition: String,
    /// The schema of this version.
    pub schema: CustomType,
    /// Where the scale subresource finds its numbers.
    pub scale: Option<ScalePaths>,
    /// Columns of the Table form.
    pub columns: Vec<Column>,
    /// Fields lists can be narrowed by, without the leading dot.
    pub selectable: Vec<String>,
    /// Said to whoever uses this version.
    pub deprecation: Option<String>,
    /// The webhook that converts; nothing when versions differ by name only.
    pub conversion: Option<Value>,
    /// The rules of the schema in CEL, if there are any.
    pub rules: Option<CompiledSchema>,
    /// `apiVersion`s of all versions, with their schemas.
    pub versions: Vec<(String, CustomType)>,
}

/// Paths of the scale subresource, as keys.
#[derive(Clone, Debug)]
pub struct ScalePaths {
    /// The wanted replicas.
    pub spec: Vec<String>,
    /// The present replicas.
    pub status: Vec<String>,
    /// The selector, as text.
    pub selector: Option<Vec<String>>,
}

/// A column of the Table form.
#[derive(Clone, Debug)]
pub struct Column {
    /// Title.
    pub name: String,
    /// Type.
    pub sort: String,
    /// Format.
    pub format: String,
    /// What it means.
    pub description: String,
    /// Where the value is.
    pub path: String,
    /// Above 0: only in wide output.
    pub priority: i64,
}

/// The served versions of a definition, the most stable one first.
pub fn resources(definition: &Value) -> Vec<Arc<Resource>> {
    let group = text(definition, &["spec", "group"]);
    let versions = list(definition, &["spec", "versions"]);
    let stored = versions.iter().find(|version| flag(version, "storage"));
    let stored_as = format!("{group}/{}", stored.map_or("", |version| text(version, &["name"])));
    let mut out: Vec<Arc<Resource>> = versions
        .iter()
        .filter(|version| flag(version, "served"))
        .map(|version| Arc::new(resource(definition, version, &stored_as)))
        .collect();
    out.sort_by_key(|resource| version_order(&resource.version));
    out
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}

fn resource(definition: &Value, version: &Value, stored_as: &str) -> Resource {
    let name = |key: &str| text(definition, &["spec", "names", key]).to_owned();
    let names = |key: &str| -> Vec<String> {
        texts(definition, &["spec", "names", key]).into_iter().map(str::to_owned).collect()
    };
    let group = text(definition, &["spec", "group"]).to_owned();
    let kind = name("kind");
    let or = |given: String, other: String| if given.is_empty() { other } else { given };
    let schema = CustomType::new(at(version, &["schema", "openAPIV3Schema"]));
    let read =
        |text: &str| text.split('.').filter(|key| !key.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let scale = at(version, &["subresources", "scale"]).map(|scale| ScalePaths {
        spec: read(text(scale, &["specReplicasPath"])),
        status: read(text(scale, &["statusReplicasPath"])),
        selector: at(scale, &["labelSelectorPath"]).and_then(Value::as_str).map(read),
    });
    let mut subresources = Vec::new();
    let part = |name: &str, group: &str, version: &str, kind: &str| Subresource {
        name: name.to_owned(),
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        verbs: ["get", "patch", "update"].map(str::to_owned).to_vec(),
    };
    let version_name = text(version, &["name"]).to_owned();
    if scale.is_some() {
        subresources.push(part("scale", "autoscaling", "v1", "Scale"));
    }
    if at(version, &["subresources", "status"]).is_some() {
        subresources.push(part("status", &group, &version_name, &kind));
    }
    let verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
    let all = list(definition, &["spec", "versions"]);
    let converter = text(definition, &["spec", "conversion", "strategy"]) == "Webhook";
    let custom = Custom {
        definition: crate::fields::name(definition).to_owned(),
        scale,
        columns: list(version, &["additionalPrinterColumns"]).iter().map(column).collect(),
        selectable: list(version, &["selectableFields"])
            .iter()
            .map(|field| text(field, &["jsonPath"]).trim_start_matches('.').to_owned())
            .collect(),
        deprecation: flag(version, "deprecated").then(|| {
            let own = text(version, &["deprecationWarning"]);
            if own.is_empty() {
                format!("{group}/{version_name} {kind} is deprecated")
            } else {
                own.to_owned()
            }
        }),
        conversion: converter.then(|| at(definition, &["spec", "conversion", "webhook"]).cloned()).flatten(),
        rules: schema
            .schema()
            .to_string()
            .contains("x-kubernetes-validations")
            .then(|| kube_cel::compile_schema(schema.schema())),
        versions: all
            .iter()
            .map(|one| {
                let api_version = format!("{group}/{}", text(one, &["name"]));
                (api_version, CustomType::new(at(one, &["schema", "openAPIV3Schema"])))
            })
            .collect(),
        schema,
    };
    Resource {
        plural: name("plural"),
        singular: or(name("singular"), kind.to_lowercase()),
        list_kind: or(name("listKind"), format!("{kind}List")),
        namespaced: text(definition, &["spec", "scope"]) == "Namespaced",
        verbs: verbs.map(str::to_owned).to_vec(),
        short_names: names("shortNames"),
        categories: names("categories"),
        storage_hash: String::new(),
        subresources,
        table: Arc::from(format!("{group}/{}", name("plural"))),
        stored_as: stored_as.to_owned(),
        converts: all.len() > 1,
        ty: custom.schema.ty().clone(),
        needs_revision: true,
        create_on_update: false,
        custom: Some(custom),
        version: version_name,
        group,
        kind,
    }
}

fn column(column: &Value) -> Column {
    let get = |key: &str| text(column, &[key]).to_owned();
    Column {
        name: get("name"),
        sort: get("type"),
        format: get("format"),
        description: get("description"),
        path: get("jsonPath"),
        priority: column.get("priority").and_then(Value::as_i64).unwrap_or(0),
    }
}

/// The order of versions: stable before beta before alpha, newer before older, anything else by name at the end.
pub fn version_order(version: &str) -> (u8, i64, i64, String) {
    let read = || -> Option<(u8, i64, i64)> {
        let rest = version.strip_prefix('v')?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let major: i64 = rest.get(..digits)?.parse().ok()?;
        match rest.get(digits..)? {
            "" => Some((0, -major, 0)),
            stage => {
                let (rank, minor) = match (stage.strip_prefix("beta"), stage.strip_prefix("alpha")) {
                    (Some(minor), _) => (1, minor),
                    (_, Some(minor)) => (2, minor),
                    _ => return None,
                };
                Some((rank, -major, -minor.parse::<i64>().ok()?))
            }
        }
    };
    match read() {
        Some((rank, major, minor)) => (rank, major, minor, String::new()),
        None => (3, 0, 0, version.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_stability() {
        let mut versions =
            ["foo10", "v1alpha1", "v10", "v2beta1", "v11alpha2", "v2", "v10beta3", "foo1", "v1"];
        versions.sort_by_key(|version| version_order(version));
        assert_eq!(
            versions,
            ["v10", "v2", "v1", "v10beta3", "v2beta1", "v11alpha2", "v1alpha1", "foo1", "foo10"]
        );
    }
}
