#include "queue.h"

#include <stdlib.h>

bool queue_init(struct queue *queue, unsigned capacity) {
    queue->jobs = calloc(capacity, sizeof *queue->jobs);
    queue->capacity = capacity;
    queue->first = queue->length = 0;
    queue->is_closed = false;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->changed, NULL);
    return queue->jobs != NULL;
}

void queue_destroy(struct queue *queue) {
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue->jobs);
}

bool queue_put(struct queue *queue, struct job job) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->length == queue->capacity && !queue->is_closed)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    bool is_open = !queue->is_closed;
    if (is_open) {
        queue->jobs[(queue->first + queue->length++) % queue->capacity] = job;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return is_open;
}

bool queue_take(struct queue *queue, struct job *job) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->length == 0 && !queue->is_closed)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    bool has_job = queue->length > 0;
    if (has_job) {
        *job = queue->jobs[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->length--;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return has_job;
}

void queue_close(struct queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->is_closed = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}
