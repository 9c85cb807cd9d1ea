//! Threads of native programs, and how they end.

use crate::engine::kin::Code;
use crate::engine::perform::{self, commuting};
use crate::engine::{Engine, Job};
use crate::trace::Shown;
use explore::{Halt, Pending, Request, ThreadId};
use objects::Thread;
use report::{FailureKind, LeftOut, Omission};
use std::panic::{Location, resume_unwind};
use std::sync::atomic::AtomicBool;

/// Whether the current execution has changed state of the system, such as files, that outlives it.
pub static CHANGES_SYSTEM: AtomicBool = AtomicBool::new(false);

/// The payload that unwinds a thread that ends before its function returns.
pub(crate) struct EndOfThread;

/// Starts a thread that runs `run(argument)`.
pub fn spawn(code: usize, run: fn(usize), argument: usize) -> ThreadId {
    let location = Location::caller();
    let announce = |engine: &mut crate::engine::Engine| {
        engine.thread().life.code = code;
        let child = engine.upcoming_child(0);
        let op = Thread::SPAWN.on(engine.names.end(child));
        engine.announce(Request::plain(op), location);
    };
    commuting(announce, |engine| {
        engine.thread().life.guests.round.take_effect();
        let child = engine.spawn(location, None, |_| Job::Call { run, argument });
        engine.record_thread(child, |name| format!("starts {name}"));
        child
    })
}

/// Records the function that the next child of the current thread runs, and what the child is
/// given, so that the search can recognize twins.
pub fn will_run(function: usize, given: &[u64]) {
    perform::silently(|engine| {
        if engine.config.symmetry {
            engine.will_run(Code::call(function, given));
        }
    });
}

/// Records that the program uses the identity of the thread with this number.
pub fn tell_apart(thread: usize) {
    perform::silently(|engine| {
        if engine.config.symmetry {
            engine.tell_apart(ThreadId::from_index(thread));
        }
    });
}

/// Records that the current thread, which is the main thread, has ended, and from now on only waits
/// for the other threads before it runs the exit handlers.
pub fn outlive_twins() {
    perform::silently(Engine::outlive_twins);
}

/// Records that the program reads this result of a thread that it has joined.
pub fn read_result(thread: ThreadId, result: u64) {
    perform::silently(|engine| {
        if engine.config.symmetry {
            engine.read_result(thread, result);
        }
    });
}

/// Joins a thread that has ended, if the join is not a separate step. Returns whether the thread
/// was joined. If not, call [`join`](crate::join) at the same place.
#[inline]
pub fn join_ended(thread: ThreadId, code: usize) -> bool {
    perform::silently(|engine| {
        let running = engine.thread();
        running.life.code = code;
        running.life.guests.round.take_effect();
        let is_plain = !engine.watch.records && engine.threads[thread.index()].panic.is_none();
        is_plain && engine.joins_at_once(thread)
    })
}

/// Ends the thread by unwinding it.
pub fn return_from_thread() -> ! {
    resume_unwind(Box::new(EndOfThread))
}

/// Reports a failure, unless the user has suppressed it, and ends the thread at once. No more of
/// its code runs.
pub fn fail(code: usize, kind: FailureKind, message: String) -> ! {
    perform::stop(|engine| {
        engine.thread().life.code = code;
        let spot = engine.own_spot();
        let location = engine.shown_spot(spot);
        let shown = Shown {
            kind,
            message,
            location,
            event: Some(engine.event()),
        };
        if engine.guests.failures.may_suppress() {
            let functions = engine.functions_of_stack(code);
            if engine.guests.failures.suppresses(&shown, &functions) {
                return engine.end_suppressed(kind);
            }
        }
        engine.guests.recorder.mark_failed();
        engine.guests.failures.push(shown);
        engine.life.pending[engine.running.index()] = Pending::Failed;
    })
}

impl Engine {
    /// Returns the functions of the running thread, as far as they are known. The innermost
    /// function contains `code`.
    pub(super) fn functions_of_stack(&self, code: usize) -> Vec<String> {
        let Some(native) = self.config.native else {
            return Vec::new();
        };
        match native.source_map.callers(code, self.stack_top()) {
            callers if callers.is_empty() => native.source_map.functions(code),
            callers => callers,
        }
    }

