/* c11-threads: threads, mutex, condition variable and call_once of C11. The consumer reads
   the value after unlocking the mutex, while the producer may write the next one. In the
   repaired program, the consumer reads the value while it holds the mutex. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <threads.h>

static once_flag made = ONCE_FLAG_INIT;
static mtx_t mutex;
static cnd_t filled;
static int value;

static void make(void) {
    mtx_init(&mutex, mtx_plain);
    cnd_init(&filled);
}

static int producer(void *unused) {
    (void)unused;
    call_once(&made, make);
    for (int next = 1; next <= 2; next++) {
        mtx_lock(&mutex);
        value = next;
        cnd_signal(&filled);
        mtx_unlock(&mutex);
    }
    return 7;
}

int main(void) {
    thrd_t thread;
    thrd_create(&thread, producer, NULL);
    call_once(&made, make);
    mtx_lock(&mutex);
    while (value == 0)
        cnd_wait(&filled, &mutex);
#ifdef FIXED
    int seen = value;
    mtx_unlock(&mutex);
#else
    mtx_unlock(&mutex);
    int seen = value;
#endif
    assert(seen == 1 || seen == 2);
    int result;
    thrd_join(thread, &result);
    assert(result == 7);
    return 0;
}
