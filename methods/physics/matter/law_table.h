/* The elastic laws by name, as in a scene's material and in the parameter `material` of cases. */
#ifndef PBD_LAW_TABLE_H
#define PBD_LAW_TABLE_H

#include "methods/method.h"

/* The names of pbd_join, in order. */
#define LAW_JOINS none, printed, continuous, shifted, clamp

extern const char *const law_names[];  /* in the order of laws.def, ends with NULL */
extern const char *const join_names[]; /* LAW_JOINS, ends with NULL */

/* LAW_name of laws.h. NULL is corotated. PBD_BAD_INPUT for a name that is not in the list. */
pbd_status law_find(const char *name, int *out);

#endif
