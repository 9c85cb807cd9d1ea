/* One job and a wait for it. The pool counts it and tells so between main's look at the count and main's
   sleep, from which nobody wakes it: a deadlock, seldom seen in a run. */
#include "pool.h"

#include <assert.h>

static int result = 3;

static void square(void *place) {
    int *number = place;
    *number *= *number;
}

int main(void) {
    struct pool *pool = pool_new(1, 1);
    assert(pool != NULL);
    bool is_open = pool_submit(pool, square, &result);
    assert(is_open);
    pool_wait(pool, 1);
    assert(result == 9);
    pool_free(pool);
    return 0;
}
