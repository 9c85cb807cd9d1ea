//! State that the system keeps for the process: descriptors, working directory, limits, mappings.
//! This state is restored before each execution of a program that may change it.

use crate::gate::Own;
use crate::{heap, mappings, own_memory, system_calls};
use libc::{c_int, c_void, mode_t, off_t, rlimit, stack_t};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The state at the beginning of the program's `main`.
struct State {
    /// Descriptors in ascending order, and copies of the first three.
    descriptors: Vec<c_int>,
    opened: Vec<Opened>,
    standard: [c_int; 3],
    /// Descriptor of the working directory.
    folder: c_int,
    /// The mask for the permissions of new files (`umask`).
    mask: mode_t,
    limits: Vec<rlimit>,
    signal_stack: stack_t,
    end_of_data: usize,
    mappings: Vec<Range<usize>>,
}

/// A descriptor that a constructor of the program has opened.
struct Opened {
    descriptor: c_int,
    /// A copy, because the program may close the descriptor.
    copy: c_int,
    /// The offset in the file, or -1 if it has none.
    offset: off_t,
    flags: c_int,
}

static STATE: Own<Option<State>> = Own::new(None);

/// The mappings after the last execution, as the system prints them.
static SHOWN: Own<String> = Own::new(String::new());

/// Signals whose action this execution has changed, with the original actions.
static ACTIONS: Own<Vec<(c_int, libc::sigaction)>> = Own::new(Vec::new());

/// Lowest descriptor for copies of the standard descriptors, if the limit allows it.
const COPIES: c_int = 200;

/// Number of kinds of limits.
const LIMITS: u32 = 16;

/// Saves the original action for a signal before the program changes this action. The checker
/// itself does not use the signal.
pub(crate) fn save_action(signal: c_int) {
    let is_saved = |&(saved, _): &(c_int, libc::sigaction)| saved == signal;
    if !ACTIONS.get().iter().any(is_saved) {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        real!(sigaction(signal, std::ptr::null(), before.as_mut_ptr()):
            fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int);
        // SAFETY: zero is valid, and the call fills it.
        ACTIONS
            .get()
            .push((signal, unsafe { before.assume_init() }));
    }
}

/// Begins an execution: restores the actions for signals. Unless the program is confined (changes
/// nothing but its memory), saves the state at the first call, and restores it at later calls.
pub(crate) fn begin(is_confined: impl FnOnce() -> bool) {
    for (signal, action) in ACTIONS.get().drain(..) {
        real!(sigaction(signal, &raw const action, std::ptr::null_mut()):
            fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int);
    }
    if let Some(state) = STATE.get() {
        state.put_back();
    } else if !is_confined() || !IS_BEGUN.swap(true, Relaxed) && has_opened() {
        *STATE.get() = Some(State::now());
    }
}

/// Whether an execution has begun.
static IS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Checks whether constructors of the program have opened descriptors.
fn has_opened() -> bool {
    descriptors().into_iter().any(is_opened)
}

/// The descriptors with which the process has started.
static INHERITED: Own<Vec<c_int>> = Own::new(Vec::new());

/// Records the descriptors with which the process has started, before constructors run.
pub(crate) fn start() {
    *INHERITED.get() = descriptors();
}

/// Checks whether a constructor of the program has opened the descriptor. The checker's own
/// descriptors have the flag `FD_CLOEXEC`.
fn is_opened(descriptor: c_int) -> bool {
    // SAFETY: the call only queries a number.
    let is_kept = unsafe { libc::fcntl(descriptor, libc::F_GETFD) } & libc::FD_CLOEXEC == 0;
    is_kept && !INHERITED.get().contains(&descriptor)
}

/// Returns the open descriptors, in ascending order.
fn descriptors() -> Vec<c_int> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut descriptors: Vec<c_int> = names.collect();
    // SAFETY: the call only queries a number. The descriptor of the listing is already closed.
    descriptors.retain(|&descriptor| unsafe { libc::fcntl(descriptor, libc::F_GETFD) } >= 0);
    descriptors.sort_unstable();
    descriptors
}

