//! Objects that are named by their place in memory, and the copies of statics. An object
//! [settles](crate::Settle) at its first use: it gets its name, and its parts are created in the
//! model.

use crate::engine::Engine;
use crate::engine::names::{Region, Resident, Site};
use crate::memory::arena;
use crate::memory::image;
use explore::{ObjectId, ThreadId};
use rustc_hash::FxHashMap;
use std::alloc::{self, GlobalAlloc, Layout};
use std::ptr::{self, NonNull};

/// The location of an object that has not settled.
pub(crate) enum Home {
    /// In memory of the model.
    Here(Site),
    /// In a static of which the execution has a copy.
    Copied(NonNull<u8>),
    /// In a static.
    Static(Site),
    /// Elsewhere: the object was created outside of the model.
    Unknown,
}

/// The objects that have settled in the current execution, the copies of statics, and large memory.
#[derive(Default)]
pub(crate) struct Residents {
    copies: Vec<Copied>,
    /// Indices of copies by the address of their static.
    by_address: FxHashMap<usize, usize>,
    /// The addresses of the statics that were reset in the current execution.
    put_back: Vec<usize>,
    large: Vec<Large>,
    /// The number of the execution.
    execution: u32,
    /// For the first object at each place, the last execution with an object there, and the number
    /// of objects at the place in that execution.
    counts: Vec<(u32, u32)>,
    /// Indexed by thread.
    by_thread: Vec<Settled>,
}

/// The objects that settled when a thread first used them.
#[derive(Default)]
struct Settled {
    /// The number of objects in the current execution.
    count: usize,
    /// The objects in this execution and, beyond `count`, in earlier executions, because usually
    /// the same objects settle again.
    known: Vec<Known>,
}

#[derive(Clone, Copy)]
struct Known {
    name: Resident,
    object: ObjectId,
}

/// An execution's copy of a static.
struct Copied {
    /// The address of the static.
    address: usize,
    start: NonNull<u8>,
    layout: Layout,
    /// The destructor, or `None` if the value has no destructor.
    drop: Option<Box<dyn FnOnce()>>,
}

/// Memory that is too large for the arenas.
struct Large {
    start: usize,
    size: usize,
    thread: ThreadId,
    number: u32,
}

impl Drop for Copied {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this layout, and nothing uses it any more.
        unsafe { alloc::dealloc(self.start.as_ptr(), self.layout) };
    }
}

impl Residents {
    /// Ends the execution. Values of statics that the execution has not dropped leak.
    pub(crate) fn clear(&mut self) {
        self.execution += 1;
        self.large.clear();
        self.put_back.clear();
        self.by_thread
            .iter_mut()
            .for_each(|created| created.count = 0);
        self.by_address.clear();
        self.copies.clear();
    }

    /// Checks whether a copied static has a destructor that has not been taken.
    pub(crate) fn own_values(&self) -> bool {
        self.copies.iter().any(|copy| copy.drop.is_some())
    }

    /// Removes and returns the destructors of statics.
    pub(crate) fn take_destructors(&mut self) -> Vec<Box<dyn FnOnce()>> {
        let copies = self.copies.iter_mut();
        copies.filter_map(|copy| copy.drop.take()).collect()
    }

    /// Adds a thread.
    pub(crate) fn add_thread(&mut self) {
        self.by_thread.push(Settled::default());
    }

    /// Returns how many objects have settled.
    pub(crate) fn count(&self) -> usize {
        self.by_thread.iter().map(|created| created.count).sum()
    }

    /// Checks whether the address is that of memory that is too large for the arenas.
    pub(crate) fn is_large(&self, address: usize) -> bool {
        self.large.iter().any(|large| large.start == address)
    }

    /// Returns the memory that is too large for the arenas.
    pub(crate) fn large_objects(&self) -> impl Iterator<Item = arena::Span> {
        self.large.iter().map(|large| (large.start, large.size))
    }

