//! URLs, cut and joined as Go's net/url does.

use crate::args::{Out, Table, map, text};
use crate::error::CallError;
use crate::function::Parameter::{Map as M, String as S};
use crate::value::{Map, Value};

pub(super) const TABLE: Table =
    &[("urlParse", &[S], None, |_, a| parse(&text(a, 0))), ("urlJoin", &[M], None, |_, a| join(map(a, 0)))];

/// The parts of a URL, decoded.
#[derive(Default)]
struct Url {
    scheme: String,
    opaque: String,
    user: Option<String>,
    host: String,
    path: String,
    query: String,
    fragment: String,
}

fn parse(given: &str) -> Out {
    let url = Url::parse(given).map_err(|reason| {
        CallError::from(format!("unable to parse url: parse {}: {reason}", crate::format::quote(given)))
    })?;
    let out = Map::new();
    out.insert("hostname", hostname(&url.host));
    out.insert("scheme", url.scheme);
    out.insert("host", url.host);
    out.insert("path", url.path);
    out.insert("query", url.query);
    out.insert("opaque", url.opaque);
    out.insert("fragment", url.fragment);
    out.insert("userinfo", url.user.unwrap_or_default());
    Ok(out.into())
}

fn hostname(host: &str) -> String {
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split(']').next().unwrap_or("").to_owned();
    }
    let port = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    port.map_or(host, |(name, _)| name).to_owned()
}

impl Url {
    fn parse(given: &str) -> Result<Self, String> {
        if given.bytes().any(|b| b < b' ' || b == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let (rest, fragment) = given.split_once('#').unwrap_or((given, ""));
        let mut url = Self { fragment: decode(fragment)?, ..Self::default() };
        let (scheme, rest) = split_scheme(rest)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        url.query = query.to_owned();
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_owned();
                return Ok(url);
            }
            if rest.split('/').next().is_some_and(|first| first.contains(':')) {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let mut path = rest;
        if let Some(authority) = rest.strip_prefix("//")
            && (!url.scheme.is_empty() || !authority.starts_with('/'))
        {
            let end = authority.find('/').unwrap_or(authority.len());
            url.authority(&authority[..end])?;
            path = &authority[end..];
        }
        url.path = decode(path)?;
        Ok(url)
    }

    fn authority(&mut self, authority: &str) -> Result<(), String> {
        let host = match authority.rsplit_once('@') {
            None => authority,
            Some((user, host)) => {
                if !user.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b)) {
                    return Err("net/url: invalid userinfo".to_owned());
                }
                let (name, password) = user.split_once(':').map_or((user, None), |(n, p)| (n, Some(p)));
                let mut shown = encode(&decode(name)?, is_user_character);
                if let Some(password) = password {
                    shown.push(':');
                    shown.push_str(&encode(&decode(password)?, is_user_character));
                }
                self.user = Some(shown);
                host
            }
        };
        if let Some((_, port)) = host.rsplit_once(':').filter(|_| !host.ends_with(']'))
            && !port.bytes().all(|b| b.is_ascii_digit())
        {
            return Err(format!("invalid port {} after host", crate::format::quote(&format!(":{port}"))));
        }
        if let Some(bad) = host.chars().find(|c| matches!(c, ' ' | '\\' | '^' | '`' | '{' | '}' | '|')) {
            return Err(format!("invalid character {} in host name", crate::format::quote(&bad.to_string())));
        }
        self.host = decode(host)?;
        Ok(())
    }
}

fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn decode(text: &str) -> Result<String, String> {
    if !text.contains('%') {
        return Ok(text.to_owned());
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'%' {
            out.push(*byte);
            at += 1;
            continue;
        }
        let code = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let Some(code) = code else {
            let shown: String = text[at..].chars().take(3).collect();
            return Err(format!("invalid URL escape {}", crate::format::quote(&shown)));
        };
        out.push(code);
        at += 3;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn encode(text: &str, keep: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || keep(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn is_user_character(byte: u8) -> bool {
    b"$&+,;=".contains(&byte)
}

fn join(parts: Option<&Map>) -> Out {
    let part = |key: &str| -> Result<String, CallError> {
        match parts.and_then(|parts| parts.get(key)) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.to_string()),
            Some(other) => Err(format!(
                "unable to parse {key} key, must be of type string, but {} found",
                other.kind_name()
            )
            .into()),
        }
    };
    let (scheme, host, path) = (part("scheme")?, part("host")?, part("path")?);
    let (query, opaque, fragment, user) =
        (part("query")?, part("opaque")?, part("fragment")?, part("userinfo")?);
    let user = if user.is_empty() {
        None
    } else {
        let whole = format!("proto://{user}@host");
        let parsed = Url::parse(&whole).map_err(|reason| {
            let whole = crate::format::quote(&whole);
            CallError::from(format!("unable to parse userinfo in dict: parse {whole}: {reason}"))
        })?;
        parsed.user
    };
    let mut out = String::new();
    if !scheme.is_empty() {
        out.push_str(&scheme);
        out.push(':');
    }
    if opaque.is_empty() {
        let has_authority = !host.is_empty() || user.is_some();
        if has_authority || (!scheme.is_empty() && path.starts_with("//")) {
            out.push_str("//");
            if let Some(user) = user {
                out.push_str(&user);
                out.push('@');
            }
            out.push_str(&encode(&host, |b| b"!$&'()*+,;=:[]<>\"".contains(&b)));
        }
        let encoded = encode(&path, |b| b"$&+,/:;=@".contains(&b));
        if !encoded.is_empty() && !encoded.starts_with('/') && !host.is_empty() {
            out.push('/');
        }
        if out.is_empty() && encoded.split('/').next().is_some_and(|first| first.contains(':')) {
            out.push_str("./");
        }
        out.push_str(&encoded);
    } else {
        out.push_str(&opaque);
    }
    if !query.is_empty() {
        out.push('?');
        out.push_str(&query);
    }
    if !fragment.is_empty() {
        out.push('#');
        out.push_str(&encode(&fragment, |b| b"$&+,/:;=?@!()*".contains(&b)));
    }
    Ok(out.into())
}
