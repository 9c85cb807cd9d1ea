//! Tasks that are state machines, with one step per segment.

use super::{Future, Object, State, access_set, awaiting};
use runtime::{Access, ThreadId};
use std::hash::Hash;
use std::panic::Location;

type Place = &'static Location<'static>;

/// A task that is a state machine: what it is between two segments is plain data, not a stack.
///
/// See [tasks as state machines](super#tasks-as-state-machines).
pub trait Task: Clone + Eq + Hash + Send + 'static {
    /// The state of the object that it is a task of.
    type State: State;
    /// What its future holds at its end.
    type Output: Clone + Eq + Hash + Send + 'static;

    /// Its name in reports.
    fn method(&self) -> &'static str;

    /// Whether the next segment only looks at the state, so that it commutes with others like it.
    fn only_reads(&self) -> bool {
        false
    }

    /// What the task awaits before its next segment.
    fn is_ready(&self, _state: &Self::State) -> bool {
        true
    }

    /// The next segment. Of objects it uses only the state; calls begin when it is over.
    fn segment(&mut self, state: &mut Self::State, calls: &mut Calls) -> Next<Self>;
}

/// What a task does at the end of a segment.
pub enum Next<T: Task> {
    /// Releases the object.
    Suspend,
    /// Releases the object and awaits futures.
    Await(Awaited<T>),
    /// Returns.
    Done(T::Output),
}

impl<T: Task> Next<T> {
    /// Awaits a future; `resume` takes over what it holds, before the next segment.
    pub fn after<V: Clone + 'static>(future: &Future<V>, resume: fn(&mut T, V)) -> Next<T> {
        let own = future.clone();
        Next::Await(Awaited {
            tasks: vec![future.task],
            resume: Box::new(move |task| resume(task, own.value())),
        })
    }

    /// Awaits several futures.
    pub fn after_all<V: Clone + 'static>(
        futures: &[Future<V>],
        resume: fn(&mut T, Vec<V>),
    ) -> Next<T> {
        let own = futures.to_vec();
        Next::Await(Awaited {
            tasks: futures.iter().map(|future| future.task).collect(),
            resume: Box::new(move |task| resume(task, own.iter().map(Future::value).collect())),
        })
    }
}

/// Futures that a task awaits, and what it does with what they hold.
pub struct Awaited<T> {
    tasks: Vec<ThreadId>,
    resume: Box<dyn FnOnce(&mut T)>,
}

/// The calls of a segment, which begin when it is over.
#[derive(Default)]
pub struct Calls {
    calls: Vec<Call>,
}

struct Call {
    method: &'static str,
    location: Place,
    body: Box<dyn FnOnce()>,
}

impl Calls {
    /// Calls an object: `task` will be a task of it.
    #[track_caller]
    pub fn start<T: Task>(&mut self, object: &Object<T::State>, task: T) -> Future<T::Output> {
        let number = u32::try_from(self.calls.len()).expect("a segment makes less than 2^32 calls");
        let future = Future::of(runtime::upcoming_child(number));
        let location = Location::caller();
        let method = task.method();
        self.calls.push(Call {
            method,
            location,
            body: Box::new(future.filled_by(body(object, task, location))),
        });
        future
    }
}

/// The code of a task that is started at this place.
pub(super) fn body<T: Task>(
    object: &Object<T::State>,
    mut task: T,
    location: Place,
) -> impl FnOnce() -> T::Output + use<T> {
    let object = object.clone();
    move || {
        loop {
            let mut calls = Calls::default();
            let next = segment(&object, &mut task, &mut calls, location);
            for call in calls.calls {
                runtime::spawn_at(call.location, Some(call.method.to_owned()), call.body);
            }
            match next {
                Next::Suspend => {}
                Next::Await(awaited) => awaited.perform(&mut task, location),
                Next::Done(output) => return output,
            }
        }
    }
}

fn segment<T: Task>(
    object: &Object<T::State>,
    task: &mut T,
    calls: &mut Calls,
    location: Place,
) -> Next<T> {
    let only_reads = task.only_reads();
    let access = match only_reads {
        true => Access::Read,
        false => Access::Write,
    };
    runtime::segment_at(location, &[object.shared.object], access, task.method());
    if !task.is_ready(&object.state()) {
        let task = task.clone();
        awaiting::in_vain(object, move |state| task.is_ready(state));
    }
    if !only_reads {
        return access_set::change(object, |state| task.segment(state, calls));
    }
    let mut state = object.state().clone();
    let next = task.segment(&mut state, calls);
    let method = task.method();
    assert!(state == *object.state(), "{method} {CHANGED}");
    next
}

const CHANGED: &str =
    "changed the state of its object in a segment for which it said that it only reads";

impl<T: Task> Awaited<T> {
    fn perform(self, task: &mut T, location: Place) {
        for awaited in self.tasks {
            runtime::await_end(location, awaited);
        }
        (self.resume)(task);
    }
}
