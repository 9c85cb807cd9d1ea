/* spin-trylock: two threads count under a spin lock. The bug: a thread does not check whether
   pthread_spin_trylock succeeded. The repair: if it fails, the thread waits for the lock. */
#define _XOPEN_SOURCE 700
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_spinlock_t lock;
static int count;

static void *increment(void *unused) {
    (void)unused;
#ifdef FIXED
    if (pthread_spin_trylock(&lock) != 0)
        pthread_spin_lock(&lock);
#else
    pthread_spin_trylock(&lock);
#endif
    count++;
    pthread_spin_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    increment(NULL);
    pthread_join(thread, NULL);
    assert(count <= 2);
    pthread_spin_destroy(&lock);
    return 0;
}
