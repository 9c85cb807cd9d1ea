//! Signals that a program sends: by functions, and by system calls.

use crate::refusals::refused;
use crate::toolchain::run_and_check;
use std::os::unix::process::ExitStatusExt;

/// Returns a program that sends a signal while another thread, `other`, exists.
fn sends(send: &str) -> String {
    format!(
        "#define _GNU_SOURCE
         #include <errno.h>
         #include <pthread.h>
         #include <signal.h>
         #include <sys/syscall.h>
         #include <unistd.h>
         int pidfd_send_signal(int, int, siginfo_t *, unsigned);
         static pthread_barrier_t both;
         static pid_t number;
         static void *run(void *p) {{
             number = gettid();
             pthread_barrier_wait(&both);
             pthread_barrier_wait(&both);
             return p;
         }}
         int main(void) {{
             union sigval value = {{0}};
             pthread_t other;
             sigset_t set;
             (void)value, (void)set;
             pthread_barrier_init(&both, NULL, 2);
             pthread_create(&other, NULL, run, NULL);
             pthread_barrier_wait(&both);
             if ({send} != 0)
                 return 1;
             pthread_barrier_wait(&both);
             pthread_join(other, NULL);
             return 0;
         }}"
    )
}

#[test]
fn signals_that_go_nowhere_have_the_results_of_the_system() {
    for send in [
        "kill(getpid(), 0)",
        "pthread_kill(other, 0)",
        "syscall(SYS_tkill, gettid(), 0)",
        "syscall(SYS_tgkill, getpid(), getpid(), 0)",
        "1 + tgkill(getpid(), 0x7ffffff0, SIGABRT)",
        "1 + raise(65)",
        "1 + syscall(SYS_tkill, -1, 0)",
        "pthread_kill(pthread_self(), -1) - EINVAL",
    ] {
        if let Some((real, report)) = run_and_check("gcc", &sends(send)) {
            assert!(real.success(), "{send}");
            assert_eq!(report["verdict"], "verified", "{send}: {report}");
        }
    }
}

#[test]
fn a_signal_by_which_a_program_ends_itself_is_a_failure() {
    for (send, kind) in [
        ("tgkill(getpid(), gettid(), SIGABRT)", "abort"),
        ("syscall(SYS_tkill, gettid(), SIGSEGV)", "crash"),
        ("pthread_kill(pthread_self(), SIGABRT)", "abort"),
        ("kill(getpid(), SIGKILL)", "crash"),
        ("gsignal(SIGABRT)", "abort"),
    ] {
        if let Some((real, report)) = run_and_check("gcc", &sends(send)) {
            assert!(real.signal().is_some(), "{send}");
            assert_eq!(report["errors"][0]["kind"], kind, "{send}: {report}");
        }
    }
}

#[test]
fn other_signals_are_refused() {
    for (send, message) in [
        (
            "pthread_kill(pthread_self(), SIGUSR1)",
            "sends itself signal 10",
        ),
        (
            "pthread_kill(other, SIGUSR1)",
            "sends a signal to a thread (pthread_kill)",
        ),
        (
            "sigqueue(getpid(), SIGUSR1, value)",
            "sends itself signal 10",
        ),
        (
            "pthread_sigqueue(other, SIGABRT, value)",
            "to a thread (pthread_sigqueue)",
        ),
        ("killpg(0, 0)", "to a group of processes (killpg)"),
        (
            "tgkill(getpid(), gettid(), SIGUSR1)",
            "sends itself signal 10",
        ),
        (
            "syscall(SYS_kill, getppid(), SIGTERM)",
            "to another process (SYS_kill)",
        ),
        (
            "syscall(SYS_tkill, gettid(), SIGUSR1)",
            "sends itself signal 10",
        ),
        (
            "syscall(SYS_tgkill, getpid(), number, SIGABRT)",
            "to a thread (SYS_tgkill)",
        ),
        (
            "syscall(SYS_rt_sigqueueinfo, getpid(), 0, NULL)",
            "rt_sigqueueinfo",
        ),
        (
            "tgkill(getpid(), number, 0)",
            "asks whether another thread has ended (tgkill)",
        ),
        (
            "syscall(SYS_tkill, getppid(), 0)",
            "to another process (SYS_tkill)",
        ),
        ("gsignal(SIGTERM)", "sends itself signal 15"),
        (
            "pidfd_send_signal(-1, 0, NULL, 0)",
            "process file descriptor (pidfd_send_signal)",
        ),
        (
            "syscall(SYS_pidfd_send_signal, -1, 0, NULL, 0)",
            "pidfd_send_signal",
        ),
        ("ualarm(1000, 0)", "requests a signal (ualarm)"),
        (
            "(sigemptyset(&set), sigaddset(&set, SIGABRT), sigprocmask(SIG_BLOCK, &set, NULL), raise(SIGABRT))",
            "sends itself signal 6, which it blocks",
        ),
    ] {
        refused("send.c", &sends(send), message);
    }
}
