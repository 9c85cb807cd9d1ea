/* leak: two threads may both find no buffer and allocate one. The bug: the second one replaces the
   first buffer, which is never freed. The repair: the second thread frees its own buffer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) buffer;

static void *allocate(void *unused) {
    (void)unused;
    if (atomic_load(&buffer) == NULL) {
        int *own = malloc(sizeof *own);
#ifdef FIXED
        int *none = NULL;
        if (!atomic_compare_exchange_strong(&buffer, &none, own))
            free(own);
#else
        atomic_store(&buffer, own);
#endif
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, allocate, NULL);
    allocate(NULL);
    pthread_join(thread, NULL);
    free(atomic_load(&buffer));
    return 0;
}