    /// Returns the copies of statics.
    pub(crate) fn copied(&self) -> impl Iterator<Item = arena::Span> {
        let span = |copy: &Copied| (copy.start.addr().get(), copy.layout.size());
        self.copies.iter().map(span)
    }

    /// Discards the record of the memory at this address, which is being freed. Only memory that is
    /// too large for the arenas has such a record.
    pub(crate) fn remove_large(&mut self, address: usize) {
        self.large.retain(|large| large.start != address);
    }

    /// Resets the plain data beside an object in a static.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_variables, reason = "statics are found in ELF images only")
    )]
    fn put_back(&mut self, object: usize, size: usize) {
        #[cfg(target_os = "linux")]
        if let Some(whole) = image::enclosing::static_around(&(object..object + size))
            && !self.put_back.contains(&whole.start)
        {
            self.put_back.push(whole.start);
            // SAFETY: the threads of the model use the objects in a static before they change the
            // rest, and this is the first use.
            unsafe { image::enclosing::put_back(&whole) };
        }
    }

    /// Counts another object at the place of this first object. Returns how many objects the
    /// current execution already had there.
    fn predecessors(&mut self, first: ObjectId) -> u32 {
        let index = first.0 as usize;
        if self.counts.len() <= index {
            self.counts.resize(index + 1, (u32::MAX, 0));
        }
        let (execution, count) = &mut self.counts[index];
        if *execution != self.execution {
            (*execution, *count) = (self.execution, 0);
        }
        *count += 1;
        *count - 1
    }
}

impl Engine {
    /// Returns the location of an object that has not settled.
    pub(crate) fn home_of(&self, address: usize) -> Home {
        if let Some(&copy) = self.guests.residents.by_address.get(&address) {
            return Home::Copied(self.guests.residents.copies[copy].start);
        }
        match self.site_of(address) {
            Some(site) => Home::Here(site),
            None if image::contains(address) => Home::Static(image::site_of(address)),
            None => Home::Unknown,
        }
    }

    /// Returns the name of a place in memory of the model.
    #[inline]
    fn site_of(&self, address: usize) -> Option<Site> {
        // Objects on a stack that several threads use are usually on the stack of the main thread.
        site_in_heap(address)
            .or_else(|| self.site_on_stack(self.running, address))
            .or_else(|| self.site_on_stack(ThreadId::MAIN, address))
            .or_else(|| self.site_elsewhere(address))
    }

    #[inline]
    fn site_on_stack(&self, thread: ThreadId, address: usize) -> Option<Site> {
        let fibre = &self.threads[thread.index()].fibre;
        (fibre.lowest()..fibre.base())
            .contains(&address)
            .then(|| Site {
                region: Region::Stack,
                thread,
                offset: (address - fibre.lowest()) as u64,
            })
    }

    #[cold]
    fn site_elsewhere(&self, address: usize) -> Option<Site> {
        let in_copy = || {
            let mut copies = self.guests.residents.copies.iter();
            copies.find_map(|copy| {
                let offset = address.wrapping_sub(copy.start.addr().get());
                (offset < copy.layout.size()).then(|| image::site_of(copy.address + offset))
            })
        };
        let in_large = || {
            let mut large = self.guests.residents.large.iter();
            large.find_map(|large| {
                let offset = address.wrapping_sub(large.start);
                (offset < large.size).then(|| Site {
                    region: Region::Large,
                    thread: large.thread,
                    offset: u64::from(large.number) << 40 | offset as u64,
                })
            })
        };
        let on_stack = || {
            let mut threads = self.life.started.iter();
            threads.find_map(|&thread| self.site_on_stack(thread, address))
        };
        on_stack()
            .or_else(in_copy)
            .or_else(|| self.site_in_static(address))
            .or_else(in_large)
    }

    /// Creates the object that settles at an address of the heap or of the running thread's stack.
    /// Returns `None` at any other address.
    #[inline]
    pub(crate) fn create_nearby(&mut self, address: usize, parts: u32) -> Option<ObjectId> {
        let site = site_in_heap(address).or_else(|| self.site_on_stack(self.running, address))?;
        Some(self.create_at(site, parts))
    }

