/* double-checked-lock: double-checked locking. The load of the flag without the lock is
   relaxed, so the value that the flag guards may be read before it is written. In the
   repaired program, the flag is stored with release and loaded with acquire. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef FIXED
#define LOAD memory_order_acquire
#define STORE memory_order_release
#else
#define LOAD memory_order_relaxed
#define STORE memory_order_relaxed
#endif

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
