/* As state.c, for state that changes between operations, so savepoints can restore it. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#define THREADS 3
static atomic_int turn;

static void *work(void *number) {
	int own = 10 + (int)(long)number;
	unsigned rounding = (long)number % 2 ? _MM_ROUND_UP : _MM_ROUND_DOWN;
	assert(errno == 0 && _MM_GET_ROUNDING_MODE() == _MM_ROUND_TOWARD_ZERO);
	errno = own;
	atomic_fetch_add(&turn, 1);
	assert(errno == own && _MM_GET_ROUNDING_MODE() == _MM_ROUND_TOWARD_ZERO);
	_MM_SET_ROUNDING_MODE(rounding);
	atomic_fetch_add(&turn, 1);
	assert(errno == own && _MM_GET_ROUNDING_MODE() == rounding);
	printf("%d", own);
	atomic_fetch_add(&turn, 1);
	assert(errno == own && _MM_GET_ROUNDING_MODE() == rounding);
	errno = -own;
	return NULL;
}

int main(int argc, char **argv) {
	assert(argc == 2 && strcmp(argv[1], "word") == 0 && errno == 0);
	assert(_MM_GET_ROUNDING_MODE() == _MM_ROUND_NEAREST);
	_MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO);
	char *path = getenv("PATH");
	assert(path != NULL && path[0] != '!');
	pthread_t threads[THREADS];
	for (long number = 0; number < THREADS; number++)
		pthread_create(&threads[number], NULL, work, (void *)number);
	for (long number = 0; number < THREADS; number++)
		pthread_join(threads[number], NULL);
	assert(errno == 0 && _MM_GET_ROUNDING_MODE() == _MM_ROUND_TOWARD_ZERO);
	argv[1][0] = 'x';
	argv[1] = NULL;
	path[0] = '!';
	errno = 5;
	return 0;
}
