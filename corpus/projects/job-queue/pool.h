/* A pool of threads that perform the jobs in a queue. */
#ifndef POOL_H
#define POOL_H

#include "queue.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pool;

/* Returns NULL if there is not enough memory. */
struct pool *pool_new(unsigned threads, unsigned capacity);

/* Waits for a free place in the queue. Returns false if the pool is closed. */
bool pool_submit(struct pool *pool, job_function function, void *argument);

/* Returns the number of jobs that are completed so far. */
unsigned pool_done(struct pool *pool);

/* Waits until the given number of jobs is completed. */
void pool_wait(struct pool *pool, unsigned jobs);

/* Completes the jobs in the queue, ends the threads and frees the pool. */
void pool_free(struct pool *pool);

#ifdef __cplusplus
}
#endif
#endif
