/* Greedy colouring: which constraints may be projected at once because no two of them touch one particle. */
#ifndef PBD_COLOURING_H
#define PBD_COLOURING_H

#include "methods/method.h"

enum { PBD_MOST_COLOURS = 64 };

/* Colours `count` constraints of `arity` particles each (particle: count x arity, indices below `particles`), first fit
 * in their order, so the answer is the same on every machine. order: count, the constraints colour by colour, each
 * colour in its old order; first: colours + 1 offsets into it (room for PBD_MOST_COLOURS + 1). Arrays are the
 * caller's. PBD_NOT_SUPPORTED when more colours would be needed. */
pbd_status pbd_colour(size_t count, int arity, const uint32_t *particle, size_t particles, uint32_t *order,
                      size_t *first, int *colours);

#endif
