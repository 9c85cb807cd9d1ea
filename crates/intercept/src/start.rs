//! The start of the program. A program with an order of the command `mazurka` in its environment is
//! checked, or runs under a safe trace (is *enforced*).

use crate::{arguments, enforced, gate, heap, input, malloc, own_memory, system_state, worker};
use libc::{c_char, c_int, c_ulong, c_void};
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The program's `main`.
pub(crate) type Main =
    unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
type Initializer = unsafe extern "C" fn();

/// The program's `main` and its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) main: Main,
    pub(crate) count: c_int,
    pub(crate) arguments: usize,
    pub(crate) environment: usize,
}

static MAIN: OnceLock<Main> = OnceLock::new();

/// Environment variable that makes the loader bind all calls to other libraries at the start,
/// before the program's memory is saved.
const BIND_NOW: &CStr = c"LD_BIND_NOW";

/// Replaces the C library's function that calls `main`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __libc_start_main(
    main: Main,
    count: c_int,
    arguments: *mut *mut c_char,
    init: Option<Initializer>,
    fini: Option<Initializer>,
    loader_fini: Option<Initializer>,
    stack_end: *mut c_void,
) -> c_int {
    let (mut main, mut arguments) = (main, arguments);
    if std::env::var_os(native::ORDER).is_some() {
        if let Err(reason) = fix_addresses(arguments).and_then(|()| prepare()) {
            worker::refuse(&reason);
        }
        // SAFETY: the arguments are those of this process.
        arguments = unsafe { arguments::move_away(count, arguments) };
        MAIN.get_or_init(|| main);
        main = checked_main;
        heap::construct(true);
    } else if enforced::is_on() {
        main = enforced::run(main);
    }
    real!(__libc_start_main(main, count, arguments, init, fini, loader_fini, stack_end):
        fn(Main, c_int, *mut *mut c_char, Option<Initializer>, Option<Initializer>, Option<Initializer>, *mut c_void) -> c_int)
}

/// Replaces the program's `main`. Called after the program's constructors have run.
unsafe extern "C-unwind" fn checked_main(
    count: c_int,
    arguments: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    heap::construct(false);
    let program = Program {
        main: *MAIN
            .get()
            .expect("the program's main was recorded at its start"),
        count,
        arguments: arguments.expose_provenance(),
        environment: environment.expose_provenance(),
    };
    worker::work(program)
}

/// Checks whether this process checks the program, and its constructors still run. The result does
/// not depend on the constructors of this library, because some other constructors run before them.
pub(crate) fn is_before_main() -> bool {
    /// 0 unknown, 1 no, 2 yes.
    static IS_CHECKED: AtomicU8 = AtomicU8::new(0);
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    if gate::checker() != 0 {
        return false;
    }
    if IS_CHECKED.load(Relaxed) == 0 {
        let order = native::ORDER.as_bytes();
        let mut is_checked = false;
        // SAFETY: a null ends the environment, a zero byte each string. No thread changes it yet.
        unsafe {
            let mut place = environ;
            while !place.is_null() && !(*place).is_null() {
                let mut bytes = order.iter().enumerate();
                is_checked |= bytes.all(|(index, &byte)| (*place).add(index).read() as u8 == byte);
                place = place.add(1);
            }
        }
        IS_CHECKED.store(1 + u8::from(is_checked), Relaxed);
    }
    IS_CHECKED.load(Relaxed) == 2
}

/// Prepares the process for a check, so that constructors already find the same conditions as
/// `main`.
fn prepare() -> Result<(), String> {
    if malloc::is_replaced() {
        let reason = "the program has its own `malloc`, whose memory cannot be restored between executions: check \
                      the program without it";
        return Err(reason.to_owned());
    }
    heap::reserve()?;
    if !own_memory::reserve() {
        return Err("cannot reserve addresses for the checker's own memory".to_owned());
    }
    malloc::set_apart();
    system_state::start();
    input::replace().map_err(|error| format!("cannot redirect the program's input: {error}"))
}

/// Restarts the program unless its addresses are fixed and its calls are bound at the start.
fn fix_addresses(arguments: *mut *mut c_char) -> Result<(), String> {
    // SAFETY: calls to the C library with valid arguments.
    unsafe {
        let persona = libc::personality(0xffff_ffff);
        let is_fixed = persona & libc::ADDR_NO_RANDOMIZE != 0;
        let is_bound = !libc::getenv(BIND_NOW.as_ptr()).is_null();
        if is_fixed && is_bound {
            return Ok(());
        }
        if persona < 0 || libc::personality((persona | libc::ADDR_NO_RANDOMIZE) as c_ulong) < 0 {
            return Err("the system does not allow fixed addresses (personality)".to_owned());
        }
        libc::setenv(BIND_NOW.as_ptr(), c"1".as_ptr(), 1);
        libc::execv(
            c"/proc/self/exe".as_ptr(),
            arguments.cast::<*const c_char>(),
        );
    }
    Err(format!(
        "cannot restart the program: {}",
        std::io::Error::last_os_error()
    ))
}
