/* Greedy colouring: sets of constraints without a common particle, which may be projected at once.
 *
 * Permanent constraints of few particles (edges, cells, tetrahedra) are coloured once, when a solver is created. The
 * colours are few and nearly equal in size. Each is one launch whose items are SIMD batches on the CPU and lanes on a
 * GPU, in the same order, so both give the same results. Where neighbours change every step (SPH-like methods), grid
 * cells are coloured instead, which needs no search. */
#ifndef PBD_COLOURING_H
#define PBD_COLOURING_H

#include "harness/exec/arena.h"

enum { PBD_MOST_COLOURS = 64 };

/* Colours `count` constraints of `arity` particles each (particle: count x arity, indices below `particles`), first fit
 * in the given order. order: count, the constraints colour by colour, within a colour in the given order; first:
 * colours + 1 offsets into it (room for PBD_MOST_COLOURS + 1). The caller owns the arrays. PBD_NOT_SUPPORTED if more
 * than PBD_MOST_COLOURS colours are needed. */
pbd_status pbd_colour(size_t count, int arity, const uint32_t *particle, size_t particles, uint32_t *order,
                      size_t *first, int *colours);

/* The same for constraints of any number of particles: constraint c touches particle[first[c] .. first[c + 1]) and,
 * where `with_own`, particle c as well. *colour_first: colours + 1 offsets into order, from the arena; at most
 * PBD_MOST_LIST_COLOURS colours. */
enum { PBD_MOST_LIST_COLOURS = 4096 };
pbd_status pbd_colour_lists(size_t count, const size_t *first, const uint32_t *particle, size_t particles,
                            bool with_own, pbd_arena *arena, uint32_t *order, size_t **colour_first, int *colours);

#endif
