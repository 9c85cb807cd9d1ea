/* The atomic types and functions of C11, of every size. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair { int64_t first, second; };
struct triple { int64_t parts[3]; };

static atomic_flag flag = ATOMIC_FLAG_INIT;
static atomic_bool is_set;
static atomic_schar small;
static atomic_ushort middle;
static atomic_llong large;
static _Atomic(int *) pointer;
static _Atomic double real;
static _Atomic struct pair pair;
static _Atomic struct triple triple;
static int array[4];

static void *run(void *unused) {
    if (!atomic_flag_test_and_set(&flag)) atomic_flag_clear_explicit(&flag, memory_order_release);
    atomic_store_explicit(&is_set, true, memory_order_release);
    small++;
    middle += 2;
    large--;
    atomic_fetch_or(&large, 8);
    atomic_fetch_xor(&large, 8);
    pointer++;
    real += 0.5;
    atomic_store(&pair, ((struct pair){1, 2}));
    atomic_store(&triple, ((struct triple){{1, 2, 3}}));
    return unused;
}

int main(void) {
    pthread_t thread;
    atomic_init(&pointer, array);
    pthread_create(&thread, NULL, run, NULL);
    struct pair seen = atomic_load(&pair);
    assert(seen.second == 2 * seen.first);
    struct triple all = atomic_load(&triple);
    assert(all.parts[2] == 3 * all.parts[0]);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acquire);
    pthread_join(thread, NULL);
    short expected = 2;
    assert(atomic_compare_exchange_strong(&middle, (unsigned short *)&expected, 5) && middle == 5);
    long long other = 7;
    assert(!atomic_compare_exchange_weak(&large, &other, 5) && other == large);
    assert(atomic_exchange(&small, 4) == 1 && pointer == array + 1 && real == 0.5 && is_set);
    assert(atomic_is_lock_free(&small) && kill_dependency(3) == 3);
    struct triple before = {{1, 2, 3}};
    assert(atomic_compare_exchange_strong(&triple, &before, ((struct triple){{4, 8, 12}})));
    before = atomic_exchange(&triple, ((struct triple){{0}}));
    assert(before.parts[2] == 12);
    return 0;
}
