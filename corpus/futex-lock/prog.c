/* futex-lock: a mutex of one word and the futex system call (after Drepper, "Futexes are tricky").
   The bug: a woken thread may take the lock in state 1, and then does not wake the next waiter.
   The repair: it always takes the lock in state 2. */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 3 };

static atomic_int word; /* 0: free, 1: taken, 2: taken, and threads may wait */
static int count;

static void lock(void) {
    int seen = 0;
    if (atomic_compare_exchange_strong(&word, &seen, 1))
        return;
    if (seen != 2)
        seen = atomic_exchange(&word, 2);
    while (seen != 0) {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
#ifndef FIXED
        seen = 0;
        if (atomic_compare_exchange_strong(&word, &seen, 1))
            return;
#endif
        seen = atomic_exchange(&word, 2);
    }
}

static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *increment(void *unused) {
    (void)unused;
    lock();
    count++;
    unlock();
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(count == THREADS);
    return 0;
}
