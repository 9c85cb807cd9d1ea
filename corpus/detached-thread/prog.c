/* detached-thread: main waits until a detached thread has announced its result, and then frees the
   shared memory. The thread writes to it once more. In the repaired program, the announcement
   follows the thread's last use of that memory. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct job {
    int result, times_told;
};

static sem_t told;

static void *worker(void *argument) {
    struct job *job = argument;
    job->result = 42;
#ifdef FIXED
    job->times_told++;
    sem_post(&told);
#else
    sem_post(&told);
    job->times_told++;
#endif
    return NULL;
}

int main(void) {
    sem_init(&told, 0, 0);
    struct job *job = calloc(1, sizeof *job);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, job);
    pthread_detach(thread);
    sem_wait(&told);
    assert(job->result == 42);
    free(job);
    return 0;
}
