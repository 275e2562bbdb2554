/* Former names of parameters, and parameters added since (renamed.def). They match a stored run, a run of another
 * program and an old command line with today's parameters. */
#ifndef PBD_RENAMED_H
#define PBD_RENAMED_H

#include <stdbool.h>

/* Whether the case or the method has a parameter that was renamed, or added with the value of the runs before. */
bool pbd_has_renamed(const char *case_name, const char *method);

/* A cell's parameters (JSON object of numbers and texts with sorted keys, as the store has them) under today's names,
 * spelt as a cell of today: values are copied as they stand, those of parameters added since are put in, keys are
 * sorted. The caller frees; NULL without memory. */
char *pbd_params_today(const char *case_name, const char *method, const char *params);

/* Today's name of a parameter that is called `name` no longer; and the last name before today's. NULL: none. */
const char *pbd_name_today(const char *case_name, const char *method, const char *name);
const char *pbd_name_before(const char *case_name, const char *method, const char *name);

#endif
