#ifdef __cplusplus
#include <atomic>
#include <barrier>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <unistd.h>

/* Gives the types of the C++ library the functions of POSIX. */
static thread_local int is_last;
struct Last { void operator()() noexcept { is_last = 1; } };
typedef std::mutex mutex_t;
typedef std::timed_mutex timed_mutex_t;
typedef std::shared_mutex rwlock_t;
typedef std::shared_timed_mutex timed_rwlock_t;
typedef std::condition_variable condvar_t;
typedef std::condition_variable_any any_condvar_t;
typedef std::once_flag once_t;
typedef std::thread thread_t;
typedef std::jthread joining_thread_t;
/* Unions, because the C++ types have no default constructor. */
union semaphore_t { char none; std::counting_semaphore<> own; semaphore_t() : none() {} ~semaphore_t() {} };
union barrier_t { char none; std::barrier<Last> own; barrier_t() : none() {} ~barrier_t() {} };
#define MUTEX_INITIAL {}
#define RWLOCK_INITIAL {}
#define CONDVAR_INITIAL {}
#define ONCE_INITIAL {}
#define C_FUNCTION extern "C"
/* The guard releases the mutex at the end of the block. */
#define HOLD_MUTEX(mutex) std::lock_guard guard(*(mutex))
#define LET_MUTEX_GO(mutex) (void)guard
#define LOCK_BOTH(one, two) std::lock(*(one), *(two))
#define _Alignas alignas
#define _Thread_local thread_local

static inline auto until(const timespec *time) { return std::chrono::system_clock::from_time_t(time->tv_sec); }

template <class Mutex> void pthread_mutex_init(Mutex *mutex, void *) { new (mutex) Mutex; }
template <class Mutex> void pthread_mutex_destroy(Mutex *mutex) { mutex->~Mutex(); }
template <class Mutex> void pthread_mutex_lock(Mutex *mutex) { mutex->lock(); }
template <class Mutex> int pthread_mutex_trylock(Mutex *mutex) { return !mutex->try_lock(); }
template <class Mutex> int pthread_mutex_timedlock(Mutex *mutex, const timespec *time) { return !mutex->try_lock_until(until(time)); }
template <class Mutex> void pthread_mutex_unlock(Mutex *mutex) { mutex->unlock(); }

template <class RwLock> void pthread_rwlock_init(RwLock *lock, void *) { new (lock) RwLock; }
template <class RwLock> void pthread_rwlock_destroy(RwLock *lock) { lock->~RwLock(); }
template <class RwLock> void pthread_rwlock_rdlock(RwLock *lock) { lock->lock_shared(); }
template <class RwLock> int pthread_rwlock_tryrdlock(RwLock *lock) { return !lock->try_lock_shared(); }
template <class RwLock> int pthread_rwlock_timedrdlock(RwLock *lock, const timespec *time) { return !lock->try_lock_shared_until(until(time)); }
template <class RwLock> void pthread_rwlock_rdunlock(RwLock *lock) { lock->unlock_shared(); }
template <class RwLock> void pthread_rwlock_wrlock(RwLock *lock) { lock->lock(); }
template <class RwLock> int pthread_rwlock_trywrlock(RwLock *lock) { return !lock->try_lock(); }
template <class RwLock> int pthread_rwlock_timedwrlock(RwLock *lock, const timespec *time) { return !lock->try_lock_until(until(time)); }
template <class RwLock> void pthread_rwlock_unlock(RwLock *lock) { lock->unlock(); }

template <class Condvar> void pthread_cond_init(Condvar *condvar, void *) { new (condvar) Condvar; }
template <class Condvar> void pthread_cond_destroy(Condvar *condvar) { condvar->~Condvar(); }
template <class Condvar> void pthread_cond_signal(Condvar *condvar) { condvar->notify_one(); }
template <class Condvar> void pthread_cond_broadcast(Condvar *condvar) { condvar->notify_all(); }
template <class Condvar, class Mutex> void pthread_cond_wait(Condvar *condvar, Mutex *mutex) {
    std::unique_lock<Mutex> lock(*mutex, std::adopt_lock);
    condvar->wait(lock);
    lock.release();
}
template <class Condvar, class Mutex> int pthread_cond_timedwait(Condvar *condvar, Mutex *mutex, const timespec *time) {
    std::unique_lock<Mutex> lock(*mutex, std::adopt_lock);
    auto status = condvar->wait_until(lock, until(time));
    lock.release();
    return status == std::cv_status::timeout;
}

static inline void sem_init(semaphore_t *semaphore, int, unsigned permits) { new (&semaphore->own) std::counting_semaphore<>(permits); }
static inline void sem_destroy(semaphore_t *semaphore) { semaphore->own.~counting_semaphore(); }
static inline void sem_post(semaphore_t *semaphore) { semaphore->own.release(); }
static inline void sem_wait(semaphore_t *semaphore) { semaphore->own.acquire(); }
static inline int sem_trywait(semaphore_t *semaphore) { return !semaphore->own.try_acquire(); }
static inline int sem_timedwait(semaphore_t *semaphore, const timespec *time) { return !semaphore->own.try_acquire_until(until(time)); }

static inline void pthread_barrier_init(barrier_t *barrier, void *, unsigned places) { new (&barrier->own) std::barrier<Last>(places); }
static inline void pthread_barrier_destroy(barrier_t *barrier) { barrier->own.~barrier(); }
static inline int pthread_barrier_wait(barrier_t *barrier) {
    is_last = 0;
    barrier->own.arrive_and_wait();
    return is_last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

static inline void pthread_once(std::once_flag *once, void (*routine)()) { std::call_once(*once, routine); }
template <class Thread> void pthread_create(Thread *thread, void *, void *(*routine)(void *), void *argument) { *thread = Thread(routine, argument); }
template <class Thread> void pthread_join(Thread &thread, void *) { thread.join(); }

#define __atomic_load_n(pointer, order) std::atomic_ref(*(pointer)).load()
#define __atomic_store_n(pointer, value, order) std::atomic_ref(*(pointer)).store(value)
#define __atomic_exchange_n(pointer, value, order) std::atomic_ref(*(pointer)).exchange(value)
#define __atomic_fetch_add(pointer, value, order) std::atomic_ref(*(pointer)).fetch_add(value)
#define __atomic_fetch_and(pointer, value, order) std::atomic_ref(*(pointer)).fetch_and(value)
#define __atomic_fetch_or(pointer, value, order) std::atomic_ref(*(pointer)).fetch_or(value)
#define __atomic_fetch_xor(pointer, value, order) std::atomic_ref(*(pointer)).fetch_xor(value)
#define __atomic_compare_exchange_n(pointer, expected, desired, is_weak, success, failure) \
    std::atomic_ref(*(pointer)).compare_exchange_strong(*(expected), desired)
#endif

