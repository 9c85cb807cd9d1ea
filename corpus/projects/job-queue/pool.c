#include "pool.h"

#include <stdatomic.h>
#include <stdlib.h>

struct pool {
    struct queue queue;
    atomic_uint done;
    pthread_mutex_t mutex;
    pthread_cond_t progress;
    unsigned threads;
    pthread_t thread[];
};

static void *work(void *argument) {
    struct pool *pool = argument;
    struct job job;
    while (queue_take(&pool->queue, &job)) {
        job.function(job.argument);
        /* The bug: both lines belong under pool->mutex, otherwise pool_wait can miss a wakeup. */
        atomic_fetch_add(&pool->done, 1);
        pthread_cond_broadcast(&pool->progress);
    }
    return NULL;
}

struct pool *pool_new(unsigned threads, unsigned capacity) {
    struct pool *pool = calloc(1, sizeof *pool + threads * sizeof pool->thread[0]);
    if (pool == NULL)
        return NULL;
    if (!queue_init(&pool->queue, capacity)) {
        free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->progress, NULL);
    pool->threads = threads;
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&pool->thread[i], NULL, work, pool);
    return pool;
}

bool pool_submit(struct pool *pool, job_function function, void *argument) {
    struct job job = {function, argument};
    return queue_put(&pool->queue, job);
}

unsigned pool_done(struct pool *pool) {
    return atomic_load(&pool->done);
}

void pool_wait(struct pool *pool, unsigned jobs) {
    pthread_mutex_lock(&pool->mutex);
    while (pool_done(pool) < jobs)
        pthread_cond_wait(&pool->progress, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void pool_free(struct pool *pool) {
    queue_close(&pool->queue);
    for (unsigned i = 0; i < pool->threads; i++)
        pthread_join(pool->thread[i], NULL);
    queue_destroy(&pool->queue);
    pthread_cond_destroy(&pool->progress);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}
