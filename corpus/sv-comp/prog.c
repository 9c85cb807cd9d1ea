/* sv-comp: a program in the style of SV-COMP: plain variables that interleave (--plain=sc), atomic
   blocks, unknown values. Two threads read and write a counter in two atomic blocks, so that an
   increment is lost. Repair: one block for both. (The repaired version chooses between two values,
   because only some values of __VERIFIER_nondet_int are tried, which would not verify it.) */
#include <pthread.h>
#include <stddef.h>

extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);

static int counter;

static void *increment(void *unused) {
    (void)unused;
    __VERIFIER_atomic_begin();
    int seen = counter;
#ifndef FIXED
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
#endif
    counter = seen + 1;
    __VERIFIER_atomic_end();
    return NULL;
}

int main(void) {
#ifdef FIXED
    int start = __VERIFIER_nondet_bool() ? 41 : 7;
    __VERIFIER_assume(0 < start);
#else
    int start = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 <= start && start < 100);
#endif
    counter = start;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (counter != start + 2)
        reach_error();
    return 0;
}
