/* A bounded queue of jobs. Producers wait for a free place, consumers wait for a job. */
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

/* Returns false if there is not enough memory. */
bool queue_init(struct queue *queue, unsigned capacity);
void queue_destroy(struct queue *queue);

/* Waits for a free place. Returns false if the queue is closed. */
bool queue_put(struct queue *queue, struct job job);

/* Waits for a job. Returns false if the queue is closed and empty. */
bool queue_take(struct queue *queue, struct job *job);

/* Makes later calls of queue_put fail. The jobs in the queue can still be taken. */
void queue_close(struct queue *queue);

#ifdef __cplusplus
}
#endif
#endif
