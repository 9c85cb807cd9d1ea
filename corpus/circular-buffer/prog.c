/* circular-buffer(N): a producer and a consumer, N rounds each, take turns at a buffer
   under one mutex. Flags indicate whose turn it is (SCTBench, CS.circular_buffer).
   Only the order of the critical sections matters: C(2N, N) traces. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 64 };

static int buffer[MAX + 1];
static int length, first, next;
static bool send = true, receive;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void insert(int element) {
    buffer[next] = element;
    next = (next + 1) % length;
}

static int take(void) {
    int element = buffer[first];
    first = (first + 1) % length;
    return element;
}

static void *producer(void *rounds) {
    int sent = 0;
    for (intptr_t round = 0; round < (intptr_t)rounds; round++) {
        pthread_mutex_lock(&mutex);
        if (send) {
            insert(sent++);
            send = false;
            receive = true;
        }
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *consumer(void *rounds) {
    int received = 0;
    for (intptr_t round = 0; round < (intptr_t)rounds; round++) {
        pthread_mutex_lock(&mutex);
        if (receive) {
            int element = take();
            assert(element == received);
            received++;
            receive = false;
            send = true;
        }
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 5;
    if (n < 1 || n > MAX)
        return 2;
    length = n + 1;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, producer, (void *)(intptr_t)n);
    pthread_create(&threads[1], NULL, consumer, (void *)(intptr_t)n);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
