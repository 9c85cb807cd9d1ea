/* spin-forever-fixed: the thread sets its flag before it waits for that of the other thread. */
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
    atomic_store(&pong, true);
    await(&ping);
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
