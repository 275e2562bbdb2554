/* Clocks for progress, phases and single iterations. Solve times come from pbd_exec_timer_begin and _end (exec.h). */
#ifndef PBD_CLOCK_H
#define PBD_CLOCK_H

double pbd_wall_seconds(void); /* monotonic */
double pbd_cpu_seconds(void);  /* of the process, all threads */

#endif
