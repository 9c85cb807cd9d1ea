/* weak-peterson: Peterson's lock (1981). The bug: with release stores and acquire loads, a thread
   may look at the other's request before its own is visible, so both threads may enter. The repair:
   SeqCst. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef FIXED
#define LOAD memory_order_seq_cst
#define STORE memory_order_seq_cst
#else
#define LOAD memory_order_acquire
#define STORE memory_order_release
#endif

static atomic_bool wants[2];
static atomic_int turn;
static atomic_int count;

static void enter(int me) {
    int other = 1 - me;
    atomic_store_explicit(&wants[me], true, STORE);
    atomic_store_explicit(&turn, other, STORE);
    while (atomic_load_explicit(&wants[other], LOAD) &&
           atomic_load_explicit(&turn, LOAD) == other)
        ;
}

static void *increment(void *index) {
    int me = (int)(intptr_t)index;
    enter(me);
    int seen = atomic_load_explicit(&count, memory_order_relaxed);
    atomic_store_explicit(&count, seen + 1, memory_order_relaxed);
    atomic_store_explicit(&wants[me], false, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, (void *)1);
    increment((void *)0);
    pthread_join(thread, NULL);
    int total = atomic_load_explicit(&count, memory_order_relaxed);
    assert(total == 2);
    return 0;
}
