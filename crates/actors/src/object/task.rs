//! Tasks that are state machines, with one step per segment.

use super::access_set::{self, Parts};
use super::{Future, Value, awaiting};
use runtime::{Access, Fingerprint, ThreadId};
use std::any::TypeId;
use std::hash::Hash;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

type Place = &'static Location<'static>;

/// A task that is a state machine: between two segments its state is plain data, not a stack.
///
/// See [tasks as state machines](super#tasks-as-state-machines).
pub trait Task: Clone + Eq + Hash + Send + 'static {
    /// The objects that each segment accesses: an [`Object`](crate::object::Object) or a tuple of
    /// them, its access set. A segment gets `&mut S` for an `Object<S>`, and a tuple of references
    /// for a tuple. A condition gets `&S` in the same way.
    type Touches: Parts;
    /// The type of the value of the task's future.
    type Output: Value;

    /// Returns the name of the task in reports.
    fn method(&self) -> &'static str;

    /// Checks whether the next segment only reads the state. Reads commute.
    fn only_reads(&self) -> bool {
        false
    }

    /// Checks the condition that the task awaits before its next segment.
    fn is_ready(&self, _state: <Self::Touches as Parts>::Shared<'_>) -> bool {
        true
    }

    /// Runs the next segment, which uses objects only through `state`. The calls that it adds to
    /// `calls` begin after the segment.
    fn segment(
        &mut self,
        state: <Self::Touches as Parts>::Exclusive<'_>,
        calls: &mut Calls,
    ) -> Next<Self>;
}

/// The action of a task at the end of a segment.
pub enum Next<T: Task> {
    /// Releases the object.
    Suspend,
    /// Releases the object. The next segment accesses another object (or tuple) of the same type. A
    /// task can use this to perform the segments of a call, instead of making the call and awaiting
    /// its end.
    At(T::Touches),
    /// Releases the object and awaits futures.
    Await(Awaited<T>),
    /// Ends the task with this value.
    Done(T::Output),
}

/// The futures that a task awaits, and the function that stores their values in the task.
pub struct Awaited<T> {
    tasks: Vec<ThreadId>,
    resume: Box<dyn FnOnce(&mut T)>,
    /// The type of the function that `resume` calls.
    function: TypeId,
}

impl<T: Task> Next<T> {
    /// Awaits a future. Before the next segment, `resume` stores the value of the future in the
    /// task. `resume` must not capture anything, so the data that it needs must be in the task.
    pub fn after<V: Value, F>(future: &Future<V>, resume: F) -> Next<T>
    where
        F: FnOnce(&mut T, V) + 'static,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "the continuation of an await must not capture anything"
            )
        };
        let awaited = future.clone();
        Next::Await(Awaited {
            tasks: vec![future.task],
            resume: Box::new(move |task| resume(task, awaited.value())),
            function: TypeId::of::<F>(),
        })
    }

    /// Awaits several futures. `resume` stores their values in the task, as in
    /// [`after`](Next::after).
    pub fn after_all<V: Value, F>(futures: &[Future<V>], resume: F) -> Next<T>
    where
        F: FnOnce(&mut T, Vec<V>) + 'static,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "the continuation of an await must not capture anything"
            )
        };
        let awaited = futures.to_vec();
        Next::Await(Awaited {
            tasks: futures.iter().map(|future| future.task).collect(),
            resume: Box::new(move |task| resume(task, awaited.iter().map(Future::value).collect())),
            function: TypeId::of::<F>(),
        })
    }
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
    /// Represents the object and the task of the call in the state.
    callee: Fingerprint,
}

impl Calls {
    /// Calls an object: starts `task` as a task of this object when the segment is over.
    #[track_caller]
    pub fn start<T: Task>(&mut self, object: &T::Touches, task: T) -> Future<T::Output> {
        let number =
            u32::try_from(self.calls.len()).expect("a segment makes fewer than 2^32 calls");
        let future = Future::of(runtime::upcoming_child(number));
        let location = Location::caller();
        let callee = Fingerprint::of((object.clone(), task.clone()));
        self.calls.push(Call {
            method: task.method(),
            location,
            body: Box::new(future.filled_by(body(object, task, location))),
            callee,
        });
        future
    }
}

/// A running task.
struct Running<T: Task> {
    local: Arc<Mutex<Local<T>>>,
    location: Place,
}

