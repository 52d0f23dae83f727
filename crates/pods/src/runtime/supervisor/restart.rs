//! Restart policies, as pure functions.

use std::time::Duration;

use crate::spec::{Dialect, Restart};

/// How a run of a container ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ended {
    Success,
    Failure,
}

/// A run longer than this proves that the container is healthy: the next failure waits shortly again.
pub(super) const HEALTHY: Duration = Duration::from_secs(60);

/// How long to wait before restart number `restarts` in a row: 1, 2, 4 … 60 seconds.
pub(super) fn back_off(restarts: u32) -> Duration {
    Duration::from_secs(1_u64.checked_shl(restarts).unwrap_or(u64::MAX).clamp(1, 60))
}

/// When to start again after an end, or never. `restarts` counts the restarts in a row.
pub(super) fn after_end(restart: Restart, dialect: Dialect, ended: Ended, restarts: u32) -> Option<Duration> {
    match (restart, ended) {
        (Restart::Never, _) | (Restart::OnFailure | Restart::OnConfig, Ended::Success) => None,
        (Restart::Always, _) | (Restart::OnFailure | Restart::OnConfig, Ended::Failure) => {
            Some(back_off(restarts))
        }
        (Restart::OnInterval(_), Ended::Failure) if dialect == Dialect::Head => Some(back_off(restarts)),
        (Restart::OnInterval(seconds), _) => Some(Duration::from_secs(seconds)),
    }
}

/// Whether a container that does not run is started when a config of its changes.
pub(super) fn on_config(restart: Restart, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Head => matches!(restart, Restart::OnConfig | Restart::OnInterval(_)),
        Dialect::Seed => matches!(restart, Restart::OnConfig | Restart::Always),
    }
}

/// Whether a container that does not run is started when it is signalled.
pub(super) fn on_signal(restart: Restart, dialect: Dialect) -> bool {
    dialect == Dialect::Head && on_config(restart, dialect)
}

/// Whether a container that has ended so, and will not be started at once, is as it should be.
pub(super) fn rests_well(restart: Restart, ended: Ended) -> bool {
    ended == Ended::Success && restart != Restart::Always
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix() {
        use Ended::{Failure, Success};
        let second = Some(Duration::from_secs(1));
        let interval = Some(Duration::from_secs(30));
        for (restart, success, failure, config) in [
            (Restart::Never, None, None, false),
            (Restart::Always, second, second, false),
            (Restart::OnFailure, None, second, false),
            (Restart::OnConfig, None, second, true),
            (Restart::OnInterval(30), interval, second, true),
        ] {
            assert_eq!(after_end(restart, Dialect::Head, Success, 0), success, "{restart}");
            assert_eq!(after_end(restart, Dialect::Head, Failure, 0), failure, "{restart}");
            assert_eq!(on_config(restart, Dialect::Head), config, "{restart}");
            assert_eq!(on_signal(restart, Dialect::Head), config, "{restart}");
            assert!(!on_signal(restart, Dialect::Seed), "{restart}");
        }
        assert_eq!(after_end(Restart::OnInterval(30), Dialect::Seed, Failure, 0), interval);
        assert!(
            on_config(Restart::Always, Dialect::Seed) && !on_config(Restart::OnInterval(1), Dialect::Seed)
        );
    }

    #[test]
    fn the_wait_doubles_up_to_a_minute() {
        let waits: Vec<u64> = (0..8).map(|n| back_off(n).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(back_off(u32::MAX).as_secs(), 60);
    }
}
