/* Submits two jobs and frees the pool, which completes both jobs first. Correct. */
#include "pool.h"

#include <assert.h>

static int results[2];

static void square(void *place) {
    int *result = place;
    *result *= *result;
}

int main(void) {
    struct pool *pool = pool_new(1, 1);
    assert(pool != NULL);
    for (int i = 0; i < 2; i++) {
        results[i] = i + 2;
        bool is_open = pool_submit(pool, square, &results[i]);
        assert(is_open);
    }
    pool_free(pool);
    assert(results[0] == 4 && results[1] == 9);
    return 0;
}
