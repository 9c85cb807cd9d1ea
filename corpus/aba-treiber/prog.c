/* aba-treiber: a Treiber stack whose nodes are reused. A thread reads the top and its
   successor. Before its compare-exchange, both are popped and the old top is pushed
   again. The compare-exchange succeeds and puts a node that is in use into the stack.
   In the repaired program, the top has a version number, which each change increments. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* One change in the version number of top. */
enum { VERSION = 8 };

/* The nodes 1 to 3, linked by index; 0 is the end. */
static atomic_uint top = 1;
static atomic_uint next[4] = {0, 2, 3, 0};

/* Makes a node the top if the top is as seen. */
static bool change(unsigned seen, unsigned node) {
#ifdef FIXED
    unsigned changed = seen - seen % VERSION + VERSION + node;
#else
    unsigned changed = node;
#endif
    return atomic_compare_exchange_strong(&top, &seen, changed);
}

static unsigned pop(void) {
    for (;;) {
        unsigned seen = atomic_load(&top);
        unsigned node = seen % VERSION;
        if (node == 0)
            return 0;
        unsigned successor = atomic_load(&next[node]);
        if (change(seen, successor))
            return node;
    }
}

static void push(unsigned node) {
    for (;;) {
        unsigned seen = atomic_load(&top);
        atomic_store(&next[node], seen % VERSION);
        if (change(seen, node))
            return;
    }
}

static void *other(void *unused) {
    (void)unused;
    pop();
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    unsigned first = pop();
    unsigned mine = pop();
    push(first);
    pthread_join(thread, NULL);
    unsigned last = pop();
    assert(last != mine);
    return 0;
}
