//! The function `syscall`, by which programs make system calls directly. Futexes are objects of the
//! model.

use crate::gate::{close, code, is_inside};
use crate::library_calls::by_number;
use crate::{attributes, clock, heap, remapping, threads};
use libc::{c_int, c_long, timespec};
use runtime::native::{self, Futex};

const WAIT: c_int = 0;
const WAKE: c_int = 1;
const WAIT_BITSET: c_int = 9;
const WAKE_BITSET: c_int = 10;
/// The mask of a wait or wake that matches every other mask. Programs with other masks, except the
/// invalid mask 0, are refused.
const ANY: u32 = u32::MAX;
/// Mask of the operation without flags.
const OPERATION: c_int = 0x7f;

type Arguments = [c_long; 6];

/// Performs a wait or a wake. Returns the result of the system call, which is negative for errors.
fn futex(arguments: Arguments, code: usize) -> c_int {
    let [word, operation, value, time, _, mask] = arguments;
    let word = std::ptr::with_exposed_provenance::<u32>(word as usize);
    let operation = operation as c_int & OPERATION;
    if !word.is_aligned() {
        return -libc::EINVAL;
    }
    if let WAIT_BITSET | WAKE_BITSET = operation {
        match mask as u32 {
            0 => return -libc::EINVAL,
            ANY => {}
            other => native::refuse(
                code,
                format!("the program uses a futex with the mask {other:#x}"),
            ),
        }
    }
    match operation {
        WAIT | WAIT_BITSET => {
            let time = std::ptr::with_exposed_provenance::<timespec>(time as usize);
            // SAFETY: the program passed the time, if there is one.
            if !time.is_null() && !unsafe { clock::is_valid(time) } {
                return -libc::EINVAL;
            }
            heap::check_object(word.addr(), code);
            // SAFETY: the program passed the address of the word.
            match unsafe { native::futex_wait(word, value as u32, !time.is_null(), code) } {
                Futex::Woken => {
                    clock::acquire(word.addr());
                    0
                }
                Futex::Changed => -libc::EAGAIN,
                Futex::Expired => {
                    // SAFETY: the program passed the time. For `WAIT` it is a duration, for
                    // `WAIT_BITSET` a point in time.
                    unsafe {
                        match operation {
                            WAIT => clock::pass(time),
                            _ => clock::reach(time),
                        }
                    }
                    -libc::ETIMEDOUT
                }
            }
        }
        WAKE | WAKE_BITSET => {
            // The kernel compares the number only after it has woken a thread.
            let most = (value as c_int).max(1) as u32;
            // SAFETY: the program passed the address of the word.
            let woken = unsafe { native::futex_wake(word, most, code) };
            clock::release(word.addr());
            woken as c_int
        }
        other => native::refuse(
            code,
            format!("the program uses the futex operation {other}"),
        ),
    }
}

export! {
    placed fn syscall(
        number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long,
    ) -> c_long {
        if is_inside() && number == libc::SYS_gettid {
            let _closed = close();
            native::tell_apart(threads::own_index());
            return attributes::number().into();
        }
        if remapping::CALLS.contains(&number) {
            let arguments = [a, b, c, d, e, f].map(|argument| argument as usize);
            return remapping::call(number, arguments) as c_long;
        }
        if number != libc::SYS_futex {
            // SAFETY: the program calls this with these arguments.
            if let Some(result) = unsafe { by_number::enter(number, [a, b, c, d, e, f]) } {
                return result;
            }
        }
        if !is_inside() || number != libc::SYS_futex {
            return real!(syscall(number, a, b, c, d, e, f):
                fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long);
        }
        let (code, mut closed) = (code(), close());
        match futex([a, b, c, d, e, f], code) {
            error @ ..0 => {
                closed.fail(-error);
                -1
            }
            result => result.into(),
        }
    }
}
