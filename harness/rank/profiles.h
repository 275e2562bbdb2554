/* Profiles over many problems: how often a method is near the best, and how often it finishes within a given time.
 *
 * Both take the cost of every method on every problem: cost[p * methods + m], the least time to the tolerance, above 0;
 * INFINITY where a method did not reach it, or does not fit. Problems that no method solved count, too. Pure functions.
 */
#ifndef PBD_PROFILES_H
#define PBD_PROFILES_H

#include <stddef.h>

/* Dolan and Moré 2002 (Math. Program. 91, 201-213): the share of the problems whose cost is at most `ratio` times the
 * least that any method had there, ratio >= 1. The order of two methods in such a profile depends on what others are in
 * it (Gould and Scott 2016, ACM Trans. Math. Softw. 43(2), 15): `without` is a method to be left out, whose costs do
 * not count for the least; `methods` (or any larger number): none. Returns 0 without problems. */
double pbd_performance_profile(const double *cost, size_t problems, size_t methods, size_t method, size_t without,
                               double ratio);

/* Moré and Wild 2009 (SIAM J. Optim. 20, 172-191): the share of the problems that are solved within `budget`, a cost in
 * units of the problem. Their unit is the cost of a simplex gradient; here unit[p] is one frame of 1/60 s of a problem
 * that moves, and one second of a static one. It does not depend on other methods. Returns 0 without problems. */
double pbd_data_profile(const double *cost, const double *unit, size_t problems, size_t methods, size_t method,
                        double budget);

#endif
