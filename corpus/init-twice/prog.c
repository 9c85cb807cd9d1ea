/* init-twice: two threads check whether something is initialized and, if not, initialize it. Both
   may find it uninitialized. The repair: pthread_once lets only one of them initialize it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_int count;
#ifdef FIXED
static pthread_once_t once = PTHREAD_ONCE_INIT;
#else
static atomic_bool is_done;
#endif

static void initialize(void) {
    atomic_fetch_add(&count, 1);
}

static void *use(void *unused) {
    (void)unused;
#ifdef FIXED
    pthread_once(&once, initialize);
#else
    if (!atomic_load(&is_done)) {
        initialize();
        atomic_store(&is_done, true);
    }
#endif
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
