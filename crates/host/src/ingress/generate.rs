//! The text of haproxy.cfg.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use podsmith_object::{Diagnostic, Diagnostics};
use podsmith_pods::preprocess::{Lookup, Missing, Values, preprocess};
use sha2::{Digest, Sha256};

use super::rules::{Action, Protocol, Rule};

/// What the configuration is made for.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The host name of the proxy, as HAProxy knows it.
    pub proxy: String,
    /// Certificates: files or directories of PEM files.
    pub certificates: Vec<PathBuf>,
    /// A directory with fragments that replace ours: `main`, `frontend-http`, `frontend-https`, `frontend-tcp`,
    /// `backend-http_server`, `backend-https_server`, `backend-tcp_server`, `backend-http_general`,
    /// `backend-https_general`.
    pub templates: Option<PathBuf>,
    /// Values for the fragments: `INGRESS_MAXCONN`, `INGRESS_STATS` (an address), `INGRESS_SOCKET` (a path).
    pub variables: BTreeMap<String, String>,
    /// Other paths for error files, for checking where they are missing.
    pub errorfiles: BTreeMap<String, String>,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            proxy: "proxy".into(),
            certificates: vec!["/mnt/usercerts".into(), "/mnt/autocerts".into()],
            templates: None,
            variables: BTreeMap::from([("INGRESS_MAXCONN".into(), "4096".into())]),
            errorfiles: BTreeMap::new(),
        }
    }
}

struct Variables<'a>(&'a BTreeMap<String, String>);

impl Values for Variables<'_> {
    fn lookup(&mut self, name: &str) -> Lookup {
        Lookup::Value(self.0.get(name).cloned().unwrap_or_default())
    }
}

impl Surroundings {
    /// A fragment with its variables and directives applied, ending with a line break unless empty.
    fn fragment(&self, name: &str) -> Result<String, Diagnostics> {
        let own = match name {
            "main" => include_str!("templates/main.cfg"),
            "frontend-http" => include_str!("templates/frontend-http.cfg"),
            "frontend-https" => include_str!("templates/frontend-https.cfg"),
            "frontend-tcp" => include_str!("templates/frontend-tcp.cfg"),
            "backend-tcp_server" => "    mode tcp\n    balance leastconn\n",
            _ => "    mode http\n",
        };
        let path = self.templates.as_ref().map(|dir| dir.join(name)).filter(|path| path.is_file());
        let text = match &path {
            None => own.to_owned(),
            Some(path) => std::fs::read_to_string(path).map_err(|error| {
                Diagnostic::error(format!("cannot read {}", path.display())).because(error.to_string())
            })?,
        };
        let file = path.map_or_else(|| name.to_owned(), |path| path.display().to_string());
        let mut done = preprocess(&file, &text, &mut Variables(&self.variables), Missing::Warn)?.text;
        if !done.is_empty() && !done.ends_with('\n') {
            done.push('\n');
        }
        Ok(done)
    }
}

struct Frontend<'a> {
    bind: u16,
    protocol: Protocol,
    rules: Vec<(usize, &'a Rule, String)>,
}

struct Backend<'a> {
    name: String,
    rule: &'a Rule,
    ports: Vec<u16>,
}

/// Writes the configuration. Equal rules of several pods share one backend with several servers; the order is that of
/// the first appearance, so equal input gives equal text.
///
/// # Errors
///
/// One port with two protocols, or a fragment that cannot be read.
pub fn generate(rules: &[Rule], surroundings: &Surroundings) -> Result<String, Diagnostics> {
    let (frontends, backends) = arrange(rules)?;
    let mut out = surroundings.fragment("main")?;
    for frontend in &frontends {
        write_frontend(&mut out, frontend, surroundings)?;
    }
    for backend in &backends {
        write_backend(&mut out, backend, surroundings)?;
    }
    Ok(out)
}

