//! Depth-first search over the tree of executions, shared by all [`Reduction`]s.
//!
//! The path has a node for each event of the execution. Races are analysed at the end of an
//! execution, not after each step. This is early enough, because a node's plan is read only when
//! the search returns to the node. By default, only races whose second event is new are analysed.

use crate::execution::Performed;
use crate::execution::{Execution, Op, Race, Request, Step, ThreadId};
use crate::program::{Divergence, Outcome, Pending, planned};
use crate::strategy::{Decision, Ending, Part, Strategy};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Decides which branches of a node are explored. The branches that are left to explore are stored
/// in the plans of the nodes.
pub trait Reduction: Default {
    /// The plan of a node: a backtrack set, a wakeup tree, …
    type Plan: Default + Serialize + DeserializeOwned;
    /// A planned reversal of a race.
    type Reversal;

    /// Returns the first step from a node that an execution reaches for the first time, or `None`
    /// if every enabled thread is asleep. Every step of an enabled thread that is awake is a valid
    /// choice.
    fn begin(&self, node: &mut Node<Self::Plan>, enabled: Enabled<'_>) -> Option<Step>;

    /// Plans the other alternatives of the node's operation, if the plan must list them. Called
    /// when the operation was performed.
    fn branch(&self, _node: &mut Node<Self::Plan>) {}

    /// Removes the branches that were planned without a race, because the program fixed the node's
    /// current step ([`Performed::is_fixed`]).
    fn fix(&self, _node: &mut Node<Self::Plan>) {}

    /// Returns the next step from a node when its current step is fully explored, or `None` if the
    /// node has no further branch.
    fn next(&self, node: &mut Node<Self::Plan>) -> Option<Step>;

    /// Returns the number of branches planned after the current one, as far as known.
    fn remaining(&self, node: &Node<Self::Plan>) -> usize;

    /// Returns the plan of the child that the node's current step leads to.
    fn descend(&self, _node: &mut Node<Self::Plan>) -> Self::Plan {
        Self::Plan::default()
    }

    /// Returns a position: races whose second event is at this position or later are analysed.
    /// Events before `fresh` were already part of an earlier execution.
    fn unseen(&self, _execution: &Execution, fresh: usize) -> usize {
        fresh
    }

    /// Returns what to explore from the node before the race's first event, so that the second
    /// event comes first, or `None` if this is explored anyway.
    fn reversal(&self, race: Race, execution: &Execution) -> Option<Self::Reversal>;

    /// Plans a reversal at the node before the race's first event.
    fn insert(&self, node: &mut Node<Self::Plan>, reversal: Self::Reversal);

    /// Plans the reversals that the events from `unseen` on require.
    fn plan_reversals(&self, execution: &Execution, unseen: usize, path: &mut [Node<Self::Plan>]) {
        for &race in execution.races_from(unseen) {
            if let Some(reversal) = self.reversal(race, execution) {
                self.insert(&mut path[race.first.index()], reversal);
            }
        }
    }

    /// Removes and returns the unexplored branches of the node, if they can be explored
    /// independently of the other nodes.
    fn give_away(&self, _node: &mut Node<Self::Plan>) -> Option<Self::Plan> {
        None
    }

    /// Checks whether a bound has excluded a step.
    fn leaves_out(&self) -> bool {
        false
    }
}

/// A thread in a sleep set. It need not run first, because the executions in which it does were
/// explored. Its operation cannot change while it sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sleeper {
    /// The sleeping thread.
    pub thread: ThreadId,
    /// The operation that the thread would perform.
    pub op: Op,
}

/// A node of the search tree: the state before an event of the path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Node<Plan> {
    /// The threads that need not run first from here.
    pub sleep: Vec<Sleeper>,
    /// The branches to explore from here.
    pub plan: Plan,
    /// The step that is being explored.
    pub step: Step,
    /// The operation that the thread of `step` announces here.
    pub request: Request,
    /// The number of steps explored before `step`.
    done: usize,
}

impl<Plan> Node<Plan> {
    /// Checks whether the thread is asleep, that is, need not run first from here.
    pub fn is_asleep(&self, thread: ThreadId) -> bool {
        self.sleep.iter().any(|sleeper| sleeper.thread == thread)
    }

    /// Returns the next alternative of the same thread's operation, if there is one.
    pub fn next_alternative(&self) -> Option<Step> {
        let choice = self.step.choice + 1;
        (choice < self.request.alternatives).then_some(Step {
            choice,
            ..self.step
        })
    }

    /// Puts the current thread to sleep, because everything that begins with it is explored.
    pub fn retire(&mut self) {
        self.sleep.push(Sleeper {
            thread: self.step.thread,
            op: self.request.op,
        });
    }
}

