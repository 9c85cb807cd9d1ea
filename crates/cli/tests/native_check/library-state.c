/* Pairs of threads that use state of the C library or the system. The argument names a pair. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define THREAD(NAME, ...) static void *NAME(void *argument) { (void)argument; __VA_ARGS__ return 0; }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int count, numbers[2];
static FILE *stream;
static DIR *directory;
static int descriptor;
static void *root;
static char path[] = "/a/b";
static char *words[] = { "program", "-a", "-b", 0 };
static time_t moment = 1000000;
static pthread_t main_thread, third;
static volatile double negative = -0.5;

static void handle(int signal) { (void)signal; }
static int compare(const void *one, const void *other) { return strcmp(one, other); }
static int open_file(int flags) { return open("file", O_RDWR | flags, 0600); }
static void put(int to, char letter) { assert(write(to, &letter, 1) == 1); }

/* Streams and their locks. */
THREAD(lock_stream_and_mutex, flockfile(stdout); pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); funlockfile(stdout);)
THREAD(print_within_mutex, pthread_mutex_lock(&mutex); printf("text\n"); pthread_mutex_unlock(&mutex);)
THREAD(count_within_stream, flockfile(stdout); flockfile(stdout); count++; funlockfile(stdout); count++; funlockfile(stdout);)
THREAD(print_two, flockfile(stream); putc_unlocked('a', stream); putc_unlocked('b', stream); funlockfile(stream);)
THREAD(lock_stream, flockfile(stderr); funlockfile(stderr);)
THREAD(try_stream, assert(!ftrylockfile(stderr)); funlockfile(stderr);)
THREAD(print_unlocked, fputc_unlocked('a', stream);)
THREAD(print_locked, fputc('a', stream);)
THREAD(close_stream, fclose(stream);)
/* Files. */
THREAD(write_descriptor, put(descriptor, 'a');)
THREAD(close_descriptor, close(descriptor);)
THREAD(write_by_name, int own = open_file(0); put(own, 'z'); close(own);)
THREAD(read_by_name, int own = open_file(0); char found = 0; read(own, &found, 1); assert(found == 'a'); close(own);)
THREAD(add_by_name, int own = open_file(0); char found = 0; pread(own, &found, 1, 0); found++; pwrite(own, &found, 1, 0); close(own);)
THREAD(add_to_file, put(descriptor, 'b');)
THREAD(see_size, struct stat status; assert(!stat("file", &status) && status.st_size == 1);)
THREAD(see_size_of_stream, FILE *own = fopen("file", "a"); fseek(own, 0, SEEK_END); assert(ftell(own) == 1); fclose(own);)
THREAD(read_file, char found; assert(pread(descriptor, &found, 1, 0) == 1);)
THREAD(cut_file, assert(!truncate("file", 0));)
THREAD(empty_file, close(open_file(O_TRUNC));)
THREAD(empty_stream, fclose(fopen("file", "w"));)
THREAD(create, close(open_file(O_CREAT));)
THREAD(miss, assert(access("file", F_OK));)
THREAD(open_first, numbers[0] = open("/dev/null", O_RDONLY);)
THREAD(open_second, numbers[1] = open("/dev/null", O_RDONLY);)
THREAD(write_null, int own = open("/dev/null", O_WRONLY); put(own, 'a'); close(own);)
/* The process. */
THREAD(go_to_root, chdir("/");)
THREAD(stay, char place[4096]; assert(strcmp(getcwd(place, sizeof place), "/"));)
THREAD(set_locale, setlocale(LC_ALL, "C.UTF-8");)
THREAD(see_locale, assert(!strcmp(setlocale(LC_ALL, 0), "C"));)
THREAD(set_action, struct sigaction action = { .sa_handler = handle }; sigaction(SIGUSR1, &action, 0);)
THREAD(see_action, struct sigaction action; sigaction(SIGUSR1, 0, &action); assert(action.sa_handler == SIG_DFL);)
THREAD(set_limit, struct rlimit limit; getrlimit(RLIMIT_NOFILE, &limit); limit.rlim_cur = 10; setrlimit(RLIMIT_NOFILE, &limit);)
THREAD(see_limit, struct rlimit limit; getrlimit(RLIMIT_NOFILE, &limit); assert(limit.rlim_cur != 10);)
THREAD(set_zone, setenv("TZ", "UTC+5", 1); tzset();)
THREAD(see_zone, struct tm parts; localtime_r(&moment, &parts); assert(parts.tm_hour == 13);)
THREAD(set_name, pthread_setname_np(main_thread, "new");)
THREAD(see_name, char name[16]; pthread_getname_np(main_thread, name, sizeof name); assert(strcmp(name, "new"));)
THREAD(set_variable, setenv("A", "1", 1);)
THREAD(walk_variables, for (char **next = environ; *next; next++);)
THREAD(do_nothing, )
THREAD(join_third, assert(!pthread_join(third, 0));)
THREAD(detach, pthread_detach(pthread_self());)
/* Functions that need not be thread-safe. */
THREAD(name_file, char *name = tmpnam(0); (void)name;)
THREAD(read_directory, readdir(directory);)
THREAD(read_own_directory, DIR *own = opendir("."); readdir(own); closedir(own);)
THREAD(search_table, ENTRY entry = { "a", 0 }; hsearch(entry, ENTER);)
THREAD(search_tree, tsearch("a", &root, compare);)
THREAD(read_options, getopt(3, words, "ab");)
THREAD(take_gamma, lgamma(negative);)
THREAD(convert, wchar_t wide; mbrtowc(&wide, "a", 1, 0);)
THREAD(convert_with_state, wchar_t wide; mbstate_t state = { 0 }; mbrtowc(&wide, "a", 1, &state);)
THREAD(cut_name, dirname(path);)
THREAD(take_digits, int point; int sign; ecvt(negative, 2, &point, &sign);)
/* State that exists once per thread. */
THREAD(describe_errors, strerror(9999); strsignal(88);)
/* Errors of locks. */
THREAD(lock_again, pthread_rwlock_wrlock(&rwlock); assert(pthread_rwlock_rdlock(&rwlock) == EDEADLK);
	assert(pthread_rwlock_wrlock(&rwlock) == EDEADLK); assert(pthread_rwlock_tryrdlock(&rwlock) == EBUSY); pthread_rwlock_unlock(&rwlock);)

