//! Addresses of directories in git repositories.

/// A directory in a git repository, as kustomizations write it: `https://host/org/repo//path?ref=v1`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RepositoryAddress {
    /// What to clone.
    pub clone: String,
    /// Path of the directory in the repository; empty for its root.
    pub path: String,
    /// Branch, tag or commit; empty for the default branch.
    pub reference: String,
    /// Fetch submodules too.
    pub submodules: bool,
    /// How long fetching may take, in seconds.
    pub timeout_seconds: u64,
}

const DEFAULT_TIMEOUT: u64 = 27;

impl RepositoryAddress {
    /// Reads an address; `None` if the text cannot be one, and so must be a local path.
    ///
    /// ```
    /// use podsmith_kustomize::RepositoryAddress;
    /// let address = RepositoryAddress::parse("github.com/org/repo/base?ref=v1").unwrap();
    /// assert_eq!(address.clone, "https://github.com/org/repo");
    /// assert_eq!((address.path.as_str(), address.reference.as_str()), ("base", "v1"));
    /// assert_eq!(RepositoryAddress::parse("../base"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with('/') {
            return None;
        }
        let (location, query) = text.split_once('?').unwrap_or((text, ""));
        let (host, rest) = split_host(location)?;
        let whole_path = host.starts_with("file://");
        let (repository, path) = explicit_split(rest).or_else(|| short_split(rest, whole_path))?;
        if repository.is_empty() || leaves_repository(&path) {
            return None;
        }
        let mut address = Self {
            clone: format!("{host}{repository}"),
            path: path.trim_start_matches('/').to_owned(),
            submodules: true,
            timeout_seconds: DEFAULT_TIMEOUT,
            ..Self::default()
        };
        address.read_query(query);
        Some(address)
    }

    fn read_query(&mut self, query: &str) {
        let mut version = String::new();
        for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let value = decode(value);
            match key {
                "ref" => self.reference = value,
                "version" => version = value,
                "submodules" => {
                    self.submodules = !matches!(value.as_str(), "false" | "0" | "f" | "F" | "False")
                }
                "timeout" => {
                    let seconds = value.strip_suffix('s').unwrap_or(&value).parse().unwrap_or(0);
                    self.timeout_seconds = if seconds > 0 { seconds } else { DEFAULT_TIMEOUT };
                }
                _ => {}
            }
        }
        if self.reference.is_empty() {
            self.reference = version;
        }
    }
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = match (first, more) {
            (b'%', [a, b, ..]) => {
                std::str::from_utf8(&[*a, *b]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        match code {
            Some(code) => {
                bytes.push(code);
                rest = more.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn strip_prefix_any_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The part to put before the repository path, and that path.
fn split_host(text: &str) -> Option<(String, &str)> {
    let text = strip_prefix_any_case(text, "git::").unwrap_or(text);
    let (scheme, text) = ["ssh://", "https://", "http://", "file://"]
        .into_iter()
        .find_map(|scheme| strip_prefix_any_case(text, scheme).map(|rest| (scheme, rest)))
        .unwrap_or(("", text));
    let (user, rest) = split_user(text);
    let lower = rest.get(..11).map(str::to_ascii_lowercase).unwrap_or_default();
    let github = lower == "github.com/" || lower == "github.com:";
    let colon_allowed = scheme.is_empty() && (!user.is_empty() || github);
    if scheme.is_empty() && !colon_allowed {
        return None;
    }
    if scheme == "file://" {
        return Some((scheme.to_owned(), text));
    }
    let mut separator = rest.find('/');
    if colon_allowed
        && let Some(colon) = rest.find(':')
        && separator.is_none_or(|slash| colon > 0 && colon < slash)
    {
        separator = Some(colon);
    }
    let (host, path) = match separator {
        Some(index) => rest.split_at(index + 1),
        None => (rest, ""),
    };
    if github {
        let normal = if scheme == "ssh://" || !user.is_empty() {
            format!("{user}github.com:")
        } else {
            "https://github.com/".to_owned()
        };
        return Some((normal, path));
    }
    (!host.is_empty()).then(|| (format!("{scheme}{user}{host}"), path))
}

fn split_user(text: &str) -> (&str, &str) {
    let Some(at) = text.find('@') else { return ("", text) };
    let name = &text[..at];
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if valid { text.split_at(at + 1) } else { ("", text) }
}

fn explicit_split(text: &str) -> Option<(String, String)> {
    if let Some(index) = text.find("_git/") {
        let (before, after) = text.split_at(index + "_git/".len());
        let (name, path) = after.split_once('/').unwrap_or((after, ""));
        return Some((format!("{before}{name}"), path.to_owned()));
    }
    if let Some((repository, path)) = text.split_once("//") {
        return Some((repository.to_owned(), path.to_owned()));
    }
    let end = text.find(".git")? + ".git".len();
    let (repository, path) = text.split_at(end);
    Some((repository.to_owned(), path.to_owned()))
}

fn short_split(text: &str, whole_path: bool) -> Option<(String, String)> {
    if whole_path {
        return Some((text.to_owned(), String::new()));
    }
    let segments: Vec<&str> = text.split('/').collect();
    let (repository, path) = segments.split_at_checked(2)?;
    Some((repository.join("/"), path.join("/")))
}

fn leaves_repository(path: &str) -> bool {
    let mut depth = 0i32;
    for step in path.trim_start_matches('/').split('/') {
        match step {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_local_paths_are_told_apart() {
        let cases = [
            (
                "https://github.com/org/repo//a/b?ref=main",
                Some(("https://github.com/org/repo", "a/b", "main")),
            ),
            ("github.com/org/repo/a?ref=v1", Some(("https://github.com/org/repo", "a", "v1"))),
            ("git@github.com:org/repo.git//x", Some(("git@github.com:org/repo.git", "x", ""))),
            ("ssh://git@host.example/org/repo.git/x", Some(("ssh://git@host.example/org/repo.git", "x", ""))),
            (
                "https://dev.example/org/_git/repo/x?version=b",
                Some(("https://dev.example/org/_git/repo", "x", "b")),
            ),
            ("git::https://host.example/a/b/c", Some(("https://host.example/a/b", "c", ""))),
            ("https://host.example/a", None),
            ("https://github.com/org/repo//../x", None),
            ("../base", None),
            ("base", None),
            ("/abs", None),
            ("github.com", None),
        ];
        for (text, expected) in cases {
            let found = RepositoryAddress::parse(text);
            let found = found.as_ref().map(|a| (a.clone.as_str(), a.path.as_str(), a.reference.as_str()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