/// The enabled threads, in order of preference: first the preferred thread, then the others by
/// number.
///
/// The search chooses the preferred thread, for example from its guide. The default is the thread
/// that ran last. If that thread has yielded, the default is the next enabled thread in cyclic
/// order. A reduction may choose in another order, but should run the other threads before a thread
/// that has yielded. Otherwise spin loops would not end.
#[derive(Clone, Copy, Debug)]
pub struct Enabled<'a> {
    pending: &'a [Pending],
    preferred: Option<ThreadId>,
    last: Option<ThreadId>,
}

impl<'a> Enabled<'a> {
    pub(crate) fn new(pending: &'a [Pending], preferred: Option<ThreadId>) -> Enabled<'a> {
        Enabled {
            pending,
            preferred,
            last: None,
        }
    }

    /// Sets the thread that ran last.
    fn after(self, last: Option<ThreadId>) -> Enabled<'a> {
        Enabled { last, ..self }
    }

    /// Iterates over the threads in order of preference.
    pub fn iter(self) -> impl Iterator<Item = (ThreadId, &'a Request)> {
        let first = self.preferred.map(ThreadId::index);
        let mut preferred = first;
        let mut others = self.pending.iter().enumerate();
        std::iter::from_fn(move || {
            if let Some(first) = preferred.take()
                && let Some(request) = self.pending.get(first).and_then(Pending::enabled)
            {
                return Some((ThreadId::from_index(first), request));
            }
            loop {
                let (index, pending) = others.next()?;
                if let Some(request) = pending.enabled()
                    && Some(index) != first
                {
                    return Some((ThreadId::from_index(index), request));
                }
            }
        })
    }

    /// Returns the first thread in order of preference.
    pub fn first(self) -> Option<(ThreadId, &'a Request)> {
        let first = self
            .preferred
            .and_then(|first| Some((first, self.pending.get(first.index())?.enabled()?)));
        first.or_else(|| {
            let mut pending = self.pending.iter();
            let index = pending.position(|pending| pending.enabled().is_some())?;
            Some((ThreadId::from_index(index), self.pending[index].enabled()?))
        })
    }

    /// Returns the thread that ran last, if it is enabled and has not yielded.
    pub fn running(self) -> Option<ThreadId> {
        let last = self.last?;
        let request = self.pending.get(last.index())?.enabled()?;
        (!request.yields).then_some(last)
    }

    /// Checks whether no thread is enabled.
    pub fn is_empty(self) -> bool {
        self.first().is_none()
    }
}

/// Returns the thread to prefer by default: the thread that ran last, even if it is not enabled. If
/// that thread has yielded, the default is the next enabled thread in cyclic order, so that no
/// thread starves (fair schedules: Musuvathi, Qadeer, PLDI 2008).
pub(crate) fn next_after(last: Option<ThreadId>, pending: &[Pending]) -> Option<ThreadId> {
    let current = last?.index();
    let is_enabled = |index: &usize| pending[*index].enabled().is_some();
    match pending[current].enabled() {
        Some(request) if request.yields => {
            let mut others = (current + 1..pending.len()).chain(0..current);
            others.find(is_enabled).map(ThreadId::from_index).or(last)
        }
        _ => last,
    }
}

/// Depth-first search with a reduction.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Search<R: Reduction> {
    #[serde(skip)]
    reduction: R,
    execution: Execution,
    /// path[i] is the node before event i.
    path: Vec<Node<R::Plan>>,
    /// Position of the first event that has not been analysed.
    fresh: usize,
    has_begun: bool,
    /// Sleep sets of abandoned nodes, for reuse of their memory.
    #[serde(skip)]
    spare: Vec<Vec<Sleeper>>,
    /// `guide[i]` is the thread that the first execution prefers for event i.
    #[serde(skip)]
    guide: Vec<ThreadId>,
}

impl<R: Reduction> Search<R> {
    /// Returns a new search.
    pub fn new() -> Search<R> {
        Search {
            reduction: R::default(),
            execution: Execution::default(),
            path: Vec::new(),
            fresh: 0,
            has_begun: false,
            spare: Vec::new(),
            guide: Vec::new(),
        }
    }

    /// Returns the same search with another reduction.
    pub(crate) fn by(self, reduction: R) -> Search<R> {
        Search { reduction, ..self }
    }

    /// Returns a search whose first execution prefers the thread `guide[i]` for event i.
    pub fn guided(guide: Vec<ThreadId>) -> Search<R> {
        Search {
            guide,
            ..Search::new()
        }
    }

    /// Returns the path: path[i] is the node before event i.
    pub(crate) fn path(&self) -> &[Node<R::Plan>] {
        &self.path
    }

    /// Returns the path, to change its plans.
    pub(crate) fn path_mut(&mut self) -> &mut [Node<R::Plan>] {
        &mut self.path
    }

    /// Returns the position of the first event that has not been analysed.
    pub(crate) fn fresh(&self) -> usize {
        self.fresh
    }

