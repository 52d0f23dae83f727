//! Ingress files: blocks of `key value` lines. A key that comes again starts the next block.

use podsmith_object::{Diagnostic, Diagnostics, Place};
pub use podsmith_pods::spec::Protocol;

/// What a rule does with its matches.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Action {
    /// Sends them to a cluster port.
    ClusterPort(u16),
    /// Redirects to https.
    RedirectToHttps,
    /// Redirects to one address.
    RedirectLocation(String),
    /// Redirects to a prefix.
    RedirectPrefix(String),
    /// Answers with a file.
    Errorfile {
        /// Status.
        code: u16,
        /// Path where HAProxy runs.
        file: String,
    },
}

/// One rule, normalised: hosts in small letters, everything sorted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// Where it was written.
    pub place: Place,
    /// Port that HAProxy listens on.
    pub bind: u16,
    /// Protocol.
    pub protocol: Protocol,
    /// Hosts; `*x` is a suffix.
    pub hosts: Vec<String>,
    /// Higher comes first.
    pub weight: i64,
    /// Whole paths.
    pub path: Vec<String>,
    /// Beginnings.
    pub path_beg: Vec<String>,
    /// Endings.
    pub path_end: Vec<String>,
    /// What happens.
    pub action: Action,
}

const KEYS: &[&str] = &[
    "bind",
    "protocol",
    "host",
    "weight",
    "importance",
    "path",
    "path_beg",
    "path_end",
    "redirect_to_https",
    "redirect_location",
    "redirect_prefix",
    "errorfile",
    "clusterport",
];

type Block<'a> = Vec<(usize, &'a str, &'a str)>;

/// Reads the rules of one file.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn parse(file: &str, text: &str) -> Result<Vec<Rule>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        if !KEYS.contains(&key) {
            let hint = podsmith_object::suggest::hint(key, KEYS.iter().copied());
            let message = format!("unknown key `{key}` in an ingress file");
            problems.push(Diagnostic::error(message).at(Place::new(file, index + 1, 1)).with_hint_if(hint));
            continue;
        }
        let again = blocks.last().is_none_or(|block| block.iter().any(|(_, known, _)| *known == key));
        if again {
            blocks.push(Vec::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.push((index + 1, key, value.trim()));
        }
    }
    let mut rules = Vec::new();
    for block in &blocks {
        match read_block(file, block) {
            Ok(rule) => rules.push(rule),
            Err(message) => {
                let line = block.first().map_or(0, |(line, _, _)| *line);
                problems.push(Diagnostic::error(message).at(Place::new(file, line, 0)));
            }
        }
    }
    problems.into_result(rules)
}

fn read_block(file: &str, block: &Block<'_>) -> Result<Rule, String> {
    let line = block.first().map_or(0, |(line, _, _)| *line);
    let place = Place::new(file, line, 0);
    let get = |key: &str| block.iter().find(|(_, known, _)| *known == key).map(|(_, _, value)| *value);
    let words = |key: &str| {
        let mut words: Vec<String> =
            get(key).unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        words.sort();
        words.dedup();
        words
    };
    let port = |key: &str, text: &str| {
        text.parse::<u16>()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| format!("{key} `{text}` is not a port"))
    };
    let protocol = match get("protocol") {
        Some("http") => Protocol::Http,
        Some("https") => Protocol::Https,
        Some("tcp") => Protocol::Tcp,
        other => {
            return Err(format!("protocol `{}` is none of http, https, tcp", other.unwrap_or_default()));
        }
    };
    let bind = port("bind", get("bind").unwrap_or_default())?;
    let weight = get("weight").or_else(|| get("importance")).unwrap_or("100");
    let weight = weight.parse().map_err(|_| format!("weight `{weight}` is not a number"))?;
    let mut hosts: Vec<String> = words("host").iter().map(|host| host.to_ascii_lowercase()).collect();
    hosts.sort();
    hosts.dedup();
    // `*` matches every host, which is the same as no host at all.
    if hosts.iter().any(|host| host == "*") {
        hosts.clear();
    }
    let action = read_action(block, &port)?;
    let rule = Rule {
        place,
        bind,
        protocol,
        hosts,
        weight,
        path: words("path"),
        path_beg: words("path_beg"),
        path_end: words("path_end"),
        action,
    };
    check(&rule)?;
    Ok(rule)
}

fn read_action(
    block: &Block<'_>,
    port: &impl Fn(&str, &str) -> Result<u16, String>,
) -> Result<Action, String> {
    let mut found = Vec::new();
    for (_, key, value) in block {
        found.push(match *key {
            "redirect_to_https" if *value == "true" => Action::RedirectToHttps,
            "redirect_location" => Action::RedirectLocation((*value).to_owned()),
            "redirect_prefix" => Action::RedirectPrefix((*value).to_owned()),
            "clusterport" => Action::ClusterPort(port("clusterport", value)?),
            "errorfile" => {
                let parsed =
                    value.split_once(' ').and_then(|(code, file)| Some((code.parse().ok()?, file.trim())));
                let Some((code, file)) = parsed else {
                    return Err(format!("errorfile `{value}` is malformed"));
                };
                Action::Errorfile { code, file: file.to_owned() }
            }
            _ => continue,
        });
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(action), None) => Ok(action),
        (None, _) => Err("the rule has no action".into()),
        (Some(_), Some(_)) => Err("the rule has more than one action".into()),
    }
}

fn check(rule: &Rule) -> Result<(), &'static str> {
    let parts = !rule.path_beg.is_empty() || !rule.path_end.is_empty();
    if !rule.path.is_empty() && parts {
        return Err("path cannot be used together with path_beg or path_end");
    }
    let backend = matches!(rule.action, Action::ClusterPort(_));
    if rule.protocol == Protocol::Tcp && (parts || !rule.path.is_empty() || !backend) {
        return Err("tcp cannot have paths, redirects or error files");
    }
    if rule.protocol == Protocol::Https && rule.action == Action::RedirectToHttps {
        return Err("a https rule cannot redirect to https");
    }
    if matches!(rule.action, Action::ClusterPort(port) if port >= 64_000) {
        return Err(
            "cluster ports from 64000 are kept inside the cluster and may not be reached from outside",
        );
    }
    Ok(())
}
