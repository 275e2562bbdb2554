/* Drawing: runs gnuplot on a script, without a shell. */
#ifndef PBD_GNUPLOT_H
#define PBD_GNUPLOT_H

#include "methods/method.h"

#define PBD_GNUPLOT_INSTALL "apt-get install gnuplot-nox"

/* A string variable that is set for the script. */
typedef struct pbd_gnuplot_variable {
    const char *name, *value;
} pbd_gnuplot_variable;

/* Runs `gnuplot ROOT/plots/SCRIPT` (or SCRIPT if it is an absolute path) with the variables and `style`, the path of
 * plots/style.gp. PBD_NOT_SUPPORTED without gnuplot (the message says what to install), PBD_BAD_INPUT when it fails.
 * *output, freed by the caller, is what it printed; NULL when it was not started. */
pbd_status pbd_gnuplot(const char *script, const pbd_gnuplot_variable *variable, size_t count, char **output);

/* The terminal of gnuplot for a picture 1200 units wide, by its file extension; PBD_BAD_INPUT for any other than .png,
 * .svg and .pdf. */
enum { PBD_GNUPLOT_TERMINAL = 120 };
pbd_status pbd_gnuplot_terminal(const char *path, size_t height, char terminal[PBD_GNUPLOT_TERMINAL]);

#endif
