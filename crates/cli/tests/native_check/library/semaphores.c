/* Semaphores. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t permits;

static void *run(void *unused) {
    sem_post(&permits);
    return unused;
}

int main(void) {
    pthread_t thread;
    struct timespec time;
    int value;
    sem_init(&permits, 0, 0);
    pthread_create(&thread, NULL, run, NULL);
    if (sem_trywait(&permits) == 0) sem_post(&permits);
    else assert(errno == EAGAIN);
    clock_gettime(CLOCK_REALTIME, &time);
    if (sem_timedwait(&permits, &time) != 0) {
        assert(errno == ETIMEDOUT);
        sem_wait(&permits);
    }
    sem_getvalue(&permits, &value);
    assert(value == 0);
    pthread_join(thread, NULL);
    sem_destroy(&permits);
    return 0;
}
