/* Threads that do the jobs of a queue. */
#ifndef POOL_H
#define POOL_H

#include "queue.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pool;

/* NULL where there is no memory. */
struct pool *pool_new(unsigned threads, unsigned capacity);

/* Waits for a place in the queue; false if the pool is closed. */
bool pool_submit(struct pool *pool, job_function function, void *argument);

/* The number of jobs that were done so far. */
unsigned pool_done(struct pool *pool);

/* Waits until so many jobs were done. */
void pool_wait(struct pool *pool, unsigned jobs);

/* Does what is in the queue, ends the threads and frees the pool. */
void pool_free(struct pool *pool);

#ifdef __cplusplus
}
#endif
#endif
