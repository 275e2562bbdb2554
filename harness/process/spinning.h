/* How long idle threads spin before they sleep. */
#ifndef PBD_SPINNING_H
#define PBD_SPINNING_H

/* Where as many other processes are running as there are processors: starts this program again with GOMP_SPINCOUNT set,
 * unless the user has set it or OMP_WAIT_POLICY. libgomp's default, some milliseconds between two kernels, then takes
 * several times the time and the processors from the others. libgomp reads the variable before main. On a quiet machine
 * the default is kept: threads that sleep between small kernels take up to a third longer. Returns when there is
 * nothing to do, or when the program cannot be started again; both are harmless. */
void pbd_limit_spinning(char **argv);

#endif
