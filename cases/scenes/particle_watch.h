/* Measurements of particles from positions and velocities alone, for any method, and an observer of a moving scene:
 * energy, speed, penetration of walls, overlaps. */
#ifndef PBD_PARTICLE_WATCH_H
#define PBD_PARTICLE_WATCH_H

#include "cases/scenes/particle_scene.h"

/* Records particles, spacing, sampled_volume_ratio (if the solid's volume is known), dropped_sites. */
void particle_record_sampling(const sampling *s, size_t bodies, pbd_recorder *recorder);

/* Sums over all particles, computed by several threads; they do not depend on the number of threads. */
typedef struct particle_sums {
    double centre[3];        /* of mass, m */
    double deepest;          /* m: particle_deepest */
    size_t beyond;           /* particles, likewise */
    double energy, fastest2; /* J: kinetic; m^2/s^2: the square of the largest speed */
} particle_sums;

/* v: NULL if there are no velocities; energy and fastest2 are then 0. PBD_FAILED when memory runs out. */
pbd_status particle_sum_up(const pbd_scene *scene, const double *x, const double *v, particle_sums *out);

/* J and m/s; PBD_NOT_SUPPORTED if the method does not provide velocities. */
pbd_status particle_kinetic_energy(const pbd_scene *scene, const pbd_method *method, const void *state, double *energy,
                                   double *largest_speed);
void particle_centre_of_mass(const pbd_scene *scene, const double *x, double out[3]);
/* Returns the largest depth of a particle's surface beyond a plane, m (0: none is beyond). *beyond: number of particles
 * whose centre is beyond a plane. Planes are taken at their positions at time 0. */
double particle_deepest(const pbd_scene *scene, const double *x, size_t *beyond);

/* Mean and largest body_shape_error of the bodies, which must have equally many particles, stored body by body. */
void particle_shape_errors(const pbd_scene *scene, const double *x, double *mean, double *worst);

/* Pairs of particles that should not touch: of two bodies, or of one body and farther apart at rest than
 * `self_distance` m (0: none of one body). All particles count, whether they collide in the run or not, with the same
 * radius of `radius` m. */
typedef struct pair_count {
    double least;    /* m: the smallest distance, at most 4 radius */
    size_t overlaps; /* pairs nearer than 0.9 times two radii */
} pair_count;
pbd_status particle_count_overlaps(const pbd_scene *scene, const double *x, double radius, double self_distance,
                                   pair_count *out);

/* Counts connected components, where neighbours on the lattice at rest (within 1.1 spacings) are connected if they are
 * within 1.8 spacings now. Pieces have `least` particles or more, crumbs fewer. */
pbd_status particle_count_pieces(const pbd_scene *scene, const double *x, size_t least, size_t *pieces, size_t *crumbs);

/* ---- A watch ----------------------------------------------------------------------------------------------------- */

typedef struct particle_watch {
    double radius, self_distance;   /* m: as for particle_count_overlaps */
    double energy, peak, fastest;   /* J now; J and m/s, the largest so far */
    double least;                   /* m: the smallest pair_count.least so far */
    size_t overlaps, most_overlaps; /* pairs: now, the most so far */
    double deepest;                 /* m: beyond a plane, the largest so far */
    size_t outside, most_outside;   /* particles whose centre is beyond a plane: now, the most so far */
    bool tells_velocities;
} particle_watch;

particle_watch particle_watch_start(double radius, double self_distance);
/* Measures, and appends to the series time, kinetic_energy, height (of the centre of mass), overlapping_pairs and
 * particles_outside. */
pbd_status particle_watch_look(particle_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                               double time, pbd_recorder *recorder);
/* Records kinetic_energy_left (over the peak), largest_speed, smallest_distance (over two radii; at most 2),
 * overlapping_pairs, most_overlapping_pairs, particles_outside, most_particles_outside, deepest_in_walls. */
void particle_watch_record(const particle_watch *w, const pbd_scene *scene, pbd_recorder *recorder);

#endif
