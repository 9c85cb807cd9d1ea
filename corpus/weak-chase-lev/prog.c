/* weak-chase-lev: the work-stealing deque of Chase and Lev (2005), with the orderings of Lê,
   Pop, Cohen and Zappa Nardelli (PPoPP 2013). The owner takes tasks at the bottom, and a thief
   steals them at the top. The bug: in take, no fence is between the store of the bottom and the
   load of the top. So the owner may see an old top, while the thief sees the old bottom, and both
   get the second task. The repair: a SeqCst fence. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define SEQ_CST memory_order_seq_cst

static atomic_int top, bottom;
static atomic_int tasks[2];

static void push(int task) {
    int end = atomic_load_explicit(&bottom, RELAXED);
    atomic_store_explicit(&tasks[end], task, RELAXED);
    atomic_store_explicit(&bottom, end + 1, memory_order_release);
}

/* Returns 0 if the thief was faster. */
static int take(void) {
    int task = 0, last = atomic_load_explicit(&bottom, RELAXED) - 1;
    atomic_store_explicit(&bottom, last, RELAXED);
#ifdef FIXED
    atomic_thread_fence(SEQ_CST);
#endif
    int start = atomic_load_explicit(&top, RELAXED);
    if (start <= last)
        task = atomic_load_explicit(&tasks[last], RELAXED);
    if (start == last &&
        !atomic_compare_exchange_strong_explicit(&top, &start, start + 1, SEQ_CST, RELAXED))
        task = 0;
    if (start >= last)
        atomic_store_explicit(&bottom, last + 1, RELAXED);
    return task;
}

/* Returns 0 if there is no task or the owner was faster. */
static int steal(void) {
    int start = atomic_load_explicit(&top, ACQUIRE);
    atomic_thread_fence(SEQ_CST);
    int end = atomic_load_explicit(&bottom, ACQUIRE);
    if (start >= end)
        return 0;
    int task = atomic_load_explicit(&tasks[start], RELAXED);
    if (!atomic_compare_exchange_strong_explicit(&top, &start, start + 1, SEQ_CST, RELAXED))
        return 0;
    return task;
}

static void *thief(void *unused) {
    (void)unused;
    int first = steal(), second = steal();
    return (void *)(intptr_t)(first + second);
}

int main(void) {
    push(1);
    push(10);
    pthread_t thread;
    pthread_create(&thread, NULL, thief, NULL);
    int mine = take();
    void *stolen;
    pthread_join(thread, &stolen);
    int sum = mine + (int)(intptr_t)stolen;
    /* Each digit counts how often a task was done. */
    assert(sum % 10 <= 1 && sum / 10 <= 1);
    return 0;
}
