//! Reuse of heap blocks (ABA): a thread that keeps an address may find a new object there.
//!
//! With `Conditions::reuse`, an allocation chooses between new memory and any block of its size
//! that was freed while threads ran. Frees and allocations of one size are writes to one object,
//! the *pool* of that size, once some execution contains both. Before that, they are not events. As
//! in C11, a free happens before the allocation that gets the block. Without `Conditions::reuse`,
//! blocks are never reused. With it, each thread reuses at most the configured number of blocks.
//! Further reuse is reported as left out if one thread has read an address (atomically, or plainly
//! if plain accesses are interleaved), another thread frees that block, and blocks of its size are
//! allocated.

use crate::engine::Engine;
use crate::engine::dependence::DependsOn;
use crate::engine::perform::{silently, visible};
use crate::trace::source::Spot;
use explore::{Access, EventId, ObjectId, Op, OpKind, Request, ThreadId};
use objects::Coarsening;
use report::{LeftOut, Omission};
use rustc_hash::{FxHashMap, FxHashSet};
use std::panic::Location;

/// The base address of the pools. No program has memory here.
const POOLS: usize = 1 << 61;

/// The reusable blocks of the execution by size, with the events that freed them.
pub(super) type Freed = FxHashMap<usize, Vec<(usize, EventId)>>;

/// Accesses to heap blocks in all executions so far, while several threads ran.
#[derive(Default)]
pub(crate) struct Accesses {
    /// For each block, the thread that has read its address. `None` stands for several threads.
    readers: FxHashMap<usize, Option<ThreadId>>,
    /// The code of the first free, and the threads that have freed, by block size.
    freed: FxHashMap<usize, (usize, FxHashSet<ThreadId>)>,
    /// The threads that have allocated, by block size.
    allocated: FxHashMap<usize, FxHashSet<ThreadId>>,
    /// Sizes of blocks that one thread has freed while another thread may have held their
    /// addresses.
    known: FxHashSet<usize>,
    /// Sizes that the report mentions.
    reported: FxHashSet<usize>,
}

impl Accesses {
    /// Returns whether one thread has allocated blocks of this size and another thread has freed
    /// some.
    fn has_two(&self, size: usize) -> bool {
        let (freed, allocated) = (self.freed.get(&size), self.allocated.get(&size));
        freed
            .zip(allocated)
            .is_some_and(|((_, freeing), allocating)| {
                freeing
                    .iter()
                    .any(|freer| allocating.iter().any(|other| freer != other))
            })
    }
}

/// Records that the running thread has read the address of a block, if the read is atomic or plain
/// accesses are interleaved.
pub fn record_address(block: usize, is_atomic: bool) {
    silently(|engine| {
        let counts = is_atomic || !engine.races_plain();
        if counts && !engine.is_solo() {
            let running = Some(engine.running);
            let readers = engine
                .guests
                .native
                .reuse
                .readers
                .entry(block)
                .or_insert(running);
            if *readers != running {
                *readers = None;
            }
        }
    });
}

/// Chooses a block for an allocation of the running thread: a freed block, or `None` for new
/// memory.
pub fn allocate_again(size: usize, code: usize) -> Option<usize> {
    if !silently(|engine| engine.observe_allocation(size)) {
        return None;
    }
    let location = Location::caller();
    let announce = |engine: &mut Engine| {
        engine.thread().life.code = code;
        let request = Request {
            alternatives: alternatives(engine.guests.native.life.objects.freed.get(&size)),
            ..engine.request_of_pool(size)
        };
        engine.announce_conditional(request, DependsOn::Freed(size), location);
    };
    visible(announce, |engine| {
        let taken = engine.take_freed(size);
        engine.record(|_| match taken {
            Some(_) => "gets memory that was freed".to_owned(),
            None => "gets new memory".to_owned(),
        });
        taken
    })
}

/// Records that the running thread has freed a block of this size.
pub fn free_for_others(block: usize, size: usize, code: usize) {
    if !silently(|engine| engine.observe_free(block, size, code)) {
        return;
    }
    let location = Location::caller();
    let announce = |engine: &mut Engine| {
        engine.thread().life.code = code;
        let request = engine.request_of_pool(size);
        engine.announce(request, location);
    };
    visible(announce, |engine| {
        let (thread, event) = (engine.running, engine.event());
        if engine.watch.races {
            engine.guests.happens_before.leave(thread, event);
        }
        let freed = engine
            .guests
            .native
            .life
            .objects
            .freed
            .entry(size)
            .or_default();
        freed.push((block, event));
        engine.record(|_| "frees memory".to_owned());
    });
}

/// Returns the number of ways to carry out an allocation.
pub(crate) fn alternatives(freed: Option<&Vec<(usize, EventId)>>) -> u32 {
    1 + freed.map_or(0, Vec::len) as u32
}