    /// Creates the object that settles at a place in memory.
    #[inline]
    pub(crate) fn create_at(&mut self, site: Site, parts: u32) -> ObjectId {
        let Residents {
            by_thread,
            counts,
            execution,
            ..
        } = &mut self.guests.residents;
        let running = &mut by_thread[self.running.index()];
        let known = running.known.get(running.count);
        running.count += 1;
        if let Some(known) = known
            && (known.name.site, known.name.parts) == (site, parts)
            && known.name.predecessors == 0
        {
            let counts = &mut counts[known.object.0 as usize];
            if counts.0 != *execution {
                *counts = (*execution, 1);
                return known.object;
            }
        }
        self.create_unexpectedly(site, parts)
    }

    /// Creates an object that is not the one that settled next in an earlier execution.
    #[cold]
    #[inline(never)]
    fn create_unexpectedly(&mut self, site: Site, parts: u32) -> ObjectId {
        let name = |predecessors| Resident {
            site,
            predecessors,
            parts,
        };
        let first = self.names.resident(name(0));
        let name = name(self.guests.residents.predecessors(first));
        let object = self.names.resident(name);
        let running = &mut self.guests.residents.by_thread[self.running.index()];
        let known = Known { name, object };
        match running.known.get_mut(running.count - 1) {
            Some(before) => *before = known,
            None => running.known.push(known),
        }
        object
    }

    /// Allocates an object that is too large for the arenas, in memory of the system. The object
    /// belongs to the running thread.
    pub(crate) fn allocate_large(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the layout is not empty, because an empty layout fits into every arena.
        let memory = NonNull::new(unsafe { alloc::System.alloc(layout) })?;
        let thread = self.running;
        let number = self.threads[thread.index()].guests.heap.next_large();
        let (start, size) = (memory.addr().get(), layout.size());
        self.guests.residents.large.push(Large {
            start,
            size,
            thread,
            number,
        });
        Some(memory)
    }

    /// Copies a static for the current execution.
    pub(crate) fn copy_static<T: ?Sized>(&mut self, value: &T) -> NonNull<u8> {
        let original: *const T = value;
        self.guests
            .residents
            .put_back(original.addr(), size_of_val(value));
        // An empty value has an address, too.
        let layout = Layout::for_value(value);
        let layout = Layout::from_size_align(layout.size().max(1), layout.align())
            .expect("a value has a layout");
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { alloc::alloc(layout) })
            .unwrap_or_else(|| alloc::handle_alloc_error(layout));
        // SAFETY: the memory is as large as the value and belongs to the copy alone. The value is
        // the initial value of a static, and nothing writes to it. Each execution uses a separate
        // copy, like each use of a constant.
        unsafe {
            ptr::copy_nonoverlapping(original.cast::<u8>(), start.as_ptr(), size_of_val(value));
        }
        let mut copy: *mut T = original.cast_mut();
        // SAFETY: a pointer begins with the address.
        unsafe { (&raw mut copy).cast::<NonNull<u8>>().write(start) };
        let drop = std::mem::needs_drop::<T>().then(|| destructor(copy));
        let address = original.addr();
        let number = self.guests.residents.copies.len();
        self.guests.residents.by_address.insert(address, number);
        self.guests.residents.copies.push(Copied {
            address,
            start,
            layout,
            drop,
        });
        start
    }
}

#[inline]
fn site_in_heap(address: usize) -> Option<Site> {
    let position = arena::position_of(address)?;
    Some(Site {
        region: Region::Heap,
        thread: position.thread,
        offset: position.offset,
    })
}

/// Returns a closure that drops the value in place.
fn destructor<T: ?Sized>(value: *mut T) -> Box<dyn FnOnce()> {
    // SAFETY: the value is a copy that is dropped once, at the end of the execution.
    let drop: Box<dyn FnOnce() + '_> = Box::new(move || unsafe { ptr::drop_in_place(value) });
    // SAFETY: the content of a static lives forever.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce() + 'static>>(drop) }
}
