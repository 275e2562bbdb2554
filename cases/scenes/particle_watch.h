/* Measurements of particles from positions and velocities alone, for any method, and an observer of a moving scene:
 * energy, speed, penetration of walls, overlaps. */
#ifndef PBD_PARTICLE_WATCH_H
#define PBD_PARTICLE_WATCH_H

#include "cases/scenes/particle_scene.h"

/* particles, spacing, sampled_volume_ratio (where the solid's volume is known), dropped_sites. */
void particle_record_sampling(const sampling *s, size_t bodies, pbd_recorder *recorder);

/* Sums over all particles, on several threads, the same for any number of them. */
typedef struct particle_sums {
    double centre[3];        /* of mass, m */
    double deepest;          /* m: particle_deepest */
    size_t beyond;           /* likewise */
    double energy, fastest2; /* J: kinetic; m^2/s^2: the square of the largest speed */
} particle_sums;

/* v: NULL where there are no velocities; its sums are then 0. PBD_FAILED when memory is out. */
pbd_status particle_sum_up(const pbd_scene *scene, const double *x, const double *v, particle_sums *out);

/* J; PBD_NOT_SUPPORTED when the method tells no velocities. */
pbd_status particle_kinetic_energy(const pbd_scene *scene, const pbd_method *method, const void *state, double *energy,
                                   double *largest_speed);
void particle_centre_of_mass(const pbd_scene *scene, const double *x, double out[3]);
/* How far the surface of the worst particle is beyond a plane, m (0: none is); middles beyond one are counted. Planes
 * are taken where they are at time 0. */
double particle_deepest(const pbd_scene *scene, const double *x, size_t *beyond);

/* body_shape_error of each body, whose particles must be side by side: their mean and the worst. */
void particle_shape_errors(const pbd_scene *scene, const double *x, double *mean, double *worst);

/* Pairs of particles that should not touch: of two bodies, or of one and farther apart at rest than `self_distance` m.
 * All particles count, whether they collide in the run or not; `radius` m is that of each. */
typedef struct pair_count {
    double least;    /* m: the smallest distance seen, or 4 radius where none is nearer */
    size_t overlaps; /* pairs nearer than 0.9 times two radii */
} pair_count;
pbd_status particle_count_overlaps(const pbd_scene *scene, const double *x, double radius, double self_distance,
                                   pair_count *out);

/* Parts that hang together: neighbours on the lattice at rest (within 1.1 spacings) that are within 1.8 spacings now.
 * Pieces have `least` particles or more, crumbs fewer. */
pbd_status particle_count_pieces(const pbd_scene *scene, const double *x, size_t least, size_t *pieces, size_t *crumbs);

/* ---- A watch ----------------------------------------------------------------------------------------------------- */

typedef struct particle_watch {
    double radius, self_distance;   /* m: of pairs; set these two */
    double energy, peak, fastest;   /* J now, J at most; m/s at most */
    double least;                   /* m: the smallest distance of strangers so far */
    size_t overlaps, most_overlaps; /* pairs: now, at most */
    double deepest;                 /* m: in a plane, at most */
    size_t outside, most_outside;   /* particles whose middle is beyond a plane: now, at most */
    bool tells_velocities;
} particle_watch;

particle_watch particle_watch_start(double radius, double self_distance);
/* Looks, and appends to the series time, kinetic_energy, height (of the centre of mass), overlapping_pairs and
 * particles_outside. */
pbd_status particle_watch_look(particle_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                               double time, pbd_recorder *recorder);
/* kinetic_energy_left (of the peak), largest_speed, smallest_distance (over two radii; 2 where nothing came nearer),
 * overlapping_pairs, most_overlapping_pairs, particles_outside, most_particles_outside, deepest_in_walls. */
void particle_watch_record(const particle_watch *w, const pbd_scene *scene, pbd_recorder *recorder);

#endif
