/* Cutting of bodies that are sampled by particles (cao2023 section 4.4): which pairs of neighbours a blade separates.
 * At the end of a substep particle_energy.h passes positions and lists of rest neighbours; pairs that cross a blade are
 * removed from the lists, lost neighbours are replaced, and connected pieces are counted. Host, f64; positions,
 * velocities, masses and volumes do not change. */
#ifndef PBD_PARTICLE_CUT_H
#define PBD_PARTICLE_CUT_H

#include "methods/physics/space/rest_neighbours.h"

typedef struct particle_cuts {
    size_t blades;
    pbd_blade *blade;
    size_t cut, added; /* pairs so far */
} particle_cuts;

/* Copies the scene's blades. PBD_BAD_INPUT for one without area, numbers or time. */
pbd_status particle_cuts_make(const pbd_scene *scene, particle_cuts *out);
void particle_cuts_free(particle_cuts *c); /* safe on a zeroed one */

/* Whether any blade is there at `time`, s. */
bool particle_cuts_active(const particle_cuts *c, double time);

/* Takes from `near` all pairs whose straight line between positions x (particles x 3, m) crosses a blade where it is at
 * `time`. A particle that lost some and has fewer than `full` (particles: its number at the start) gains the nearest
 * particle at rest that its neighbours know and that lies beyond `radius`: what is nearer and no neighbour was cut off.
 * *changed: whether anything was. Lists stay ascending and mutual. */
pbd_status particle_cut(particle_cuts *c, double time, const double *x, const double *rest, double radius,
                        const uint32_t *full, rest_neighbours *near, bool *changed);

/* Connected pieces of the graph of neighbours: number (particles) gets each one's, in the order of their first
 * particles; returned: how many. */
pbd_status particle_pieces(const rest_neighbours *near, uint32_t *number, size_t *pieces);

#endif
