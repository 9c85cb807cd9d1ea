/* Runs the body of a program $REPEAT times. Prints the sum of the times from its first spawn to
   its last join, in nanoseconds. Under a safe trace, each repetition is a run of its own. */
#ifndef MEASURED_H
#define MEASURED_H

#include "mazurka.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Whether times are measured. Bugs then do not stop the program, which may run without a trace. */
static int is_measured;

/* Resets the memory of the program. */
static void prepare(void);
/* Starts the threads and joins them. */
static void body(int size);

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void run(void *(*one)(void *), int from, int threads) {
    pthread_t started[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&started[i], NULL, one, (void *)(intptr_t)(from + i));
    for (int i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
}

int main(int count, char **arguments) {
    int size = count > 1 ? atoi(arguments[1]) : 0;
    const char *repeat = getenv("REPEAT");
    long times = repeat ? atol(repeat) : 1;
    is_measured = repeat != NULL;
    long long taken = 0;
    for (long i = 0; i < times; i++) {
        mazurka_again();
        prepare();
        long long start = now();
        body(size);
        taken += now() - start;
    }
    if (repeat)
        printf("%lld\n", taken);
    return 0;
}

#endif
