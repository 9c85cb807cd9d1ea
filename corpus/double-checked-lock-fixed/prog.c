/* double-checked-lock-fixed: double-checked locking. The
   flag is stored with release and loaded with acquire. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define LOAD memory_order_acquire
#define STORE memory_order_release

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_ready;
static int value;

static int lazy_value(void) {
    if (!atomic_load_explicit(&is_ready, LOAD)) {
        pthread_mutex_lock(&lock);
        if (!atomic_load_explicit(&is_ready, LOAD)) {
            value = 42;
            atomic_store_explicit(&is_ready, true, STORE);
        }
        pthread_mutex_unlock(&lock);
    }
    return value;
}

static void *use(void *unused) {
    (void)unused;
    int seen = lazy_value();
    assert(seen == 42);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, use, NULL);
    use(NULL);
    pthread_join(thread, NULL);
    return 0;
}
