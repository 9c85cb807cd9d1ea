/* semaphore-buffer: a bounded buffer with semaphores (after Dijkstra). The bug: the consumer
   takes the mutex first and then waits for an element, which the producer cannot add meanwhile.
   The repair: it waits for the element first. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

enum { PLACES = 1, ELEMENTS = 2 };

static sem_t empty, full, mutex;
static int buffer[PLACES], put, taken;

static void *producer(void *unused) {
    (void)unused;
    for (int element = 1; element <= ELEMENTS; element++) {
        sem_wait(&empty);
        sem_wait(&mutex);
        buffer[put++ % PLACES] = element;
        sem_post(&mutex);
        sem_post(&full);
    }
    return NULL;
}

static int take(void) {
#ifdef FIXED
    sem_wait(&full);
    sem_wait(&mutex);
#else
    sem_wait(&mutex);
    sem_wait(&full);
#endif
    int element = buffer[taken++ % PLACES];
    sem_post(&mutex);
    sem_post(&empty);
    return element;
}

int main(void) {
    sem_init(&empty, 0, PLACES);
    sem_init(&full, 0, 0);
    sem_init(&mutex, 0, 1);
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    for (int element = 1; element <= ELEMENTS; element++) {
        int got = take();
        assert(got == element);
    }
    pthread_join(thread, NULL);
    return 0;
}
