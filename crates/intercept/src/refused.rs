//! What programs must not do: none of it can be repeated or put back.

use crate::gate::{close, code, is_inside};
use libc::{c_char, c_int, c_void};
use runtime::native;

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
    execve(path: *const c_char, arguments: *const c_void, environment: *const c_void) -> c_int, "becomes another program";
    execv(path: *const c_char, arguments: *const c_void) -> c_int, "becomes another program";
    execvp(path: *const c_char, arguments: *const c_void) -> c_int, "becomes another program";
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, "opens a socket";
    socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int, "opens a socket";
    pthread_kill(thread: libc::pthread_t, signal: c_int) -> c_int, "sends a signal to a thread";
}
