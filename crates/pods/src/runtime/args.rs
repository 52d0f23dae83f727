//! The command line of a compiled pod. It is small and fixed, and must start fast, so it is read by hand.

use std::net::IpAddr;

use super::lifecycle::{HostShared, Manner};

/// How data is printed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Output {
    #[default]
    Text,
    Json,
}

/// What `create-ramdisks` is to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ramdisks {
    Mount,
    List,
    Unmount,
}

/// Which log lines to show and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LogQuery {
    pub containers: Vec<String>,
    pub supervisor: bool,
    /// Unix seconds; negative is an age.
    pub since: Option<i64>,
    /// Positive: the first n; negative: the last n.
    pub limit: Option<i64>,
    pub streams: Option<String>,
    pub details: Option<String>,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Help,
    Version,
    Info,
    Status,
    Ps,
    Readiness,
    Liveness,
    Download { force: bool },
    Create { interface: Option<IpAddr> },
    Start,
    Run { interface: Option<IpAddr>, wait: Option<u64> },
    Stop,
    Kill,
    Remove { manner: Manner },
    Rerun { interface: Option<IpAddr>, manner: Manner },
    RerunContainers { names: Vec<String> },
    Signal { names: Vec<String> },
    ReloadConfigs { names: Vec<String> },
    CreateVolumes,
    RamdiskConfig,
    CreateRamdisks(Ramdisks),
    Logs(LogQuery),
    Shell { container: Option<String>, shell: &'static str, command: Vec<String> },
    Exec { container: String, command: Vec<String> },
    Attach { container: Option<String> },
    Purge { shared: HostShared },
    Supervise { interface: Option<IpAddr> },
}

/// All actions, for the help and for hints.
pub(super) const ACTIONS: &[&str] = &[
    "help",
    "version",
    "info",
    "status",
    "ps",
    "download",
    "create",
    "start",
    "stop",
    "kill",
    "run",
    "rerun",
    "rm",
    "purge",
    "readiness",
    "liveness",
    "signal",
    "reload-configs",
    "create-volumes",
    "ramdisk-config",
    "create-ramdisks",
    "logs",
    "shell",
    "exec",
    "attach",
];

/// Words with options taken out one by one.
struct Words {
    left: Vec<String>,
    /// Words behind `--`.
    tail: Option<Vec<String>>,
}

impl Words {
    fn new(words: &[String]) -> Self {
        match words.iter().position(|word| word == "--") {
            None => Self { left: words.to_vec(), tail: None },
            Some(at) => Self {
                left: words.get(..at).unwrap_or_default().to_vec(),
                tail: Some(words.get(at + 1..).unwrap_or_default().to_vec()),
            },
        }
    }

    fn flag(&mut self, names: &[&str]) -> bool {
        let before = self.left.len();
        self.left.retain(|word| !names.contains(&word.as_str()));
        self.left.len() != before
    }

    /// Takes `-x value`, `-xvalue` is not a form; `--long=value` and `--long value` are.
    fn value(&mut self, names: &[&str]) -> Result<Option<String>, String> {
        let found = self.left.iter().position(|word| {
            names
                .iter()
                .any(|name| word == name || name.starts_with("--") && word.starts_with(&format!("{name}=")))
        });
        let Some(at) = found else { return Ok(None) };
        let word = self.left.remove(at);
        if let Some((_, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
            return Ok(Some(value.to_owned()));
        }
        if at < self.left.len() {
            Ok(Some(self.left.remove(at)))
        } else {
            Err(format!("option {word} needs a value"))
        }
    }

    fn interface(&mut self) -> Result<Option<IpAddr>, String> {
        let Some(text) = self.value(&["--host-interface"])?.filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|_| format!("--host-interface must be an IP address, this is `{text}`"))
    }

    fn manner(&mut self) -> Manner {
        if self.flag(&["-k", "--kill"]) { Manner::Forced } else { Manner::Graceful }
    }

