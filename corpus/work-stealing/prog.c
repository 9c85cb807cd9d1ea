/* work-stealing: a work-stealing deque (after Chase and Lev, SPAA 2005). The owner takes the last
   task without a compare-exchange, and a thief may steal the task meanwhile. Repair: a
   compare-exchange decides whether the owner or a thief gets the last task. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { TASKS = 2, NONE = -1 };

/* Tasks are between top and bottom. The owner takes at the bottom, thieves steal at the top. */
static atomic_int top, bottom = TASKS;
static int stolen[TASKS];

static int take(void) {
    int last = atomic_load(&bottom) - 1;
    if (last < 0)
        return NONE;
    atomic_store(&bottom, last);
    int first = atomic_load(&top);
    if (first < last)
        return last;
#ifdef FIXED
    bool is_mine = first == last && atomic_compare_exchange_strong(&top, &first, first + 1);
#else
    bool is_mine = first == last;
#endif
    atomic_store(&bottom, last + 1);
    return is_mine ? last : NONE;
}

static int steal(void) {
    int first = atomic_load(&top);
    if (first >= atomic_load(&bottom))
        return NONE;
    int seen = first;
    return atomic_compare_exchange_strong(&top, &seen, first + 1) ? first : NONE;
}

static void *thief(void *unused) {
    (void)unused;
    for (int i = 0; i < TASKS; i++)
        stolen[i] = steal();
    return NULL;
}

int main(void) {
    pthread_t thread;
    int times[TASKS] = {0}, taken[TASKS];
    pthread_create(&thread, NULL, thief, NULL);
    for (int i = 0; i < TASKS; i++)
        taken[i] = take();
    pthread_join(thread, NULL);
    for (int i = 0; i < TASKS; i++) {
        if (taken[i] != NONE)
            times[taken[i]]++;
        if (stolen[i] != NONE)
            times[stolen[i]]++;
    }
    for (int i = 0; i < TASKS; i++)
        assert(times[i] <= 1);
    return 0;
}
