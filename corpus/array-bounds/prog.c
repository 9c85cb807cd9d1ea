/* array-bounds: two threads increment one index into an array of pointers. They check and use it
   in two reads, so one may use the null pointer at the end. In the repaired program, each thread
   reads the index once and uses the value that it has checked. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int values[2] = {1, 2};
static int *pointers[3] = {&values[0], &values[1], NULL};
static atomic_int next = 1;
static atomic_int sum;

static void *take(void *unused) {
    (void)unused;
#ifdef FIXED
    int i = atomic_fetch_add(&next, 1);
    if (i < 2)
        atomic_fetch_add(&sum, *pointers[i]);
#else
    if (atomic_load(&next) < 2)
        atomic_fetch_add(&sum, *pointers[atomic_fetch_add(&next, 1)]);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, take, NULL);
    take(NULL);
    pthread_join(thread, NULL);
    return sum == 2 ? 0 : 1;
}