impl Engine {
    fn pool(&mut self, size: usize) -> ObjectId {
        self.names.object_at((POOLS | size) as u64, 1)
    }

    fn request_of_pool(&mut self, size: usize) -> Request {
        Request::of_object(Op {
            kind: OpKind::ReadModifyWrite,
            access: Access::Write,
            object: self.pool(size),
        })
    }

    /// Carries out the choice of an allocation: 0 is new memory, 1 the block freed last, 2 the
    /// block freed before it, and so on.
    fn take_freed(&mut self, size: usize) -> Option<usize> {
        let freed = self.guests.native.life.objects.freed.get_mut(&size)?;
        let index = freed.len().checked_sub(self.choice as usize)?;
        let (block, event) = (index < freed.len()).then(|| freed.remove(index))?;
        self.thread().life.guests.reused += 1;
        self.synchronize_with(&[event]);
        self.guests.native.life.objects.forget_within(block, size);
        Some(block)
    }

    /// Records an allocation by the running thread. Returns whether it is an event.
    fn observe_allocation(&mut self, size: usize) -> bool {
        if self.is_solo() {
            return false;
        }
        let running = self.running;
        let allocating = self.guests.native.reuse.allocated.entry(size).or_default();
        allocating.insert(running);
        if self.config.conditions.reuse > 0 {
            let is_used = self.is_pool_used(size);
            let is_left = self.thread().life.guests.reused < self.config.conditions.reuse;
            if is_used
                && !is_left
                && self.has_freed(size)
                && self.guests.native.reuse.known.contains(&size)
            {
                self.report_missed_reuse(size);
            }
            return is_used && is_left;
        }
        let is_again = self
            .guests
            .native
            .life
            .objects
            .freed_by
            .contains(&(size, running));
        self.leave_out_reuse(size, is_again);
        false
    }

    /// Records a free by the running thread. Returns whether it is an event.
    fn observe_free(&mut self, block: usize, size: usize, code: usize) -> bool {
        if self.is_solo() {
            return false;
        }
        let running = self.running;
        let readers = self.guests.native.reuse.readers.get(&block);
        match readers.is_none_or(|&only| only == Some(running)) {
            true if self.config.conditions.reuse == 0 => return false,
            true => {}
            false => _ = self.guests.native.reuse.known.insert(size),
        }
        let freed = &mut self.guests.native.reuse.freed;
        let (_, freeing) = freed
            .entry(size)
            .or_insert_with(|| (code, FxHashSet::default()));
        freeing.insert(running);
        if self.config.conditions.reuse > 0 {
            return self.is_pool_used(size);
        }
        self.guests
            .native
            .life
            .objects
            .freed_by
            .insert((size, running));
        self.leave_out_reuse(size, false);
        false
    }

    /// Returns whether blocks of this size have been both freed and allocated while several threads
    /// ran, in any execution so far. If not, neither is an event.
    fn is_pool_used(&mut self, size: usize) -> bool {
        let accesses = &self.guests.native.reuse;
        let is_used = accesses.freed.contains_key(&size) && accesses.allocated.contains_key(&size);
        let pool = self.pool(size);
        if is_used {
            self.coarsen_object(pool, Coarsening::Shared);
        }
        self.names.is_coarse(pool, Coarsening::Shared)
    }

    /// Returns whether a freed block of this size could be reused.
    fn has_freed(&self, size: usize) -> bool {
        let freed = self.guests.native.life.objects.freed.get(&size);
        freed.is_some_and(|freed| !freed.is_empty())
    }

    /// Reports that blocks of this size could be reused, if a thread allocates after its own free,
    /// or one thread frees and another thread allocates.
    fn leave_out_reuse(&mut self, size: usize, is_again: bool) {
        if is_again || self.guests.native.reuse.has_two(size) {
            self.report_missed_reuse(size);
        }
    }

    /// Reports that blocks of this size are not reused although they could be.
    fn report_missed_reuse(&mut self, size: usize) {
        let accesses = &mut self.guests.native.reuse;
        if !accesses.reported.insert(size) {
            return;
        }
        let Some(&(code, _)) = accesses.freed.get(&size) else {
            return;
        };
        let place = self.shown_spot(Spot::Code(code));
        let place = place.map_or_else(String::new, |place| format!(" at {place}"));
        let (how_often, more) = match self.config.conditions.reuse {
            0 => ("never reused".to_owned(), 1),
            1 => ("reused at most once by a thread".to_owned(), 2),
            most => (format!("reused at most {most} times by a thread"), most + 1),
        };
        let what = format!(
            "freed blocks of the heap are {how_often}, but another thread has read the address of a block that is \
             freed{place} (ABA): --reuse {more} explores this"
        );
        let left_out = LeftOut::new(Omission::Reuse, what);
        self.guests.left_out.get_mut().insert(left_out);
    }
}
