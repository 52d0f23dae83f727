//! Work to do: each target once, never two at a time, fair between trees, urgent things first.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::model::{Key, Name};

/// A target: "make this right".
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Task {
    /// A namespace's existence and metadata.
    Namespace(Name),
    /// A SubNamespace, by namespace and name.
    Claim(Name, Name),
    /// A watched object.
    Object(Key),
}

/// How soon.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Urgency {
    /// Retractions and new namespaces.
    First,
    /// Changes that fan out.
    Change,
    /// What a list brought, which is mostly right already.
    Audit,
}

#[derive(Debug, Default)]
struct Lane {
    turns: VecDeque<Name>,
    tasks: HashMap<Name, VecDeque<Task>>,
}

/// The queue.
#[derive(Debug, Default)]
pub struct Queue {
    lanes: [Lane; 3],
    queued: HashMap<Task, u64>,
    running: HashSet<Task>,
    /// Targets that changed while they were worked on.
    again: HashMap<Task, (Name, Urgency)>,
    later: BTreeMap<(u64, u64), (Task, Name)>,
    /// Targets that wait for their time, so that each waits once.
    waiting: HashMap<Task, (u64, u64)>,
    counter: u64,
}

impl Queue {
    /// Adds a target of the tree under `tree`, unless it is there.
    pub fn push(&mut self, task: Task, tree: &Name, urgency: Urgency, now: u64) {
        if self.running.contains(&task) {
            self.again.insert(task, (tree.clone(), urgency));
            return;
        }
        if self.queued.contains_key(&task) {
            return;
        }
        if let Some(at) = self.waiting.remove(&task) {
            self.later.remove(&at);
        }
        self.queued.insert(task.clone(), now);
        let lane = &mut self.lanes[urgency as usize];
        let tasks = lane.tasks.entry(tree.clone()).or_default();
        if tasks.is_empty() {
            lane.turns.push_back(tree.clone());
        }
        tasks.push_back(task);
    }

    /// Adds a target that is to wait until `at`.
    pub fn push_later(&mut self, task: Task, tree: &Name, at: u64) {
        if self.queued.contains_key(&task) || self.waiting.contains_key(&task) {
            return;
        }
        self.counter += 1;
        self.waiting.insert(task.clone(), (at, self.counter));
        self.later.insert((at, self.counter), (task, tree.clone()));
    }

    /// The next target.
    pub fn pop(&mut self, now: u64) -> Option<Task> {
        while let Some(entry) = self.later.first_entry()
            && entry.key().0 <= now
        {
            let (task, tree) = entry.remove();
            self.waiting.remove(&task);
            self.push(task, &tree, Urgency::Change, now);
        }
        for lane in &mut self.lanes {
            let Some(tree) = lane.turns.pop_front() else { continue };
            let Some(tasks) = lane.tasks.get_mut(&tree) else { continue };
            let task = tasks.pop_front();
            if tasks.is_empty() {
                lane.tasks.remove(&tree);
            } else {
                lane.turns.push_back(tree);
            }
            if let Some(task) = task {
                self.queued.remove(&task);
                self.running.insert(task.clone());
                return Some(task);
            }
        }
        None
    }

    /// Ends the work on a target, which comes back at once if it changed meanwhile.
    pub fn done(&mut self, task: &Task, now: u64) {
        self.running.remove(task);
        if let Some((tree, urgency)) = self.again.remove(task) {
            self.push(task.clone(), &tree, urgency, now);
        }
    }

    /// When the next waiting target is due.
    pub fn next_due(&self) -> Option<u64> {
        self.later.first_key_value().map(|((at, _), _)| *at)
    }

    /// How many targets are queued, waiting or worked on.
    pub fn len(&self) -> usize {
        self.queued.len() + self.waiting.len() + self.running.len()
    }

    /// Since when the oldest queued target waits.
    pub fn oldest(&self) -> Option<u64> {
        self.queued.values().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str) -> Task {
        Task::Namespace(Name::from(name))
    }

    #[test]
    fn trees_take_turns_and_urgent_work_comes_first() {
        let mut queue = Queue::default();
        let (a, b) = (Name::from("a"), Name::from("b"));
        for name in ["a1", "a2", "a3", "a1"] {
            queue.push(task(name), &a, Urgency::Change, 0);
        }
        queue.push(task("b1"), &b, Urgency::Change, 0);
        queue.push(task("b2"), &b, Urgency::First, 0);
        let order: Vec<Task> = std::iter::from_fn(|| queue.pop(0)).collect();
        assert_eq!(order, ["b2", "a1", "b1", "a2", "a3"].map(task));
    }

    #[test]
    fn a_target_is_never_worked_on_twice_at_a_time() {
        let mut queue = Queue::default();
        let a = Name::from("a");
        queue.push(task("x"), &a, Urgency::Change, 0);
        assert_eq!(queue.pop(0), Some(task("x")));
        queue.push(task("x"), &a, Urgency::Change, 0);
        assert_eq!(queue.pop(0), None);
        queue.done(&task("x"), 0);
        assert_eq!(queue.pop(0), Some(task("x")));
        queue.done(&task("x"), 0);
        assert_eq!(queue.pop(0), None);
    }

    #[test]
    fn a_change_wakes_a_waiting_target() {
        let mut queue = Queue::default();
        let a = Name::from("a");
        queue.push_later(task("x"), &a, 100);
        assert_eq!((queue.pop(99), queue.next_due()), (None, Some(100)));
        queue.push(task("x"), &a, Urgency::Change, 99);
        assert_eq!((queue.pop(99), queue.next_due()), (Some(task("x")), None));
    }
}