fn arrange(rules: &[Rule]) -> Result<(Vec<Frontend<'_>>, Vec<Backend<'_>>), Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut frontends: Vec<Frontend<'_>> = Vec::new();
    let mut backends: Vec<Backend<'_>> = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let mut name = backend_name(rule, false);
        let other = backends.iter().find(|backend| backend.name == name);
        let general = kind(rule) == "general";
        if general && other.is_some_and(|backend| backend.rule.action != rule.action) {
            name = backend_name(rule, true);
        }
        let at = frontends.iter().position(|frontend| frontend.bind == rule.bind);
        let frontend = match at.and_then(|at| frontends.get_mut(at)) {
            Some(frontend) => frontend,
            None => {
                let new = Frontend { bind: rule.bind, protocol: rule.protocol, rules: Vec::new() };
                frontends.push(new);
                let Some(last) = frontends.last_mut() else { continue };
                last
            }
        };
        if frontend.protocol != rule.protocol {
            let (here, there) = (rule.protocol.as_str(), frontend.protocol.as_str());
            let message = format!("port {} is used for {here} here and for {there} elsewhere", rule.bind);
            problems.push(Diagnostic::error(message).at(rule.place.clone()));
            continue;
        }
        if !frontend.rules.iter().any(|(_, _, known)| *known == name) {
            frontend.rules.push((index + 1, rule, name.clone()));
        }
        let at = backends.iter().position(|backend| backend.name == name);
        match at.and_then(|at| backends.get_mut(at)) {
            Some(backend) => add_port(backend, rule),
            None => {
                let mut backend = Backend { name, rule, ports: Vec::new() };
                add_port(&mut backend, rule);
                backends.push(backend);
            }
        }
    }
    for frontend in &mut frontends {
        frontend.rules.sort_by(|a, b| b.1.weight.cmp(&a.1.weight).then_with(|| b.2.cmp(&a.2)));
    }
    problems.into_result((frontends, backends))
}

fn add_port(backend: &mut Backend<'_>, rule: &Rule) {
    if let Action::ClusterPort(port) = rule.action
        && !backend.ports.contains(&port)
    {
        backend.ports.push(port);
    }
}

fn kind(rule: &Rule) -> &'static str {
    if matches!(rule.action, Action::ClusterPort(_)) { "server" } else { "general" }
}

/// Hosts that must be equal, and suffixes. A port that is not the usual one stands in the header too.
fn hosts(rule: &Rule) -> (Vec<String>, Vec<String>) {
    let usual = matches!(
        (rule.protocol, rule.bind),
        (Protocol::Http, 80) | (Protocol::Https, 443) | (Protocol::Tcp, _)
    );
    let (mut exact, mut suffixes) = (Vec::new(), Vec::new());
    for host in &rule.hosts {
        let (list, name) = match host.strip_prefix('*') {
            Some(suffix) => (&mut suffixes, suffix),
            None => (&mut exact, host.as_str()),
        };
        list.push(name.to_owned());
        if !usual {
            list.push(format!("{name}:{}", rule.bind));
        }
    }
    (exact, suffixes)
}

/// The name of a rule's backend. A twin matches the same as another rule but does something else: its name tells more.
fn backend_name(rule: &Rule, twin: bool) -> String {
    let mut criteria = String::new();
    for (key, paths) in [("path", &rule.path), ("path_beg", &rule.path_beg), ("path_end", &rule.path_end)] {
        if !paths.is_empty() {
            let _ = write!(criteria, "{{ {key} {}}}", paths.join(" "));
        }
    }
    let (exact, suffixes) = hosts(rule);
    if !exact.is_empty() || !suffixes.is_empty() {
        let _ = write!(criteria, "{{ host {} {}}}", suffixes.join(" "), exact.join(" "));
    }
    let tail = match &rule.action {
        Action::RedirectLocation(target) if twin => format!("location {target}"),
        Action::RedirectPrefix(target) if twin => format!("prefix {target}"),
        Action::Errorfile { code, file } if twin => format!("errorfile {code} {file}"),
        _ => String::new(),
    };
    let protocol = rule.protocol.as_str();
    let text = format!("{}-{protocol}_{}-{}-{criteria}{tail}\n", rule.bind, kind(rule), rule.weight);
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Quotes a word where HAProxy would see more than characters in it.
fn quote(word: &str) -> String {
    let plain =
        |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '#' | '\'' | '"' | '\\' | '$');
    if word.chars().all(plain) {
        return word.to_owned();
    }
    let cleaned: String = word.chars().filter(|c| !c.is_control()).collect();
    format!("'{}'", cleaned.replace('\'', "'\\''"))
}

fn patterns(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    let guard = if words.iter().any(|word| word.starts_with('-')) { "-- " } else { "" };
    format!("{guard}{}", quoted.join(" "))
}

fn write_frontend(
    out: &mut String,
    frontend: &Frontend<'_>,
    surroundings: &Surroundings,
) -> Result<(), Diagnostics> {
    let (bind, protocol) = (frontend.bind, frontend.protocol.as_str());
    let _ = writeln!(out, "\nfrontend {bind}-{protocol}");
    let certificates: String = match frontend.protocol {
        Protocol::Https => {
            let files = surroundings
                .certificates
                .iter()
                .map(|path| format!(" crt {}", quote(&path.display().to_string())));
            format!(" ssl{}", files.collect::<String>())
        }
        _ => String::new(),
    };
    let _ = writeln!(out, "    bind :{bind}{certificates}");
    out.push_str(&surroundings.fragment(&format!("frontend-{protocol}"))?);
    let by_name = frontend.rules.iter().any(|(_, rule, _)| !rule.hosts.is_empty());
    if frontend.protocol == Protocol::Tcp && by_name {
        // The name is in the first message of TLS. Without rules by name nothing is waited for, so that servers which
        // speak first are heard.
        out.push_str(
            "    tcp-request inspect-delay 5s\n    tcp-request content accept if { req.ssl_hello_type 1 }\n",
        );
    }
    for (number, rule, name) in &frontend.rules {
        write_rule(out, *number, rule, name);
    }
    Ok(())
}

