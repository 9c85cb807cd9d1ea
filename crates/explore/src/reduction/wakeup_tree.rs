//! Wakeup trees (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, section 6).
//!
//! An ordered tree of sequences that are to be explored. A branch whose operation has alternatives
//! either names one or is *fresh* (`choice` none): when it is executed it becomes the first
//! alternative, and the others follow directly behind it.

use crate::execution::{Op, Step, ThreadId};
use serde::{Deserialize, Serialize};

/// An event that is to be executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Planned {
    /// Who performs it.
    pub thread: ThreadId,
    /// Which alternative; none if there is one alternative or none was chosen yet.
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

/// What is to be explored from a node, in this order.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WakeupTree {
    branches: Vec<Branch>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Branch {
    event: Planned,
    subtree: WakeupTree,
}

/// How a branch of the tree relates to a sequence that is being inserted.
enum Relation {
    /// The sequence contains it at this place, with nothing before it that conflicts.
    Contained(usize),
    /// Independent of the whole sequence.
    Independent,
    /// Conflicts with what comes before it.
    Conflicting,
}

impl WakeupTree {
    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Number of branches at the root.
    pub fn len(&self) -> usize {
        self.branches.len()
    }

    /// The step with which the first branch begins.
    pub fn first_step(&self) -> Option<Step> {
        let event = self.branches.first()?.event;
        Some(Step {
            thread: event.thread,
            choice: event.choice.unwrap_or(0),
        })
    }

    /// Forgets the first branch.
    pub fn remove_first(&mut self) {
        self.branches.remove(0);
    }

    /// Takes what is planned below the first branch.
    pub fn take_first_subtree(&mut self) -> WakeupTree {
        self.branches
            .first_mut()
            .map(|first| std::mem::take(&mut first.subtree))
            .unwrap_or_default()
    }

    /// The first branch is about to be executed in one of so many ways: a fresh one becomes the
    /// first alternative, and the others follow as leaves directly behind it.
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

    /// insert(v, wut(E)): afterwards some sequence of the tree is contained in v, up to what is
    /// independent of it.
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
