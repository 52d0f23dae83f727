//! Work on several threads whose results come out in order.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How far the workers may run ahead of the consumer, per worker. It bounds the memory for finished results.
const AHEAD: usize = 2;

/// Runs `work(0)`, `work(1)`, … `work(count - 1)` on up to `threads` threads and gives the results to `take` in that
/// order, on the calling thread. An error of `take` stops everything; work that is under way is waited for.
pub(crate) fn in_order<R: Send, E>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(count);
    if threads <= 1 {
        return (0..count).try_for_each(|index| take(work(index)));
    }
    let queue = Queue { state: Mutex::new(State::default()), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| queue.run(count, threads * AHEAD, &work));
        }
        let _stop = StopOnDrop(&queue);
        (0..count).try_for_each(|index| match queue.wait_for(index) {
            Ok(result) => take(result),
            Err(panic) => resume_unwind(panic),
        })
    })
}

type Finished<R> = thread::Result<R>;

struct State<R> {
    /// The next index nobody works on.
    next: usize,
    /// How many results the consumer has taken.
    taken: usize,
    stopped: bool,
    finished: BTreeMap<usize, Finished<R>>,
}

impl<R> Default for State<R> {
    fn default() -> Self {
        Self { next: 0, taken: 0, stopped: false, finished: BTreeMap::new() }
    }
}

struct Queue<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
}

impl<R> Queue<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, guard: MutexGuard<'a, State<R>>) -> MutexGuard<'a, State<R>> {
        self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, count: usize, ahead: usize, work: &impl Fn(usize) -> R) {
        loop {
            let mut state = self.lock();
            while !state.stopped && state.next < count && state.next >= state.taken + ahead {
                state = self.wait(state);
            }
            if state.stopped || state.next >= count {
                return;
            }
            let index = state.next;
            state.next += 1;
            drop(state);
            // A panic is carried to the consumer; without that, the consumer would wait for ever.
            let result = catch_unwind(AssertUnwindSafe(|| work(index)));
            self.lock().finished.insert(index, result);
            self.changed.notify_all();
        }
    }

    fn wait_for(&self, index: usize) -> Finished<R> {
        let mut state = self.lock();
        loop {
            if let Some(result) = state.finished.remove(&index) {
                state.taken = index + 1;
                self.changed.notify_all();
                return result;
            }
            state = self.wait(state);
        }
    }
}

/// Tells the workers to stop when the consumer leaves, also by panic or error.
struct StopOnDrop<'a, R>(&'a Queue<R>);

impl<R> Drop for StopOnDrop<'_, R> {
    fn drop(&mut self) {
        self.0.lock().stopped = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_whatever_the_number_of_threads() {
        for threads in [1, 2, 3, 16] {
            let mut taken = Vec::new();
            let result: Result<(), ()> = in_order(
                100,
                threads,
                |index| index * 2,
                |value| {
                    taken.push(value);
                    Ok(())
                },
            );
            assert!(result.is_ok());
            assert_eq!(taken, (0..100).map(|index| index * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_of_the_consumer_stops_the_workers() {
        let started = AtomicUsize::new(0);
        let work = |index| {
            started.fetch_add(1, Ordering::Relaxed);
            index
        };
        let result = in_order(1_000, 4, work, |index| if index == 10 { Err(index) } else { Ok(()) });
        assert_eq!(result, Err(10));
        assert!(started.load(Ordering::Relaxed) <= 10 + 4 * AHEAD + 4);
    }

    #[test]
    fn a_panic_of_a_worker_reaches_the_caller() {
        let caught = catch_unwind(|| {
            in_order(8, 2, |index| if index == 3 { panic!("three") } else { index }, |_| Ok::<(), ()>(()))
        });
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"three"));
    }
}
