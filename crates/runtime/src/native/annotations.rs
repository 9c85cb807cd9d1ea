//! A program's annotations for the race detector of a thread sanitizer. They declare happens-before
//! edges that the detector does not see, and accesses that may race.

use crate::engine::Engine;
use crate::engine::life::life;
use crate::engine::perform::{perform_when, silently};
use crate::rust::atomic::Value;
use crate::watch::happens_before::Variable;
use explore::{Access, OpKind, ThreadId};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

life! {
    /// The annotations in the current execution so far.
    pub(crate) struct Annotations {
        /// The number of releases at each address.
        released: FxHashMap<usize, u32>,
        /// Threads that ignore their reads (false) or writes (true), with the nesting depth of
        /// their requests to ignore them.
        ignored: Vec<(ThreadId, bool, u32)>,
        /// Memory in which races are expected.
        benign: Vec<Range<usize>>,
    }
}

impl Annotations {
    /// Returns whether the thread ignores its writes, or its reads if `is_write` is false.
    #[inline(always)]
    pub(crate) fn ignore(&self, thread: ThreadId, is_write: bool) -> bool {
        !self.ignored.is_empty() && self.has_ignored(thread, is_write)
    }

    #[cold]
    fn has_ignored(&self, thread: ThreadId, is_write: bool) -> bool {
        let mut ignored = self.ignored.iter();
        ignored.any(|&(ignored_thread, what, depth)| {
            (ignored_thread, what) == (thread, is_write) && depth > 0
        })
    }

    /// Returns whether races are expected at this address.
    pub(crate) fn is_benign(&self, address: usize) -> bool {
        self.benign.iter().any(|range| range.contains(&address))
    }

    fn set_ignored(&mut self, thread: ThreadId, is_write: bool, begins: bool) {
        let key = (thread, is_write);
        let known = self
            .ignored
            .iter()
            .position(|&(thread, what, _)| (thread, what) == key);
        let known = known.unwrap_or_else(|| {
            self.ignored.push((thread, is_write, 0));
            self.ignored.len() - 1
        });
        let depth = &mut self.ignored[known].2;
        *depth = match begins {
            true => *depth + 1,
            false => depth.saturating_sub(1),
        };
    }
}

/// A bit that no address of a program has. Added to the address of a variable, it gives the address
/// of an additional object for this variable.
pub(super) const BESIDE: usize = 1 << 62;

/// Performs a release: all past actions of the thread happen before the actions of threads that
/// later acquire at this address.
pub fn release_at(address: usize, code: usize) {
    order(address, code, Access::Write);
}

/// Performs an acquire: everything that threads have released at this address happens before the
/// thread's next actions.
pub fn acquire_at(address: usize, code: usize) {
    order(address, code, Access::Read);
}

fn order(address: usize, code: usize, access: Access) {
    let (is_needed, is_enforceable) = silently(|engine| {
        (
            engine.races_plain(),
            engine.config.conditions.is_enforceable,
        )
    });
    if is_enforceable {
        let what = "the program has annotations that order its threads, which cannot be enforced";
        super::refuse(code, what.to_owned());
    }
    // Where plain accesses are interleaved, they cannot race, so annotations have no use.
    if !is_needed {
        return;
    }
    let releases = access == Access::Write;
    let continues = |engine: &mut Engine| {
        // Under a weak memory model, all annotations of an address are totally ordered, so an
        // acquire is a write, too.
        let (kind, access) = match releases || engine.is_weak() {
            true => (OpKind::ReadModifyWrite, Access::Write),
            false => (OpKind::Load, Access::Read),
        };
        if releases {
            engine.thread().life.guests.round.take_effect();
        }
        let range = engine.range(BESIDE | address, 1);
        engine.announces_own((kind, access), range, Ordering::AcqRel, code)
    };
    perform_when(continues, |engine| {
        let released = &mut engine.guests.native.life.objects.annotations.released;
        let count = released.entry(address).or_default();
        let before = count.token();
        *count += u32::from(releases);
        let after = count.token();
        engine.record_value_ids(before, after);
        if engine.is_ordering() {
            let (thread, object) = (engine.running, engine.op.object);
            let clocks = &mut engine.guests.happens_before;
            match releases {
                true => clocks.publish(thread, object, Ordering::Release),
                false => clocks.load(thread, object, Ordering::Acquire),
            }
        }
        engine.record_memory(address, &[&[0]], None, |name, [_]| match releases {
            true => format!("{name}: happens before (annotation)"),
            false => format!("{name}: happens after (annotation)"),
        });
    });
}

/// Records that the running thread gives up its share of the data at the address. A library counts
/// the owners of the data in code without hooks, as by read-modify-writes that acquire and release.
pub fn leave_share(address: usize) {
    end_shares(address);
    silently(|engine| {
        if engine.is_ordering() {
            let (thread, count) = (engine.running, Variable::Bytes(address, 1));
            let clocks = &mut engine.guests.happens_before;
            clocks.publish(thread, count, Ordering::Release);
        }
    });
}

/// Records that the running thread ends the life of the data at the address. All threads that have
/// given up their shares did so before.
pub fn end_shares(address: usize) {
    silently(|engine| {
        if engine.is_ordering() {
            let (thread, count) = (engine.running, Variable::Bytes(address, 1));
            let clocks = &mut engine.guests.happens_before;
            clocks.load(thread, count, Ordering::Acquire);
        }
    });
}

/// Makes the thread start or stop ignoring its reads or writes.
pub fn ignore(is_write: bool, begins: bool) {
    silently(|engine| {
        let thread = engine.running;
        let annotations = &mut engine.guests.native.life.objects.annotations;
        annotations.set_ignored(thread, is_write, begins);
    });
}

/// Expects races in this memory.
pub fn expect_races(address: usize, length: usize) {
    silently(|engine| {
        let benign = &mut engine.guests.native.life.objects.annotations.benign;
        let range = address..address.saturating_add(length);
        if !benign.contains(&range) {
            benign.push(range);
        }
    });
}
