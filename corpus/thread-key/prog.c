/* thread-key: each thread has its own buffer under a key. The destructor of the key frees the
   buffer when the thread ends. The thread returns its buffer to main, which reads freed memory.
   Repair: the thread returns the number in the buffer. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_key_t key;

static int *own_buffer(void) {
    int *buffer = pthread_getspecific(key);
    if (buffer == NULL) {
        buffer = malloc(sizeof *buffer);
        *buffer = 0;
        pthread_setspecific(key, buffer);
    }
    return buffer;
}

static void *count(void *rounds) {
    for (intptr_t round = 0; round < (intptr_t)rounds; round++)
        ++*own_buffer();
#ifdef FIXED
    return (void *)(intptr_t)*own_buffer();
#else
    return own_buffer();
#endif
}

int main(void) {
    pthread_key_create(&key, free);
    pthread_t threads[2];
    int sum = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
#ifdef FIXED
        sum += (int)(intptr_t)result;
#else
        sum += *(int *)result;
#endif
    }
    assert(sum == 3);
    pthread_key_delete(key);
    return 0;
}
