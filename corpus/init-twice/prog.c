/* init-twice: two threads check whether something is initialised and, if not, initialise it. Both
   may find it uninitialised. The repair: pthread_once lets only one of them initialise it. */
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

static void initialise(void) {
    atomic_fetch_add(&count, 1);
}

static void *use(void *unused) {
    (void)unused;
#ifdef FIXED
    pthread_once(&once, initialise);
#else
    if (!atomic_load(&is_done)) {
        initialise();
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
