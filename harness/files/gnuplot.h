/* Drawing: gnuplot on a script, without a shell. */
#ifndef PBD_GNUPLOT_H
#define PBD_GNUPLOT_H

#include "methods/method.h"

#define PBD_GNUPLOT_INSTALL "apt-get install gnuplot-nox"

/* A string variable that the script finds set. */
typedef struct pbd_gnuplot_variable {
    const char *name, *value;
} pbd_gnuplot_variable;

/* Runs `gnuplot SCRIPT` with the variables. PBD_NOT_SUPPORTED when there is no gnuplot (the sentence says what to
 * install), PBD_BAD_INPUT when it fails. *output, to be freed by the caller, is what it printed (never NULL on
 * PBD_BAD_INPUT after a start; else it may be NULL). */
pbd_status pbd_gnuplot(const char *script, const pbd_gnuplot_variable *variable, size_t count, char **output);

#endif
