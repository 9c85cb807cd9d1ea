/* if-wait: two consumers wait for elements. The bug: a broadcast wakes both for one element, and
   the second one does not check again. The repair: `while` instead of `if`. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int queue[2], length;

static void *receive(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
#ifdef FIXED
    while (length == 0)
#else
    if (length == 0)
#endif
        pthread_cond_wait(&filled, &mutex);
    int element = length > 0 ? queue[--length] : 0;
    pthread_mutex_unlock(&mutex);
    return (void *)(intptr_t)element;
}

int main(void) {
    pthread_t consumers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&consumers[i], NULL, receive, NULL);
    for (int element = 1; element <= 2; element++) {
        pthread_mutex_lock(&mutex);
        queue[length++] = element;
        pthread_mutex_unlock(&mutex);
        pthread_cond_broadcast(&filled);
    }
    for (int i = 0; i < 2; i++) {
        void *element;
        pthread_join(consumers[i], &element);
        assert(element != NULL);
    }
    return 0;
}
