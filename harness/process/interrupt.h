/* Ctrl-C and SIGTERM: the first stops work between two steps; the second ends the program. */
#ifndef PBD_INTERRUPT_H
#define PBD_INTERRUPT_H

#include <stdbool.h>

/* Installs the handler. */
void pbd_catch_interrupts(void);
/* Whether a signal came. */
bool pbd_interrupted(void);

#endif
