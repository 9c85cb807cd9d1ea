/* oldest-waiter-fixed: a signal wakes any one of the waiting threads. */
#define IS_WOKEN (woken == 1 || woken == 2)
#include "../oldest-waiter/prog.c"
