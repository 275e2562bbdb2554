/* The nearest known name, for messages about an unknown one. */
#ifndef PBD_NEAREST_H
#define PBD_NEAREST_H

#include "methods/method.h"

/* The entry of `names` nearest to `word` by edit distance, or NULL when none is near enough to be meant. */
const char *pbd_nearest(const char *word, const char *const *names, size_t count);
/* PBD_BAD_INPUT: «unknown KIND 'WORD'; did you mean 'X'? `HINT` shows them all». */
pbd_status pbd_unknown(const char *kind, const char *word, const char *const *names, size_t count, const char *hint);

#endif
