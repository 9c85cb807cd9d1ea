/* exit-too-early: main calls exit without joining a worker, which may then still run, although
   it must end before main does. An exit handler checks the worker's result. In the repaired
   program, main joins the worker before it calls exit. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_bool main_is_over;
static atomic_int result;

static void *worker(void *unused) {
    (void)unused;
    bool is_late = atomic_load(&main_is_over);
    assert(!is_late);
    atomic_store(&result, 42);
    return NULL;
}

static void say_goodbye(void) {
    int seen = atomic_load(&result);
    assert(seen == 0 || seen == 42);
}

int main(void) {
    atexit(say_goodbye);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef FIXED
    pthread_join(thread, NULL);
#endif
    atomic_store(&main_is_over, true);
    exit(0);
}
