//! Library functions for *enforced* programs: those that run under a safe trace, a file with an
//! order of events that was verified. Threads are real, and blocking objects are those of the crate
//! `enforce`. In these programs, the macro `real!` calls the function of the same name from here,
//! if there is one, instead of that of the C library. The hooks of atomic and plain accesses do not
//! go through `real!`.

macro_rules! enforced {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$meta])*
            unsafe extern "C-unwind" fn $name($($argument: $type),*) $(-> $result)? $body
        )*

        /// Returns the function of this name.
        pub(super) fn find(name: &str) -> Option<usize> {
            match name {
                $(stringify!($name) => Some($name as *const () as usize),)*
                _ => None,
            }
        }
    };
}

mod condvars;
mod copies;
mod ending;
mod mutexes;
mod rwlocks;
mod semaphores;
mod start;
mod threads;
mod time;

pub(crate) use copies::{copy, fill};
pub(crate) use start::{is_on, run};

/// Returns the function of this name that replaces the C library's function. Returns `None` if
/// there is none, and in programs that are not enforced.
pub(crate) fn function(name: &str) -> Option<usize> {
    if !is_on() {
        return None;
    }
    const FILES: [fn(&str) -> Option<usize>; 7] = [
        mutexes::find,
        condvars::find,
        semaphores::find,
        rwlocks::find,
        threads::find,
        ending::find,
        time::find,
    ];
    FILES.iter().find_map(|find| find(name))
}

/// Chooses one of the alternatives: always the first in programs that are not enforced.
pub(crate) fn choice(alternatives: u32) -> u32 {
    if is_on() {
        enforce::choose(alternatives)
    } else {
        0
    }
}

/// Ends the program because of an operation that cannot be enforced.
fn refuse(what: &str) -> ! {
    enforce::fail(&format!(
        "the program {what}, which cannot be enforced; run it without `mazurka run`"
    ))
}
