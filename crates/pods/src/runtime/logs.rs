//! `logs`: the lines of several containers in the order of time.

use podsmith_podman::logs::{self, Line, Stream};

use super::Failure;
use super::args::{LogQuery, Output};
use super::context::{Context, unix_nanos};

const COLUMNS: &[&str] = &["ts", "name", "stream", "age", "none"];

pub(super) fn show(context: &Context, query: &LogQuery, output: Output) -> Result<u8, Failure> {
    let streams = parse_streams(query.streams.as_deref())?;
    let columns = parse_columns(query.details.as_deref())?;
    let lines = collect(context, query, &streams)?;
    let now = unix_nanos();
    let mut out = String::new();
    for (name, line) in &lines {
        if output == Output::Json {
            let value = serde_json::json!({
                "time": logs::format_time(line.time),
                "container": name,
                "stream": line.stream.as_str(),
                "text": line.text,
            });
            out.push_str(&value.to_string());
        } else {
            for column in &columns {
                let word = match column.as_str() {
                    "ts" => (line.time / 1_000_000_000).to_string(),
                    "name" => name.clone(),
                    "stream" => line.stream.as_str().to_owned(),
                    "age" => ((now - line.time) / 1_000_000_000).to_string(),
                    _ => continue,
                };
                out.push_str(&word);
                out.push(' ');
            }
            out.push_str(&line.text);
        }
        out.push('\n');
    }
    context.console.data(&out);
    Ok(0)
}

fn parse_streams(text: Option<&str>) -> Result<Vec<Stream>, Failure> {
    let Some(text) = text else { return Ok(vec![Stream::Stdout, Stream::Stderr]) };
    text.split(',')
        .map(|word| match word {
            "stdout" => Ok(Stream::Stdout),
            "stderr" => Ok(Stream::Stderr),
            other => Err(Failure::refused(format!("stream `{other}` is none of stdout, stderr"))),
        })
        .collect()
}

fn parse_columns(text: Option<&str>) -> Result<Vec<String>, Failure> {
    let words: Vec<String> = text.unwrap_or("ts,name").split(',').map(str::to_owned).collect();
    match words.iter().find(|word| !COLUMNS.contains(&word.as_str())) {
        Some(word) => Err(Failure::refused(format!("detail `{word}` is none of {}", COLUMNS.join(", ")))),
        None => Ok(words),
    }
}

fn collect(context: &Context, query: &LogQuery, streams: &[Stream]) -> Result<Vec<(String, Line)>, Failure> {
    let since = query.since.map(|since| {
        let seconds = i128::from(since) * 1_000_000_000;
        if since < 0 { unix_nanos() + seconds } else { seconds }
    });
    let mut sources = Vec::new();
    if query.containers.is_empty() {
        sources.extend(context.spec.containers.iter().map(|c| (c.name.clone(), context.log_file(&c.name))));
    }
    for name in &query.containers {
        let (_, container) = context.known_container(name)?;
        sources.push((container.name.clone(), context.log_file(&container.name)));
    }
    if query.supervisor {
        sources.push(("<pod>".into(), context.own_log_file()));
    }
    let mut lines = Vec::new();
    for (name, path) in sources {
        let read = logs::read(&path).map_err(Failure::file("read", &path))?;
        let wanted = read
            .into_iter()
            .filter(|line| streams.contains(&line.stream) && since.is_none_or(|since| line.time >= since));
        lines.extend(wanted.map(|line| (name.clone(), line)));
    }
    lines.sort_by_key(|(_, line)| line.time);
    if let Some(limit) = query.limit {
        let count = usize::try_from(limit.unsigned_abs()).unwrap_or(usize::MAX);
        if limit < 0 {
            lines.drain(..lines.len().saturating_sub(count));
        } else {
            lines.truncate(count);
        }
    }
    Ok(lines)
}
