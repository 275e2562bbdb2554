/* Former names of parameters, and parameters added later (renamed.def), so that a stored run, a run of another program
 * and an old command line can be read with the current parameters. */
#ifndef PBD_RENAMED_H
#define PBD_RENAMED_H

#include <stdbool.h>

/* Whether the case or the method has a parameter that was renamed, or added later. */
bool pbd_has_renamed(const char *case_name, const char *method);

/* A cell's parameters (JSON object of numbers and texts with sorted keys, as the store has them) under current names,
 * as a new cell has them: values are copied unchanged, parameters added later are filled in, keys are sorted. The
 * caller frees; NULL without memory. */
char *pbd_params_today(const char *case_name, const char *method, const char *params);

/* The current name of a parameter formerly called `name`; and the last former name of a parameter now called `name`.
 * NULL: none. */
const char *pbd_name_today(const char *case_name, const char *method, const char *name);
const char *pbd_name_before(const char *case_name, const char *method, const char *name);

#endif
