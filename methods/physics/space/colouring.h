/* Greedy colouring: which constraints may be projected at once because no two of them touch one particle.
 *
 * One decision for CPU and GPU. Where constraints are few-bodied and last (edges, cells, tetrahedra) colours are of
 * constraints, made once when a solver is created: they are few (a particle's largest number of constraints of one
 * kind), nearly equal in size, and each is one launch whose items are SIMD batches on the CPU and lanes on a GPU, in
 * the same order, so both give the same answer. Where each particle's neighbours change every step (SPH-like methods)
 * colours are of grid cells instead, which need no search. */
#ifndef PBD_COLOURING_H
#define PBD_COLOURING_H

#include "harness/exec/arena.h"

enum { PBD_MOST_COLOURS = 64 };

/* Colours `count` constraints of `arity` particles each (particle: count x arity, indices below `particles`), first fit
 * in their order, so the answer is the same on every machine. order: count, the constraints colour by colour, each
 * colour in its old order; first: colours + 1 offsets into it (room for PBD_MOST_COLOURS + 1). Arrays are the
 * caller's. PBD_NOT_SUPPORTED when more colours would be needed. */
pbd_status pbd_colour(size_t count, int arity, const uint32_t *particle, size_t particles, uint32_t *order,
                      size_t *first, int *colours);

/* The same for constraints of any number of particles: constraint c touches particle[first[c] .. first[c + 1]) and,
 * where `with_own`, particle c as well. *colour_first: colours + 1 offsets into order, the arena's; at most
 * PBD_MOST_LIST_COLOURS. */
enum { PBD_MOST_LIST_COLOURS = 4096 };
pbd_status pbd_colour_lists(size_t count, const size_t *first, const uint32_t *particle, size_t particles,
                            bool with_own, pbd_arena *arena, uint32_t *order, size_t **colour_first, int *colours);

#endif
