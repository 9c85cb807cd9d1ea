/* Functions of the C library that access memory. A thread calls one while main accesses the last
 * byte of this memory, a data race. With the argument `behind` it is the next byte: no race. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <iconv.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

int mazurka_choose(int);
int __xpg_strerror_r(int, char *, size_t);

struct call {
	void (*prepare)(void), (*perform)(void);
	void *(*start)(void);
	int length, writes, line;
};

#define JOIN_(A, B) A##B
#define JOIN(A, B) JOIN_(A, B)
#define CALL(WRITES, PREPARE, PERFORM, START, LENGTH) \
	static void JOIN(prepare, __LINE__)(void) { PREPARE; } \
	static void JOIN(perform, __LINE__)(void) { PERFORM; __asm__(""); /* no tail call */ } \
	static void *JOIN(start, __LINE__)(void) { return (void *)(START); } \
	static const struct call JOIN(call, __LINE__) __attribute__((section("calls"), used, aligned(8))) = \
		{ JOIN(prepare, __LINE__), JOIN(perform, __LINE__), JOIN(start, __LINE__), LENGTH, WRITES, __LINE__ };
/* A call, the start of the memory that it accesses, and the number of bytes. */
#define READS(PERFORM, START, LENGTH) CALL(0, , PERFORM, START, LENGTH)
#define WRITES(PERFORM, START, LENGTH) CALL(1, , PERFORM, START, LENGTH)
/* A call as above, with code that runs before the thread starts. */
#define READS_OF(PREPARE, PERFORM, START, LENGTH) CALL(0, PREPARE, PERFORM, START, LENGTH)
#define WRITES_TO(PREPARE, PERFORM, START, LENGTH) CALL(1, PREPARE, PERFORM, START, LENGTH)

/* Keeps the memory directly behind a variable unused. */
#define APART static __attribute__((aligned(64)))
APART char a[PATH_MAX + 1] = "abc,def", b[PATH_MAX + 1] = "abcxyz";
APART char *p = a, *q;
APART wchar_t w[100] = L"abc", v[100] = L"abcd";
APART int n;
APART long size;
APART double d;
APART size_t room;
APART struct iovec buffers[2] = {{ a }, { b }};
APART regex_t regex;
APART struct tm tm[2] = {{ .tm_mday = 1, .tm_year = 70 }};
APART time_t when[2];
APART struct timespec span[2];
APART pthread_attr_t attributes[2];
APART volatile long sum;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static FILE *file;

static int compared(const void *one, const void *other) { return *(const char *)one - *(const char *)other; }
static void list(char *to, const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(to, 100, format, arguments);
	va_end(arguments);
}
static void scan(const char *text, const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	vsscanf(text, format, arguments);
	va_end(arguments);
}

READS(sum = strlen(a), a, 8)
READS(sum = strnlen(a, 5), a, 5)
READS(sum = strnlen(a, 50), a, 8)
READS(q = strdup(a), a, 8)
READS(q = strndup(a, 3), a, 3)
READS(sum = strcmp(a, b), a, 4)
READS(sum = strcmp(a, b), b, 4)
READS(sum = strncmp(a, b, 2), b, 2)
READS(sum = strcasecmp(a, b), a, 4)
READS(sum = strncasecmp(a, b, 3), b, 3)
READS(sum = memcmp(a, b, 20), b, 20)
READS(q = memchr(a, 'c', 20), a, 3)
READS(q = memchr(a, '?', 20), a, 20)
READS(q = strchr(a, ','), a, 4)
READS(q = strchr(a, '?'), a, 8)
READS(q = strrchr(a, 'a'), a, 8)
READS(q = strpbrk(a, "d,"), a, 4)
READS(q = strstr(a, "c,d"), a, 5)
READS(q = strstr("--abcxyz", b), b, 7)
READS(q = memmem(a, 20, "def", 3), a, 7)
READS(sum = strspn(a, "abc"), a, 4)
READS(sum = strcspn(a, ","), a, 4)
READS(strcpy(a, b), b, 7)
WRITES(strcpy(a, b), a, 7)
WRITES(stpcpy(a, b), a, 7)
WRITES(strcat(a, b), a, 14)
WRITES(strncpy(a, b, 20), a, 20)
READS(strncpy(a, b, 4), b, 4)
WRITES(strncat(a, b, 3), a, 11)
READS(strncat(a, b, 3), b, 3)
WRITES(strncat(a, b, 100), a, 14)
READS(memcpy(a, b, size + 30), b, 30)
WRITES(memcpy(a, b, size + 30), a, 30)
WRITES(memmove(a, b, size + 30), a, 30)
WRITES(mempcpy(a, b, size + 30), a, 30)
WRITES(memset(a, 1, size + 30), a, 30)
WRITES(memccpy(a, b, 'x', 100), a, 4)
WRITES(bzero(a, size + 30), a, 30)
WRITES(explicit_bzero(a, size + 30), a, 30)
WRITES(q = strtok(a, ","), a + 3, 1)
WRITES(q = strtok_r(a, ",", &p), &p, 8)
WRITES_TO(q = strtok_r(a, ",", &p), q = strtok_r(0, "f", &p), a + 6, 1)
WRITES_TO(p = a, q = strsep(&p, ","), a + 3, 1)
READS_OF(strcpy(a, "12;"), sum = atoi(a), a, 3)
READS_OF(strcpy(a, "1.5;"), d = atof(a), a, 4)
READS_OF(strcpy(a, " -12;"), sum = strtol(a, &p, 10), a, 5)
WRITES(sum = strtol("12", &p, 10), &p, 8)
WRITES(sum = strtoull("12", &p, 0), &p, 8)
READS_OF(strcpy(a, "1e3;"), d = strtod(a, 0), a, 4)
WRITES(d = strtod("12", &p), &p, 8)
READS_OF(strcpy(a, "1.5;"); for (int i = 0; i < 9; i++) if (strtold(a, 0) != 1.5) abort(), d = strtold(a, 0), a, 4)

