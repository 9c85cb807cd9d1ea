/* Asserts the initial state that ISO C, POSIX or the caller defines, then changes it. Assertions
 * hold in each execution only if the previous execution was undone. The argument is "word". */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#ifndef THREADS
#define THREADS 5
#endif
static atomic_int turn;
static _Thread_local int own = 7;

static void *work(void *number) {
	assert(errno == 0 && own == 7);
	assert(fegetround() == FE_UPWARD);
	errno = 10 + (int)(long)number;
	own = errno;
	fesetround((long)number % 2 ? FE_DOWNWARD : FE_TOWARDZERO);
	atomic_fetch_add(&turn, 1);
	assert(fegetround() == ((long)number % 2 ? FE_DOWNWARD : FE_TOWARDZERO));
	assert(errno == 10 + (int)(long)number && own == errno);
	return number;
}

#ifdef WITH_LIBRARIES
static char here[4096];
static void on_signal(int signal) { (void)signal; }
static void last(void) {}
static void libraries(void) {
	/* stdio */
	assert(fwide(stderr, 0) == 0);
	fwide(stderr, 1);
	assert(fileno(stdout) == 1);
	/* descriptors, folder, mask, limits */
	int descriptor = open("/dev/null", O_RDONLY);
	static int expected;
	assert(expected == 0);
	expected = descriptor;
	assert(dup(descriptor) == descriptor + 1);
	assert(fcntl(descriptor + 2, F_GETFD) == -1);
	assert(getcwd(here, sizeof here) != NULL && strcmp(here, "/") != 0);
	assert(chdir("/") == 0);
	assert(umask(0) != 0);
	struct rlimit limit;
	assert(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != 37);
	limit.rlim_cur = 37;
	assert(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	/* signals */
	struct sigaction action = {0}, before;
	assert(sigaction(SIGUSR2, NULL, &before) == 0 && before.sa_handler == SIG_DFL);
	action.sa_handler = on_signal;
	sigaction(SIGUSR2, &action, NULL);
	/* mappings: at the same address each time */
	void *wanted = (void *)0x200000000000;
	void *mapped = mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert(mapped == wanted);
	void *end = sbrk(0);
	static void *first_end;
	assert(first_end == NULL);
	first_end = end;
	assert(sbrk(8192) == end);
	/* libraries and services */
	assert(dlopen("libresolv.so.2", RTLD_NOW | RTLD_NOLOAD) == NULL);
	void *library = dlopen("libresolv.so.2", RTLD_NOW);
	assert(library == NULL || dlsym(library, "res_nclose") != NULL || 1);
	iconv_t converter = iconv_open("UTF-16", "UTF-8");
	if (converter != (iconv_t)-1)
		iconv_close(converter);
	struct passwd *user = getpwuid(0);
	(void)user;
	struct addrinfo *found = NULL, hints = {.ai_flags = AI_NUMERICHOST};
	if (getaddrinfo("127.0.0.1", NULL, &hints, &found) == 0)
		freeaddrinfo(found);
	on_exit((void (*)(int, void *))(void *)on_signal, NULL);
	atexit(last);
	at_quick_exit(last);
}
#else
static void libraries(void) {}
#endif

int main(int argc, char **argv) {
	/* errno, rounding */
	assert(errno == 0 && own == 7);
	assert(fegetround() == FE_TONEAREST);
	/* arguments and environment */
	assert(argc == 2 && strcmp(argv[1], "word") == 0);
	argv[1][0] = 'x';
	argv[1] = NULL;
	assert(getenv("OF_THIS_TEST") == NULL);
	setenv("OF_THIS_TEST", "1", 1);
	char *home = getenv("PATH");
	if (home != NULL) {
		assert(home[0] != '!');
		home[0] = '!';
	}
	putenv("ANOTHER=2");
	/* locale, time zone, static results */
	assert(strcmp(setlocale(LC_ALL, NULL), "C") == 0);
	assert(MB_CUR_MAX == 1);
	setlocale(LC_ALL, "C.UTF-8");
	locale_t other = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
	assert(uselocale(NULL) == LC_GLOBAL_LOCALE);
	uselocale(other);
	time_t zero = 0;
	assert(localtime(&zero)->tm_hour == gmtime(&zero)->tm_hour);
	setenv("TZ", "XYZ3", 1);
	tzset();
	assert(localtime(&zero)->tm_hour == 21);
	/* strtok, getopt, random numbers, error strings */
	static char words[] = "one two";
	assert(strcmp(strtok(words, " "), "one") == 0);
	assert(optind == 1 && opterr == 1);
	char *options[] = {"program", "-a", "-b", NULL};
	assert(getopt(3, options, "ab") == 'a' && optind == 2);
	assert(lrand48() == 0L);
	srand48(5);
	assert(signgam == 0);
	lgamma(-0.5);
	assert(strcmp(strerror(12345), "Unknown error 12345") == 0);
	printf("half a line");
	libraries();

	pthread_t threads[THREADS];
	fesetround(FE_UPWARD);
	errno = 5;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(fegetround() == FE_UPWARD && errno == 5 && own == 7);
	errno = ERANGE;
	return 0;
}
