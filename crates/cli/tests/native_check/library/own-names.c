/* Functions of the program with names of C library functions. That is allowed: the names are not
 * reserved if their headers are not included, or if the compiler is given -fno-builtin. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int total;
static _Thread_local int calls;

#define NAMES(OF) \
	OF(write) OF(read) OF(getenv) OF(mmap) OF(munmap) OF(mprotect) OF(open) OF(close) OF(fcntl) OF(strlen) OF(memcpy) \
	OF(memmove) OF(memset) OF(memcmp) OF(bcmp) OF(sysconf) OF(poll) OF(getpid) OF(syscall) OF(gettid) OF(realpath) \
	OF(readlink) OF(lseek) OF(writev) OF(stat) OF(getcwd) OF(unlink) OF(rename) OF(setenv) OF(getrandom) OF(dup2) \
	OF(sigaction) OF(sigaltstack) OF(dladdr) OF(dlsym) OF(dl_iterate_phdr) OF(fopen) OF(strcmp) OF(prctl) OF(setitimer)
#define DEFINE(NAME) void NAME(void *argument) { (void)argument; calls++; }
#define CALL(NAME) NAME(0);
#define COUNT(NAME) +1
NAMES(DEFINE)

static void *work(void *argument) {
	NAMES(CALL)
	atomic_fetch_add(&total, calls);
	return argument;
}

int main(void) {
	pthread_t thread;
	pthread_create(&thread, 0, work, 0);
	work(0);
	pthread_join(thread, 0);
	assert(atomic_load(&total) == 2 * (NAMES(COUNT)));
	return 0;
}