/// The state of a task while it waits at an operation.
struct Local<T: Task> {
    task: T,
    /// A copy of the task from before the awaited values were stored in it. The copy exists until
    /// the next segment. It is part of the state. Otherwise two different states could become equal
    /// only because an awaited task has ended.
    before: Option<T>,
    /// The object of the next segment, or its tuple of objects.
    object: T::Touches,
    /// The calls of the last segment that have not begun.
    calls: Vec<Fingerprint>,
    /// The futures that the task awaits, and the type of the function that takes over their values.
    awaits: Option<(Vec<ThreadId>, TypeId)>,
    /// The value with which the task ends, after its last segment.
    output: Option<T::Output>,
}

/// Returns the code of a task. `location` is the place in the source that starts the task.
pub(super) fn body<T: Task>(
    object: &T::Touches,
    task: T,
    location: Place,
) -> impl FnOnce() -> T::Output + use<T> {
    let object = object.clone();
    move || {
        let local = Local {
            task,
            before: None,
            object,
            calls: Vec::new(),
            awaits: None,
            output: None,
        };
        let running = Running {
            local: Arc::new(Mutex::new(local)),
            location,
        };
        running.report_state();
        running.run()
    }
}

impl<T: Task> Running<T> {
    fn report_state(&self) {
        let local = Arc::clone(&self.local);
        runtime::report_state(move || {
            // In the middle of a segment, the task has no state to report. No operation should
            // occur there.
            let local = match local.try_lock() {
                Ok(guard) => guard,
                Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
                Err(TryLockError::WouldBlock) => return None,
            };
            let (task, output) = (local.task.clone(), local.output.clone());
            Some((
                (task, local.before.clone()),
                local.object.clone(),
                local.calls.clone(),
                local.awaits.clone(),
                output,
            ))
        });
    }

    fn run(&self) -> T::Output {
        loop {
            let mut calls = Calls::default();
            let next = self.segment(&mut calls);
            self.record_next(&next);
            self.perform(calls);
            match next {
                Next::Suspend | Next::At(_) => {}
                Next::Await(awaited) => self.wait(awaited),
                Next::Done(output) => return output,
            }
        }
    }

    /// Performs one segment, which is one event. Stops the task for the rest of the execution if
    /// its condition does not hold.
    fn segment(&self, calls: &mut Calls) -> Next<T> {
        let (object, only_reads, method) = {
            let local = lock(&self.local);
            (
                local.object.clone(),
                local.task.only_reads(),
                local.task.method(),
            )
        };
        let access = match only_reads {
            true => Access::Read,
            false => Access::Write,
        };
        runtime::segment_at(self.location, object.objects().as_ref(), access, method);
        let mut local = lock(&self.local);
        local.before = None;
        local.awaits = None;
        if !object.jointly(|state| local.task.is_ready(state)) {
            let task = local.task.clone();
            drop(local);
            awaiting::block_for_ever(&object, move |state| task.is_ready(state));
        }
        if !only_reads {
            return access_set::change(&object, |state| local.task.segment(state, calls));
        }
        let (next, has_changed) = object.on_copies(|state| local.task.segment(state, calls));
        assert!(!has_changed, "{method} {CHANGED}");
        next
    }

    /// Records how the task continues, as part of its state after the end of the segment.
    fn record_next(&self, next: &Next<T>) {
        let mut local = lock(&self.local);
        match next {
            Next::Suspend => {}
            Next::At(object) => local.object = object.clone(),
            Next::Await(awaited) => {
                local.awaits = Some((awaited.tasks.clone(), awaited.function));
            }
            Next::Done(output) => local.output = Some(output.clone()),
        }
    }

    /// Begins the calls of the segment after its end. A call has no access, so no task observes the
    /// delay.
    fn perform(&self, calls: Calls) {
        let callees = calls.calls.iter().map(|call| call.callee.clone());
        lock(&self.local).calls = callees.collect();
        for call in calls.calls {
            runtime::call_at(call.location, call.method, call.body);
            lock(&self.local).calls.remove(0);
        }
    }

    fn wait(&self, awaited: Awaited<T>) {
        for task in awaited.tasks {
            runtime::await_end(self.location, task);
        }
        // `resume` reads the values of the awaited futures. It does not return if a value is
        // missing because the execution is torn down (ended early). So it runs without the lock.
        let mut task = lock(&self.local).task.clone();
        (awaited.resume)(&mut task);
        let mut local = lock(&self.local);
        local.before = Some(std::mem::replace(&mut local.task, task));
    }
}

const CHANGED: &str = "changed the state of its object in a segment that was declared as a read";

fn lock<T>(local: &Mutex<T>) -> MutexGuard<'_, T> {
    local.lock().unwrap_or_else(PoisonError::into_inner)
}
