//! The front-end for programs in machine code (*native* programs). Memory is named by its address,
//! and a place in the program is the address of an instruction.
//!
//! Most of these functions are called from *hooks*, which a compiler inserts before accesses, and
//! from replacements of library functions. Only threads of a [`Model`](crate::Model) whose
//! [`Config`] has a [`Native`] may call these.

mod annotations;
mod atomics;
mod audit;
mod copies;
mod debugging;
mod ended_frames;
mod foreign;
mod futex;
mod lock_several;
mod memory_changes;
mod objects;
mod old_values;
mod orderings;
mod own;
mod own_words;
mod ownership;
mod places;
mod plain;
mod private_stack;
mod ranges;
pub(crate) mod reuse;
mod savepoint;
mod shadow;
mod source_map;
mod threads;
mod unrolling;
mod visits;

pub use crate::engine::coroutine::make_stacks_executable;
pub use annotations::{acquire_at, end_shares, expect_races, ignore, leave_share, release_at};
pub use atomics::{compare_exchange, fence, load, modify, read_volatile, store};
pub(crate) use audit::Audit;
pub use audit::{HAS_CALLED_LIBRARY, call_program, enter_library, enter_program, leave_program};
pub use copies::{copy, copy_at_once, fill, read_on};
pub use debugging::{
    call_debugger_at_failures, mazurka_failed, mazurka_failure, stop_for_debugger,
};
pub(crate) use ended_frames::restore_frame;
pub use ended_frames::{FRAME, end_stack, is_in_ended_frame};
pub(crate) use foreign::Foreign;
pub use foreign::changes;
pub(crate) use foreign::include_stack;
pub use futex::{Futex, futex_wait, futex_wake};
pub use lock_several::{failed_to_lock, waits_for_lock};
pub use memory_changes::has_changed_lock;
pub(crate) use objects::Objects;
pub use objects::{
    at, barrier_at, begins_library_once, condvar_at, destroy, initialize, initialized_at,
    inner_mutex_at, is_condvar_waited_for_within, is_waited_for, mutex_at, once_at, rwlock_at,
    semaphore_at, try_at, try_lock_at, unlock_at, use_at, wait_for_lock_at,
};
pub use old_values::{last_access, leaves_out_old_values};
pub use own::{WIPES, reads_on_own, reads_own, writes_own};
pub use own_words::{load_within, modify_within, use_together};
pub use ownership::Learnt;
pub(crate) use ownership::Ownership;
pub use places::{Frame, HAS_CALLED_UNKNOWN};
pub(crate) use plain::Written;
pub use plain::{
    begin_allocation, change_pages, fill_block, read, read_within, record_call, release,
    take_effect, unmap, warn_of_volatile, write, write_volatile,
};
pub(crate) use ranges::{Ranges, digest_at};
pub use reuse::{allocate_again, free_for_others, record_address};
pub use savepoint::Memory;
pub(crate) use savepoint::Savepoints;
pub(crate) use shadow::Shadow;
pub use source_map::SourceMap;
pub use threads::CHANGES_SYSTEM;
pub(crate) use threads::EndOfThread;
pub use threads::{
    clean_stack, end_for_others, end_thread, excuse, exit_program, fail, goal, is_alone,
    join_ended, leave_out, living_other, outlive_twins, own_stack, privately, read_result, refuse,
    return_from_main, return_from_thread, spawn, tell_apart, warn, will_run,
};

pub use unrolling::{IS_BOUNDED, enter_function};
pub(crate) use visits::AtPlaces;

pub use crate::engine::control_words::ControlWords;
pub use crate::engine::coroutine::on_own_stack;
pub use crate::engine::stack::SPARE_STACK;
pub use crate::engine::trap::{Epilogue, Prologue};

use crate::config::Config;
use crate::engine::life::{Life, life};
use explore::{MemoryModel, ThreadId};
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering::Relaxed;

/// Settings for running a program in machine code.
#[derive(Clone, Copy)]
pub struct Native {
    /// Resolves addresses to names.
    pub source_map: &'static dyn SourceMap,
    /// The memory of the program.
    pub memory: &'static dyn Memory,
}

/// Starts the watchdog thread, which detects blocked threads. Without this call, the first model
/// starts it.
pub fn start_watchdog() {
    crate::engine::watchdog::start();
}

/// From now on, a signal that would end the program is a failure of the running thread. `prologue`
/// and `epilogue` are called in the signal handler.
pub fn catch_crashes(prologue: Prologue, epilogue: Epilogue) {
    crate::engine::trap::install_for_native(prologue, epilogue);
}

life! {
    /// The state of a native program in one execution.
    pub(crate) struct ProgramLife {
        /// The number of threads that have been joined, not counting the main thread.
        pub(crate) joined: usize,
        pub(crate) objects: Objects,
        /// Waiting threads that do not count as deadlocked, because in another execution something
        /// else ends their wait.
        pub(crate) excused: Vec<ThreadId>,
        /// Whether a thread has ended the program.
        pub(crate) has_exited: bool,
    }
}

/// The engine's data about a native program.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) life: ProgramLife,
    pub(crate) ranges: Ranges,
    /// Whether plain accesses are not events and may be data races.
    pub(crate) is_raced: bool,
    /// Whether reads may read old values.
    pub(crate) is_weak: bool,
    /// Whether the search needs to know the orderings of accesses.
    pub(crate) has_orderings: bool,
    /// Whether the rounds of loops are unbounded, so they are not counted.
    pub(crate) is_simple: bool,
    pub(crate) shadow: Shadow,
    pub(crate) ownership: Ownership,
    /// Whether a slice (a small piece of the search) has accessed shared memory that was not known
    /// to be shared when the slice began.
    pub(crate) has_found_more_shared: bool,
    /// What is known about the reuse of freed memory.
    pub(crate) reuse: reuse::Accesses,
    /// Whether happens-before includes synchronization by atomic accesses. The search for data
    /// races needs this if starts, ends and locks do not order the threads enough.
    pub(crate) is_ordering: bool,
    /// For each place of a store, whether the store continues its thread's release sequence.
    pub(crate) continuing: FxHashMap<usize, bool>,
    /// For each place of a wait at a futex, whether it belongs to an atomic wait of libstdc++.
    pub(crate) library_waits: FxHashMap<usize, bool>,
    /// The range of the current event if it is a plain write. The program writes it after the hook
    /// has returned.
    pub(crate) written: Option<Written>,
    /// Whether every stack is treated as accessed by several threads.
    pub(crate) are_stacks_shared: bool,
    pub(crate) audit: Audit,
    /// Buffer in which the state of a thread is assembled.
    pub(crate) state: Vec<u8>,
}

impl State {
    /// Returns the state before any thread has started. Also sets `IS_BOUNDED`.
    pub(crate) fn new(config: &Config) -> State {
        let is_native = config.native.is_some();
        let is_bounded = is_native && config.conditions.unroll.is_some();
        IS_BOUNDED.store(is_bounded, Relaxed);
        State {
            is_raced: is_native && !config.conditions.interleaves_plain,
            is_weak: config.conditions.memory.is_weak(),
            has_orderings: config.conditions.memory != MemoryModel::Sc,
            is_simple: is_native && !is_bounded,
            ..State::default()
        }
    }

    /// Resets the state that belongs to one execution.
    pub(crate) fn clear(&mut self) {
        self.shadow.clear();
        self.life.begin();
        self.written = None;
    }

    /// Watches all memory from the beginning, and all orders that atomic accesses establish.
    pub(crate) fn watch_all(&mut self) {
        self.ownership.give_up();
        self.is_ordering = true;
    }
}