READS(sum = wcslen(w), w, 16)
READS(sum = wcscmp(w, v), v, 16)
READS(sum = wcschr(w, L'b') != 0, w, 8)
WRITES(wcscpy(w, v), w, 20)
WRITES(wcscat(w, v), w, 32)
WRITES(wcsncat(w, v, 2), w, 24)
WRITES(wmemcpy(w, v, size + 9), w, 36)
WRITES(wmemset(w, L'x', size + 9), w, 36)
WRITES(sum = mbstowcs(w, "ab", 50), w, 12)
READS(sum = mbstowcs(w, a, 3), a, 3)
WRITES(sum = wcstombs(a, L"ab", 50), a, 3)
READS(sum = wcstombs(a, v, 3), v, 12)
READS(sum = wcstol(w, 0, 16), w, 16)

WRITES(snprintf(a, 100, "%d %s", 42, "ok"), a, 6)
WRITES(snprintf(a, 4, "%d %s", 42, "ok"), a, 4)
READS(snprintf(a, 4, "%d %s", 42, b), b, 7)
READS(snprintf(a, 100, "%.*s", 3, b), b, 3)
READS(snprintf(a, 100, "%f %Lf %f%c%5.2s", d, (long double)1, d, 'x', b), b, 2)
READS(snprintf(a, 200, "%d%d%d%d%d%d%d%s", 1, 2, 3, 4, 5, 6, 7, b), b, 7)
READS(snprintf(a, 100, "%*d%ls", 5, 1, w), w, 16)
READS_OF(strcpy(b, "%d"), snprintf(a, 100, b, 1), b, 3)
WRITES(sprintf(a, "%g-%x", 1.5, 255), a, 7)
WRITES(list(a, "%s%.1f", "abc", 2.5), a, 7)
READS(list(a, "%d%s", 1, b), b, 7)
READS(printf("%s\n", b), b, 7)
READS(fprintf(stderr, "%d%%%s\n", 1, b), b, 7)
WRITES(if (asprintf(&q, "%d", 1) > 0) free(q), &q, 8)
WRITES(sscanf("12 word", "%d %s", &n, a), &n, 4)
WRITES(sscanf("12 word", "%d %s", &n, a), a, 5)
WRITES(sscanf("12 word", "%*d %3[a-z]", a), a, 4)
WRITES(sscanf("12 1.5", "%ld %lf", &size, &d), &d, 8)
READS_OF(strcpy(b, "12"), sscanf(b, "%d", &n), b, 3)
WRITES(scan("12 word", "%d %s", &n, a), a, 5)
WRITES(fscanf(file, "%s", a), a, 6)

