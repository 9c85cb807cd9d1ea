/* lost-update: two threads count with a load and a store. Both may load before either
   stores, so that one update is lost. The repair: one indivisible atomic_fetch_add. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int count;

static void *increment(void *unused) {
    (void)unused;
#ifdef FIXED
    atomic_fetch_add(&count, 1);
#else
    atomic_store(&count, atomic_load(&count) + 1);
#endif
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
