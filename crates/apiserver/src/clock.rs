//! Time as objects carry it.

/// Now, in whole seconds.
pub fn now() -> String {
    at(jiff::Timestamp::now())
}

/// Now, with microseconds.
pub fn now_micro() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

/// Some seconds from now.
pub fn in_seconds(seconds: i64) -> String {
    let span = jiff::SignedDuration::from_secs(seconds);
    at(jiff::Timestamp::now().checked_add(span).unwrap_or_else(|_| jiff::Timestamp::now()))
}

/// Seconds since a time; zero if it cannot be read.
pub fn seconds_since(time: &str) -> i64 {
    time.parse::<jiff::Timestamp>().map_or(0, |then| jiff::Timestamp::now().as_second() - then.as_second())
}

fn at(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