    /// The plain words that are left; an option among them is unknown.
    fn names(self) -> Result<Vec<String>, String> {
        match self.left.iter().find(|word| word.starts_with('-')) {
            Some(option) => Err(format!("unknown option {option}")),
            None => Ok(self.left),
        }
    }

    fn nothing(self) -> Result<(), String> {
        match self.names()?.first() {
            Some(word) => Err(format!("unexpected argument `{word}`")),
            None => Ok(()),
        }
    }
}

/// Reads the arguments after the program's name.
pub(super) fn parse(words: &[String]) -> Result<(Action, Output), String> {
    let Some((action, rest)) = words.split_first() else { return Ok((Action::Help, Output::Text)) };
    // The words of `exec` belong to the command.
    if action == "exec" {
        return parse_exec(rest).map(|action| (action, Output::Text));
    }
    let mut rest = Words::new(rest);
    let output = match rest.value(&["-o", "--output"])?.as_deref() {
        None | Some("text") => Output::Text,
        Some("json") => Output::Json,
        Some(other) => return Err(format!("output `{other}` is none of text, json")),
    };
    parse_action(action, rest).map(|action| (action, output))
}

fn parse_exec(rest: &[String]) -> Result<Action, String> {
    let (container, command) = rest.split_first().ok_or("exec needs a container and a command")?;
    let command = command.strip_prefix(&["--".to_owned()]).unwrap_or(command);
    if command.is_empty() {
        return Err("exec needs a command".into());
    }
    Ok(Action::Exec { container: container.clone(), command: command.to_vec() })
}

fn parse_action(action: &str, mut rest: Words) -> Result<Action, String> {
    let simple = |rest: Words, action| rest.nothing().map(|()| action);
    match action {
        "help" | "-h" | "--help" => Ok(Action::Help),
        "version" | "-V" | "--version" => Ok(Action::Version),
        "info" => simple(rest, Action::Info),
        "status" => simple(rest, Action::Status),
        "ps" => simple(rest, Action::Ps),
        "readiness" => simple(rest, Action::Readiness),
        "liveness" => simple(rest, Action::Liveness),
        "start" => simple(rest, Action::Start),
        "stop" => simple(rest, Action::Stop),
        "kill" => simple(rest, Action::Kill),
        "create-volumes" => simple(rest, Action::CreateVolumes),
        "ramdisk-config" => simple(rest, Action::RamdiskConfig),
        "download" => {
            let force = rest.flag(&["-f", "--force"]);
            simple(rest, Action::Download { force })
        }
        "create" => {
            let interface = rest.interface()?;
            simple(rest, Action::Create { interface })
        }
        "run" => {
            let interface = rest.interface()?;
            let wait = rest
                .value(&["--wait"])?
                .map(|text| text.parse().map_err(|_| format!("--wait `{text}` is no number of seconds")));
            let wait = wait.transpose()?;
            simple(rest, Action::Run { interface, wait })
        }
        "rm" => {
            let manner = rest.manner();
            simple(rest, Action::Remove { manner })
        }
        "rerun" => parse_rerun(rest),
        "signal" => Ok(Action::Signal { names: rest.names()? }),
        "reload-configs" => Ok(Action::ReloadConfigs { names: rest.names()? }),
        "create-ramdisks" => {
            let what = match (rest.flag(&["-l", "--list"]), rest.flag(&["-d", "--delete"])) {
                (true, _) => Ramdisks::List,
                (_, true) => Ramdisks::Unmount,
                _ => Ramdisks::Mount,
            };
            simple(rest, Action::CreateRamdisks(what))
        }
        "logs" => parse_logs(rest),
        "shell" => {
            let container = rest.value(&["-c", "--container"])?;
            let shell = if rest.flag(&["-b", "--bash"]) { "bash" } else { "sh" };
            let command = rest.tail.take().unwrap_or_default();
            simple(rest, Action::Shell { container, shell, command })
        }
        "attach" => Ok(Action::Attach { container: rest.names()?.into_iter().next() }),
        "purge" => {
            let shared = if rest.flag(&["--host-shared"]) { HostShared::Remove } else { HostShared::Keep };
            simple(rest, Action::Purge { shared })
        }
        "supervise" => {
            let interface = rest.interface()?;
            simple(rest, Action::Supervise { interface })
        }
        other => {
            let hint = podsmith_object::suggest::nearest(other, ACTIONS.iter().copied());
            let hint = hint.map(|word| format!(", did you mean `{word}`?")).unwrap_or_default();
            Err(format!("Unknown command `{other}`{hint}"))
        }
    }
}

