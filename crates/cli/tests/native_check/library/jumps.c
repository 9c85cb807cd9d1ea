/* After a jump back, a volatile local keeps the value stored before the jump (ISO C 7.13.2.1). */
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
static atomic_int x, flag;
static void *work(void *n) {
	sigjmp_buf place;
	volatile int round = 0;
	int value = sigsetjmp(place, 1);
	round = round + 1;
	if (atomic_load(&flag) == 0 && round < 4) siglongjmp(place, round);
	atomic_fetch_add(&x, round > 0);
	return n;
}
int main(void) {
	pthread_t a, b;
	pthread_create(&a, 0, work, 0);
	pthread_create(&b, 0, work, 0);
	atomic_store(&flag, 1);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(x == 2);
	return 0;
}
