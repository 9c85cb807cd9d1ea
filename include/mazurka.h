/* Functions for programs under test. In a program that runs as usual or is built without Mazurka,
   mazurka_choose returns 0, mazurka_input returns the lowest value (except as described below), and
   the other functions do nothing. */
#ifndef MAZURKA_H
#define MAZURKA_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a number from 0 to alternatives - 1, or 0 if alternatives is less than 1. A check tries
   all these numbers. */
__attribute__((weak)) int mazurka_choose(int alternatives);

/* Discards the current execution of a check if the condition is 0. */
__attribute__((weak)) void mazurka_assume(int condition);

/* Declares a goal: in at least one execution, a call with this name must have a nonzero
   is_reached. Otherwise the check reports a bug. */
__attribute__((weak)) void mazurka_goal(const char *name, int is_reached);

/* Returns an input from lowest to highest. A check tries all values. `mazurka verify` verifies the
   program for each value separately. A run uses the environment variable MAZURKA_INPUT_<name>, or
   the lowest value if the variable is not set. */
__attribute__((weak)) long long mazurka_input(const char *name, long long lowest, long long highest);

/* Restarts the safe trace (see `mazurka run --safe`): from this call on, the trace is enforced from
   its beginning, until the next call or the end of the program. Only the main thread may call this
   function, and only when all other threads have ended. Otherwise the process ends with a
   message. */
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
