/* What a C or C++ program may say to Mazurka. Without it, in a program that runs as usual or that was built by another
   compiler, mazurka_choose gives 0, mazurka_assume and mazurka_goal do nothing and mazurka_input gives its least value. */
#ifndef MAZURKA_H
#define MAZURKA_H

#ifdef __cplusplus
extern "C" {
#endif

/* Any number from 0 to alternatives - 1: the check tries them all. */
__attribute__((weak)) int mazurka_choose(int alternatives);

/* Drops the executions in which the condition does not hold. */
__attribute__((weak)) void mazurka_assume(int condition);

/* Some execution has to come here with a condition that holds: if none does, that is reported as a bug. Goals with one
   name are one goal. */
__attribute__((weak)) void mazurka_goal(const char *name, int is_reached);

/* An input of the program. A check tries every value of the range, `mazurka verify` one after the other; in a run it is
   the value of MAZURKA_INPUT_<name> in the environment, or the least one. */
__attribute__((weak)) long long mazurka_input(const char *name, long long lowest, long long highest);

/* Under a safe trace the program begins once more here: what it does until the end, or until this is called again, is kept
   to the trace from its begin. Called by main, when all other threads have ended; else
   the process ends with a message. */
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
