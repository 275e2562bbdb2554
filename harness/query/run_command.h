/* A stored run as a command line: for everything that shows a run. */
#ifndef PBD_RUN_COMMAND_H
#define PBD_RUN_COMMAND_H

#include <jansson.h>
#include <stdio.h>

#include "harness/plan/result.h"

/* The command that makes a stored run again; of a run that another tool made, the one that took it in. All parameters
 * are spelt out, also those at their defaults: defaults may change. `argv` is the JSON array of its invocation; of *r
 * only what says what was run is read, no metrics. The caller frees; NULL without memory. */
char *pbd_run_command(const pbd_result *r, const char *argv);

/* "pbdbench", and the words of the command line (JSON array) that a process was started with. */
void pbd_write_argv(FILE *out, const char *argv);
/* A word for a POSIX shell, quoted where it must be. */
void pbd_write_word(FILE *out, const char *word);
/* A parameter's value: its words, which belong to `value`, or a number in the fewest digits that give it back, in
 * `number`. */
const char *pbd_spell_param(const json_t *value, char number[40]);

#endif