READS(puts(b), b, 7)
READS(fputs(b, stdout), b, 7)
READS(sum = fwrite(b, 3, 4, stdout), b, 12)
READS(sum = write(1, b, 9), b, 9)
WRITES(sum = read(fileno(file), a, 300), a, 10)
WRITES(sum = pread(fileno(file), a, 7, 0), a, 7)
WRITES(sum = fread(a, 2, 100, file), a, 10)
WRITES(q = fgets(a, 100, file), a, 7)
WRITES(q = fgets(a, 3, file), a, 3)
WRITES_TO(q = 0, sum = getline(&q, &room, file), &room, 8)
WRITES_TO(q = malloc(40); room = 40, sum = getline(&q, &room, file), q, 7)
WRITES(sum = readlink("link", a, 100), a, 3)
WRITES_TO(sum = chdir("/"), q = getcwd(a, sizeof a), a, (int)sizeof "/")
WRITES_TO(q = realpath("/", b), q = realpath("/", a), a, 2)
WRITES(sum = __xpg_strerror_r(1, a, 100), a, (int)sizeof "Operation not permitted")
WRITES(uname((struct utsname *)a), a, (int)sizeof(struct utsname))
WRITES(stat("/", (struct stat *)a), a, (int)sizeof(struct stat))
WRITES(fstat(fileno(file), (struct stat *)a), a, (int)sizeof(struct stat))
READS_OF(strcpy(b, "/"), stat(b, (struct stat *)a), b, 2)
WRITES(sum = getentropy(a, 9), a, 9)
WRITES(sum = getrandom(a, 9, 0), a, 9)
WRITES(sum = getrlimit(RLIMIT_CORE, (struct rlimit *)a), a, (int)sizeof(struct rlimit))
READS_OF(strcpy(b, "HOME"), q = getenv(b), b, 5)
WRITES(sum = inet_pton(AF_INET, "127.0.0.1", a), a, 4)
WRITES(inet_ntop(AF_INET, b, a, 100), a, (int)sizeof "97.98.99.120")

WRITES(clock_gettime(CLOCK_REALTIME, span), span, 16)
WRITES(sum = timespec_get(span, TIME_UTC), span, 16)
WRITES(gettimeofday((struct timeval *)span, 0), span, 16)
WRITES(time(when), when, 8)
READS(localtime_r(when, tm), when, 8)
WRITES(localtime_r(when, tm), tm, (int)sizeof *tm)
WRITES(gmtime_r(when, tm), tm, (int)sizeof *tm)
WRITES(sum = mktime(tm), tm, (int)sizeof *tm)
WRITES(q = asctime_r(tm, a), a, 26)
WRITES(sum = strftime(a, 100, "%Y", tm), a, 5)
READS(sum = strftime(a, 100, "%Y", tm), tm, (int)sizeof *tm)
READS(nanosleep(span, 0), span, 16)
READS_OF(sem_init(&semaphore, 0, 1), sem_timedwait(&semaphore, span), span, 16)
READS(pthread_mutex_lock(&mutex); pthread_cond_timedwait(&condition, &mutex, span); pthread_mutex_unlock(&mutex), span, 16)
WRITES_TO(sem_init(&semaphore, 0, 1), sem_getvalue(&semaphore, &n), &n, 4)
WRITES_TO(pthread_attr_init(attributes), pthread_attr_getdetachstate(attributes, &n), &n, 4)
WRITES_TO(pthread_attr_init(attributes), pthread_attr_getstacksize(attributes, &room), &room, 8)
READS_OF(pthread_attr_init(attributes), pthread_attr_getstacksize(attributes, &room), attributes, (int)sizeof *attributes)
WRITES(pthread_attr_init(attributes), attributes, (int)sizeof *attributes)
WRITES_TO(pthread_attr_init(attributes), pthread_attr_setdetachstate(attributes, 0), attributes, (int)sizeof *attributes)
WRITES(pthread_getname_np(pthread_self(), a, 100), a, 16)
WRITES(qsort(a, 7, 1, compared), a, 7)
WRITES(n = rand_r((unsigned *)a), a, 4)
WRITES(d = frexp(1.5, &n), &n, 4)
WRITES(sum = modf(d, (double *)a), a, 8)
WRITES(sincos(d, (double *)a, (double *)b), b, 8)

