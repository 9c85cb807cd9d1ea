/* Starts most of its threads only if it observes the flag that the first thread sets. More threads
   then have thread-local memory than in the first execution. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static _Thread_local int own;
static atomic_int flag, sum;
static void *sets(void *a) { own = 1; atomic_store(&flag, 1); atomic_fetch_add(&sum, own); return a; }
static void *adds(void *a) { assert(own == 0); own = 1; atomic_fetch_add(&sum, own); return a; }
int main(void) {
    pthread_t threads[6];
    int count = 0;
    pthread_create(&threads[count++], 0, sets, 0);
    if (atomic_load(&flag))
        while (count < 6)
            pthread_create(&threads[count++], 0, adds, 0);
    for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
    assert(sum == count);
    return 0;
}
