//! Functions that a program under check must not call, mostly because their effects cannot be
//! repeated or undone.

use crate::gate::{close, code, is_inside};
use libc::{c_char, c_int, c_uint, c_void};
use runtime::native;
use std::sync::atomic::AtomicUsize;

macro_rules! refused {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?, $what:literal;)*) => {
        export! {
            $(
                placed fn $name($($argument: $type),*) $(-> $result)? {
                    if is_inside() {
                        let (code, _closed) = (code(), close());
                        native::refuse(code, concat!("the program ", $what, " (", stringify!($name), ")").to_owned());
                    }
                    real!($name($($argument),*): fn($($type),*) $(-> $result)?)
                }
            )*
        }
    };
}

refused! {
    fork() -> c_int, "starts another process";
    vfork() -> c_int, "starts another process";
    system(command: *const c_char) -> c_int, "starts another process";
    popen(command: *const c_char, mode: *const c_char) -> *mut c_void, "starts another process";
    execve(path: *const c_char, arguments: *const c_void, environment: *const c_void) -> c_int, "replaces itself with another program";
    execv(path: *const c_char, arguments: *const c_void) -> c_int, "replaces itself with another program";
    execvp(path: *const c_char, arguments: *const c_void) -> c_int, "replaces itself with another program";
    execvpe(path: *const c_char, arguments: *const c_void, environment: *const c_void) -> c_int, "replaces itself with another program";
    fexecve(file: c_int, arguments: *const c_void, environment: *const c_void) -> c_int, "replaces itself with another program";
    execveat(folder: c_int, path: *const c_char, arguments: *const c_void, environment: *const c_void, flags: c_int) -> c_int, "replaces itself with another program";
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, "opens a socket";
    socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int, "opens a socket";
    posix_spawn(process: *mut c_void, path: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const c_void, environment: *const c_void) -> c_int, "starts another process";
    posix_spawnp(process: *mut c_void, path: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const c_void, environment: *const c_void) -> c_int, "starts another process";
    quick_exit(status: c_int), "ends without running its exit handlers";
    alarm(seconds: c_uint) -> c_uint, "requests a signal";
    setitimer(kind: c_int, new: *const c_void, old: *mut c_void) -> c_int, "requests a signal";
    timer_create(clock: c_int, event: *mut c_void, timer: *mut c_void) -> c_int, "requests a signal";
    ualarm(after: c_uint, interval: c_uint) -> c_uint, "requests a signal";
    killpg(group: c_int, signal: c_int) -> c_int, "sends a signal to a group of processes";
    pidfd_send_signal(process: c_int, signal: c_int, information: *mut c_void, flags: c_uint) -> c_int, "sends a signal by a process file descriptor";
    pause() -> c_int, "waits for a signal";
    sigsuspend(mask: *const c_void) -> c_int, "waits for a signal";
    sigwait(set: *const c_void, signal: *mut c_int) -> c_int, "waits for a signal";
    sigwaitinfo(set: *const c_void, information: *mut c_void) -> c_int, "waits for a signal";
    sigtimedwait(set: *const c_void, information: *mut c_void, time: *const c_void) -> c_int, "waits for a signal";
    aio_read(request: *mut c_void) -> c_int, "uses asynchronous input or output";
    aio_read64(request: *mut c_void) -> c_int, "uses asynchronous input or output";
    aio_write(request: *mut c_void) -> c_int, "uses asynchronous input or output";
    aio_write64(request: *mut c_void) -> c_int, "uses asynchronous input or output";
    aio_fsync(operation: c_int, request: *mut c_void) -> c_int, "uses asynchronous input or output";
    aio_fsync64(operation: c_int, request: *mut c_void) -> c_int, "uses asynchronous input or output";
    lio_listio(mode: c_int, list: *const c_void, count: c_int, event: *mut c_void) -> c_int, "uses asynchronous input or output";
    lio_listio64(mode: c_int, list: *const c_void, count: c_int, event: *mut c_void) -> c_int, "uses asynchronous input or output";
    getaddrinfo_a(mode: c_int, list: *const c_void, count: c_int, event: *mut c_void) -> c_int, "uses a helper thread of the C library";
    mq_notify(queue: c_int, event: *const c_void) -> c_int, "uses a helper thread of the C library";
    semget(key: c_int, count: c_int, flags: c_int) -> c_int, "opens semaphores that outlive it";
    msgget(key: c_int, flags: c_int) -> c_int, "opens a message queue that outlives it";
    shmat(segment: c_int, address: *const c_void, flags: c_int) -> *mut c_void, "attaches memory that outlives it";
    sem_open(name: *const c_char, flags: c_int, mode: c_uint, permits: c_uint) -> *mut c_void, "opens a semaphore that outlives it";
}

/// Functions with any number of arguments. Outside a check, the arguments are passed on unchanged.
macro_rules! refused_variadic {
    ($($name:ident)*) => {
        $(
            const _: () = {
                extern "C-unwind" fn address() -> usize {
                    if is_inside() {
                        let (code, _closed) = (code(), close());
                        native::refuse(code, concat!("the program replaces itself with another program (", stringify!($name), ")").to_owned());
                    }
                    static ADDRESS: AtomicUsize = AtomicUsize::new(0);
                    $crate::real::address(&ADDRESS, concat!(stringify!($name), "\0"))
                }

                // SAFETY: the function replaces the C library's function of this name.
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                unsafe extern "C-unwind" fn $name() {
                    std::arch::naked_asm!(
                        "mov r11, fs:0",
                        "cmp r11, [rip + {inside}]",
                        "jne 2f",
                        // Record the place of the call, as the other exported functions do.
                        "lea r11, [rsp - 48]",
                        "mov [rip + {frame}], r11",
                        "2:",
                        "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                        "call {address}",
                        "mov r11, rax",
                        "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                        "jmp r11",
                        inside = sym crate::gate::INSIDE,
                        frame = sym crate::gate::FRAME,
                        address = sym address,
                    )
                }
            };
        )*
    };
}

refused_variadic! { execl execlp execle }