static const struct pair {
	const char *name;
	void *(*one)(void *), *(*other)(void *);
} pairs[] = {
#define PAIR(ONE, OTHER) { #ONE "," #OTHER, ONE, OTHER },
	PAIR(lock_stream_and_mutex, print_within_mutex)
	PAIR(count_within_stream, count_within_stream)
	PAIR(print_two, print_two)
	PAIR(lock_stream, try_stream)
	PAIR(print_unlocked, print_unlocked)
	PAIR(print_locked, print_locked)
	PAIR(print_locked, close_stream)
	PAIR(write_descriptor, close_descriptor)
	PAIR(write_by_name, read_by_name)
	PAIR(add_by_name, add_by_name)
	PAIR(add_to_file, see_size)
	PAIR(add_to_file, see_size_of_stream)
	PAIR(read_file, cut_file)
	PAIR(read_file, empty_file)
	PAIR(read_file, empty_stream)
	PAIR(set_name, see_name)
	PAIR(set_variable, walk_variables)
	PAIR(join_third, join_third)
	PAIR(detach, do_nothing)
	PAIR(create, miss)
	PAIR(open_first, open_second)
	PAIR(write_null, write_null)
	PAIR(go_to_root, stay)
	PAIR(set_locale, see_locale)
	PAIR(set_action, see_action)
	PAIR(set_limit, see_limit)
	PAIR(set_zone, see_zone)
	PAIR(name_file, name_file)
	PAIR(read_directory, read_directory)
	PAIR(read_own_directory, read_own_directory)
	PAIR(search_table, search_table)
	PAIR(search_tree, search_tree)
	PAIR(read_options, read_options)
	PAIR(take_gamma, take_gamma)
	PAIR(convert, convert)
	PAIR(convert_with_state, convert_with_state)
	PAIR(cut_name, cut_name)
	PAIR(take_digits, take_digits)
	PAIR(describe_errors, describe_errors)
	PAIR(lock_again, lock_again)
};

int main(int argument_count, char **arguments) {
	const struct pair *pair = pairs;
	assert(argument_count == 3 && !chdir(arguments[2]));
	while (strcmp(pair->name, arguments[1]))
		pair++;
	unlink("file");
	if (pair->one == write_by_name || pair->one == add_by_name || pair->one == write_descriptor || pair->one == add_to_file || pair->one == read_file) {
		descriptor = open_file(O_CREAT);
		put(descriptor, 'a');
	}
	if (pair->one == write_by_name)
		close(descriptor);
	main_thread = pthread_self();
	if (pair->one == join_third)
		pthread_create(&third, 0, do_nothing, 0);
	stream = tmpfile();
	directory = opendir(".");
	hcreate(10);
	setenv("TZ", "UTC", 1);
	tzset();
	pthread_t one, other;
	pthread_create(&one, 0, pair->one, 0);
	pthread_create(&other, 0, pair->other, 0);
	pthread_join(one, 0);
	pthread_join(other, 0);
	assert(pair->one != count_within_stream || count == 4);
	assert(numbers[0] <= numbers[1]);
	if (pair->one == print_two) {
		char found[5] = "";
		rewind(stream);
		assert(fread(found, 1, 4, stream) == 4 && !strcmp(found, "abab"));
	}
	if (pair->one == add_by_name) {
		char found;
		assert(pread(descriptor, &found, 1, 0) == 1 && found == 'c');
	}
	if (pair->other != close_stream)
		fclose(stream);
	closedir(directory);
	hdestroy();
	return 0;
}