fn write_rule(out: &mut String, number: usize, rule: &Rule, name: &str) {
    let mut conditions = Vec::new();
    for (label, method, paths) in [
        ("PATH", "path", &rule.path),
        ("PATH_BEG", "path_beg", &rule.path_beg),
        ("PATH_END", "path_end", &rule.path_end),
    ] {
        if !paths.is_empty() {
            let _ = writeln!(out, "    acl {label}-{number} {method} {}", patterns(paths));
            conditions.push(format!("{label}-{number}"));
        }
    }
    let source = if rule.protocol == Protocol::Tcp { "req.ssl_sni" } else { "hdr(host)" };
    let (exact, suffixes) = hosts(rule);
    if !exact.is_empty() {
        let _ = writeln!(out, "    acl HOST-{number} {source} -i {}", patterns(&exact));
    }
    if !suffixes.is_empty() {
        let _ = writeln!(out, "    acl HOST-{number} {source},lower -m end {}", patterns(&suffixes));
    }
    if !exact.is_empty() || !suffixes.is_empty() {
        conditions.push(format!("HOST-{number}"));
    }
    // A rule without criteria takes what is left; an empty `if` would never match.
    let condition =
        if conditions.is_empty() { String::new() } else { format!(" if {}", conditions.join(" ")) };
    let _ = writeln!(out, "    use_backend {name}{condition}");
}

