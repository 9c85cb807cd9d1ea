//! Threads of native programs, and how they end.

use crate::engine::{Engine, Job};
use crate::perform::{self, commuting};
use crate::trace::Shown;
use explore::{Halt, Pending, Request, ThreadId};
use objects::Thread;
use report::{FailureKind, LeftOut, Omission};
use std::panic::{Location, resume_unwind};

/// What a thread is unwound with that ends in the middle.
pub(crate) struct EndOfThread;

/// Starts a thread that runs `run(argument)`.
pub fn spawn(code: usize, run: fn(usize), argument: usize) -> ThreadId {
    let location = Location::caller();
    let announce = |engine: &mut crate::engine::Engine| {
        engine.thread().code = code;
        let child = engine.upcoming_child(0);
        let op = Thread::SPAWN.on(engine.names.end(child));
        engine.announce(Request::plain(op), location);
    };
    commuting(announce, |engine| {
        engine.thread().laps.take_effect();
        let child = engine.spawn(location, None, |_| Job::Call { run, argument });
        engine.record_thread(child, |name| format!("starts {name}"));
        child
    })
}

/// Joins a thread that has ended, if that takes no step of its own; whether it did. Else [`join`](crate::join) does, at the
/// same place.
#[inline]
pub fn join_ended(thread: ThreadId, code: usize) -> bool {
    perform::silently(|engine| {
        let own = engine.thread();
        own.code = code;
        own.laps.take_effect();
        let is_plain = !engine.watch.records && engine.threads[thread.index()].panic.is_none();
        is_plain && engine.joins_at_once(thread)
    })
}

/// Ends the thread by unwinding it.
pub fn return_from_thread() -> ! {
    resume_unwind(Box::new(EndOfThread))
}

/// Ends the thread where it stands, as a bug: nothing of it runs any more.
pub fn fail(code: usize, kind: FailureKind, message: String) -> ! {
    perform::stop(|engine| {
        engine.thread().code = code;
        let spot = engine.own_spot();
        let location = engine.shown_spot(spot);
        let shown = Shown {
            kind,
            message,
            location,
            event: Some(engine.event()),
        };
        if engine.failures.may_suppress() {
            let functions = engine.functions_of_stack(code);
            if engine.failures.suppresses(&shown, &functions) {
                return engine.end_suppressed(kind);
            }
        }
        engine.recorder.mark_failed();
        engine.failures.push(shown);
        engine.pending[engine.running.index()] = Pending::Failed;
    })
}

impl Engine {
    /// The functions of the thread that runs, whose innermost one has the address, as far as they are known.
    pub(super) fn functions_of_stack(&self, code: usize) -> Vec<String> {
        let Some(native) = self.config.native else {
            return Vec::new();
        };
        match native.source_map.callers(code, self.stack_top()) {
            callers if callers.is_empty() => native.source_map.functions(code),
            callers => callers,
        }
    }

    /// The user has suppressed the failure that stops the thread.
    fn end_suppressed(&mut self, kind: FailureKind) {
        let index = self.running.index();
        self.pending[index] = match kind {
            // These show when the program ends.
            FailureKind::ExitStatus | FailureKind::Leak => {
                self.native.has_exited = true;
                Pending::Finished
            }
            // The rest of the execution is not explored, as after an assumption that does not hold.
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

/// For others the thread that runs has ended: they may join it. What it still does is not the program's thread.
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

/// Ends the thread where it stands, as if it had returned.
pub fn end_thread() -> ! {
    perform::stop(|engine| {
        let thread = engine.running;
        engine.end_thread(thread);
        engine.pending[thread.index()] = Pending::Finished;
        engine.poll(engine.names.end(thread));
    })
}

/// The program ends: the thread never goes on, and nobody joins it. Others run on, as if the end came last, and may wait
/// for ever.
pub fn exit_program() -> ! {
    perform::stop(|engine| {
        engine.native.has_exited = true;
        engine.pending[engine.running.index()] = Pending::Finished;
    })
}

/// Some execution has to come here with `is_reached`: a goal of this name.
pub fn goal(code: usize, name: &str, is_reached: bool) {
    perform::silently(|engine| {
        engine.thread().code = code;
        engine.declare_goal(name, |engine| {
            let spot = engine.own_spot();
            engine.shown_spot(spot).unwrap_or_default()
        });
        if is_reached {
            engine.reach(name);
        }
    });
}

/// The main function of the program has returned: threads that are left may wait for ever.
pub fn return_from_main() {
    perform::silently(|engine| engine.native.has_exited = true);
}

/// Tells people something that is no failure.
pub fn warn(text: &str) {
    perform::silently(|engine| {
        let mut warnings = engine.warnings.borrow_mut();
        if !warnings.contains(text) {
            warnings.insert(text.to_owned());
        }
    });
}

/// Something of the program is not explored: it is at most verified within this bound, unless the user accepts that.
pub fn leave_out(kind: Omission, what: &str) {
    perform::silently(|engine| {
        let mut left_out = engine.left_out.borrow_mut();
        if !left_out
            .iter()
            .any(|own| own.kind == kind && own.what == what)
        {
            left_out.insert(LeftOut::new(kind, what));
        }
    });
}

/// The wait that a thread is in, or no longer in, is no deadlock: in another execution it ends for another reason.
pub fn excuse(thread: ThreadId, is_excused: bool) {
    perform::silently(|engine| {
        let excused = &mut engine.native.excused;
        excused.retain(|&other| other != thread);
        if is_excused {
            excused.push(thread);
        }
    });
}

/// Code of the program is about to run on the stack below the caller, or may be soon: nothing of the checker's is left
/// there, since the await rule compares also what nobody wrote to.
pub fn clean_stack() {
    perform::clean_after_calls();
}

/// The stack of the thread that runs.
pub fn own_stack() -> std::ops::Range<usize> {
    perform::silently(|engine| {
        let fibre = engine.running_fibre();
        fibre.map_or(0..0, |fibre| fibre.lowest()..fibre.base())
    })
}

/// Bytes at the end of a stack that programs do not count on: hooks need some where a system has nothing.
pub const SPARE_STACK: usize = 64 << 10;

/// A thread that has not ended, beside the one that runs.
pub fn living_other() -> Option<ThreadId> {
    perform::silently(|engine| {
        let own = engine.running;
        let mut others = engine.born().iter().copied();
        others.find(|&other| other != own && !engine.objects.ends[other.index()].is_finished())
    })
}

/// Whether all other threads have ended.
pub fn is_alone() -> bool {
    perform::silently(|engine| engine.live == 1)
}

/// The program does what no model can: the check cannot be done.
pub fn refuse(code: usize, message: String) -> ! {
    fail(code, FailureKind::Unsupported, message)
}

/// Does what is none of the program's business: memory that is allocated here is not of the model.
#[inline]
pub fn privately<R>(does: impl FnOnce() -> R) -> R {
    perform::silently(|_| does())
}
