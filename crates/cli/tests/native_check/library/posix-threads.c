/* Functions of POSIX and Linux for threads, besides starting and joining them. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_int started;
static pthread_t known;

static void *run(void *unused) {
    char name[16];
    pthread_attr_t own;
    void *stack;
    size_t size;
    int local;
    assert(pthread_equal(pthread_self(), pthread_self()));
    assert(!pthread_equal(pthread_self(), known));
    assert(pthread_setname_np(pthread_self(), "worker") == 0);
    assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    assert(strcmp(name, "worker") == 0 || strcmp(name, "other") == 0);
    assert(pthread_getattr_np(pthread_self(), &own) == 0);
    assert(pthread_attr_getstack(&own, &stack, &size) == 0);
    assert((uintptr_t)&local >= (uintptr_t)stack && (uintptr_t)&local < (uintptr_t)stack + size);
    pthread_attr_destroy(&own);
    started = 1;
    sched_yield();
    return unused;
}

int main(void) {
    pthread_attr_t attributes;
    size_t size;
    int value;
    struct sched_param parameters;
    known = pthread_self();
    pthread_attr_init(&attributes);
    assert(pthread_attr_setstacksize(&attributes, 1 << 20) == 0 && pthread_attr_getstacksize(&attributes, &size) == 0);
    assert(size == 1 << 20);
    pthread_attr_setguardsize(&attributes, 4096);
    pthread_attr_setscope(&attributes, PTHREAD_SCOPE_SYSTEM);
    pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
    pthread_attr_getdetachstate(&attributes, &value);
    assert(value == PTHREAD_CREATE_JOINABLE);
    pthread_t thread;
    assert(pthread_create(&thread, &attributes, run, NULL) == 0);
    pthread_attr_destroy(&attributes);
    pthread_setname_np(thread, "other");
    pthread_setconcurrency(2);
    assert(pthread_getconcurrency() == 2);
    /* Fails if the other thread has ended: the C library then has no parameters of it. */
    if (pthread_getschedparam(thread, &value, &parameters) == 0)
        pthread_setschedparam(thread, value, &parameters);
    cpu_set_t processors;
    assert(pthread_getaffinity_np(pthread_self(), sizeof processors, &processors) == 0);
    pthread_setaffinity_np(thread, sizeof processors, &processors);
    sigset_t signals;
    sigemptyset(&signals);
    assert(pthread_sigmask(SIG_BLOCK, &signals, NULL) == 0);
    struct timespec time;
    clockid_t clock;
    assert(pthread_getcpuclockid(pthread_self(), &clock) == 0);
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec++;
    void *result;
    int error = pthread_tryjoin_np(thread, &result);
    assert(error == 0 || error == EBUSY);
    if (error != 0) error = pthread_timedjoin_np(thread, &result, &time);
    assert(error == 0 || error == ETIMEDOUT);
    if (error != 0) error = pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &time);
    if (error != 0) pthread_join(thread, &result);
    assert(started);
    pthread_t detached;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&detached, &attributes, run, NULL);
    pthread_attr_destroy(&attributes);
    pthread_exit(NULL);
}
