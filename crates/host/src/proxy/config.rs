//! `proxy.conf`: lines `KEY value`.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::map::parse_hosts;

/// The port on which proxies talk to each other.
const PEER_PORT: u16 = 32_767;

/// Why a configuration cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line is wrong.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The address of this host is unknown.
    #[error("{}: HOST is not set and {} names no host", path.display(), hosts.display())]
    NoHost {
        /// The configuration.
        path: PathBuf,
        /// The list of hosts.
        hosts: PathBuf,
    },
}

/// A range of ports, both ends included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PortRange {
    /// First port.
    pub first: u16,
    /// Last port.
    pub last: u16,
}

impl PortRange {
    fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = Self { first: first.trim().parse().ok()?, last: last.trim().parse().ok()? };
        (range.first > 0 && range.first <= range.last).then_some(range)
    }
}

/// How a proxy works.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Settings {
    /// The port map of this host.
    pub ports_conf: PathBuf,
    /// The list of hosts.
    pub hosts_conf: PathBuf,
    /// The address of this host: cluster ports and the peer port are bound to it.
    pub host: IpAddr,
    /// The port for other proxies.
    pub port: u16,
    /// Where pods listen.
    pub pod_host: IpAddr,
    /// Ports to listen on.
    pub cluster_ports: Vec<PortRange>,
    /// Seconds that connections have after the proxy was told to end.
    pub drain: u64,
}

impl Settings {
    /// Reads a configuration; paths in it are relative to it.
    ///
    /// # Errors
    ///
    /// It cannot be read or is wrong.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let base = path.parent().unwrap_or_else(|| Path::new(""));
        let mut ports_conf = base.join("portmappings.conf");
        let mut hosts_conf = base.join("hosts.conf");
        let (mut host, mut pod_host, mut port, mut drain) = (None, None, PEER_PORT, 30);
        let mut cluster_ports =
            vec![PortRange { first: 1024, last: 29_999 }, PortRange { first: 32_768, last: 65_535 }];
        for (index, line) in text.lines().enumerate() {
            let wrong =
                |message: String| ConfigError::Line { path: path.to_owned(), line: index + 1, message };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let value = value.trim();
            let address = || {
                value
                    .parse::<IpAddr>()
                    .map_err(|_| wrong(format!("{key} must be an IP address, this is `{value}`")))
            };
            match key {
                "PORTSCONF" => ports_conf = base.join(value),
                "HOSTSCONF" => hosts_conf = base.join(value),
                "HOST" => host = Some(address()?),
                "PODHOST" => pod_host = Some(address()?),
                "PORT" => port = value.parse().map_err(|_| wrong(format!("PORT `{value}` is not a port")))?,
                "DRAIN" => {
                    drain = value.parse().map_err(|_| wrong(format!("DRAIN `{value}` is not a number")))?
                }
                "CLUSTERPORTS" => {
                    let ranges: Option<Vec<PortRange>> = value.split(',').map(PortRange::parse).collect();
                    cluster_ports = ranges
                        .ok_or_else(|| wrong(format!("CLUSTERPORTS `{value}` is not a list of ranges")))?;
                }
                _ => {
                    let valid =
                        ["PORTSCONF", "HOSTSCONF", "HOST", "PODHOST", "PORT", "DRAIN", "CLUSTERPORTS"];
                    let hint = podsmith_object::suggest::hint(key, valid).unwrap_or_default();
                    return Err(wrong(format!("unknown key `{key}`, {hint}")));
                }
            }
        }
        let first = || {
            let hosts = std::fs::read_to_string(&hosts_conf).unwrap_or_default();
            parse_hosts(&hosts).first().map(SocketAddr::ip)
        };
        let host = host
            .or_else(first)
            .ok_or_else(|| ConfigError::NoHost { path: path.to_owned(), hosts: hosts_conf.clone() })?;
        Ok(Self {
            ports_conf,
            hosts_conf,
            host,
            port,
            pod_host: pod_host.unwrap_or(host),
            cluster_ports,
            drain,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_defaults_and_mistakes_have_lines() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("hosts.conf"), "10.0.0.1:32767\n").unwrap();
        let path = dir.path().join("proxy.conf");
        let settings = Settings::parse(&path, "# all defaults\n\nCLUSTERPORTS 61000-65535,2000\n").unwrap();
        assert_eq!(settings.host, "10.0.0.1".parse::<IpAddr>().unwrap());
        assert_eq!(settings.pod_host, settings.host);
        assert_eq!(settings.port, 32_767);
        assert_eq!(settings.cluster_ports[1], PortRange { first: 2000, last: 2000 });
        for (text, part) in [
            ("HOST here", ":1: HOST must be an IP address"),
            ("\nPORT x", ":2: PORT `x`"),
            ("CLUSTERPORTS 9-1", "not a list of ranges"),
            ("HOTS 1.2.3.4", "did you mean `HOST`?"),
        ] {
            let message = Settings::parse(&path, text).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        std::fs::remove_file(dir.path().join("hosts.conf")).unwrap();
        assert!(matches!(Settings::parse(&path, ""), Err(ConfigError::NoHost { .. })));
    }
}
