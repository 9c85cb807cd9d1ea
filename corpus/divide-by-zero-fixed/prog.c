/* divide-by-zero-fixed: main reads the number of samples once, checks it and divides by it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int samples = 4;

static void *forget(void *unused) {
    (void)unused;
    atomic_store(&samples, 0);
    return NULL;
}

static int mean(int sum) {
    int number = atomic_load(&samples);
    return number == 0 ? 0 : sum / number;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, forget, NULL);
    int seen = mean(20);
    pthread_join(thread, NULL);
    return seen == 5 || seen == 0 ? 0 : 1;
}
