/* Instructions that this thread executes in user mode, from the processor's counter (Linux perf_event_open).
 *
 * The count of one program on one input repeats to about 1e-4 however busy the machine is, so that it can contradict a
 * time. Many virtual machines and containers have no counter. */
#ifndef PBD_INSTRUCTIONS_H
#define PBD_INSTRUCTIONS_H

/* A descriptor for pbd_instructions_read and close; -1 if there is no counter. */
int pbd_instructions_open(void);
/* Instructions since it was opened; NaN if it did not count all the time, or is -1. */
double pbd_instructions_read(int counter);

#endif
