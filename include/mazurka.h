/* Functions for programs under test. In a program that runs as usual or is built without Mazurka,
   mazurka_choose returns 0, mazurka_input returns its lowest value, and the others do nothing. */
#ifndef MAZURKA_H
#define MAZURKA_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a number from 0 to alternatives - 1. A check tries them all. */
__attribute__((weak)) int mazurka_choose(int alternatives);

/* Discards the executions in which the condition does not hold. */
__attribute__((weak)) void mazurka_assume(int condition);

/* Declares a goal: at least one execution must call this with a true condition, otherwise a bug is
   reported. Calls with the same name declare the same goal. */
__attribute__((weak)) void mazurka_goal(const char *name, int is_reached);

/* Returns an input. A check tries all values of the range, `mazurka verify` one after the other. A
   run uses the environment variable MAZURKA_INPUT_<name>, or the lowest value if it is not set. */
__attribute__((weak)) long long mazurka_input(const char *name, long long lowest, long long highest);

/* Begins the program again under its safe trace: from here to the next call, or to the end of the
   program, the trace is enforced from its beginning. Only main may call this function, and only
   when all other threads have ended. Otherwise the process ends with a message. */
__attribute__((weak)) void mazurka_again(void);

#ifdef __cplusplus
}
#endif

#define mazurka_choose(alternatives) (mazurka_choose ? mazurka_choose(alternatives) : 0)
#define mazurka_assume(condition) (mazurka_assume ? mazurka_assume(condition) : (void)0)
#define mazurka_goal(name, is_reached) (mazurka_goal ? mazurka_goal(name, is_reached) : (void)0)
#define mazurka_input(name, lowest, highest) (mazurka_input ? mazurka_input(name, lowest, highest) : (lowest))
#define mazurka_again() (mazurka_again ? mazurka_again() : (void)0)

#endif
