/* init-twice-fixed: two threads initialise through pthread_once, so only one of them does it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_int count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialise(void) {
    atomic_fetch_add(&count, 1);
}

static void *use(void *unused) {
    (void)unused;
    pthread_once(&once, initialise);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 1);
    return 0;
}
