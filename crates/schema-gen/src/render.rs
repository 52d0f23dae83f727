//! The text of the type table.
//!
//! ```text
//! P id group version openapi-prefix        a package; `-` stands for nothing
//! S name flags                             a struct: a atomic, k a kind, c a kind without namespace
//! <tab>json number type flags attributes…  a field of the struct above, separated by tabs
//! E name type values                       a named type over another one; its values if it is an enumeration
//! ```
//!
//! Field flags: `o` left out when empty, `z` left out when zero, `i` inlined, `r` required. Attributes: `lt=` list
//! type, `lk=` list map keys, `mt=` map type, `ps=` patch strategy, `mk=` patch merge key, `d=` default as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use crate::golang::{Body, Field, marker};
use crate::modules::Failure;
use crate::packages::{Package, package_id};

/// The whole table.
pub fn types(packages: &[Package]) -> String {
    let scope = Scope { packages: packages.iter().map(|package| (package.id.as_str(), package)).collect() };
    let mut out = String::new();
    for package in packages {
        let _ = writeln!(
            out,
            "P {} {} {} {}",
            package.id,
            dash(&package.group),
            dash(&package.version),
            dash(&package.openapi)
        );
        for (declaration, imports) in &package.types {
            match &declaration.body {
                Body::Struct(fields) => {
                    scope.structure(
                        package,
                        &declaration.name,
                        &declaration.markers,
                        fields,
                        imports,
                        &mut out,
                    );
                }
                Body::Named(target) => {
                    let values: Vec<&str> = package
                        .constants
                        .iter()
                        .filter(|(name, _)| *name == declaration.name)
                        .map(|(_, value)| value.as_str())
                        .collect();
                    let is_enum = declaration.markers.iter().any(|marker| marker == "enum");
                    let values = if is_enum { values.join(",") } else { String::new() };
                    let target = scope.expression(package, imports, target);
                    let _ = writeln!(out, "E {} {target} {}", declaration.name, dash(&values));
                }
                Body::Alias(_) => {}
            }
        }
    }
    out
}

/// Compresses the table so that the same text always gives the same bytes.
pub fn compress(text: &str) -> Result<Vec<u8>, Failure> {
    let failed = |source| Failure::File { path: PathBuf::from("types.txt.gz"), source };
    let mut encoder = flate2::GzBuilder::new().mtime(0).write(Vec::new(), flate2::Compression::best());
    encoder.write_all(text.as_bytes()).map_err(failed)?;
    encoder.finish().map_err(failed)
}

struct Scope<'a> {
    packages: BTreeMap<&'a str, &'a Package>,
}

