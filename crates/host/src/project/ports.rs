//! Ports in use, and clashes between them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Project, ProjectError};
use crate::layout::{Release, Wanted};
use crate::proxy::Mapping;

fn mappings(release: &Release) -> Vec<Mapping> {
    release.port_map().iter().filter_map(|line| Mapping::parse(line)).collect()
}

impl Project {
    /// The host ports of one host, and the cluster ports of all hosts.
    pub(super) fn ports_in_use(&self, host: &str) -> Result<(BTreeSet<u16>, BTreeSet<u16>), ProjectError> {
        let (mut host_ports, mut cluster_ports) = (BTreeSet::new(), BTreeSet::new());
        for name in self.hosts() {
            for release in self.host(&name)?.releases() {
                for mapping in mappings(&release) {
                    cluster_ports.insert(mapping.cluster_port);
                    if name == host {
                        host_ports.insert(mapping.host_port);
                    }
                }
            }
        }
        Ok((host_ports, cluster_ports))
    }

    /// Refuses a host on which two running pods have the same host port, or one has a cluster port as its host port.
    pub(super) fn check_ports(&self, host: &str) -> Result<(), ProjectError> {
        let mut owners: BTreeMap<u16, String> = BTreeMap::new();
        let (_, cluster_ports) = self.ports_in_use(host)?;
        for release in self.host(host)?.releases() {
            if release.wanted() != Some(Wanted::Running) {
                continue;
            }
            let own: BTreeSet<u16> = mappings(&release).iter().map(|mapping| mapping.host_port).collect();
            for port in own {
                if let Some(other) = owners.insert(port, release.id()) {
                    return ProjectError::refused(format!(
                        "host port {port} of {host} is used by {other} and {}",
                        release.id()
                    ));
                }
                if cluster_ports.contains(&port) {
                    return ProjectError::refused(format!(
                        "host port {port} of {} is a cluster port too",
                        release.id()
                    ));
                }
            }
        }
        Ok(())
    }
}
