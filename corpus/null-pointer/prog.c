/* null-pointer: the first call of pthread_once creates a table. The bug: one function uses the
   table without that call, and finds a null pointer if it comes first. The repair: it makes the
   call, too. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int squares[4];
static _Atomic(int *) table;

static void make_table(void) {
    for (int i = 0; i < 4; i++)
        squares[i] = i * i;
    atomic_store(&table, squares);
}

static int square(int i) {
    pthread_once(&once, make_table);
    return atomic_load(&table)[i];
}

static int square_of_two(void) {
#ifdef FIXED
    pthread_once(&once, make_table);
#endif
    return atomic_load(&table)[2];
}

static void *user(void *unused) {
    (void)unused;
    int seen = square(3);
    assert(seen == 9);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, user, NULL);
    int seen = square_of_two();
    assert(seen == 4);
    pthread_join(thread, NULL);
    return 0;
}
