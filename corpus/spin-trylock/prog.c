/* spin-trylock: a thread does not check whether pthread_spin_trylock succeeded. */
#define _XOPEN_SOURCE 700
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_spinlock_t lock;
static int count;

static void *increment(void *unused) {
    (void)unused;
    pthread_spin_trylock(&lock);
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
