//! How many round trips in a row a command needs, measured in virtual time: every request takes ten milliseconds, nothing
//! else takes any.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod support;

use std::time::Duration;

use podsmith_object::Object;
use support::World;
use tokio::time::Instant;

const TRIP: Duration = Duration::from_millis(10);

fn objects(world: &World, changed: usize) -> Vec<Object> {
    let text: String = (0..1000)
        .map(|n| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}\ndata: {{k: '{}'}}\n---\n",
                n < changed
            )
        })
        .collect();
    world.yaml(&text)
}

/// Round trips since `start`, rounded up.
fn trips(start: Instant) -> u128 {
    start.elapsed().as_millis().div_ceil(TRIP.as_millis())
}

#[tokio::test(start_paused = true)]
async fn a_thousand_objects_cost_few_round_trips() {
    let w = support::embedded().await;
    w.wire.slow_down(TRIP);

    let start = Instant::now();
    w.apply(w.package("many", objects(&w, 0))).await;
    let new = trips(start);
    w.wire.clear();
    let start = Instant::now();
    let plan = w.plan(w.package("many", objects(&w, 0))).await;
    let unchanged = trips(start);
    assert!(!plan.has_changes());
    assert_eq!(w.wire.requests().len(), 4);
    w.wire.clear();
    let start = Instant::now();
    w.apply(w.package("many", objects(&w, 10))).await;
    let few = trips(start);
    assert_eq!(w.wire.writes().len(), 10);

    println!("round trips: 1000 new {new}, 1000 unchanged {unchanged}, 10 changed {few}");
    // 1000 writes, 32 at once, are 32 round trips; one and a half times that is allowed for everything.
    assert!(new <= 48, "{new}");
    assert!(unchanged <= 2, "{unchanged}");
    assert!(few <= 4, "{few}");
}
