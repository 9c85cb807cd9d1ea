/* use-after-free: main frees a message when a thread has taken it, but the thread reads the
   message once more. Repair: main frees the message after the thread has ended. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_bool was_taken;
static int last_seen;

static void *receiver(void *message) {
    last_seen = *(int *)message;
    atomic_store(&was_taken, true);
    last_seen += *(int *)message;
    return NULL;
}

int main(void) {
    int *message = malloc(sizeof *message);
    *message = 42;
    pthread_t thread;
    pthread_create(&thread, NULL, receiver, message);
#ifdef FIXED
    bool is_freed = false;
#else
    bool is_freed = atomic_load(&was_taken);
#endif
    if (is_freed)
        free(message);
    pthread_join(thread, NULL);
    if (!is_freed)
        free(message);
    return 0;
}
