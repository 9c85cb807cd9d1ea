/* Submits one job and waits for it. The pool can count and announce the job after main has read the
   count and before main sleeps. Nothing then wakes main: a deadlock, seldom seen in a real run. */
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
