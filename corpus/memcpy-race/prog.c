/* memcpy-race: memcpy copies a record while another thread writes one of its fields under a mutex.
   The repair: the mutex is locked during the copy, too. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

struct record {
    char name[12];
    int balance;
};

static struct record record = {"account", 100};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *deposit(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    record.balance += 20;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, deposit, NULL);
    struct record copy;
#ifdef FIXED
    pthread_mutex_lock(&mutex);
#endif
    memcpy(&copy, &record, sizeof copy);
#ifdef FIXED
    pthread_mutex_unlock(&mutex);
#endif
    assert(strcmp(copy.name, "account") == 0);
    pthread_join(thread, NULL);
    return 0;
}