impl Scope<'_> {
    fn structure(
        &self,
        package: &Package,
        name: &str,
        markers: &[String],
        fields: &[Field],
        imports: &BTreeMap<String, String>,
        out: &mut String,
    ) {
        let mut flags = String::new();
        if marker(markers, "structType") == Some("atomic") || marker(markers, "mapType") == Some("atomic") {
            flags.push('a');
        }
        let is_kind = fields.iter().any(|field| field.expression.ends_with("TypeMeta"));
        if is_kind && name != "PartialObjectMetadata" {
            flags.push('k');
            if markers.iter().any(|marker| marker == "genclient:nonNamespaced") {
                flags.push('c');
            }
        }
        let _ = writeln!(out, "S {name} {}", dash(&flags));
        for field in fields {
            self.field(package, field, imports, out);
        }
    }

    fn field(&self, package: &Package, field: &Field, imports: &BTreeMap<String, String>, out: &mut String) {
        let Some(json) = field.tag("json") else { return };
        let mut parts = json.split(',');
        let name = parts.next().unwrap_or("");
        let options: Vec<&str> = parts.collect();
        if name == "-" {
            return;
        }
        let number = field.tag("protobuf").and_then(|tag| tag.split(',').nth(1)).unwrap_or("-");
        let mut flags = String::new();
        for (option, flag) in [("omitempty", 'o'), ("omitzero", 'z'), ("inline", 'i')] {
            if options.contains(&option) {
                flags.push(flag);
            }
        }
        // A field without a name is embedded; `json:""` on one means the same as `inline`.
        if name.is_empty() && !flags.contains('i') {
            flags.push('i');
        }
        let optional = field.markers.iter().any(|marker| marker == "optional") || flags.contains('o');
        if field.markers.iter().any(|marker| marker == "required") || !optional && !flags.contains('i') {
            flags.push('r');
        }
        let _ = write!(
            out,
            "\t{}\t{number}\t{}\t{}",
            dash(name),
            self.expression(package, imports, &field.expression),
            dash(&flags)
        );
        let keys: Vec<&str> =
            field.markers.iter().filter_map(|marker| marker.strip_prefix("listMapKey=")).collect();
        let default = marker(&field.markers, "default").map(|text| self.default(package, text));
        let attributes = [
            ("lt", marker(&field.markers, "listType").map(str::to_owned)),
            ("lk", (!keys.is_empty()).then(|| keys.join(","))),
            (
                "mt",
                marker(&field.markers, "mapType").or(marker(&field.markers, "structType")).map(str::to_owned),
            ),
            ("ps", field.tag("patchStrategy").map(str::to_owned)),
            ("mk", field.tag("patchMergeKey").map(str::to_owned)),
            ("d", default),
        ];
        for (key, value) in attributes {
            if let Some(value) = value {
                let _ = write!(out, "\t{key}={value}");
            }
        }
        out.push('\n');
    }

    fn default(&self, package: &Package, text: &str) -> String {
        match text.strip_prefix("ref(").and_then(|text| text.strip_suffix(')')) {
            Some(name) => match package.values.get(name) {
                Some(value) => format!("\"{value}\""),
                None => "null".to_owned(),
            },
            None => text.to_owned(),
        }
    }

    /// A Go type expression in the notation of the table.
    fn expression(&self, package: &Package, imports: &BTreeMap<String, String>, expression: &str) -> String {
        if let Some(rest) = expression.strip_prefix('*') {
            return format!("*{}", self.expression(package, imports, rest));
        }
        if expression == "[]byte" {
            return "bytes".to_owned();
        }
        if let Some(rest) = expression.strip_prefix("[]") {
            return format!("[]{}", self.expression(package, imports, rest));
        }
        if let Some((key, value)) = expression.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            return match key {
                "string" => format!("{{}}{}", self.expression(package, imports, value)),
                _ => format!(
                    "{{{}}}{}",
                    self.expression(package, imports, key),
                    self.expression(package, imports, value)
                ),
            };
        }
        match expression {
            "string" | "bool" | "int" | "int32" | "int64" | "uint8" | "uint32" | "uint64" | "float32"
            | "float64" => expression.to_owned(),
            _ => self.reference(package, imports, expression),
        }
    }

    fn reference(&self, package: &Package, imports: &BTreeMap<String, String>, expression: &str) -> String {
        let (home, name) = match expression.split_once('.') {
            Some((alias, name)) => {
                let path = imports.get(alias).map_or(alias, String::as_str);
                (package_id(path), name)
            }
            None => (package.id.clone(), expression),
        };
        if let Some(package) = self.packages.get(home.as_str())
            && let Some((target, imports)) = package.alias(name)
        {
            return self.absolute(package, imports, target);
        }
        if home == package.id { format!("={name}") } else { format!("={home}.{name}") }
    }

    /// A reference seen from another package: the package is always named.
    fn absolute(&self, package: &Package, imports: &BTreeMap<String, String>, target: &str) -> String {
        let text = self.expression(package, imports, target);
        match text.strip_prefix('=') {
            Some(name) if !name.contains('.') => format!("={}.{name}", package.id),
            _ => text,
        }
    }
}

fn dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}
