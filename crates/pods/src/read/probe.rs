//! Signals and probes.

use podsmith_object::decode::Fields;
use podsmith_object::yaml::Node;

use super::scalar::Reader;
use crate::spec::{Check, Probe, Signal, StartupCheck, StartupProbe};

const DEFAULT_TIMEOUT: u64 = 120;
const DEFAULT_PERIOD: u64 = 6;
const LONGEST: u64 = 10 * 365 * 24 * 3600;

/// Signal names that Linux knows, without `SIG`.
const SIGNALS: &[&str] = &[
    "ABRT", "ALRM", "BUS", "CHLD", "CONT", "FPE", "HUP", "ILL", "INT", "IO", "KILL", "PIPE", "PROF", "PWR",
    "QUIT", "SEGV", "STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP", "TTIN", "TTOU", "URG", "USR1", "USR2",
    "VTALRM", "WINCH", "XCPU", "XFSZ",
];

fn valid_signal(name: &str) -> bool {
    if let Ok(number) = name.parse::<u8>() {
        return (1..=64).contains(&number);
    }
    let bare = name.strip_prefix("SIG").unwrap_or(name);
    SIGNALS.contains(&bare) || bare.starts_with("RTMIN") || bare.starts_with("RTMAX")
}

/// `signal` is a list with one item: `sig` or `cmd`.
pub(super) fn signal(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str) -> Option<Signal> {
    let items = fields.sequence("signal");
    if let Some(second) = items.get(1) {
        reader.decoder.error_with_hint(
            second,
            format!("only one of sig and cmd can be in {what}.signal"),
            "keep one item",
        );
    }
    let node = items.first()?;
    let what = format!("{what}.signal[0]");
    let mut item = reader.decoder.mapping(node, &what)?;
    let sig = item.take("sig");
    let cmd = reader.texts(&mut item, "cmd", &format!("{what}.cmd"));
    item.finish();
    match sig {
        Some(_) if !cmd.is_empty() => {
            reader.decoder.error(node, format!("only one of sig and cmd can be in {what}"));
            None
        }
        Some(node) => {
            let name = reader.text(node, &format!("{what}.sig"))?;
            if !valid_signal(&name) {
                reader.decoder.error_with_hint(
                    node,
                    format!("`{name}` is not a signal"),
                    "write a name such as HUP",
                );
            }
            Some(Signal::Sig(name))
        }
        None if cmd.is_empty() => {
            reader.decoder.error(node, format!("`sig` or `cmd` is missing in {what}"));
            None
        }
        None => Some(Signal::Cmd(cmd)),
    }
}

/// The startup probe and the positions of the containers it signals, which are checked when all names are known.
pub(super) fn startup<'n>(
    reader: &Reader<'_>,
    fields: &mut Fields<'_, '_, 'n>,
    what: &str,
) -> Option<(StartupProbe, Vec<(&'n Node, String)>)> {
    let node = fields.take("startupProbe")?;
    let what = format!("{what}.startupProbe");
    let mut probe = reader.decoder.mapping(node, &what)?;
    let timeout = timeout(reader, &mut probe, &what);
    let exit = reader.flag(&mut probe, "exit", &format!("{what}.exit")).unwrap_or(false);
    let check = check(reader, &mut probe, &what);
    let mut targets = Vec::new();
    for (index, item) in probe.sequence("signal").iter().enumerate() {
        let what = format!("{what}.signal[{index}]");
        let Some(mut target) = reader.decoder.mapping(item, &what) else { continue };
        let name = reader.required_text(&mut target, "container", &format!("{what}.container"));
        target.finish();
        targets.extend(name.map(|name| (item, name)));
    }
    probe.finish();
    let until = match (exit, check) {
        (true, Some(_)) => {
            reader.decoder.error(node, format!("only one of exit and cmd, http or tcp can be in {what}"));
            return None;
        }
        (true, None) => StartupCheck::Exit,
        (false, Some(check)) => StartupCheck::Check(check),
        (false, None) => StartupCheck::Started,
    };
    let signal = targets.iter().map(|(_, name)| name.clone()).collect();
    Some((StartupProbe { timeout, until, signal }, targets))
}

/// A readiness or liveness probe; without a check there is none.
pub(super) fn lasting(
    reader: &Reader<'_>,
    fields: &mut Fields<'_, '_, '_>,
    key: &str,
    what: &str,
) -> Option<Probe> {
    let node = fields.take(key)?;
    let what = format!("{what}.{key}");
    let mut probe = reader.decoder.mapping(node, &what)?;
    let timeout = timeout(reader, &mut probe, &what);
    let check = check(reader, &mut probe, &what);
    let mut count = |key: &str, default| {
        reader.number_in(&mut probe, key, &format!("{what}.{key}"), 1..=86_400).unwrap_or(default)
    };
    let period = count("period", DEFAULT_PERIOD);
    let failures = u32::try_from(count("failures", 1)).unwrap_or(1);
    let successes = u32::try_from(count("successes", 1)).unwrap_or(1);
    probe.finish();
    Some(Probe { check: check?, timeout, period, failures, successes })
}

fn timeout(reader: &Reader<'_>, probe: &mut Fields<'_, '_, '_>, what: &str) -> u64 {
    reader.number_in(probe, "timeout", &format!("{what}.timeout"), 1..=LONGEST).unwrap_or(DEFAULT_TIMEOUT)
}

fn check(reader: &Reader<'_>, probe: &mut Fields<'_, '_, '_>, what: &str) -> Option<Check> {
    let node = probe.node();
    let cmd = reader.texts(probe, "cmd", &format!("{what}.cmd"));
    let cmd = (!cmd.is_empty()).then_some(Check::Cmd(cmd));
    let http = probe.take("http").and_then(|node| {
        let what = format!("{what}.http");
        let mut http = reader.decoder.mapping(node, &what)?;
        let port = port(reader, &mut http, &what);
        let path =
            reader.optional_text(&mut http, "path", &format!("{what}.path")).unwrap_or_else(|| "/".into());
        if !path.starts_with('/') || path.contains(|c: char| c.is_ascii_whitespace() || c.is_ascii_control())
        {
            reader.decoder.error(node, format!("{what}.path must start with a slash and hold no blanks"));
        }
        http.finish();
        Some(Check::Http { port: port?, path })
    });
    let tcp = probe.take("tcp").and_then(|node| {
        let what = format!("{what}.tcp");
        let mut tcp = reader.decoder.mapping(node, &what)?;
        let port = port(reader, &mut tcp, &what);
        tcp.finish();
        Some(Check::Tcp { port: port? })
    });
    let mut found = [cmd, http, tcp].into_iter().flatten();
    let first = found.next();
    if found.next().is_some() {
        reader.decoder.error(node, format!("only one of cmd, http and tcp can be in {what}"));
    }
    first
}

fn port(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str) -> Option<u16> {
    fields.require("port")?;
    let port = reader.number_in(fields, "port", &format!("{what}.port"), 1..=65_535)?;
    u16::try_from(port).ok()
}
