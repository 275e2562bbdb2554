/* How long threads that have nothing to do wait by spinning. */
#ifndef PBD_SPINNING_H
#define PBD_SPINNING_H

/* Starts this program again with GOMP_SPINCOUNT set, unless the user has set it or OMP_WAIT_POLICY. libgomp's default,
 * some milliseconds between two kernels, takes the cores from whatever else runs: several times the time where there
 * are as many busy processes as cores. libgomp reads the variable before main. Returns when there is nothing to do, or
 * when the program cannot be started again; both are harmless. */
void pbd_limit_spinning(char **argv);

#endif
