/* Clocks for progress, phases and single iterations. Solve times come from pbd_exec_timer_begin and _end (exec.h). */
#ifndef PBD_CLOCK_H
#define PBD_CLOCK_H

double pbd_wall_seconds(void); /* monotonic */
double pbd_cpu_seconds(void);  /* of the process, all threads, and of processes that it follows */

/* Counts the CPU time of a child that works for this process, such as an engine (harness/engine), until
 * pbd_cpu_unfollow, which is called before the child is waited for or after its end. Not from two threads at once. */
void pbd_cpu_follow(int child);
void pbd_cpu_unfollow(int child);
double pbd_cpu_followed(void); /* of those children only */

#endif
