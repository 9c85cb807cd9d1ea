//! The values that atomic variables have had in an execution. Under a weak memory model, a read may
//! get any of them. The memory of a variable holds the newest one in coherence order, so that code
//! with exclusive access finds it there.

use crate::engine::Engine;
use crate::rust::atomic::{Atomic, Value};
use explore::{EventId, MemoryOrder, ObjectId, ReadsFrom};
use rustc_hash::FxHashMap;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

/// The bytes of a value. All types of atomic variables have at most this size.
type Bytes = [MaybeUninit<u8>; 16];

/// The values of all variables in an execution.
#[derive(Default)]
pub(crate) struct Versions {
    /// Indexed by event.
    written: Vec<Bytes>,
    initial: FxHashMap<ObjectId, Bytes>,
    newest: FxHashMap<ObjectId, EventId>,
}

impl Versions {
    pub(crate) fn clear(&mut self) {
        if !self.initial.is_empty() {
            self.written.clear();
            self.initial.clear();
            self.newest.clear();
        }
    }
}

/// Returns the ordering as the strategies know it.
pub(crate) fn memory_order(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Relaxed => MemoryOrder::Relaxed,
        Ordering::Acquire => MemoryOrder::Acquire,
        Ordering::Release => MemoryOrder::Release,
        Ordering::AcqRel => MemoryOrder::AcqRel,
        _ => MemoryOrder::SeqCst,
    }
}

fn bytes<V: Value>(value: V) -> Bytes {
    const {
        assert!(
            size_of::<V>() <= size_of::<Bytes>(),
            "a value has at most 16 bytes"
        )
    };
    let mut bytes = [MaybeUninit::uninit(); 16];
    // SAFETY: the value fits, and any bytes are valid there.
    unsafe { bytes.as_mut_ptr().cast::<V>().write_unaligned(value) };
    bytes
}

fn value<V: Value>(bytes: &Bytes) -> V {
    // SAFETY: the bytes are those of a value of this type, since a variable has one type.
    unsafe { bytes.as_ptr().cast::<V>().read_unaligned() }
}

impl<V: Value> Atomic<V> {
    /// Returns the value that the current operation reads.
    #[inline(always)]
    pub(super) fn read(&self, engine: &mut Engine) -> V {
        match engine.reads_from == ReadsFrom::LAST {
            true => self.own(),
            false => self.version(engine),
        }
    }

    /// Writes a value by the current operation.
    #[inline(always)]
    pub(super) fn write(&self, engine: &mut Engine, value: V) {
        match engine.reads_from == ReadsFrom::LAST {
            true => self.set(value),
            false => self.add_version(engine, value),
        }
    }

    #[cold]
    fn version(&self, engine: &mut Engine) -> V {
        let versions = &mut engine.guests.versions;
        let initial = versions.initial.entry(self.object());
        let initial = initial.or_insert_with(|| bytes(self.own()));
        match engine.reads_from.event() {
            Some(write) => value(&versions.written[write.index()]),
            None if engine.reads_from == ReadsFrom::INITIAL => value(initial),
            None => self.own(),
        }
    }

    #[cold]
    fn add_version(&self, engine: &mut Engine, value: V) {
        let event = engine.event();
        let object = self.object();
        let versions = &mut engine.guests.versions;
        let initial = versions.initial.entry(object);
        initial.or_insert_with(|| bytes(self.own()));
        let is_newest = match engine.reads_from {
            ReadsFrom::NEWEST => true,
            ReadsFrom::OVERWRITTEN => false,
            source => versions.newest.get(&object).copied() == source.event(),
        };
        if versions.written.len() <= event.index() {
            let none = [MaybeUninit::uninit(); 16];
            versions.written.resize(event.index() + 1, none);
        }
        versions.written[event.index()] = bytes(value);
        if is_newest {
            versions.newest.insert(object, event);
            self.set(value);
        }
    }
}

impl Engine {
    /// Checks whether the object holds what the current operation has written.
    pub(crate) fn is_newest(&self) -> bool {
        match self.reads_from {
            ReadsFrom::LAST | ReadsFrom::NEWEST => true,
            ReadsFrom::OVERWRITTEN => false,
            _ => self.guests.versions.newest.get(&self.op.object) == Some(&self.event()),
        }
    }

    /// Makes the release sequence of the value that is read the current one of its variable.
    pub(crate) fn take_version(&mut self) {
        if self.reads_from != ReadsFrom::LAST {
            let (object, source) = (self.op.object, self.reads_from.event());
            self.guests.happens_before.take_version(object, source);
        }
    }

    /// Keeps the release sequence of the value that was written.
    pub(crate) fn keep_version(&mut self) {
        if self.reads_from != ReadsFrom::LAST {
            let (object, event) = (self.op.object, self.event());
            self.guests.happens_before.keep_version(object, event);
        }
    }
}
