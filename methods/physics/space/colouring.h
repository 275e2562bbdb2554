/* Greedy colouring: sets of constraints without a common particle, which may be projected at once.
 *
 * Permanent constraints of few particles (edges, cells, tetrahedra) are coloured once, when a solver is created. The
 * colours are few and nearly equal in size. Each is one launch whose items are SIMD batches on the CPU and lanes on a
 * GPU, in the same order, so both give the same results. Where neighbours change every step (SPH-like methods), grid
 * cells are coloured instead, which needs no search. */
#ifndef PBD_COLOURING_H
#define PBD_COLOURING_H

#include "harness/exec/arena.h"
#include "harness/exec/exec.h"

enum { PBD_MOST_COLOURS = 64 };

/* Colours `count` constraints of `arity` particles each (particle: count x arity, indices below `particles`), first fit
 * in the given order. order: count, the constraints colour by colour, within a colour in the given order; first:
 * colours + 1 offsets into it (room for PBD_MOST_COLOURS + 1). The caller owns the arrays. PBD_NOT_SUPPORTED if more
 * than PBD_MOST_COLOURS colours are needed. */
pbd_status pbd_colour(size_t count, int arity, const uint32_t *particle, size_t particles, uint32_t *order,
                      size_t *first, int *colours);

/* Sorts constraints that are ordered colour by colour into stages, so that a sweep over a large body finishes all
 * colours of some particles while these are in the cache. A stage is one colour of one slab, a range of `slab`
 * particles by their numbers (0: one slab). Constraints that share a particle keep their order, so a sweep has the same
 * bits. A constraint therefore belongs to the slab of its lowest particle, or to a later one if it follows a constraint
 * of that slab. Constraint c touches particle[arity c .. arity (c + 1)) or, where list is not NULL, particle[list[c] ..
 * list[c + 1]). order, first, colours: of pbd_colour or pbd_colour_lists; order is changed. *stage_first: stages + 1
 * offsets into it, from the arena; some stages are empty. */
pbd_status pbd_cut_colours(size_t count, int arity, const size_t *list, const uint32_t *particle, size_t particles,
                           size_t slab, uint32_t *order, const size_t *first, int colours, pbd_arena *arena,
                           size_t **stage_first, size_t *stages);

/* Whether a body of `particles` rows of `bytes` each is too large for the cache: 4 MB or more. */
bool pbd_is_large(size_t particles, size_t bytes);
/* The number of particles in a slab of such a body: 1 MB for each thread. 0, for one slab: on a GPU, where a launch
 * needs many items, and for smaller bodies. */
size_t pbd_slab(const pbd_exec *exec, size_t particles, size_t bytes);

/* The number of particles in a block of a body whose sweeps finish all colours of a block before the next one
 * (pbd_block_colours). A body is cut into blocks where slabs do not help, since with many colours nearly all
 * constraints would follow one of the last slab. Blocks change the order of constraints that share a particle, so their
 * size depends on neither the precision nor the number of threads. 0, for one block: on a GPU, where a launch needs
 * many items, and for smaller bodies. */
size_t pbd_colour_block(const pbd_exec *exec, size_t particles);

/* Sorts constraints that are ordered colour by colour into stages: one colour of one block, a range of `block`
 * constraints by their numbers (0: one block). *stage_first: stages + 1 offsets into order, from the arena. No stage is
 * empty. */
pbd_status pbd_block_colours(size_t count, size_t block, uint32_t *order, const size_t *first, int colours,
                             pbd_arena *arena, size_t **stage_first, size_t *stages);

/* Colouring for constraints of any number of particles: constraint c touches particle[first[c] .. first[c + 1]) and,
 * where `with_own`, particle c as well. *colour_first: colours + 1 offsets into order, from the arena; at most
 * PBD_MOST_LIST_COLOURS colours. */
enum { PBD_MOST_LIST_COLOURS = 4096 };
pbd_status pbd_colour_lists(size_t count, const size_t *first, const uint32_t *particle, size_t particles,
                            bool with_own, pbd_arena *arena, uint32_t *order, size_t **colour_first, int *colours);

#endif
