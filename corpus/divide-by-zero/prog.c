/* divide-by-zero: main checks that there are samples and then divides by their number, which
   another thread may set to zero in between. In the repaired program, main reads the number
   once, checks it and divides by it. */
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
#ifdef FIXED
    int number = atomic_load(&samples);
    return number == 0 ? 0 : sum / number;
#else
    return atomic_load(&samples) == 0 ? 0 : sum / atomic_load(&samples);
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, forget, NULL);
    int seen = mean(20);
    pthread_join(thread, NULL);
    return seen == 5 || seen == 0 ? 0 : 1;
}
