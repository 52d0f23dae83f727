//! The directories of a host.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// What a release should be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Wanted {
    /// Running.
    Running,
    /// Stopped.
    Stopped,
    /// Removed.
    Removed,
    /// A word we do not know.
    Unknown(String),
}

impl Wanted {
    /// Reads the content of `pod.state`.
    pub fn parse(text: &str) -> Self {
        match text.trim() {
            "running" => Self::Running,
            "stopped" => Self::Stopped,
            "removed" => Self::Removed,
            other => Self::Unknown(other.to_owned()),
        }
    }

    /// The word in the file.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Removed => "removed",
            Self::Unknown(word) => word,
        }
    }
}

/// The home of one cluster on a host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Home(PathBuf);

/// One version of one pod.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Release {
    /// Pod name.
    pub pod: String,
    /// Version.
    pub version: String,
    /// Its directory.
    pub dir: PathBuf,
}

/// The homes at `path`: itself, or the ones one or two levels below it.
pub fn homes(path: &Path) -> Vec<Home> {
    let is_home = |path: &Path| path.join("cluster-id.txt").is_file() && path.join("pods").is_dir();
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if is_home(&path) {
        return vec![Home(path)];
    }
    let mut found = Vec::new();
    for child in directories(&path) {
        if is_home(&child) {
            found.push(Home(child));
        } else {
            found.extend(directories(&child).into_iter().filter(|path| is_home(path)).map(Home));
        }
    }
    found
}

/// The directories in `path` that are not hidden, sorted.
fn directories(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Home {
    /// A home that need not be complete.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The releases with a pod and a wanted state, sorted.
    pub fn releases(&self) -> Vec<Release> {
        let pods = directories(&self.0.join("pods"));
        let releases = pods.iter().flat_map(|pod| {
            directories(&pod.join("release")).into_iter().map(|dir| Release {
                pod: name(pod),
                version: name(&dir),
                dir,
            })
        });
        releases.filter(|release| release.executable().is_file() && release.wanted().is_some()).collect()
    }

    /// The address that pods bind to: the first line of `hosts.conf`, which is this host.
    pub fn interface(&self) -> Option<IpAddr> {
        let text = fs::read_to_string(self.0.join("hosts.conf")).ok()?;
        let first = text.split_whitespace().next()?;
        let address = first.parse::<std::net::SocketAddr>().map(|address| address.ip());
        address.ok().or_else(|| first.parse().ok())
    }
}

impl Release {
    /// `pod:version`.
    pub fn id(&self) -> String {
        format!("{}:{}", self.pod, self.version)
    }

    /// The compiled pod.
    pub fn executable(&self) -> PathBuf {
        self.dir.join("pod")
    }

    /// What it should be, if that is written.
    pub fn wanted(&self) -> Option<Wanted> {
        fs::read_to_string(self.dir.join("pod.state")).ok().map(|text| Wanted::parse(&text))
    }

    /// The lines of its port map, in either of the two file names.
    pub fn port_map(&self) -> BTreeSet<String> {
        let files = ["pod.portmappings.conf", "pod.proxy.conf"];
        let text =
            files.iter().find_map(|file| fs::read_to_string(self.dir.join(file)).ok()).unwrap_or_default();
        text.split_whitespace()
            .filter(|line| crate::proxy::Mapping::parse(line).is_some())
            .map(str::to_owned)
            .collect()
    }
}

/// Writes a file through a rename, unless it has this content already; true means that it was written.
///
/// # Errors
///
/// The directory cannot be written.
pub fn write_if_changed(path: &Path, content: &[u8]) -> io::Result<bool> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    let temporary = path.with_file_name(format!(".{}.{}.tmp", name(path), std::process::id()));
    fs::write(&temporary, content)?;
    fs::set_permissions(&temporary, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    fs::rename(&temporary, path)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_and_releases_are_found_in_order() {
        let dir = tempfile::tempdir().unwrap();
        for home in ["alice/one", "bob/two"] {
            let home = dir.path().join(home);
            fs::create_dir_all(home.join("pods")).unwrap();
            fs::write(home.join("cluster-id.txt"), "x").unwrap();
        }
        let one = dir.path().join("alice/one");
        for release in ["web/release/2.0.0", "web/release/1.0.0", "web/release/.old", "db/release/1.0.0"] {
            let dir = one.join("pods").join(release);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("pod"), "").unwrap();
            fs::write(dir.join("pod.state"), "running\n").unwrap();
        }
        fs::remove_file(one.join("pods/web/release/2.0.0/pod.state")).unwrap();
        assert_eq!(homes(dir.path()).len(), 2);
        assert_eq!(homes(&one).len(), 1);
        let ids: Vec<String> = homes(&one)[0].releases().iter().map(Release::id).collect();
        assert_eq!(ids, ["db:1.0.0", "web:1.0.0"]);
    }

    #[test]
    fn the_interface_is_the_first_host() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        assert_eq!(home.interface(), None);
        for (text, address) in [
            ("10.0.0.1:32767\n10.0.0.2:32767\n", "10.0.0.1"),
            ("[fd00::1]:32767", "fd00::1"),
            ("10.0.0.9", "10.0.0.9"),
        ] {
            fs::write(dir.path().join("hosts.conf"), text).unwrap();
            assert_eq!(home.interface(), Some(address.parse().unwrap()));
        }
    }
}
