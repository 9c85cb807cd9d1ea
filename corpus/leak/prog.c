/* leak: two threads may both find no buffer and allocate one. The first buffer is lost. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) buffer;

static void *allocate(void *unused) {
    (void)unused;
    if (atomic_load(&buffer) == NULL) {
        int *own = malloc(sizeof *own);
        atomic_store(&buffer, own);
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
