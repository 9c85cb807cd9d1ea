//! Wakeup trees (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, section 6).
//!
//! An ordered tree of sequences to be explored. A branch whose operation has alternatives either
//! names one alternative or is *fresh* (`choice` is `None`). When a fresh branch is executed, it
//! becomes the first alternative, and the other alternatives directly follow it.

use crate::execution::{Op, Step, ThreadId};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// An event to be executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Planned {
    /// The thread of the event.
    pub thread: ThreadId,
    /// The alternative. `None` if there is only one, or if none was chosen yet.
    pub choice: Option<u32>,
    /// The operation with the access it will have.
    pub op: Op,
}

impl Planned {
    fn is_same_event(self, other: Planned) -> bool {
        self.thread == other.thread
            && match (self.choice, other.choice) {
                (Some(a), Some(b)) => a == b,
                (None, _) | (_, None) => true,
            }
    }
}

/// The sequences to explore from a node, in this order.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct WakeupTree {
    branches: Vec<Branch>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Branch {
    event: Planned,
    subtree: WakeupTree,
}

/// The relation of a branch to a sequence that is being inserted.
enum Relation {
    /// The sequence contains the branch at this position, with no conflicting event before it.
    Contained(usize),
    /// The branch is independent of the whole sequence.
    Independent,
    /// An event of the sequence conflicts with the branch, or is another alternative of the branch.
    Conflicting,
}

/// The greatest depth of a saved tree. A tree is at most as deep as an execution is long, and no
/// execution is this long.
const DEEPEST: usize = 1_000_000;

/// A tree may be as deep as an execution is long. So trees are saved, read and dropped without
/// recursion. Branches are written after their subtrees, each with the number of its children.
impl Serialize for WakeupTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written = Vec::new();
        let mut left: Vec<(&Branch, bool)> = self.branches.iter().rev().map(entered).collect();
        while let Some((branch, is_left)) = left.pop() {
            let branches = &branch.subtree.branches;
            if is_left || branches.is_empty() {
                written.push((branch.event, branches.len()));
            } else {
                left.push((branch, true));
                left.extend(branches.iter().rev().map(entered));
            }
        }
        written.serialize(serializer)
    }
}

fn entered(branch: &Branch) -> (&Branch, bool) {
    (branch, false)
}

impl<'de> Deserialize<'de> for WakeupTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WakeupTree, D::Error> {
        // Branches with the depths of their subtrees.
        let mut read: Vec<(Branch, usize)> = Vec::new();
        for (event, branches) in Vec::<(Planned, usize)>::deserialize(deserializer)? {
            let start = read.len().checked_sub(branches);
            let start = start.ok_or_else(|| D::Error::custom("a subtree is missing"))?;
            let below = read.iter().skip(start).map(|(_, depth)| depth + 1);
            let depth = below.max().unwrap_or(0);
            if depth > DEEPEST {
                return Err(D::Error::custom("a tree is too deep"));
            }
            let branches = read.drain(start..).map(|(branch, _)| branch).collect();
            let subtree = WakeupTree { branches };
            read.push((Branch { event, subtree }, depth));
        }
        let branches = read.into_iter().map(|(branch, _)| branch).collect();
        Ok(WakeupTree { branches })
    }
}

impl Drop for WakeupTree {
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.branches);
        while let Some(mut branch) = left.pop() {
            left.append(&mut branch.subtree.branches);
        }
    }
}

impl WakeupTree {
    /// Checks whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Returns the number of branches at the root.
    pub fn len(&self) -> usize {
        self.branches.len()
    }

    /// Returns the step with which the first branch begins.
    pub fn first_step(&self) -> Option<Step> {
        let event = self.branches.first()?.event;
        Some(Step::choosing(event.thread, event.choice.unwrap_or(0)))
    }

    /// Removes the first branch.
    pub fn remove_first(&mut self) {
        self.branches.remove(0);
    }

    /// Removes and returns the subtree of the first branch.
    pub fn take_first_subtree(&mut self) -> WakeupTree {
        self.branches
            .first_mut()
            .map(|first| std::mem::take(&mut first.subtree))
            .unwrap_or_default()
    }

