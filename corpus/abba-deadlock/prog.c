/* abba-deadlock: two threads take the same two locks in opposite orders. Each may get one
   lock and wait for the other one. In the repaired program, both take them in the same order. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right_lock = PTHREAD_MUTEX_INITIALIZER;
static int left = 1, right = 2;

static void *move(void *unused) {
    (void)unused;
    pthread_mutex_lock(&left_lock);
    pthread_mutex_lock(&right_lock);
    right += left;
    left = 0;
    pthread_mutex_unlock(&right_lock);
    pthread_mutex_unlock(&left_lock);
    return NULL;
}

static void *swap(void *unused) {
    (void)unused;
#ifndef FIXED
    pthread_mutex_lock(&right_lock);
    pthread_mutex_lock(&left_lock);
#else
    pthread_mutex_lock(&left_lock);
    pthread_mutex_lock(&right_lock);
#endif
    int saved = left;
    left = right;
    right = saved;
    pthread_mutex_unlock(&left_lock);
    pthread_mutex_unlock(&right_lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, move, NULL);
    pthread_create(&second, NULL, swap, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(left + right == 3);
    return 0;
}
