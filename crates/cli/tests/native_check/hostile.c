// Ways not to return to the checker, by number. Raw system calls bypass the hooks of all libraries.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long raw(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#define RAW(number, a, b, c, d) raw(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static int way;
static int word, flag, plain;
static atomic_int atomic;

static void spin(void) { for (;;) __asm__ volatile(""); }
static void wait_forever(void) { for (;;) RAW(SYS_pause, 0, 0, 0, 0); }
static void block_signals(void) {
    unsigned long all = ~0UL;
    RAW(SYS_rt_sigprocmask, SIG_SETMASK, &all, 0, 8);
}
struct action { void *handler; unsigned long flags; void *restorer; unsigned long mask; };
static void nothing(int signal) { (void)signal; spin(); }
static void handle_signals(void *handler) {
    struct action action = {handler, 0, 0, 0};
    for (int signal = 1; signal < 65; signal++) RAW(SYS_rt_sigaction, signal, &action, 0, 8);
}
static void close_all(void) { for (int fd = 0; fd < 1024; fd++) RAW(SYS_close, fd, 0, 0, 0); }
static int fork_raw(void) { return RAW(SYS_fork, 0, 0, 0, 0); }

static int scribble(struct dl_phdr_info *image, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int k = 0; k < image->dlpi_phnum && strstr(image->dlpi_name, "mazurka_intercept"); k++)
        if (image->dlpi_phdr[k].p_type == PT_LOAD && image->dlpi_phdr[k].p_flags & PF_W) {
            volatile char *start = (char *)image->dlpi_addr + image->dlpi_phdr[k].p_vaddr;
            for (size_t byte = image->dlpi_phdr[k].p_filesz; byte < image->dlpi_phdr[k].p_memsz; byte++)
                start[byte] = way % 2 ? 0x55 : 0;
        }
    return 0;
}

// Finds the memory in which the checker records its progress.
static void find_trail(char **start, char **end) {
    static char maps[1 << 18];
    long length = 0, read, fd = RAW(SYS_open, "/proc/self/maps", O_RDONLY, 0, 0);
    while (length < (long)sizeof maps - 1 &&
           (read = RAW(SYS_read, fd, maps + length, sizeof maps - 1 - length, 0)) > 0)
        length += read;
    char *found = strstr(maps, "mazurka.trail");
    if (!found) return;
    while (found > maps && found[-1] != '\n') found--;
    *start = (char *)strtoul(found, &found, 16);
    *end = (char *)strtoul(found + 1, NULL, 16);
}

static int deeper(int depth) {
    volatile char used[4096];
    used[0] = depth;
    return deeper(depth + 1) + used[0];
}

