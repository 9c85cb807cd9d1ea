/* A bounded queue of jobs: who puts waits for a place, who takes waits for a job. */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*job_function)(void *argument);

struct job {
    job_function function;
    void *argument;
};

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct job *jobs;
    unsigned capacity, first, length;
    bool is_closed;
};

/* False where there is no memory. */
bool queue_init(struct queue *queue, unsigned capacity);
void queue_destroy(struct queue *queue);

/* False if the queue is closed. */
bool queue_put(struct queue *queue, struct job job);

/* False if the queue is closed and empty. */
bool queue_take(struct queue *queue, struct job *job);

/* Nothing can be put any more; what is inside can still be taken. */
void queue_close(struct queue *queue);

#ifdef __cplusplus
}
#endif
#endif
