/* double-free: the last of two owners frees the shared memory. To determine the last one, each
   owner decrements and reads the count in two steps; both may read zero. In the repaired
   program, each decrements and reads the count in one step. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int owners = 2;

static void *release(void *shared) {
#ifdef FIXED
    if (atomic_fetch_sub(&owners, 1) == 1)
#else
    atomic_fetch_sub(&owners, 1);
    if (atomic_load(&owners) == 0)
#endif
        free(shared);
    return NULL;
}

int main(void) {
    void *shared = malloc(16);
    pthread_t thread;
    pthread_create(&thread, NULL, release, shared);
    release(shared);
    pthread_join(thread, NULL);
    return 0;
}
