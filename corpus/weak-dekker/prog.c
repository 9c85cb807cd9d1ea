/* weak-dekker: the entry of Dekker's lock, with a single attempt. A thread requests entry and gives
   up if the other thread has requested it, too. The bug: a release store and an acquire load do not
   order a thread's own request before the load of the other request, so each thread may miss the
   other's request. The repair: SeqCst. */
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
static atomic_int count;

static void *attempt(void *index) {
    intptr_t me = (intptr_t)index;
    atomic_store_explicit(&wants[me], true, STORE);
    bool is_inside = !atomic_load_explicit(&wants[1 - me], LOAD);
    if (is_inside) {
        int seen = atomic_load_explicit(&count, memory_order_relaxed);
        atomic_store_explicit(&count, seen + 1, memory_order_relaxed);
    }
    atomic_store_explicit(&wants[me], false, memory_order_release);
    return (void *)(intptr_t)is_inside;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, attempt, (void *)1);
    intptr_t mine = (intptr_t)attempt((void *)0);
    void *others;
    pthread_join(thread, &others);
    int total = atomic_load_explicit(&count, memory_order_relaxed);
    assert(total == mine + (intptr_t)others);
    return 0;
}
