//! The data about twins ([`twins`](super::twins)): what the children of a thread run, and which of
//! them run the same.

use explore::{EventId, ThreadId};
use std::arch::asm;
use std::ptr;

/// The code of a thread, with its captures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Code {
    /// The address of a vtable that identifies the code, or in a native program the address of the
    /// function. One type may have several vtables. Then twins are not recognized.
    table: usize,
    /// The bytes of the captures. If the captures have padding, its bytes may differ. Then twins
    /// are not recognized.
    captures: Vec<u8>,
    may_have_padding: bool,
}

/// Code that a thread can run. `run` is never called. It only makes the vtables of types with
/// different code differ.
trait Run {
    #[expect(dead_code, reason = "only its address counts")]
    fn run(self: Box<Self>);
}

impl<T, F: FnOnce() -> T> Run for F {
    fn run(self: Box<Self>) {
        (*self)();
    }
}

impl Code {
    pub(crate) fn of<T, F: FnOnce() -> T>(body: &F) -> Code {
        let pointer: *const (dyn Run + '_) = body;
        // SAFETY: a wide pointer consists of the address and the table of functions.
        let [address, table] =
            unsafe { std::mem::transmute::<*const (dyn Run + '_), [usize; 2]>(pointer) };
        debug_assert_eq!(address, ptr::from_ref(body).addr());
        let mut captures = vec![0_u8; size_of::<F>()];
        // SAFETY: both places have the size of the value and do not overlap. The assembly does
        // nothing, but the compiler must assume that it initializes the bytes, also those of
        // padding.
        unsafe {
            let start = captures.as_mut_ptr();
            ptr::copy_nonoverlapping(ptr::from_ref(body).cast(), start, size_of::<F>());
            asm!("/* {} */", in(reg) start, options(nostack, preserves_flags));
        }
        Code {
            table,
            captures,
            may_have_padding: size_of::<F>() > 1,
        }
    }

    /// Checks whether two codes, which are not equal, may be equal in another execution.
    pub(super) fn may_be(&self, other: &Code) -> bool {
        self.may_have_padding && self.table == other.table
    }

    /// Returns the code of a call of a function of a native program. `given` is the argument, and
    /// whatever else the thread gets from its parent.
    pub(crate) fn call(function: usize, given: &[u64]) -> Code {
        Code {
            table: function,
            captures: given.iter().flat_map(|word| word.to_ne_bytes()).collect(),
            may_have_padding: false,
        }
    }
}

/// What a thread knows about its twins and those of its children.
#[derive(Clone, Default, Debug)]
pub(crate) struct Kin {
    /// The code of the next child, if it may have twins.
    pub(super) code_of_child: Option<Code>,
    /// The groups of children with the same code.
    pub(super) groups: Vec<Group>,
    /// The thread's own group, among the groups of its parent.
    pub(super) group: Option<usize>,
    pub(super) twin: Option<ThreadId>,
    /// Whether the thread is joining all twins that it has not joined yet, and meanwhile does
    /// nothing else.
    pub(super) joins_all: bool,
    /// Whether the thread is the main thread, has ended, and waits for the other threads before it
    /// runs the exit handlers.
    pub(super) is_over: bool,
}

/// Children that their parent started with the same code, and no event in between.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) code: Code,
    pub(super) members: Vec<ThreadId>,
    /// The last event of the parent when it started the members.
    pub(super) after: Option<EventId>,
    /// The number of operations of the parent by then, except for its starts of threads. A wait is
    /// such an operation, and not always an event.
    pub(super) others: u32,
    /// The number of members that the parent has joined, and its last event at that time.
    pub(super) joined: usize,
    pub(super) joined_after: Option<EventId>,
    /// The result of the members whose results the program has read.
    pub(super) result: Option<u64>,
    /// Whether threads that start later are no twins of the members.
    pub(super) is_closed: bool,
}

impl Group {
    /// Checks whether there are twins that are not joined.
    pub(super) fn is_open(&self) -> bool {
        self.members.len() > 1 && self.joined < self.members.len()
    }

    pub(super) fn is_partly_joined(&self) -> bool {
        self.members.len() > 1 && (1..self.members.len()).contains(&self.joined)
    }
}
