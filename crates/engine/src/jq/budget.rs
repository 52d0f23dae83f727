//! How much an expression may do: steps, values, stack, time.
//!
//! jq can loop for ever (`last(repeat(1))`) and the interpreter has no limit of its own. But it looks up every term it
//! evaluates through our data type, and builds every value through ours, so both can count. The counting functions
//! cannot return an error; they leave by unwinding without a panic message, and [`guarded`] turns that into an error.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::{Cancel, Cancelled};

/// What one evaluation on one object may use.
///
/// ```
/// use podsmith_engine::jq::{Limits, Program};
/// use podsmith_object::json;
/// let program = Program::builder("last(repeat(1))").limits(Limits { steps: 1_000, ..Limits::default() }).compile()?;
/// assert!(program.run(&json!(null)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Evaluated terms.
    pub steps: u64,
    /// Built list items, mapping entries and, for strings, every 32 bytes.
    pub values: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 100_000_000, values: 10_000_000 }
    }
}

/// Why an evaluation was stopped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stop {
    Steps,
    Values,
    Stack,
    Depth,
    Cancelled(Cancelled),
    /// The interpreter itself failed.
    Panic,
}

/// How much stack an evaluation may use. Threads have 2 MiB unless somebody asked for less.
const STACK_BYTES: usize = 768 << 10;
/// How often to look at the cancel switch.
const CHECK_EVERY: u64 = 1 << 12;

struct Budget {
    steps: Cell<u64>,
    values: Cell<u64>,
    lowest_stack: Cell<usize>,
    cancel: RefCell<Option<Cancel>>,
}

thread_local! {
    static BUDGET: Budget = const {
        Budget { steps: Cell::new(u64::MAX), values: Cell::new(u64::MAX), lowest_stack: Cell::new(0), cancel: RefCell::new(None) }
    };
}

fn stop(why: Stop) -> ! {
    resume_unwind(Box::new(why))
}

/// The address of something on the stack; stacks grow downwards.
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

/// Counts one evaluated term.
pub(super) fn step() {
    let why = BUDGET.with(|budget| {
        let left = budget.steps.get();
        if left == 0 {
            return Some(Stop::Steps);
        }
        budget.steps.set(left - 1);
        if stack_address() < budget.lowest_stack.get() {
            return Some(Stop::Stack);
        }
        if left % CHECK_EVERY == 0
            && let Some(cancel) = budget.cancel.borrow().as_ref()
        {
            return cancel.check().err().map(Stop::Cancelled);
        }
        None
    });
    if let Some(why) = why {
        stop(why);
    }
}

/// Counts built values.
pub(super) fn grow(values: usize) {
    let values = u64::try_from(values).unwrap_or(u64::MAX);
    let enough = BUDGET.with(|budget| match budget.values.get().checked_sub(values) {
        Some(left) => {
            budget.values.set(left);
            true
        }
        None => false,
    });
    if !enough {
        stop(Stop::Values);
    }
}

/// Counts a built string.
pub(super) fn grow_text(bytes: usize) {
    grow(bytes / 32);
}

/// Counts comparisons of values, which are cheap but can be many.
pub(super) fn compare(pairs: usize) {
    grow(pairs / 64);
}

/// Stops an evaluation that nests values too deeply to be taken apart again.
pub(super) fn too_deep() -> ! {
    stop(Stop::Depth)
}

/// Runs `work` within `limits`.
pub(super) fn guarded<T>(limits: Limits, cancel: &Cancel, work: impl FnOnce() -> T) -> Result<T, Stop> {
    BUDGET.with(|budget| {
        budget.steps.set(limits.steps);
        budget.values.set(limits.values);
        budget.lowest_stack.set(stack_address().saturating_sub(STACK_BYTES));
        *budget.cancel.borrow_mut() = Some(cancel.clone());
    });
    let result = catch_unwind(AssertUnwindSafe(work));
    BUDGET.with(|budget| {
        budget.steps.set(u64::MAX);
        budget.values.set(u64::MAX);
        budget.lowest_stack.set(0);
        budget.cancel.borrow_mut().take();
    });
    result.map_err(|payload| payload.downcast_ref::<Stop>().copied().unwrap_or(Stop::Panic))
}
