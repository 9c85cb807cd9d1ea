/* Every lock of POSIX, with every way to acquire it. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking, adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t condition;
static int count, is_set;

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec++;
    return time;
}

static void *other(void *unused) {
    struct timespec time = soon(CLOCK_MONOTONIC);
    if (pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &time) == 0) {
        is_set = 1;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&plain);
    }
    if (pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &time) == 0) {
        count++;
        pthread_rwlock_unlock(&lock);
    }
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    return unused;
}

int main(void) {
    pthread_mutexattr_t attributes;
    int kind, protocol, shared, robust;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutexattr_gettype(&attributes, &kind);
    assert(kind == PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutexattr_getprotocol(&attributes, &protocol);
    pthread_mutexattr_getpshared(&attributes, &shared);
    pthread_mutexattr_getrobust(&attributes, &robust);
    pthread_mutex_init(&checking, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_condattr_t clocked;
    pthread_condattr_init(&clocked);
    pthread_condattr_setclock(&clocked, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &clocked);
    pthread_condattr_destroy(&clocked);
    pthread_rwlockattr_t preferring;
    pthread_rwlockattr_init(&preferring);
    pthread_rwlockattr_setkind_np(&preferring, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_destroy(&lock);
    pthread_rwlock_init(&lock, &preferring);
    pthread_rwlockattr_destroy(&preferring);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);

    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    assert(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&checking) == EDEADLK);
    assert(pthread_mutex_trylock(&checking) == EBUSY && pthread_mutex_unlock(&checking) == 0);
    assert(pthread_mutex_unlock(&checking) == EPERM);
    assert(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_trylock(&recursive) == 0);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_lock(&adaptive);
    pthread_mutex_unlock(&adaptive);
    pthread_mutex_lock(&plain);
    struct timespec time = soon(CLOCK_MONOTONIC);
    while (!is_set && pthread_cond_clockwait(&condition, &plain, CLOCK_MONOTONIC, &time) == 0) {}
    pthread_mutex_unlock(&plain);
    time = soon(CLOCK_REALTIME);
    if (pthread_rwlock_timedrdlock(&lock, &time) == 0) {
        assert(count == 0 || count == 1);
        pthread_rwlock_unlock(&lock);
    }
    if (pthread_rwlock_tryrdlock(&lock) == 0) pthread_rwlock_unlock(&lock);
    if (pthread_spin_trylock(&spin) == 0) pthread_spin_unlock(&spin);
    pthread_join(thread, NULL);
    pthread_spin_destroy(&spin);
    pthread_cond_destroy(&condition);
    pthread_rwlock_destroy(&lock);
    pthread_mutex_destroy(&checking);
    return 0;
}