    /// Ends the thread after a failure that the user has suppressed.
    fn end_suppressed(&mut self, kind: FailureKind) {
        let index = self.running.index();
        self.life.pending[index] = match kind {
            // These failures appear when the program ends.
            FailureKind::ExitStatus | FailureKind::Leak => {
                self.guests.native.life.has_exited = true;
                Pending::Finished
            }
            // The thread stops here, as at a failed assumption.
            FailureKind::Panic
            | FailureKind::DataRace
            | FailureKind::Deadlock
            | FailureKind::Stuck
            | FailureKind::StackOverflow
            | FailureKind::Abort
            | FailureKind::Misuse
            | FailureKind::UnhandledMessage
            | FailureKind::DeadLetter
            | FailureKind::Assertion
            | FailureKind::Crash
            | FailureKind::EndlessLoop
            | FailureKind::UseAfterFree
            | FailureKind::DoubleFree
            | FailureKind::OutOfBounds
            | FailureKind::Unsupported => Pending::Halted(Halt::Assume),
        };
    }
}

/// Ends the running thread as far as other threads can see: they may join it now. Its later actions
/// do not belong to the program's thread.
pub fn end_for_others() {
    if perform::silently(|engine| engine.is_end_polled()) {
        perform::end();
    }
    perform::silently(|engine| {
        let thread = engine.running;
        engine.end_thread(thread);
        engine.poll(engine.names.end(thread));
    });
}

/// Ends the thread at once, like a return.
pub fn end_thread() -> ! {
    perform::stop(|engine| {
        let thread = engine.running;
        engine.end_thread(thread);
        engine.life.pending[thread.index()] = Pending::Finished;
        engine.poll(engine.names.end(thread));
    })
}

/// Ends the program. The calling thread never continues and is not joined. Other threads continue,
/// because the end of the program counts as the last action. They may wait forever: this is not a
/// deadlock.
pub fn exit_program() -> ! {
    perform::stop(|engine| {
        engine.guests.native.life.has_exited = true;
        engine.life.pending[engine.running.index()] = Pending::Finished;
    })
}

/// Declares a goal of this name: some execution must make this call with a true `is_reached`.
pub fn goal(code: usize, name: &str, is_reached: bool) {
    perform::silently(|engine| {
        engine.thread().life.code = code;
        engine.declare_goal(name, |engine| {
            let spot = engine.own_spot();
            engine.shown_spot(spot).unwrap_or_default()
        });
        if is_reached {
            engine.reach(name);
        }
    });
}

/// Records that the program's main function has returned. If remaining threads wait forever, this
/// is not a deadlock.
pub fn return_from_main() {
    perform::silently(|engine| engine.guests.native.life.has_exited = true);
}

/// Adds a warning to the report.
pub fn warn(text: &str) {
    perform::silently(|engine| {
        let mut warnings = engine.guests.warnings.borrow_mut();
        if !warnings.contains(text) {
            warnings.insert(text.to_owned());
        }
    });
}

/// Records that something is not explored: the program is verified only within this bound, unless
/// the user accepts it.
pub fn leave_out(kind: Omission, what: &str) {
    perform::silently(|engine| {
        let mut left_out = engine.guests.left_out.borrow_mut();
        if !left_out
            .iter()
            .any(|left_out| left_out.kind == kind && left_out.what == what)
        {
            left_out.insert(LeftOut::new(kind, what));
        }
    });
}

/// Sets whether the current wait of a thread does not count as a deadlock, because the wait ends
/// for another reason in another execution.
pub fn excuse(thread: ThreadId, is_excused: bool) {
    perform::silently(|engine| {
        let excused = &mut engine.guests.native.life.excused;
        excused.retain(|&other| other != thread);
        if is_excused {
            excused.push(thread);
        }
    });
}

/// Wipes what the checker has left on the stack below the caller, where code of the program will
/// run. The await rule would compare these bytes, because it also compares bytes that the program
/// has never written.
pub fn clean_stack() {
    perform::clean_after_calls();
}

/// Returns the stack of the running thread, or an empty range if it has none.
pub fn own_stack() -> std::ops::Range<usize> {
    perform::silently(|engine| {
        let fibre = engine.running_fibre();
        fibre.map_or(0..0, |fibre| fibre.lowest()..fibre.base())
    })
}

/// Returns a thread that has not ended, other than the running thread, if there is one.
pub fn living_other() -> Option<ThreadId> {
    perform::silently(|engine| {
        let running = engine.running;
        let mut others = engine.started().iter().copied();
        others.find(|&other| {
            other != running && !engine.life.objects.ends[other.index()].is_finished()
        })
    })
}

/// Returns whether all other threads have ended.
pub fn is_alone() -> bool {
    perform::silently(|engine| engine.life.live == 1)
}

/// Ends the check because the program does something that no model supports.
pub fn refuse(code: usize, message: String) -> ! {
    fail(code, FailureKind::Unsupported, message)
}

/// Runs code that is not part of the program, so that memory allocated by it does not belong to the
/// model.
#[inline]
pub fn privately<R>(does: impl FnOnce() -> R) -> R {
    perform::silently(|_| does())
}