fn parse_rerun(mut rest: Words) -> Result<Action, String> {
    let interface = rest.interface()?;
    let manner = rest.manner();
    let names = rest.names()?;
    if names.is_empty() {
        return Ok(Action::Rerun { interface, manner });
    }
    if interface.is_some() || manner == Manner::Forced {
        return Err("-k and --host-interface are for the whole pod, not for single containers".into());
    }
    Ok(Action::RerunContainers { names })
}

fn parse_logs(mut rest: Words) -> Result<Action, String> {
    let number = |text: Option<String>, name: &str| {
        text.map(|text| text.parse::<i64>().map_err(|_| format!("{name} `{text}` is not a whole number")))
            .transpose()
    };
    let supervisor = rest.flag(&["-p", "--daemon-process"]);
    let since = rest.value(&["-t", "--timestamp"])?;
    let limit = rest.value(&["-l", "--limit"])?;
    let streams = rest.value(&["-s", "--stream"])?;
    let details = rest.value(&["-d", "--details"])?;
    Ok(Action::Logs(LogQuery {
        since: number(since, "-t")?,
        limit: number(limit, "-l")?,
        containers: rest.names()?,
        supervisor,
        streams,
        details,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn action(text: &str) -> Result<Action, String> {
        parse(&words(text)).map(|(action, _)| action)
    }

    #[test]
    fn options_come_in_any_order_and_both_forms() {
        let wanted = LogQuery {
            containers: words("a b"),
            supervisor: true,
            since: Some(-60),
            limit: Some(-5),
            streams: Some("stderr".into()),
            details: None,
        };
        for text in
            ["logs a -t -60 -p b -l -5 -s stderr", "logs --limit=-5 -p --timestamp=-60 --stream stderr a b"]
        {
            assert_eq!(action(text).unwrap(), Action::Logs(wanted.clone()));
        }
        let interface = Some("10.0.0.1".parse().unwrap());
        assert_eq!(action("run --host-interface=10.0.0.1").unwrap(), Action::Run { interface, wait: None });
        assert_eq!(action("run --host-interface=").unwrap(), Action::Run { interface: None, wait: None });
        assert_eq!(parse(&words("ps -o json")).unwrap().1, Output::Json);
    }

    #[test]
    fn wrong_calls_are_refused() {
        for (text, part) in [
            ("statsu", "did you mean `status`?"),
            ("start now", "unexpected argument"),
            ("run --fast", "unknown option"),
            ("rerun -k a", "not for single containers"),
            ("logs -l many", "not a whole number"),
            ("logs -l", "needs a value"),
            ("ps -o xml", "none of text, json"),
            ("run --host-interface=x", "IP address"),
            ("exec a", "needs a command"),
        ] {
            let message = action(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn the_words_of_a_command_are_left_alone() {
        let command = words("ls -o json -- x");
        assert_eq!(
            action("exec a ls -o json -- x").unwrap(),
            Action::Exec { container: "a".into(), command }
        );
        let shell = Action::Shell { container: Some("a".into()), shell: "sh", command: words("exit 7") };
        assert_eq!(action("shell -c a -- exit 7").unwrap(), shell);
    }
}