/// Returns the descriptors that constructors of the program have opened.
fn opened(descriptors: &[c_int]) -> Vec<Opened> {
    let opened = descriptors
        .iter()
        .filter(|&&descriptor| is_opened(descriptor));
    // SAFETY: the calls query numbers, and copy a descriptor.
    let opened = opened.map(|&descriptor| unsafe {
        Opened {
            descriptor,
            copy: libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, COPIES),
            offset: libc::lseek(descriptor, 0, libc::SEEK_CUR),
            flags: libc::fcntl(descriptor, libc::F_GETFL),
        }
    });
    opened.collect()
}

impl State {
    fn now() -> State {
        let mut limits = Vec::new();
        let mut signal_stack = MaybeUninit::<stack_t>::zeroed();
        let (folder, mask, standard, end_of_data);
        // SAFETY: system calls with valid arguments.
        unsafe {
            folder = libc::open(c".".as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
            mask = libc::umask(0);
            libc::umask(mask);
            for kind in 0..LIMITS {
                let mut limit = MaybeUninit::<rlimit>::zeroed();
                libc::getrlimit(kind, limit.as_mut_ptr());
                limits.push(limit.assume_init());
            }
            standard = [0, 1, 2].map(|descriptor| {
                match libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, COPIES) {
                    ..0 => libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3),
                    copy => copy,
                }
            });
            libc::sigaltstack(std::ptr::null(), signal_stack.as_mut_ptr());
            end_of_data = system_calls::call(libc::SYS_brk, [0; 6]) as usize;
        }
        let opened = opened(&descriptors());
        let descriptors = descriptors();
        *SHOWN.get() = mappings::shown();
        State {
            descriptors,
            opened,
            standard,
            folder,
            mask,
            limits,
            // SAFETY: zero is valid, and the call fills it.
            signal_stack: unsafe { signal_stack.assume_init() },
            end_of_data,
            mappings: mappings::all(SHOWN.get()),
        }
    }

    fn put_back(&self) {
        // SAFETY: system calls with valid arguments. The closed descriptors and unmapped memory
        // belonged to the program in an execution that has ended.
        unsafe {
            for (kind, limit) in (0..LIMITS).zip(&self.limits) {
                libc::setrlimit(kind, limit);
            }
            let mut from = 0;
            for &descriptor in self.descriptors.iter().chain(&[c_int::MAX]) {
                if from < descriptor {
                    libc::syscall(libc::SYS_close_range, from, descriptor - 1, 0);
                }
                from = descriptor.saturating_add(1);
            }
            for (descriptor, &copy) in self.standard.iter().enumerate() {
                libc::dup2(copy, descriptor as c_int);
            }
            for opened in &self.opened {
                // If the program has closed the descriptor, the checker may use the number now.
                let now = libc::fcntl(opened.descriptor, libc::F_GETFD);
                if opened.copy < 0 || now >= 0 && now & libc::FD_CLOEXEC != 0 {
                    continue;
                }
                libc::dup2(opened.copy, opened.descriptor);
                if opened.offset >= 0 {
                    libc::lseek(opened.descriptor, opened.offset, libc::SEEK_SET);
                }
                libc::fcntl(opened.descriptor, libc::F_SETFL, opened.flags);
            }
            libc::fchdir(self.folder);
            libc::umask(self.mask);
            libc::sigaltstack(&raw const self.signal_stack, std::ptr::null_mut());
            system_calls::call(libc::SYS_brk, [self.end_of_data, 0, 0, 0, 0, 0]);
        }
        self.unmap();
    }

    /// Unmaps the mappings that executions have made and not unmapped.
    fn unmap(&self) {
        let shown = mappings::shown();
        if shown == *SHOWN.get() {
            return;
        }
        let mut known = self.mappings.clone();
        known.extend(mappings::own());
        known.extend(heap::regions());
        let (start, end) = own_memory::region();
        known.push(start..end);
        for mapping in mappings::all(&shown) {
            let mut from = mapping.start;
            // Unmap the parts that are not in a known range.
            while from < mapping.end {
                let around = known.iter().find(|known| known.contains(&from));
                if let Some(around) = around {
                    from = around.end;
                    continue;
                }
                let starts = known
                    .iter()
                    .map(|known| known.start)
                    .filter(|&start| start > from);
                let to = starts.min().unwrap_or(mapping.end).min(mapping.end);
                let place = std::ptr::with_exposed_provenance_mut::<c_void>(from);
                // SAFETY: the mapping is the program's.
                unsafe { libc::munmap(place, to - from) };
                from = to;
            }
        }
        *SHOWN.get() = mappings::shown();
    }
}
