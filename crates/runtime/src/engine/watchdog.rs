//! Detects that the operating-system thread that runs a model is blocked permanently, because a
//! thread of the model waits for a lock whose holder cannot run meanwhile.
//!
//! A watchdog thread periodically looks at each thread that runs a model. It checks whether the
//! thread waits in the kernel for a futex without a time limit, and whether it has done so at the
//! same place, without a context switch, since the last check. Locks, channels and parking of the
//! standard library wait in this way. The wait may be for another operating-system thread, so the
//! watchdog lets the configured patience pass. Then it sends a signal, whose handler ends the
//! coroutine (see `trap`). A thread that waits for the end of another thread is not blocked
//! permanently.
//!
//! A thread that runs a Rust program and uses much CPU time gets the signal, too. The handler then
//! determines whether the thread makes progress (`endless_loop`). These checks exist only on Linux
//! with x86-64. On other systems, programs that block or loop forever hang.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use linux::{SIGNAL, Watch, is_accused, start};

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) use elsewhere::{Watch, start};

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere {
    use std::time::Duration;

    /// A placeholder: there is no watchdog.
    pub(crate) struct Watch;

    pub(crate) fn start() {}

    impl Watch {
        pub(crate) fn begin(_patience: Duration, _is_probed: bool) -> Watch {
            Watch
        }

        pub(crate) fn limit_patience(&self, _patience: Duration) {}
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux {
    use std::fs;
    use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
    use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
    use std::thread;
    use std::time::{Duration, Instant};

    /// The signal that ends a blocked coroutine. It is ignored by default, so it has no effect if
    /// it comes too late.
    pub(crate) const SIGNAL: libc::c_int = libc::SIGURG;

    /// The time between two checks.
    const PAUSE: Duration = Duration::from_millis(50);

    /// The maximum CPU time between two signals to a running thread.
    const MOST_UNPROBED: Duration = Duration::from_secs(1);

    /// The number of checks without a watched thread after which the watchdog sleeps until one is
    /// added.
    const IDLE_CHECKS: u32 = 20;

    static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());
    /// Notified when the first watched thread is added.
    static BEGUN: Condvar = Condvar::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);

    /// The thread accused of being blocked permanently, its stack pointer and its instruction.
    static ACCUSED: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

    /// A thread that runs a model.
    struct Watched {
        id: u64,
        thread: libc::pid_t,
        patience: Duration,
        /// Whether the thread gets signals while it runs.
        is_probed: bool,
        /// The thread's CPU time at the last signal.
        probed_at: Duration,
        /// The place where the thread was blocked at the last check, and the beginning of this
        /// wait.
        blocked: Option<(Blocked, Instant)>,
    }

    /// The place where a thread waits for a futex.
    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Blocked {
        stack: usize,
        instruction: usize,
        /// The kernel's counts of context switches of the thread.
        switches: Vec<String>,
    }

    /// A handle that keeps the calling thread watched until the handle is dropped.
    pub(crate) struct Watch(u64);

    impl Watch {
        /// Watches the calling thread, which runs a model.
        pub(crate) fn begin(patience: Duration, is_probed: bool) -> Watch {
            start();
            let id = NEXT.fetch_add(1, SeqCst);
            // SAFETY: the call has no preconditions.
            let thread = unsafe { libc::gettid() };
            let mut watched = watched();
            watched.push(Watched {
                id,
                thread,
                patience,
                is_probed,
                probed_at: Duration::ZERO,
                blocked: None,
            });
            if watched.len() == 1 {
                BEGUN.notify_one();
            }
            Watch(id)
        }

        /// Limits the patience to this duration from now on.
        pub(crate) fn limit_patience(&self, patience: Duration) {
            let mut watched = watched();
            if let Some(own) = watched.iter_mut().find(|other| other.id == self.0) {
                own.patience = own.patience.min(patience);
                own.blocked = None;
            }
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            watched().retain(|watched| watched.id != self.0);
        }
    }

    /// Starts the watchdog, once per process, and waits until it is set up. Meanwhile the C library
    /// changes its memory for the new thread, which a model must not restore to an earlier state.
    pub(crate) fn start() {
        static STARTED: Once = Once::new();
        STARTED.call_once(|| {
            let watchdog = thread::Builder::new().name("mazurka watchdog".to_owned());
            // Without the watchdog, programs that block permanently hang. Nothing else changes.
            if watchdog.spawn(watch).is_ok() {
                while !IS_READY.load(SeqCst) {
                    thread::yield_now();
                }
            }
        });
    }

    /// Whether the watchdog is set up.
    static IS_READY: AtomicBool = AtomicBool::new(false);

    fn watched() -> MutexGuard<'static, Vec<Watched>> {
        WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the watchdog.
    fn watch() {
        // Switches to a separate, empty descriptor table. Files that the watchdog opens then do not
        // affect the numbers of the program's descriptors, and no file stays open in the watchdog
        // after the program has closed it. Kernels before 5.9 do not support this.
        // SAFETY: only this thread is affected, and it has no descriptors yet.
        unsafe {
            libc::syscall(
                libc::SYS_close_range,
                0,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_UNSHARE,
            )
        };
        IS_READY.store(true, SeqCst);
        let mut idle = 0;
        loop {
            let mut all = watched();
            idle = if all.is_empty() { idle + 1 } else { 0 };
            if idle > IDLE_CHECKS {
                let is_empty = |all: &mut Vec<Watched>| all.is_empty();
                all = BEGUN
                    .wait_while(all, is_empty)
                    .unwrap_or_else(PoisonError::into_inner);
                idle = 0;
            }
            all.iter_mut().for_each(check);
            drop(all);
            thread::sleep(PAUSE);
        }
    }

    /// Checks a thread. Accuses the thread if it was blocked for longer than its patience. If the
    /// thread is not blocked, may send it a signal.
    fn check(watched: &mut Watched) {
        let Some(blocked) = blocked(watched.thread) else {
            watched.blocked = None;
            if watched.is_probed {
                probe(watched);
            }
            return;
        };
        match &watched.blocked {
            Some((before, since)) if *before == blocked => {
                if since.elapsed() >= watched.patience {
                    accuse(watched.thread, &blocked);
                }
            }
            Some(_) | None => watched.blocked = Some((blocked, Instant::now())),
        }
    }

    /// Sends the signal to a thread that has used some CPU time since the last signal.
    fn probe(watched: &mut Watched) {
        let Some(used) = cpu_time(watched.thread) else {
            return;
        };
        if used.saturating_sub(watched.probed_at) >= (watched.patience / 4).min(MOST_UNPROBED) {
            watched.probed_at = used;
            send_signal(watched.thread);
        }
    }

    /// Returns the CPU time of a thread of this process.
    fn cpu_time(thread: libc::pid_t) -> Option<Duration> {
        let status = fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
        let nanoseconds = status.split_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(nanoseconds))
    }

    /// Sends the signal, which has no effect on threads that have ended.
    fn send_signal(thread: libc::pid_t) {
        // SAFETY: the call has no preconditions.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, SIGNAL) };
    }

    /// Returns the place where the thread waits for a futex without a time limit, if there is one.
    fn blocked(thread: libc::pid_t) -> Option<Blocked> {
        let call = fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).ok()?;
        let (stack, instruction) = futex_wait(&call)?;
        let status = fs::read_to_string(format!("/proc/self/task/{thread}/status")).ok()?;
        let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
        Some(Blocked {
            stack,
            instruction,
            switches: switches.map(str::to_owned).collect(),
        })
    }

    /// Parses `202 ADDRESS OPERATION VALUE TIMEOUT … STACK INSTRUCTION` into stack pointer and
    /// instruction. Returns `None` in three cases: for any other call, if there is a time limit, or
    /// if the value is the id of a living thread (the call then waits for the end of that thread).
    fn futex_wait(call: &str) -> Option<(usize, usize)> {
        let mut words = call.split_whitespace();
        let number: libc::c_long = words.next()?.parse().ok()?;
        let words: Vec<usize> = words.map_while(hexadecimal).collect();
        let [_, _, value, timeout, .., stack, instruction] = words[..] else {
            return None;
        };
        let is_wait = number == libc::SYS_futex && timeout == 0;
        let is_join = || fs::exists(format!("/proc/self/task/{value}")).unwrap_or(false);
        (is_wait && !is_join()).then_some((stack, instruction))
    }

    fn hexadecimal(word: &str) -> Option<usize> {
        usize::from_str_radix(word.strip_prefix("0x")?, 16).ok()
    }

    /// Accuses the thread and sends the signal, whose handler ends the accused thread.
    fn accuse(thread: libc::pid_t, blocked: &Blocked) {
        let Ok(id) = usize::try_from(thread) else {
            return;
        };
        ACCUSED[0].store(0, SeqCst);
        ACCUSED[1].store(blocked.stack, SeqCst);
        ACCUSED[2].store(blocked.instruction, SeqCst);
        ACCUSED[0].store(id, SeqCst);
        send_signal(thread);
    }

    /// Checks in a signal handler whether the calling thread is the accused thread and has not
    /// moved.
    pub(crate) fn is_accused(stack: usize, instruction: usize) -> bool {
        /// The length of a system call instruction, to which the kernel returns after the handler.
        const SYSCALL: usize = 2;
        // SAFETY: the call has no preconditions.
        let thread = unsafe { libc::gettid() };
        let [accused, its_stack, its_instruction] =
            ACCUSED.each_ref().map(|part| part.load(SeqCst));
        let is_there = instruction == its_instruction || instruction + SYSCALL == its_instruction;
        usize::try_from(thread) == Ok(accused) && stack == its_stack && is_there
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_a_wait_without_a_limit_of_time_blocks_for_good() {
            let call = "202 0x7f00 0x189 0x2 0x0 0x0 0xffffffff 0x7ffe10 0x7f7f20\n";
            assert_eq!(futex_wait(call), Some((0x7ffe10, 0x7f7f20)));
            let timed = call.replace("0x2 0x0", "0x2 0x7ffe50");
            assert_eq!(futex_wait(&timed), None);
            assert_eq!(futex_wait(&call.replace("202", "0")), None);
            assert_eq!(futex_wait("running\n"), None);
            assert_eq!(futex_wait(""), None);
        }

        /// Checks the watchdog's descriptor table, because the watchdog replaces it as the last
        /// step of its setup.
        #[test]
        fn the_watchdog_has_set_itself_up_when_it_has_been_started() {
            const HIGH: libc::c_int = 500;
            // SAFETY: the number is unused here.
            assert_eq!(unsafe { libc::dup2(0, HIGH) }, HIGH);
            start();
            let tasks = fs::read_dir("/proc/self/task").unwrap();
            let folders = tasks.map(|task| task.unwrap().path());
            let is_watchdog = |folder: &std::path::PathBuf| {
                fs::read_to_string(folder.join("comm"))
                    .is_ok_and(|name| name.starts_with("mazurka"))
            };
            let watchdogs: Vec<_> = folders.filter(is_watchdog).collect();
            assert_eq!(watchdogs.len(), 1);
            assert!(!fs::exists(watchdogs[0].join(format!("fd/{HIGH}"))).unwrap());
        }

        #[test]
        fn a_thread_that_waits_for_the_end_of_a_thread_is_not_blocked_for_ever() {
            // SAFETY: the call has no preconditions.
            let thread = unsafe { libc::gettid() };
            let call = format!("202 0x7f00 0x109 {thread:#x} 0x0 0x0 0xffffffff 0x7ffe10 0x7f7f20");
            assert_eq!(futex_wait(&call), None);
        }
    }
}
