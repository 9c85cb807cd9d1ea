/* overdraft: the balance is read and changed under the lock, but the lock is free in between. Both
   threads may read enough for their withdrawal. The repair: one critical section for both. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static void *withdraw(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    if (balance >= 80)
        balance -= 80;
    pthread_mutex_unlock(&lock);
#else
    int seen = balance;
    pthread_mutex_unlock(&lock);
    if (seen >= 80) {
        pthread_mutex_lock(&lock);
        balance -= 80;
        pthread_mutex_unlock(&lock);
    }
#endif
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, withdraw, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(balance >= 0);
    return 0;
}
