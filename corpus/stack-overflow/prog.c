/* stack-overflow: the depth of a recursion is checked and used. The bug: these are two reads,
   and in between another thread may set it to a value for which no stack is large enough. The
   repair: it is read once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int depth = 10;

static void *change(void *unused) {
    (void)unused;
    atomic_store(&depth, 1 << 30);
    return NULL;
}

static int descend(int levels) {
    char frame[4096];
    frame[levels % 4096] = 1;
    return levels == 0 ? 0 : descend(levels - 1) + frame[levels % 4096];
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, change, NULL);
    int levels = atomic_load(&depth);
#ifdef FIXED
    int reached = levels <= 100 ? descend(levels) : 0;
#else
    int reached = levels <= 100 ? descend(atomic_load(&depth)) : 0;
#endif
    pthread_join(thread, NULL);
    return reached == 0 || reached == 10 ? 0 : 1;
}
