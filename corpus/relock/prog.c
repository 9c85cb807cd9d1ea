/* relock: a function that holds a lock calls another function that takes it. The bug: the mutex
   is a normal one. The repair: a recursive mutex. */
#define _XOPEN_SOURCE 700
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock;
static int count;

static int value(void) {
    pthread_mutex_lock(&lock);
    int seen = count;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *increment(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    count++;
    int seen = value();
    assert(seen == count);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
#ifdef FIXED
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
#else
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL);
#endif
    pthread_mutex_init(&lock, &kind);
    pthread_mutexattr_destroy(&kind);
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    increment(NULL);
    pthread_join(thread, NULL);
    assert(value() == 2);
    return 0;
}
