/* bit-field: two threads each write their own bit-field, but both fields are in one word. In
   the repaired program, a field of width zero puts them into separate words. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static struct {
    unsigned is_open : 1;
#ifdef FIXED
    unsigned : 0;
#endif
    unsigned is_dirty : 1;
} state;

static void *open_it(void *unused) {
    (void)unused;
    state.is_open = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, open_it, NULL);
    state.is_dirty = 1;
    pthread_join(thread, NULL);
    assert(state.is_open && state.is_dirty);
    return 0;
}
