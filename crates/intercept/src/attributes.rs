//! Attributes of a thread in POSIX and Linux: name, stack, priority, CPU affinity. Priorities and
//! affinity have no influence on a check, but a thread reads the affinity that the program has set.

use crate::gate::{close, code, is_inside};
use crate::threads::{self, NAME};
use libc::{
    c_char, c_int, c_uint, c_void, clockid_t, cpu_set_t, pid_t, pthread_attr_t, pthread_t,
    sched_param, size_t,
};
use runtime::native;
use std::ffi::CStr;

/// Returns the index of the thread with this handle. If there is no such thread, the calling
/// function returns `ESRCH`.
macro_rules! known {
    ($thread:expr) => {
        match threads::identified($thread) {
            Some(index) => index,
            None => return libc::ESRCH,
        }
    };
}

export! {
    placed fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int {
        if !is_inside() {
            return real!(pthread_setname_np(thread, name): fn(pthread_t, *const c_char) -> c_int);
        }
        let _closed = close();
        let index = known!(thread);
        // SAFETY: the program passes a terminated string.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
        native::take_effect();
        match threads::at(index).name.get_mut(..name.len()) {
            Some(place) => {
                place.copy_from_slice(name);
                0
            }
            None => libc::ERANGE,
        }
    }

    placed fn pthread_getname_np(thread: pthread_t, buffer: *mut c_char, length: size_t) -> c_int {
        if !is_inside() {
            return real!(pthread_getname_np(thread, buffer, length): fn(pthread_t, *mut c_char, size_t) -> c_int);
        }
        let _closed = close();
        let index = known!(thread);
        if length < NAME {
            return libc::ERANGE;
        }
        // SAFETY: the program passed a buffer of this length.
        unsafe { buffer.cast::<[u8; NAME]>().write(threads::at(index).name) };
        0
    }

    placed fn pthread_getattr_np(thread: pthread_t, attributes: *mut pthread_attr_t) -> c_int {
        if !is_inside() {
            return real!(pthread_getattr_np(thread, attributes): fn(pthread_t, *mut pthread_attr_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        if known!(thread) != runtime::current().index() {
            native::refuse(code, "a thread queries the stack of another thread (pthread_getattr_np)".to_owned());
        }
        let stack = native::own_stack();
        let stack = stack.start + native::SPARE_STACK..stack.end;
        // SAFETY: the program passed the pointer.
        unsafe {
            libc::pthread_attr_init(attributes);
            libc::pthread_attr_setstack(attributes, stack.start as *mut c_void, stack.len())
        }
    }

    placed fn pthread_getschedparam(thread: pthread_t, policy: *mut c_int, parameters: *mut sched_param) -> c_int {
        if !is_inside() {
            return real!(pthread_getschedparam(thread, policy, parameters):
                fn(pthread_t, *mut c_int, *mut sched_param) -> c_int);
        }
        let _closed = close();
        known!(thread);
        // SAFETY: the program passed the pointers.
        unsafe {
            *policy = libc::SCHED_OTHER;
            (*parameters).sched_priority = 0;
        }
        0
    }

    placed fn pthread_setschedparam(thread: pthread_t, policy: c_int, parameters: *const sched_param) -> c_int {
        if !is_inside() {
            return real!(pthread_setschedparam(thread, policy, parameters):
                fn(pthread_t, c_int, *const sched_param) -> c_int);
        }
        let _closed = close();
        known!(thread);
        0
    }

    placed fn pthread_setschedprio(thread: pthread_t, priority: c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_setschedprio(thread, priority): fn(pthread_t, c_int) -> c_int);
        }
        let _closed = close();
        known!(thread);
        0
    }

    placed fn pthread_getaffinity_np(thread: pthread_t, size: size_t, processors: *mut cpu_set_t) -> c_int {
        if !is_inside() {
            return real!(pthread_getaffinity_np(thread, size, processors):
                fn(pthread_t, size_t, *mut cpu_set_t) -> c_int);
        }
        let _closed = close();
        // SAFETY: the program passed the pointer.
        unsafe { get_processors(known!(thread), size, processors) }
    }

    placed fn pthread_setaffinity_np(thread: pthread_t, size: size_t, processors: *const cpu_set_t) -> c_int {
        if !is_inside() {
            return real!(pthread_setaffinity_np(thread, size, processors):
                fn(pthread_t, size_t, *const cpu_set_t) -> c_int);
        }
        let _closed = close();
        // SAFETY: the program passed the pointer.
        unsafe { set_processors(known!(thread), size, processors) }
    }

    placed fn sched_getaffinity(thread: pid_t, size: size_t, processors: *mut cpu_set_t) -> c_int {
        if is_inside() && let Some(index) = index_of_number_or_own(thread) {
            let mut closed = close();
            // SAFETY: the program passed the pointer.
            return closed.result(unsafe { get_processors(index, size, processors) });
        }
        real!(sched_getaffinity(thread, size, processors): fn(pid_t, size_t, *mut cpu_set_t) -> c_int)
    }

    placed fn sched_setaffinity(thread: pid_t, size: size_t, processors: *const cpu_set_t) -> c_int {
        if is_inside() && let Some(index) = index_of_number_or_own(thread) {
            let mut closed = close();
            // SAFETY: the program passed the pointer.
            return closed.result(unsafe { set_processors(index, size, processors) });
        }
        real!(sched_setaffinity(thread, size, processors): fn(pid_t, size_t, *const cpu_set_t) -> c_int)
    }

    placed fn pthread_getcpuclockid(thread: pthread_t, clock: *mut clockid_t) -> c_int {
        if !is_inside() {
            return real!(pthread_getcpuclockid(thread, clock): fn(pthread_t, *mut clockid_t) -> c_int);
        }
        let _closed = close();
        known!(thread);
        // SAFETY: the program passed the pointer.
        unsafe { *clock = libc::CLOCK_THREAD_CPUTIME_ID };
        0
    }

    placed fn gettid() -> pid_t {
        if !is_inside() {
            return real!(gettid(): fn() -> pid_t);
        }
        let _closed = close();
        native::tell_apart(threads::own_index());
        number()
    }

    placed fn sched_getcpu() -> c_int {
        if !is_inside() {
            return real!(sched_getcpu(): fn() -> c_int);
        }
        let _closed = close();
        first_processor() as c_int
    }

    placed fn getcpu(processor: *mut c_uint, node: *mut c_uint) -> c_int {
        if !is_inside() {
            return real!(getcpu(processor, node): fn(*mut c_uint, *mut c_uint) -> c_int);
        }
        let _closed = close();
        for (place, number) in [(processor, first_processor()), (node, 0)] {
            if !place.is_null() {
                // SAFETY: the program passed the pointer.
                unsafe { *place = number };
            }
        }
        0
    }
}

/// The maximum size of a set of processors, in bytes.
const MOST_BYTES: usize = 1 << 12;

/// Returns the first processor that the program has set for the running thread, or 0.
fn first_processor() -> c_uint {
    let own = &threads::lists_at(threads::own_index()).processors;
    let byte = own.iter().position(|&byte| byte != 0);
    byte.map_or(0, |byte| byte as c_uint * 8 + own[byte].trailing_zeros())
}

/// Returns the processors on which the process may run, in at most `size` bytes.
fn permitted_processors(size: size_t) -> Option<Vec<u8>> {
    let mut all = vec![0_u8; size.max(size_of::<cpu_set_t>())];
    let place = all.as_mut_ptr().cast();
    let result =
        real!(sched_getaffinity(0, all.len(), place): fn(pid_t, size_t, *mut cpu_set_t) -> c_int);
    all.truncate(size);
    (result == 0).then_some(all)
}

/// Reads the CPU affinity of a thread. Returns 0 or an error number.
///
/// # Safety
///
/// The program must have passed room for this number of bytes.
unsafe fn get_processors(index: usize, size: size_t, processors: *mut cpu_set_t) -> c_int {
    if processors.is_null() {
        return libc::EFAULT;
    }
    let size = size.min(MOST_BYTES);
    native::privately(|| {
        let Some(mut shown) = permitted_processors(size) else {
            return libc::EINVAL;
        };
        let own = &threads::lists_at(index).processors;
        if !own.is_empty() {
            shown.fill(0);
            shown
                .iter_mut()
                .zip(own)
                .for_each(|(shown, own)| *shown = *own);
        }
        // SAFETY: as promised by the caller.
        unsafe { processors.cast::<u8>().copy_from(shown.as_ptr(), size) };
        0
    })
}

/// Sets the processors of a thread. Returns 0 or an error number.
///
/// # Safety
///
/// The program must have passed a set of this number of bytes.
unsafe fn set_processors(index: usize, size: size_t, processors: *const cpu_set_t) -> c_int {
    if processors.is_null() {
        return libc::EFAULT;
    }
    let size = size.min(MOST_BYTES);
    // SAFETY: as promised by the caller.
    let wanted = unsafe { std::slice::from_raw_parts(processors.cast::<u8>(), size) };
    native::privately(|| {
        let Some(mut set) = permitted_processors(size) else {
            return libc::EINVAL;
        };
        set.iter_mut()
            .zip(wanted)
            .for_each(|(own, wanted)| *own &= wanted);
        if set.iter().all(|&byte| byte == 0) {
            return libc::EINVAL;
        }
        threads::lists_of(index).processors = set;
        0
    })
}

/// Returns the index of the thread with this thread id, or of the running thread if the id is 0.
fn index_of_number_or_own(number: pid_t) -> Option<usize> {
    match number {
        0 => Some(threads::own_index()),
        number => index_of_number(number),
    }
}

/// Returns the thread id of the running thread (`gettid`).
pub(crate) fn number() -> pid_t {
    FIRST + runtime::current().index() as pid_t
}

/// Returns the index of the thread with this thread id (`gettid`), or `None` if no thread of the
/// program has it. Accepts the process id, too, which stands for the main thread.
pub(crate) fn index_of_number(number: pid_t) -> Option<usize> {
    let index = number.checked_sub(FIRST);
    let index = index.and_then(|index| usize::try_from(index).ok());
    // SAFETY: the call has no conditions.
    let main = || (number == unsafe { libc::getpid() }).then_some(0);
    let index = index
        .filter(|&index| index < crate::threads::count())
        .or_else(main)?;
    native::tell_apart(index);
    Some(index)
}

/// Thread id of the main thread. It is the same in every process, because addresses and branches
/// may depend on it.
const FIRST: pid_t = 1000;