static void hang(void) {
    struct timespec hour = {3600, 0};
    char *start = 0, *end = 0;
    int pipes[2], fd;
    switch (way) {
    case 0: RAW(SYS_kill, RAW(SYS_getpid, 0, 0, 0, 0), SIGSTOP, 0, 0); spin();
    case 1: raise(SIGSTOP); spin();
    case 2: RAW(SYS_pipe, pipes, 0, 0, 0); RAW(SYS_read, pipes[0], &word, 1, 0); spin();
    case 3: RAW(SYS_futex, &word, 0, 0, 0); spin();
    case 4: RAW(SYS_nanosleep, &hour, 0, 0, 0); spin();
    case 5:
        fd = RAW(SYS_open, "/proc/self/exe", O_RDONLY, 0, 0);
        RAW(SYS_flock, fd, LOCK_EX, 0, 0);
        fd = RAW(SYS_open, "/proc/self/exe", O_RDONLY, 0, 0);
        RAW(SYS_flock, fd, LOCK_EX, 0, 0);
        spin();
    case 6: wait_forever();
    case 7: raw(SYS_ppoll, 0, 0, 0, 0, 0, 0); spin();
    case 8: {
        struct epoll_event event;
        fd = RAW(SYS_epoll_create1, 0, 0, 0, 0);
        RAW(SYS_epoll_wait, fd, &event, 1, -1);
        spin();
    }
    case 9: if (!fork_raw()) wait_forever(); RAW(SYS_wait4, -1, 0, 0, 0); spin();
    case 10: if (!fork_raw()) wait_forever(); break;
    case 11: if (!fork_raw()) { RAW(SYS_setsid, 0, 0, 0, 0); if (!fork_raw()) wait_forever(); RAW(SYS_exit_group, 0, 0, 0, 0); } spin();
    case 12: block_signals(); spin();
    case 13: block_signals(); RAW(SYS_nanosleep, &hour, 0, 0, 0); spin();
    case 14: handle_signals((void *)SIG_IGN); spin();
    case 15: handle_signals((void *)nothing); spin();
    case 16: spin();
    case 17: while (!*(volatile int *)&flag) plain++;
    case 18: for (;;) atomic_fetch_add(&atomic, 1);
    case 19: for (;;) free(malloc(8));
    case 20: {
        struct itimerval none = {{0, 0}, {0, 0}};
        for (int kind = 0; kind < 3; kind++) RAW(SYS_setitimer, kind, &none, 0, 0);
        spin();
    }
    case 21: close_all(); spin();
    case 22: close_all(); break;
    case 23: fd = RAW(SYS_open, "/dev/null", O_RDWR, 0, 0); for (int other = 0; other < 64; other++) if (other != fd) RAW(SYS_dup2, fd, other, 0, 0); break;
    case 24: case 25: dl_iterate_phdr(scribble, NULL); break;
    case 26: find_trail(&start, &end); for (char *byte = start; byte < end; byte += 1) *(volatile char *)byte = -1; spin();
    case 27: find_trail(&start, &end); RAW(SYS_munmap, start, end - start, 0, 0); spin();
    case 28: for (int k = 0; k < 4; k++) fork_raw(); spin();
    case 29: RAW(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0); RAW(SYS_kill, RAW(SYS_getpid, 0, 0, 0, 0), SIGSTOP, 0, 0); spin();
    case 30: RAW(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0); RAW(SYS_prctl, PR_SET_CHILD_SUBREAPER, 0, 0, 0); spin();
    case 31: RAW(SYS_setpgid, 0, RAW(SYS_getppid, 0, 0, 0, 0), 0, 0); RAW(SYS_setsid, 0, 0, 0, 0); spin();
    case 32: if (!RAW(SYS_vfork, 0, 0, 0, 0)) wait_forever(); spin();
    case 33: for (;;) if (RAW(SYS_exit, 0, 0, 0, 0)) spin();
    case 34: for (;;) RAW(SYS_write, 1, "x", 1, 0);
    case 35: for (fd = 3; fd < 64; fd++) RAW(SYS_write, fd, "{\"report\":{}}", 13, 0); spin();
    case 36: RAW(SYS_setpriority, PRIO_PROCESS, 0, 19, 0); spin();
    case 37: break;
    case 38: break;
    case 39: RAW(SYS_prctl, PR_SET_SECCOMP, 1, 0, 0); spin();
    case 40: { struct rlimit none = {1 << 20, 1 << 20}; RAW(SYS_setrlimit, RLIMIT_AS, &none, 0, 0); spin(); }
    case 41: {
        struct itimerval often = {{0, 20}, {0, 20}};
        handle_signals((void *)SIG_IGN);
        RAW(SYS_setitimer, ITIMER_REAL, &often, 0, 0);
        spin();
    }
    case 42: RAW(SYS_mprotect, (long)&hour & ~4095L, 4096, PROT_NONE, 0); spin();
    case 43: while (!atomic_load(&atomic)) sched_yield();
    case 44: for (;;) if (!malloc(1L << 30)) sched_yield();
    case 45: deeper(0); break;
    case 46: { stack_t none = {0, SS_DISABLE, 0}; RAW(SYS_sigaltstack, &none, 0, 0, 0); deeper(0); break; }
    case 47: RAW(SYS_munmap, (long)hang & ~4095L, 1 << 16, 0, 0); break;
    case 48: RAW(SYS_arch_prctl, 0x1002 /* ARCH_SET_FS */, 0, 0, 0); spin();
    case 49: { char *sleep[] = {"/bin/sleep", "1000", 0}; RAW(SYS_execve, sleep[0], sleep, 0, 0); spin(); }
    case 50: RAW(SYS_chdir, "/proc", 0, 0, 0); RAW(SYS_chroot, "/proc", 0, 0, 0); spin();
    case 51:
        for (int kind = 0; kind < RLIM_NLIMITS; kind++) {
            struct rlimit none = {1, 1};
            if (kind != RLIMIT_AS) RAW(SYS_setrlimit, kind, &none, 0, 0);
        }
        spin();
    case 52: RAW(SYS_close_range, 0, ~0U, 0, 0); spin();
    case 53: RAW(SYS_rt_sigreturn, 0, 0, 0, 0); break;
    case 54: RAW(SYS_kill, 0, SIGKILL, 0, 0); spin();
    case 55: RAW(SYS_kill, RAW(SYS_getppid, 0, 0, 0, 0), SIGKILL, 0, 0); spin();
    case 56: RAW(SYS_kill, 0, SIGSTOP, 0, 0); spin();
    }
}

static void at_end(void) { if (way == 38) wait_forever(); }
__attribute__((constructor)) static void begin(int count, char **arguments) {
    way = count > 1 ? atoi(arguments[1]) : 0;
    if (way == 37) wait_forever();
}

static void *run(void *unused) {
    atomic_fetch_or(&atomic, 0);
    hang();
    return unused;
}
int main(void) {
    pthread_t thread;
    atexit(at_end);
    pthread_create(&thread, NULL, run, NULL);
    atomic_load(&atomic);
    pthread_join(thread, NULL);
    return 0;
}
