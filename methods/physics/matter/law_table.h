/* The elastic laws by name: what a scene's material and `material` of cases call them by. */
#ifndef PBD_LAW_TABLE_H
#define PBD_LAW_TABLE_H

#include "methods/method.h"

extern const char *const law_names[];  /* in the order of laws.def, NULL at the end */
extern const char *const join_names[]; /* in the order of pbd_join, NULL at the end */

/* LAW_name of laws.h. NULL is corotated. PBD_BAD_INPUT for a name that is not in the list. */
pbd_status law_find(const char *name, int *out);

#endif
