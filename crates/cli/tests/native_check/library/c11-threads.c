/* The threads of C11. */
#include <assert.h>
#include <threads.h>
#include <time.h>

static mtx_t plain, timed, recursive;
static cnd_t changed;
static tss_t key;
static once_flag flag = ONCE_FLAG_INIT;
static int count, initialized, destroyed;
static thread_local int own = 3;

static void initialize(void) { initialized++; }
static void destroy(void *value) { destroyed += *(int *)value; }

static int run(void *argument) {
    static int value = 1;
    own++;
    assert(own == 4);
    call_once(&flag, initialize);
    tss_set(key, &value);
    assert(tss_get(key) == &value);
    mtx_lock(&plain);
    count++;
    cnd_broadcast(&changed);
    mtx_unlock(&plain);
    thrd_yield();
    return *(int *)argument;
}

int main(void) {
    struct timespec time;
    int argument = 7, result;
    thrd_t thread;
    assert(mtx_init(&plain, mtx_plain) == thrd_success && mtx_init(&timed, mtx_timed) == thrd_success);
    assert(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
    assert(cnd_init(&changed) == thrd_success && tss_create(&key, destroy) == thrd_success);
    assert(thrd_create(&thread, run, &argument) == thrd_success);
    assert(thrd_equal(thrd_current(), thrd_current()) && !thrd_equal(thread, thrd_current()));
    call_once(&flag, initialize);
    mtx_lock(&plain);
    while (count == 0) cnd_wait(&changed, &plain);
    mtx_unlock(&plain);
    timespec_get(&time, TIME_UTC);
    assert(mtx_timedlock(&timed, &time) == thrd_success && mtx_unlock(&timed) == thrd_success);
    assert(mtx_trylock(&recursive) == thrd_success && mtx_lock(&recursive) == thrd_success);
    mtx_unlock(&recursive);
    mtx_unlock(&recursive);
    thrd_sleep(&(struct timespec){.tv_nsec = 5}, NULL);
    assert(thrd_join(thread, &result) == thrd_success && result == 7);
    assert(initialized == 1 && destroyed == 1 && own == 3);
    tss_delete(key);
    cnd_destroy(&changed);
    mtx_destroy(&plain);
    mtx_destroy(&timed);
    mtx_destroy(&recursive);
    return 0;
}
