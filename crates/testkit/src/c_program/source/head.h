#ifndef __cplusplus
#define _GNU_SOURCE
#include <ctype.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef pthread_mutex_t mutex_t, timed_mutex_t;
typedef pthread_rwlock_t rwlock_t, timed_rwlock_t;
typedef pthread_cond_t condvar_t, any_condvar_t;
typedef sem_t semaphore_t;
typedef pthread_barrier_t barrier_t;
typedef pthread_once_t once_t;
typedef pthread_t thread_t, joining_thread_t;
#define MUTEX_INITIAL PTHREAD_MUTEX_INITIALIZER
#define RWLOCK_INITIAL PTHREAD_RWLOCK_INITIALIZER
#define CONDVAR_INITIAL PTHREAD_COND_INITIALIZER
#define ONCE_INITIAL PTHREAD_ONCE_INIT
#define pthread_rwlock_rdunlock pthread_rwlock_unlock
#define C_FUNCTION extern
#define HOLD_MUTEX pthread_mutex_lock
#define LET_MUTEX_GO pthread_mutex_unlock
/* Programs that use this macro run in C++ only. */
#define LOCK_BOTH(one, two) abort()
#endif

#include <linux/futex.h>
#include <sys/syscall.h>

typedef unsigned __int128 uint128_t;

/* The year 2100. */
static const struct timespec late = {4102444800, 0};

static inline uint128_t both(uint64_t value) { return (uint128_t)value << 64 | value; }
static inline uint64_t narrow(uint128_t value) { return (uint64_t)value + 3 * (uint64_t)(value >> 64); }

static inline int took(uint32_t *flag) {
    uint32_t expected = 0;
    return __atomic_compare_exchange_n(flag, &expected, 1, 0, 5, 5);
}

/* The kernel's test of the word is not an acquire. The fence orders what follows, so that the
   program is sequentially consistent. */
static inline int futex_wait(uint32_t *futex, uint32_t value) {
    int woken = syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0) == 0;
    __atomic_thread_fence(5);
    return woken;
}

static inline long futex_wake(uint32_t *futex, int most) {
    return syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

static int compared(const void *one, const void *two) {
    uint64_t left, right;
    memcpy(&left, one, 8);
    memcpy(&right, two, 8);
    return (left > right) - (left < right);
}

/* Returns the decimal number at the start of a text, plus the number of its digits. */
static uint64_t parsed(const char *text) {
    char copy[16], *end;
    memcpy(copy, text, 15);
    copy[15] = 0;
    if (!isdigit((unsigned char)copy[0])) return 0;
    uint64_t value = strtoull(copy, &end, 10);
    return value + (uint64_t)(end - copy);
}

static void finish(const uint64_t *words, int count);

/* Excludes code that names an outcome from the hooks: it is not part of the program. */
#define UNSEEN __attribute__((no_sanitize("thread"), noinline))

/* Writes words into an array of the caller: accesses to its own frame cause no trap in Mazurka. */
#define SPELL(text, words, count) do { \
    int end = 0; \
    for (int word = 0; word < (count); word++) { \
        uint64_t rest = (words)[word], unit = 1; \
        if (word) (text)[end++] = ' '; \
        while (rest / unit > 9) unit *= 10; \
        for (; unit; unit /= 10) (text)[end++] = (char)('0' + rest / unit % 10); \
    } \
    (text)[end] = 0; \
} while (0)

#ifdef CHECKED

#define NOISE (void)0
#define PAUSE (void)0
#define BEGIN (void)0
#define AGAIN(does) (void)0

C_FUNCTION void mazurka_goal(const char *name, int is_reached);

UNSEEN static void finish(const uint64_t *words, int count) {
    char text[1024];
    SPELL(text, words, count);
    mazurka_goal(text, 1);
}

static int run(int count, char **arguments, void (*const programs[])(void), void (*const resets[])(void)) {
    (void)resets;
    programs[count > 1 ? atoi(arguments[1]) : 0]();
    return 0;
}

#else

static _Thread_local uint64_t noise_state;
static uint64_t noise_seed;

static void noise(void) {
    noise_state = noise_state * 6364136223846793005u + 1442695040888963407u;
    unsigned choice = noise_state >> 59;
    if (choice < 3) sched_yield();
    else if (choice < 12) for (volatile unsigned left = noise_state >> 40 & (choice < 5 ? 4095 : 255); left; left--) {}
}

static void begin(void) { noise_state = __atomic_add_fetch(&noise_seed, 0x9e3779b97f4a7c15u, 5); }

#define NOISE noise()
#define PAUSE sched_yield()
#define BEGIN begin()
#define AGAIN(does) (void)(does)

static char *outcomes[4096];
static int found;

static void finish(const uint64_t *words, int count) {
    char text[1024];
    SPELL(text, words, count);
    for (int other = 0; other < found; other++) if (!strcmp(outcomes[other], text)) return;
    if (found < 4096) outcomes[found++] = strdup(text);
}

/* Takes triples (program, runs, seed). Prints the program and its outcomes, one per line. */
static int run(int count, char **arguments, void (*const programs[])(void), void (*const resets[])(void)) {
    for (int next = 1; next + 2 < count; next += 3) {
        int program = atoi(arguments[next]), runs = atoi(arguments[next + 1]);
        noise_seed = strtoull(arguments[next + 2], NULL, 10);
        found = 0;
        alarm(60);
        for (int each = 0; each < runs; each++) {
            resets[program]();
            begin();
            programs[program]();
        }
        printf("program %d\n", program);
        for (int outcome = 0; outcome < found; outcome++) printf("%s\n", outcomes[outcome]);
        fflush(stdout);
    }
    /* Skips the destructors of statics: as byte copies, statics can share what they own. */
    _exit(0);
}

#endif
