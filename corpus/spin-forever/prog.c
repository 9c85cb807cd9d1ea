/* spin-forever: two threads each have a flag. The bug: both spin until the other's flag is set,
   and then set their own. The repair: one thread sets its flag before it spins. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool ping, pong;

static void await(atomic_bool *flag) {
    while (!atomic_load(flag))
        ;
}

static void *player(void *unused) {
    (void)unused;
#ifdef FIXED
    atomic_store(&pong, true);
    await(&ping);
#else
    await(&ping);
    atomic_store(&pong, true);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, player, NULL);
    await(&pong);
    atomic_store(&ping, true);
    pthread_join(thread, NULL);
    return 0;
}
