/* loop-variable: each thread gets a pointer to the loop variable, which main keeps incrementing.
   The repair: each thread gets a pointer to its own number. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { THREADS = 2 };

static int squares[THREADS + 1];

static void *square(void *number) {
    int i = *(int *)number;
    squares[i] = i * i;
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
#ifdef FIXED
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, square, &numbers[i]);
    }
#else
    int i;
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, square, &i);
#endif
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    assert(squares[0] == 0 && squares[1] <= 1);
    return 0;
}
