//! Where values come from.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// The answer to "what is `${NAME}`?".
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Lookup {
    /// This text.
    Value(String),
    /// Unknown.
    Missing,
    /// Leave the variable as it stands.
    Keep,
}

/// A source of values.
pub trait Values {
    /// Looks a variable up. Automatic ports are given out here, so a lookup may change the source.
    fn lookup(&mut self, name: &str) -> Lookup;
}

/// The lines `NAME=value` of an environment file. The first line of a name wins; all after `=` is the value.
#[derive(Clone, Debug, Default)]
pub struct EnvFile(BTreeMap<String, String>);

impl EnvFile {
    /// Reads the text of a file. Lines that do not start with a name and `=` are ignored.
    pub fn parse(text: &str) -> Self {
        let mut values = BTreeMap::new();
        for line in text.lines() {
            let Some((name, value)) = line.split_once('=') else { continue };
            let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if valid {
                values.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            }
        }
        Self(values)
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Ports that are given out automatically: the lowest free one of a range, the same for the same variable.
#[derive(Clone, Debug)]
pub struct PortPool {
    range: RangeInclusive<u16>,
    used: BTreeSet<u16>,
    given: BTreeMap<String, u16>,
}

impl PortPool {
    /// `${HOSTPORTAUTOn}`: 30000 to 31999.
    pub fn host(used: BTreeSet<u16>) -> Self {
        Self { range: 30_000..=31_999, used, given: BTreeMap::new() }
    }

    /// `${CLUSTERPORTAUTOn}`: 61000 to 63999.
    pub fn cluster(used: BTreeSet<u16>) -> Self {
        Self { range: 61_000..=63_999, used, given: BTreeMap::new() }
    }

    /// The port behind a variable, or `None` when the range is used up.
    pub fn port(&mut self, variable: &str) -> Option<u16> {
        if let Some(port) = self.given.get(variable) {
            return Some(*port);
        }
        let port = self.range.clone().find(|port| !self.used.contains(port))?;
        self.used.insert(port);
        self.given.insert(variable.to_owned(), port);
        Some(port)
    }
}

/// True for `PREFIX` and digits.
fn numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

fn automatic(name: &str, host: &mut PortPool, cluster: &mut PortPool) -> Option<Lookup> {
    let pool = if numbered(name, "HOSTPORTAUTO") {
        host
    } else if numbered(name, "CLUSTERPORTAUTO") {
        cluster
    } else {
        return None;
    };
    Some(pool.port(name).map_or(Lookup::Missing, |port| Lookup::Value(port.to_string())))
}

/// Values for one pod.yaml by itself: the pod's version, automatic ports, the .env file, the process's environment.
#[derive(Clone, Debug)]
pub struct FileValues {
    /// `${podVersion}`, which nothing can override.
    pub version: Option<String>,
    /// The .env file.
    pub file: EnvFile,
    /// The process's environment, when it may be used.
    pub environment: BTreeMap<String, String>,
    /// Host ports.
    pub host_ports: PortPool,
    /// Cluster ports.
    pub cluster_ports: PortPool,
}

impl Values for FileValues {
    fn lookup(&mut self, name: &str) -> Lookup {
        if name == "podVersion"
            && let Some(version) = &self.version
        {
            return Lookup::Value(version.clone());
        }
        if let Some(value) = self.file.get(name).or_else(|| self.environment.get(name).map(String::as_str)) {
            return Lookup::Value(value.to_owned());
        }
        automatic(name, &mut self.host_ports, &mut self.cluster_ports).unwrap_or(Lookup::Missing)
    }
}

/// Values of a cluster project: names in capitals are global, others belong to the pod (`x` is `podname_x`), names
/// that start with an underscore are left alone.
#[derive(Clone, Debug)]
pub struct ClusterValues<'a> {
    /// The pod's name.
    pub pod: &'a str,
    /// `${podVersion}`.
    pub version: Option<String>,
    /// The cluster's variables.
    pub file: &'a EnvFile,
    /// Host ports of the host that is compiled for.
    pub host_ports: PortPool,
    /// Cluster ports of the whole cluster.
    pub cluster_ports: PortPool,
}

impl Values for ClusterValues<'_> {
    fn lookup(&mut self, name: &str) -> Lookup {
        if name.starts_with('_') {
            return Lookup::Keep;
        }
        if name == "podVersion"
            && let Some(version) = &self.version
        {
            return Lookup::Value(version.clone());
        }
        if let Some(port) = automatic(name, &mut self.host_ports, &mut self.cluster_ports) {
            return port;
        }
        let global = !name.bytes().any(|b| b.is_ascii_lowercase());
        let key = if global { name.to_owned() } else { format!("{}_{name}", self.pod) };
        match self.file.get(&key) {
            Some(value) => Lookup::Value(value.to_owned()),
            // A project says nothing about it outside of development.
            None if name == "DEVMODE" => Lookup::Value(String::new()),
            None => Lookup::Missing,
        }
    }
}
