/* thread-pool: two workers take jobs from a queue until it is closed. Closing wakes only one of
   them. The other sleeps forever, and main waits for it. Repair: closing wakes both. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { JOBS = 2, WORKERS = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int jobs[JOBS], submitted, taken, sum;
static bool is_closed;

static void *worker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (taken == submitted && !is_closed)
            pthread_cond_wait(&changed, &mutex);
        if (taken == submitted)
            break;
        sum += jobs[taken++];
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void submit(int job) {
    pthread_mutex_lock(&mutex);
    jobs[submitted++] = job;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static void close_queue(void) {
    pthread_mutex_lock(&mutex);
    is_closed = true;
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
    pthread_mutex_unlock(&mutex);
}

int main(void) {
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int job = 1; job <= JOBS; job++)
        submit(job);
    close_queue();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(sum == 3);
    return 0;
}
