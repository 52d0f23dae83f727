//! The port map and the list of hosts.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// One line of the port map: `clusterPort:hostPort:maxConn:sendProxy`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Mapping {
    /// Port in the cluster.
    pub cluster_port: u16,
    /// Port of the pod on its host.
    pub host_port: u16,
    /// Most connections at a time.
    pub max_conn: u32,
    /// The pod expects a PROXY header.
    pub send_proxy: bool,
}

impl Mapping {
    /// Reads one entry.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let mapping = Self {
            cluster_port: parts.next()?.parse().ok()?,
            host_port: parts.next()?.parse().ok()?,
            max_conn: parts.next()?.parse().ok()?,
            send_proxy: parts.next()?.parse().ok()?,
        };
        (parts.next().is_none() && mapping.cluster_port > 0 && mapping.host_port > 0).then_some(mapping)
    }
}

/// What is read again when it changes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Tables {
    /// Mappings of this host by cluster port.
    pub mappings: BTreeMap<u16, Vec<Mapping>>,
    /// Hosts in the order of the file.
    pub hosts: Vec<SocketAddr>,
}

impl Tables {
    /// Reads both texts. Lines that make no sense are left out.
    pub fn parse(ports: &str, hosts: &str) -> Self {
        let mut mappings: BTreeMap<u16, Vec<Mapping>> = BTreeMap::new();
        for mapping in without_comments(ports).filter_map(Mapping::parse) {
            let list = mappings.entry(mapping.cluster_port).or_default();
            if !list.iter().any(|known| known.host_port == mapping.host_port) {
                list.push(mapping);
            }
        }
        Self { mappings, hosts: parse_hosts(hosts) }
    }

    /// True if a proxy may ask us: it is on the list, or on this machine.
    pub fn is_peer(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_loopback() || self.hosts.iter().any(|host| host.ip().to_canonical() == address)
    }
}

fn without_comments(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    lines.flat_map(|line| line.split([' ', '\t', ';', ',', '\r'])).filter(|word| !word.is_empty())
}

/// Addresses with ports, several to a line if need be.
pub(super) fn parse_hosts(text: &str) -> Vec<SocketAddr> {
    without_comments(text).filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_may_have_several_items_per_line() {
        let tables = Tables::parse(
            "61000:30000:10:false 61000:30001:10:true\n# 1:2:3:true\n61001:30002:1:false \n61000:30000:99:false\nx:y\n### EOF\n",
            "10.0.0.1:32767\n10.0.0.2:32767;10.0.0.3:32767 [fd00::4]:32767\n",
        );
        assert_eq!(tables.mappings[&61_000].len(), 2);
        assert_eq!(tables.mappings.len(), 2);
        assert_eq!(tables.hosts.len(), 4);
        assert!(
            tables.is_peer("10.0.0.3".parse().unwrap()) && tables.is_peer("::ffff:10.0.0.3".parse().unwrap())
        );
        assert!(tables.is_peer("127.0.0.9".parse().unwrap()) && !tables.is_peer("10.0.0.9".parse().unwrap()));
    }

    #[test]
    fn entries_are_strict() {
        assert!(Mapping::parse("1:2:3:false").is_some());
        for text in ["", "1:2:3", "1:2:3:yes", "1:2:3:true:4", "70000:2:3:true", "0:1:1:true", "1:2:-1:true"]
        {
            assert_eq!(Mapping::parse(text), None, "{text}");
        }
    }
}
