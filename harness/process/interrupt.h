/* Ctrl-C and SIGTERM: the first stops work between two steps; the second ends the program. Or the time that a run may
 * take. */
#ifndef PBD_INTERRUPT_H
#define PBD_INTERRUPT_H

#include <stdbool.h>

/* Installs the handler. */
void pbd_catch_interrupts(void);
/* Whether a signal came. */
bool pbd_interrupted(void);

/* From now on pbd_interrupted is also true once so many seconds have passed; 0: no longer. Of this process alone. */
void pbd_interrupt_after(double seconds);
/* Whether they have passed, and no signal came. */
bool pbd_time_is_over(void);

/* For work that may take long and never asks pbd_interrupted, such as reading a mesh: until the call with NULL, the
 * first signal ends the program with «interrupted while WORK» and PBD_EXIT_INTERRUPTED, a second after it. Nothing that
 * has to be stored may be pending then. `work` is not copied. */
void pbd_interrupt_ends(const char *work);

#endif
