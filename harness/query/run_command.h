/* A stored run as a command line, for everything that shows a run. */
#ifndef PBD_RUN_COMMAND_H
#define PBD_RUN_COMMAND_H

#include <jansson.h>
#include <stdio.h>

#include "harness/plan/result.h"

/* The command that makes a stored run again; for a run of another tool, the command that imported it. All parameters
 * are written, also those at their defaults, since defaults may change. argv: JSON array of the run's invocation. Of *r
 * only the description of the run is read, no metrics. The caller frees; NULL without memory. */
char *pbd_run_command(const pbd_result *r, const char *argv);

/* Writes "pbdbench" and the arguments that a process was started with (JSON array). */
void pbd_write_argv(FILE *out, const char *argv);
/* Writes a word for a POSIX shell, quoted if necessary. */
void pbd_write_word(FILE *out, const char *word);
/* A parameter's value as text: a string of `value`, or a number written to `number` with the fewest digits that
 * represent it exactly. */
const char *pbd_spell_param(const json_t *value, char number[40]);

#endif