fn write_backend(
    out: &mut String,
    backend: &Backend<'_>,
    surroundings: &Surroundings,
) -> Result<(), Diagnostics> {
    let rule = backend.rule;
    let _ = writeln!(out, "\nbackend {}", backend.name);
    out.push_str(&surroundings.fragment(&format!("backend-{}_{}", rule.protocol.as_str(), kind(rule)))?);
    match &rule.action {
        Action::ClusterPort(_) => {
            for port in &backend.ports {
                let _ =
                    writeln!(out, "    server clusterPort-{port} {}:{port} send-proxy", surroundings.proxy);
            }
        }
        Action::RedirectToHttps => out.push_str("    redirect scheme https code 301\n"),
        Action::RedirectLocation(text) => {
            let _ = writeln!(out, "    redirect location {} code 301", quote(text));
        }
        Action::RedirectPrefix(text) => {
            let _ = writeln!(out, "    redirect prefix {} code 301", quote(text));
        }
        Action::Errorfile { code, file } => {
            let file = surroundings.errorfiles.get(file).unwrap_or(file);
            let _ = writeln!(out, "    errorfile {code} {}", quote(file));
            // A backend without servers answers 503 by itself; every other status must be asked for.
            if *code != 503 {
                let _ = writeln!(out, "    http-request return status {code} default-errorfiles");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rules::parse;
    use super::*;

    fn rules(text: &str) -> Vec<Rule> {
        parse("pod.ingress.conf", &text.replace('|', "\n")).unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// The lines that depend on the rules.
    fn essence(text: &str) -> String {
        let words = [
            "frontend",
            "backend",
            "bind",
            "mode",
            "acl",
            "use_backend",
            "server",
            "redirect",
            "errorfile",
            "http-request return",
        ];
        let kept = text
            .lines()
            .filter(|line| words.iter().any(|word| line.trim_start().starts_with(&format!("{word} "))));
        kept.collect::<Vec<_>>().join("\n")
    }

    fn generated(text: &str) -> String {
        essence(&generate(&rules(text), &Surroundings::default()).unwrap())
    }

    const SHOP: &str = "bind 443|protocol https|host b.example.com a.example.com|weight 120|path_beg /api/ /|clusterport 61001|bind 80|protocol http|host a.example.com|weight 100|redirect_to_https true|";

    #[test]
    fn the_worked_example() {
        insta::assert_snapshot!(generated(SHOP), @"
        frontend 443-https
            bind :443 ssl crt /mnt/usercerts crt /mnt/autocerts
            mode http
            acl PATH_BEG-1 path_beg / /api/
            acl HOST-1 hdr(host) -i a.example.com b.example.com
            use_backend 6f33b2c12fd0b53b31078f6a8e3fccb95159e78539a9800ddcd3788e466721d0 if PATH_BEG-1 HOST-1
        frontend 80-http
            bind :80
            mode http
            acl HOST-2 hdr(host) -i a.example.com
            use_backend 29030a18836cb907704608139057a033ea20cb1381c9695e8a14235a57d835a9 if HOST-2
        backend 6f33b2c12fd0b53b31078f6a8e3fccb95159e78539a9800ddcd3788e466721d0
            mode http
            server clusterPort-61001 proxy:61001 send-proxy
        backend 29030a18836cb907704608139057a033ea20cb1381c9695e8a14235a57d835a9
            mode http
            redirect scheme https code 301
        ");
    }

    #[test]
    fn equal_rules_share_a_backend() {
        let text = generated(&format!("{SHOP}{}", SHOP.replace("61001", "61002")));
        assert!(text.contains("server clusterPort-61001 proxy:61001 send-proxy\n    server clusterPort-61002 proxy:61002 send-proxy"));
        assert_eq!(text.matches("use_backend").count(), 2);
    }

    #[test]
    fn rules_that_match_the_same_but_do_something_else_have_their_own_backends() {
        let text = generated(
            "bind 80|protocol http|host a|weight 1|redirect_prefix x|bind 80|protocol http|host a|weight 1|redirect_prefix y|",
        );
        assert_eq!(text.matches("\nbackend ").count(), 2, "{text}");
        let name = |text: &str| backend_name(&rules(text)[0], false);
        let sum = |text: &str| {
            Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        assert_eq!(
            name("bind 80|protocol http|host a|redirect_prefix x"),
            sum("80-http_general-100-{ host  a}\n")
        );
        assert_eq!(
            name("bind 80|protocol http|host *.a b|redirect_prefix x"),
            sum("80-http_general-100-{ host .a b}\n")
        );
    }

    #[test]
    fn odd_rules_have_a_meaning() {
        let text = generated(
            "bind 8080|protocol http|host *|weight 1|redirect_location https://a/%20b|\
             bind 8080|protocol http|host *.x.org y.org|weight 9|errorfile 404 /e/404.http|\
             bind 8080|protocol http|host *.x.org|weight 8|errorfile 503 /e/503.http|\
             bind 5432|protocol tcp|host |weight 100|clusterport 2000|\
             bind 4433|protocol tcp|host *.t.org t.org|weight 100|clusterport 2001|",
        );
        assert!(text.contains("acl HOST-2 hdr(host) -i y.org y.org:8080\n    acl HOST-2 hdr(host),lower -m end .x.org .x.org:8080\n"), "{text}");
        assert!(
            text.contains("errorfile 404 /e/404.http\n    http-request return status 404 default-errorfiles")
        );
        assert!(!text.contains("status 503"));
        assert!(text.contains("redirect location https://a/%20b code 301"));
        assert!(
            text.contains("acl HOST-5 req.ssl_sni -i t.org\n    acl HOST-5 req.ssl_sni,lower -m end .t.org")
        );
        assert!(text.lines().all(|line| !line.ends_with(" if") && !line.ends_with("if ")));
        let order: Vec<usize> =
            ["HOST-2", "HOST-3", "use_backend"].iter().filter_map(|word| text.find(word)).collect();
        assert!(order[0] < order[1], "higher weights first");
    }

    #[test]
    fn rules_that_cannot_work_are_refused_with_their_line() {
        for (text, part) in [
            ("bind 80|protocol http|weight 1|path /a|path_beg /|clusterport 2000", "together"),
            ("bind 80|protocol tcp|weight 1|path /a|clusterport 2000", "tcp cannot have"),
            ("bind 80|protocol tcp|weight 1|redirect_prefix x", "tcp cannot have"),
            ("bind 80|protocol https|weight 1|redirect_to_https true", "cannot redirect"),
            ("bind 80|protocol http|weight 1|path /|clusterport 64000", "64000"),
            ("bind 80|protocol http|weight 1", "no action"),
            ("bind 80|protocol http|clusterport 1|redirect_prefix x", "more than one"),
            ("bind 0|protocol http|clusterport 1", "not a port"),
            ("bind 80|protcol http", "unknown key"),
        ] {
            let message = parse("f", &text.replace('|', "\n")).unwrap_err().to_string();
            assert!(message.contains(part) && message.starts_with("error: f:"), "{message}");
        }
        let two =
            rules("bind 80|protocol http|path /|clusterport 2000|bind 80|protocol tcp|clusterport 2001|");
        assert!(
            generate(&two, &Surroundings::default())
                .unwrap_err()
                .to_string()
                .contains("port 80 is used for tcp here")
        );
    }

    #[test]
    fn words_cannot_leave_their_line() {
        assert_eq!(quote("/a#b"), "'/a#b'");
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(quote("/plain"), "/plain");
    }
}