    /// Expands the first branch before it is executed, if its operation has alternatives. A fresh
    /// branch becomes the first alternative, and the other alternatives directly follow it as
    /// leaves.
    pub fn branch_first(&mut self, alternatives: u32) {
        let Some(first) = self.branches.first_mut() else {
            return;
        };
        if alternatives == 1 || first.event.choice.is_some() {
            return;
        }
        first.event.choice = Some(0);
        let event = first.event;
        let others = (1..alternatives).map(|choice| Branch {
            event: Planned {
                choice: Some(choice),
                ..event
            },
            subtree: WakeupTree::default(),
        });
        self.branches.splice(1..1, others);
    }

    /// insert(v, wut(E)): adds v below the branches with which it is compatible, without the events
    /// that it has in common with them. Adds nothing if v reaches a leaf in this way.
    pub fn insert(&mut self, mut v: Vec<Planned>) {
        let mut node = self;
        let mut is_root = true;
        loop {
            if node.branches.is_empty() && !is_root {
                return;
            }
            is_root = false;
            let compatible = node
                .branches
                .iter()
                .enumerate()
                .find_map(|(index, branch)| match relation(branch.event, &v) {
                    Relation::Contained(at) => Some((index, Some(at))),
                    Relation::Independent => Some((index, None)),
                    Relation::Conflicting => None,
                });
            let Some((index, contained)) = compatible else {
                break;
            };
            if let Some(at) = contained {
                v.remove(at);
            }
            node = &mut node.branches[index].subtree;
        }
        for event in v {
            node.branches.push(Branch {
                event,
                subtree: WakeupTree::default(),
            });
            let last = node.branches.last_mut().expect("a branch was pushed");
            node = &mut last.subtree;
        }
    }
}

fn relation(branch: Planned, v: &[Planned]) -> Relation {
    for (at, &event) in v.iter().enumerate() {
        if event.thread == branch.thread {
            return match event.is_same_event(branch) {
                true => Relation::Contained(at),
                false => Relation::Conflicting,
            };
        }
        if event.op.conflicts_with(branch.op) {
            return Relation::Conflicting;
        }
    }
    Relation::Independent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::{Access, ObjectId, OpKind};

    fn planned(thread: u16) -> Planned {
        Planned {
            thread: ThreadId(thread),
            choice: None,
            op: Op {
                kind: OpKind::Store,
                access: Access::Write,
                object: ObjectId(1),
            },
        }
    }

    fn tree(branches: Vec<(Planned, WakeupTree)>) -> WakeupTree {
        let branches = branches.into_iter();
        WakeupTree {
            branches: branches
                .map(|(event, subtree)| Branch { event, subtree })
                .collect(),
        }
    }

    #[test]
    fn a_tree_is_read_as_it_was_saved() {
        let leaf = WakeupTree::default;
        let low = tree(vec![(planned(3), leaf()), (planned(4), leaf())]);
        let whole = tree(vec![
            (planned(1), leaf()),
            (planned(2), low),
            (planned(5), tree(vec![(planned(6), leaf())])),
        ]);
        for tree in [leaf(), whole] {
            let saved = postcard::to_allocvec(&tree).unwrap();
            assert_eq!(postcard::from_bytes::<WakeupTree>(&saved).unwrap(), tree);
        }
    }

    /// Trees so deep that recursion would overflow the stack of a test.
    #[test]
    fn a_deep_tree_is_read_and_dropped_and_one_that_is_too_deep_is_refused() {
        let chain = |length: usize| {
            let all = (0..length).map(|below| (planned(1), usize::from(below > 0)));
            postcard::to_allocvec(&all.collect::<Vec<_>>()).unwrap()
        };
        let deep = chain(200_000);
        let read = postcard::from_bytes::<WakeupTree>(&deep).unwrap();
        assert_eq!(postcard::to_allocvec(&read).unwrap(), deep);
        drop(read);
        assert!(postcard::from_bytes::<WakeupTree>(&chain(DEEPEST + 2)).is_err());
        let damaged = postcard::to_allocvec(&vec![(planned(1), 1_usize)]).unwrap();
        assert!(postcard::from_bytes::<WakeupTree>(&damaged).is_err());
    }
}
