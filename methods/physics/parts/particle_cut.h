/* Cutting of bodies sampled by particles (cao2023 section 4.4): finds the pairs of neighbours that a blade separates.
 * At the end of a substep particle_energy.h passes positions and lists of rest neighbours; pairs that cross a blade are
 * removed from the lists, lost neighbours are replaced, and connected pieces are counted. Host, f64; positions,
 * velocities, masses and volumes do not change. */
#ifndef PBD_PARTICLE_CUT_H
#define PBD_PARTICLE_CUT_H

#include "methods/physics/space/rest_neighbours.h"

typedef struct particle_cuts {
    size_t blades;
    pbd_blade *blade;
    size_t cut, added; /* pairs so far: removed; added */
} particle_cuts;

/* Copies the scene's blades. PBD_BAD_INPUT for one without area, that ends before it begins, or with non-finite
 * numbers. */
pbd_status particle_cuts_make(const pbd_scene *scene, particle_cuts *out);
void particle_cuts_free(particle_cuts *c); /* safe on a zeroed one */

/* Whether any blade is active at `time`, s. */
bool particle_cuts_active(const particle_cuts *c, double time);

/* Removes from `near` all pairs whose connecting segment, at positions x (particles x 3, m), crosses a blade at `time`.
 * A particle that lost neighbours and has fewer than `full` (by particle: its initial number) gains the particle
 * nearest at rest among its neighbours' neighbours beyond `radius`; nearer ones were neighbours and have been cut off.
 * *changed: whether any list changed. Lists remain ascending and symmetric. */
pbd_status particle_cut(particle_cuts *c, double time, const double *x, const double *rest, double radius,
                        const uint32_t *full, rest_neighbours *near, bool *changed);

/* Connected components of the graph of neighbours. number: by particle, the index of its component, in the order of
 * their first particles. *pieces: their number. */
pbd_status particle_pieces(const rest_neighbours *near, uint32_t *number, size_t *pieces);

#endif
