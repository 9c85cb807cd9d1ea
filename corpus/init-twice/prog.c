/* init-twice: two threads check whether something is initialised
   and, if not, initialise it. Both may find it uninitialised. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_int count;
static atomic_bool is_done;

static void *use(void *unused) {
    (void)unused;
    if (!atomic_load(&is_done)) {
        atomic_fetch_add(&count, 1);
        atomic_store(&is_done, true);
    }
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