READS_OF(buffers[0].iov_len = 3; buffers[1].iov_len = 5, sum = writev(2, buffers, 2), b, 5)
READS_OF(buffers[0].iov_len = 3; buffers[1].iov_len = 5, sum = writev(2, buffers, 2), buffers, 32)
WRITES_TO(buffers[0].iov_len = 3; buffers[1].iov_len = 100, sum = readv(fileno(file), buffers, 2), b, 7)
WRITES_TO(buffers[0].iov_len = 300; buffers[1].iov_len = 5, sum = preadv(fileno(file), buffers, 2, 0), a, 10)
READS_OF(strcpy(b, "input"), close(openat(AT_FDCWD, b, O_RDONLY)), b, 6)
READS_OF(strcpy(b, "r"), fclose(fopen("input", b)), b, 2)
READS_OF(strcpy(b, "a*z"), sum = fnmatch("x", b, 0), b, 4)
WRITES(sum = statvfs("/", (struct statvfs *)a), a, (int)sizeof(struct statvfs))
WRITES(sum = fgetpos(file, (fpos_t *)a), a, (int)sizeof(fpos_t))
READS_OF(strcpy(b, "1.2.3.4"), sum = inet_addr(b), b, 8)
WRITES(sum = inet_aton("1.2.3.4", (struct in_addr *)a), a, 4)
READS_OF(regcomp(&regex, "a", 0), sum = regexec(&regex, b, 0, 0, 0), b, 7)
WRITES_TO(regcomp(&regex, "c", 0), sum = regexec(&regex, b, 1, (regmatch_t *)a, 0), a, 8)
WRITES(getresuid((uid_t *)a, (uid_t *)b, (uid_t *)&n), &n, 4)
WRITES(swab(b, a, 6), a, 6)
READS(swab(b, a, 6), b, 6)
READS(sum = wcscoll(w, v), v, 20)
READS(sum = wcsncasecmp(w, v, 2), v, 8)
WRITES(sum = strxfrm(a, b, 100), a, 7)
WRITES(sum = drand48_r((struct drand48_data *)a, &d), &d, 8)
READS(warnx("%d %s", 1, b), b, 7)
READS(printf("%2$d %1$s", b, 1), b, 7)
READS(printf("%2$f %3$s %1$d\n", 1, d, b), b, 7)
READS(wprintf(L"%d %ls", 1, w), w, 16)
READS(snprintf(a, 100, "%3$*2$d %1$s", b, 5, 1), b, 7)
WRITES(swprintf(w, 50, L"%d %s", 42, "ok"), w, 24)
READS_OF(q = b; room = 5; p = a; size = 60, iconv(iconv_open("UTF-16LE", "UTF-8"), &q, &room, &p, (size_t *)&size), b, 5)
READS(sum = a64l(b), b, 6)
READS(sum = mblen(b, 3), b, 1)
READS(mbtowc(&w[0], b, 3), b, 1)
WRITES(mbtowc(&w[0], b, 3), w, 4)
WRITES(wctomb(a, L'x'), a, 1)
READS(sum = mbsinit((mbstate_t *)a), a, 8)
READS(sum = sigisemptyset((sigset_t *)a), a, 8)
READS(sigandset((sigset_t *)a, (sigset_t *)b, (sigset_t *)b), b, 8)
WRITES(sigorset((sigset_t *)a, (sigset_t *)b, (sigset_t *)b), a, 8)
WRITES_TO(file = fopen("/dev/null", "w"), setvbuf(file, a, _IOFBF, 64), a, 64)

extern const struct call __start_calls[], __stop_calls[];
static const struct call *call, *all[1000];

static int by_line(const void *one, const void *other) {
	return (*(const struct call **)one)->line - (*(const struct call **)other)->line;
}

/* Compilers may emit the calls in any order. */
__attribute__((constructor)) static void sort(void) {
	for (int i = 0; i < __stop_calls - __start_calls; i++) all[i] = &__start_calls[i];
	qsort(all, __stop_calls - __start_calls, sizeof *all, by_line);
}

static void *performs(void *unused) {
	call->perform();
	return unused;
}

int main(int count, char **arguments) {
	pthread_t thread;
	char *place;
	int behind = count > 2, which = mazurka_choose(__stop_calls - __start_calls);
	if (chdir(arguments[1]) != 0) return 2;
	file = fopen("input", "r");
	call = all[which];
	call->prepare();
	place = (char *)call->start() + call->length - 1 + behind;
	pthread_create(&thread, 0, performs, 0);
	char found = *place;
	__asm__("" : "+r"(found));
	if (!call->writes) *place = found;
	pthread_join(thread, 0);
	fclose(file);
	_exit(0);
}
