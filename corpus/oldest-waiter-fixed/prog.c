/* oldest-waiter-fixed: a signal wakes one thread of those that wait, whichever it is. */
#define IS_WOKEN (woken == 1 || woken == 2)
#include "../oldest-waiter/prog.c"
