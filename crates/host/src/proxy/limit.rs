//! `maxConn`: counts of open connections that outlive every reload.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::map::Mapping;

/// All counts.
#[derive(Debug, Default)]
pub(super) struct Limits(Mutex<BTreeMap<(u16, u16), Arc<AtomicU32>>>);

/// One counted connection; dropping it gives the place back.
#[derive(Debug)]
pub(super) struct Permit(Arc<AtomicU32>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Limits {
    /// Takes a place, if the mapping has one left.
    pub fn take(&self, mapping: &Mapping) -> Option<Permit> {
        let count = {
            let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            counts.entry((mapping.cluster_port, mapping.host_port)).or_default().clone()
        };
        let taken = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| {
            (open < mapping.max_conn).then_some(open + 1)
        });
        taken.is_ok().then(|| Permit(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back() {
        let limits = Limits::default();
        let mapping = Mapping { cluster_port: 1, host_port: 2, max_conn: 2, send_proxy: false };
        let first = limits.take(&mapping);
        let second = limits.take(&mapping);
        assert!(first.is_some() && second.is_some() && limits.take(&mapping).is_none());
        assert!(limits.take(&mapping).is_none(), "a refusal takes and gives nothing");
        drop(first);
        assert!(limits.take(&mapping).is_some());
        let other = Mapping { host_port: 3, ..mapping };
        assert!(limits.take(&other).is_some());
    }
}
