//! The Go packages that define the API, and how their types refer to each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::golang::{self, Body, Declaration};
use crate::modules::{Failure, download, read};

/// One package.
#[derive(Debug)]
pub struct Package {
    /// Short name that is unique here: `core/v1`.
    pub id: String,
    /// API group; empty for the core group and for packages that are none.
    pub group: String,
    /// API version; empty for packages that hold no kinds.
    pub version: String,
    /// Prefix of the names of its types in OpenAPI documents.
    pub openapi: String,
    /// Types with the imports of their file.
    pub types: Vec<(Declaration, BTreeMap<String, String>)>,
    /// Typed string constants.
    pub constants: Vec<(String, String)>,
    /// String constants by name.
    pub values: BTreeMap<String, String>,
}

/// Packages outside `k8s.io/api`: module, folder, short name, group, version.
const OTHERS: [(&str, &str, &str, &str, &str); 4] = [
    ("k8s.io/apimachinery", "pkg/apis/meta/v1", "meta/v1", "meta.k8s.io", "v1"),
    ("k8s.io/apimachinery", "pkg/types", "types", "", ""),
    (
        "k8s.io/apiextensions-apiserver",
        "pkg/apis/apiextensions/v1",
        "apiextensions/v1",
        "apiextensions.k8s.io",
        "v1",
    ),
    (
        "k8s.io/kube-aggregator",
        "pkg/apis/apiregistration/v1",
        "apiregistration/v1",
        "apiregistration.k8s.io",
        "v1",
    ),
];

/// The short name of a package by its import path.
pub fn package_id(path: &str) -> String {
    match path {
        "k8s.io/apimachinery/pkg/apis/meta/v1" => "meta/v1".to_owned(),
        "k8s.io/apimachinery/pkg/api/resource" => "resource".to_owned(),
        "k8s.io/apimachinery/pkg/util/intstr" => "intstr".to_owned(),
        "k8s.io/apimachinery/pkg/runtime" => "runtime".to_owned(),
        "k8s.io/apimachinery/pkg/types" => "types".to_owned(),
        other => other.strip_prefix("k8s.io/api/").unwrap_or(other).to_owned(),
    }
}

/// All packages, sorted by name.
pub fn read_all(version: &str) -> Result<Vec<Package>, Failure> {
    let api = download("k8s.io/api", version)?;
    let mut packages = Vec::new();
    for group_folder in folders(&api)? {
        for folder in folders(&group_folder)? {
            if let Ok(relative) = folder.strip_prefix(&api)
                && folder.join("register.go").is_file()
            {
                let id = relative.to_string_lossy().replace('\\', "/");
                let register = read(&folder.join("register.go"))?;
                let group = golang::parse(&register).values.remove("GroupName").unwrap_or_default();
                let version = id.rsplit('/').next().unwrap_or("").to_owned();
                packages.push(package(&folder, id, group, version)?);
            }
        }
    }
    for (module, path, id, group, api_version) in OTHERS {
        let folder = download(module, version)?.join(path);
        packages.push(package(&folder, id.to_owned(), group.to_owned(), api_version.to_owned())?);
    }
    packages.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(packages)
}

fn package(folder: &Path, id: String, group: String, version: String) -> Result<Package, Failure> {
    let mut package = Package {
        id,
        group,
        version,
        openapi: String::new(),
        types: Vec::new(),
        constants: Vec::new(),
        values: BTreeMap::new(),
    };
    for path in entries(folder)? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let generated =
            name.starts_with("zz_generated") || name.starts_with("generated") || name.ends_with("_test.go");
        if !name.ends_with(".go") || generated {
            continue;
        }
        let text = read(&path)?;
        let marked = text.lines().find_map(|line| line.strip_prefix("// +k8s:openapi-model-package="));
        if let Some(prefix) = marked {
            package.openapi = prefix.to_owned();
        }
        let file = golang::parse(&text);
        package.constants.extend(file.constants);
        package.values.extend(file.values);
        let imports = file.imports;
        package.types.extend(file.types.into_iter().map(|declaration| (declaration, imports.clone())));
    }
    Ok(package)
}

impl Package {
    /// What a name in this package stands for when it is only another name for a type.
    pub fn alias(&self, name: &str) -> Option<(&str, &BTreeMap<String, String>)> {
        self.types.iter().find_map(|(declaration, imports)| match &declaration.body {
            Body::Alias(target) if declaration.name == name => Some((target.as_str(), imports)),
            _ => None,
        })
    }
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir()).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |source| Failure::File { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}