    /// Returns the sleep set of a new node after the last event: {q ∈ sleep : next(q) is
    /// independent of the event}, where sleep is the parent's sleep set.
    fn child_sleep(&mut self) -> Vec<Sleeper> {
        let mut sleep = self.spare.pop().unwrap_or_default();
        if let (Some(parent), Some((_, event))) =
            (self.path.last(), self.execution.events().next_back())
        {
            sleep.extend(parent.sleep.iter().filter(|sleeper| {
                sleeper.thread != event.thread() && !sleeper.op.conflicts_with(event.op)
            }));
        }
        sleep
    }

    /// Adds a node at the end of the path and returns its first step. If the execution ends at this
    /// point, returns the reason instead, and adds no node.
    fn enter(&mut self, pending: &[Pending]) -> Decision {
        let preferred = self.guide.get(self.execution.len()).copied();
        let last = self.execution.last_thread();
        let preferred = preferred.or_else(|| next_after(last, pending));
        let enabled = Enabled::new(pending, preferred).after(last);
        if enabled.is_empty() {
            return Decision::Stop(Ending::Maximal);
        }
        let sleep = self.child_sleep();
        let plan = self
            .path
            .last_mut()
            .map(|parent| self.reduction.descend(parent));
        let mut node = Node {
            sleep,
            plan: plan.unwrap_or_default(),
            step: Step::of(ThreadId::MAIN),
            request: Request::UNKNOWN,
            done: 0,
        };
        match self.reduction.begin(&mut node, enabled) {
            Some(step) => {
                node.step = step;
                self.path.push(node);
                Decision::Run(step)
            }
            None => {
                self.recycle(node);
                Decision::Stop(Ending::Blocked)
            }
        }
    }

    /// Returns a search that explores exactly the branches in `plan`, from the node at `position`.
    fn part_at(&self, position: usize, plan: R::Plan) -> Search<R> {
        let like = |node: &Node<R::Plan>| Node {
            sleep: node.sleep.clone(),
            plan: R::Plan::default(),
            ..*node
        };
        let mut path: Vec<_> = self.path[..=position].iter().map(like).collect();
        path[position].plan = plan;
        let mut execution = self.execution.clone();
        execution.truncate(path.len());
        Search {
            execution,
            path,
            has_begun: true,
            ..Search::new()
        }
    }

    fn recycle(&mut self, mut node: Node<R::Plan>) {
        node.sleep.clear();
        self.spare.push(node.sleep);
    }
}

impl<R: Reduction> Default for Search<R> {
    fn default() -> Search<R> {
        Search::new()
    }
}

impl<R: Reduction> Strategy for Search<R> {
    fn backtrack(&mut self) -> bool {
        if !self.has_begun {
            self.has_begun = true;
            return true;
        }
        self.guide.clear();
        while let Some(mut node) = self.path.pop() {
            self.execution.truncate(self.path.len());
            if let Some(step) = self.reduction.next(&mut node) {
                node.step = step;
                node.done += 1;
                self.fresh = self.path.len();
                self.path.push(node);
                return true;
            }
            self.recycle(node);
        }
        false
    }

    fn returns(&self) -> bool {
        let node = self.path.last();
        node.is_some_and(|node| self.reduction.remaining(node) > 0)
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let position = self.execution.len();
        let decision = match self.path.get(position) {
            Some(node) => Decision::Run(node.step),
            None => self.enter(pending),
        };
        if let Decision::Run(step) = decision {
            let node = self
                .path
                .last_mut()
                .expect("the node of a fresh step is the last one");
            node.request = *planned(position, step, pending)?;
        }
        Ok(decision)
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        let node = self
            .path
            .last_mut()
            .expect("the node of a fresh step is the last one");
        if performed.is_fixed {
            node.request.alternatives = 1;
            self.reduction.fix(node);
        }
        self.reduction.branch(node);
        self.execution.push(node.step, &node.request, performed);
    }

    fn analyse(&mut self, _outcome: Outcome) {
        let unseen = self.reduction.unseen(&self.execution, self.fresh);
        self.reduction
            .plan_reversals(&self.execution, unseen, &mut self.path);
    }

    fn leaves_out(&self) -> bool {
        self.reduction.leaves_out()
    }

    fn execution(&self) -> &Execution {
        &self.execution
    }

    /// Assumes that each node on the path splits the search evenly among its branches.
    fn estimate(&self) -> Option<f64> {
        let parts = self.path.iter().map(|node| {
            let branches = node.done + 1 + self.reduction.remaining(node);
            (node.done as f64, branches as f64)
        });
        Some(
            parts
                .rev()
                .fold(1.0, |inner, (done, branches)| (done + inner) / branches),
        )
    }

    fn give_away(&mut self) -> Option<Part> {
        let mut whole = 1.0;
        for position in 0..self.path.len() {
            let node = &mut self.path[position];
            let branches = self.reduction.remaining(node) + 1 + node.done;
            if let Some(plan) = self.reduction.give_away(node) {
                let share = whole * (branches - 1 - node.done) as f64 / branches as f64;
                let saved = self.part_at(position, plan).save();
                return Some(Part { saved, share });
            }
            whole /= branches as f64;
        }
        None
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search consists of serializable data")
    }
}
