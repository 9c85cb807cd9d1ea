/* A loop waits for a flag. Each round has an effect that only the code after the loop observes. In
   `program NAME` another thread sets the flag, and the program fails if the loop ran enough rounds.
   `program NAME ROUNDS` has no other thread, and exits with 1 if ROUNDS are enough. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define PLENTY 3

static pthread_mutex_t mutexes[PLENTY] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int try_mutexes(void) {
    for (int i = 0; i < PLENTY; i++)
        if (pthread_mutex_trylock(&mutexes[i]) == 0) return 0;
    return 1;
}
static void timed_mutexes(void) {
    static const struct timespec far = {.tv_sec = 4000000000};
    static int next;
    if (next < PLENTY) pthread_mutex_timedlock(&mutexes[next++], &far);
}
static pthread_rwlock_t locks[PLENTY] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
static int try_writes(void) {
    for (int i = 0; i < PLENTY; i++)
        if (pthread_rwlock_trywrlock(&locks[i]) == 0) return 0;
    return 1;
}
static void try_reads(void) { pthread_rwlock_tryrdlock(&locks[0]); }
static int is_read(void) { return pthread_rwlock_trywrlock(&locks[0]) != 0; }
static pthread_spinlock_t spins[PLENTY];
static int try_spins(void) {
    for (int i = 0; i < PLENTY; i++)
        if (pthread_spin_trylock(&spins[i]) == 0) return 0;
    return 1;
}
static mtx_t mtx;
static int try_mtx(void) { return mtx_trylock(&mtx) != thrd_success; }
static sem_t permits;
static int try_permits(void) { return sem_trywait(&permits) != 0; }
static void timed_permits(void) {
    static const struct timespec far = {.tv_sec = 4000000000};
    sem_timedwait(&permits, &far);
}
static int no_permits(void) {
    int left;
    sem_getvalue(&permits, &left);
    return left == 0;
}
static int permits_seen = 7;
static void see_permits(void) { sem_getvalue(&permits, &permits_seen); }
static int has_seen_permits(void) { return permits_seen == PLENTY; }

static pthread_key_t key;
static void set_specific(void) { pthread_setspecific(key, (char *)pthread_getspecific(key) + 1); }
static int is_specific(void) { return pthread_getspecific(key) >= (void *)PLENTY; }
static tss_t tss;
static void set_tss(void) { tss_set(tss, (char *)tss_get(tss) + 1); }
static int is_tss(void) { return tss_get(tss) >= (void *)PLENTY; }

static char text[32];
static void append(void) {
    if (strlen(text) < PLENTY) strcat(text, "1");
}
static void copy_text(void) { strcpy(text, strlen(text) < 2 ? strlen(text) < 1 ? "1" : "11" : "111"); }
static int is_long(void) { return strlen(text) == PLENTY; }
static void print_number(void) { snprintf(text, sizeof text, "%d", atoi(text) + 1); }
static int is_number(void) { return atoi(text) >= PLENTY; }
static char numbers[] = "1 2 3", *number = numbers;
static void parse(void) { strtol(number, &number, 10); }
static int is_parsed(void) { return *number == 0; }
static void split(void) { strtok(NULL, " "); }
static int is_split(void) { return strtok(NULL, " ") == NULL; }
static int unsorted[] = {3, 2, 1};
static int compare(const void *one, const void *other) { return *(int *)one - *(int *)other; }
static void sort(void) { qsort(unsorted, 3, sizeof *unsorted, compare); }
static int is_sorted(void) { return unsorted[0] == 1; }

static void count_errors(void) { errno++; }
static int has_errors(void) { return errno >= PLENTY; }
static int later;
static void draw(void) { rand(); }
static int is_drawn(void) { return rand() == later; }
static void draw_long(void) { lrand48(); }
static int is_drawn_long(void) { return lrand48() == later; }
static void disable(void) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); }
static int is_disabled(void) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    return before == PTHREAD_CANCEL_DISABLE;
}
static void name(void) { pthread_setname_np(pthread_self(), "late"); }
static int is_named(void) {
    char own[16];
    pthread_getname_np(pthread_self(), own, sizeof own);
    return strcmp(own, "late") == 0;
}
static long milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}
static long start, now;
static void wait_a_little(void) {
    usleep(2000);
    now = milliseconds();
}
static int is_late(void) { return now - start >= PLENTY; }

static void round_down(void) { fesetround(FE_DOWNWARD); }
static int is_rounded_down(void) { return fegetround() == FE_DOWNWARD; }
static void overflow(void) { feraiseexcept(FE_OVERFLOW); }
static int has_overflowed(void) { return fetestexcept(FE_OVERFLOW) != 0; }
static volatile double quotient;
static void divide(void) { quotient = (quotient + 1) / 3; quotient = 0; }
static int is_inexact(void) { return fetestexcept(FE_INEXACT) != 0; }
static long double sum;
static void add(void) { sum += 1; }
static int is_sum(void) { return sum >= PLENTY; }
static struct pair { short one, two; } pair;
static struct pair next(struct pair from) { return (struct pair){from.one + 1, from.two}; }
static void take_pair(void) { pair = next(pair); }
static int is_pair(void) { return pair.one >= PLENTY; }
static atomic_int nine = 9;
static int expected;
static void exchange(void) { atomic_compare_exchange_strong(&nine, &expected, 10); }
static int is_expected(void) { return expected != 0; }
static _Thread_local char own[4];
static void fill(void) { stpcpy(own, "abc"); }
static int is_filled(void) { return own[2] == 'c'; }

static void does(int (*tries)(void)) { tries(); }
static const struct effect {
    const char *name;
    void (*round)(void);
    int (*round_that_tries)(void);
    int (*is_late)(void);
} effects[] = {
    {"pthread_mutex_trylock", NULL, try_mutexes, try_mutexes},
    {"pthread_mutex_timedlock", timed_mutexes, NULL, try_mutexes},
    {"pthread_rwlock_trywrlock", NULL, try_writes, try_writes},
    {"pthread_rwlock_tryrdlock", try_reads, NULL, is_read},
    {"pthread_spin_trylock", NULL, try_spins, try_spins},
    {"mtx_trylock", NULL, try_mtx, try_mtx},
    {"sem_trywait", NULL, try_permits, no_permits},
    {"sem_timedwait", timed_permits, NULL, no_permits},
    {"sem_getvalue", see_permits, NULL, has_seen_permits},
    {"pthread_setspecific", set_specific, NULL, is_specific},
    {"tss_set", set_tss, NULL, is_tss},
    {"strcat", append, NULL, is_long},
    {"strcpy", copy_text, NULL, is_long},
    {"snprintf", print_number, NULL, is_number},
    {"strtol", parse, NULL, is_parsed},
    {"strtok", split, NULL, is_split},
    {"qsort", sort, NULL, is_sorted},
    {"errno", count_errors, NULL, has_errors},
    {"rand", draw, NULL, is_drawn},
    {"lrand48", draw_long, NULL, is_drawn_long},
    {"pthread_setcancelstate", disable, NULL, is_disabled},
    {"pthread_setname_np", name, NULL, is_named},
    {"clock_gettime", wait_a_little, NULL, is_late},
    {"long double", add, NULL, is_sum},
    {"fesetround", round_down, NULL, is_rounded_down},
    {"feraiseexcept", overflow, NULL, has_overflowed},
    {"division", divide, NULL, is_inexact},
    {"structure", take_pair, NULL, is_pair},
    {"compare-exchange", exchange, NULL, is_expected},
    {"thread-local", fill, NULL, is_filled},
};

static atomic_int flag;
static void *set(void *argument) {
    atomic_store(&flag, 1);
    return argument;
}

int main(int count, char **arguments) {
    const struct effect *effect = effects;
    if (count == 1) {
        for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) puts(effects[i].name);
        return 0;
    }
    while (strcmp(effect->name, arguments[1])) effect++;
    sem_init(&permits, 0, PLENTY);
    for (int i = 0; i < PLENTY; i++) pthread_spin_init(&spins[i], PTHREAD_PROCESS_PRIVATE);
    mtx_init(&mtx, mtx_plain);
    pthread_key_create(&key, NULL);
    tss_create(&tss, NULL);
    static char words[] = "a b c d";
    strtok(words, " ");
    if (strstr(effect->name, "rand")) {
        int is_long = effect->name[0] == 'l';
        for (int again = 0; again < 2; again++) {
            is_long ? srand48(1) : srand(1);
            if (!again)
                for (int i = 0; i <= PLENTY; i++) later = is_long ? lrand48() : rand();
        }
    }
    errno = 0;
    start = now = milliseconds();
    if (count == 3) {
        for (int i = atoi(arguments[2]); i > 0; i--)
            effect->round ? effect->round() : does(effect->round_that_tries);
        return effect->is_late();
    }
    pthread_t thread;
    pthread_create(&thread, NULL, set, NULL);
    while (!atomic_load(&flag))
        effect->round ? effect->round() : does(effect->round_that_tries);
    int late = effect->is_late();
    pthread_join(thread, NULL);
    assert(!late);
}
