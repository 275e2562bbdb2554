/* Measurements of particles and their neighbours on the host, in f64 (particle_survey.h): spacing, density, relative
 * motion, and connected pieces. Results are bitwise the same for any number of threads. */
#ifndef PBD_NEIGHBOURS_H
#define PBD_NEIGHBOURS_H

#include "methods/method.h"

/* A survey of x and v (particles x 3, m and m/s; v NULL: no velocities), without tension, by as many threads as
 * pbd_team_run uses. PBD_FAILED when memory runs out. */
pbd_status survey_places(const double *x, const double *v, size_t count, const pbd_survey *asked, pbd_surveyed *out);

/* ---- How evenly particles lie ------------------------------------------------------------------------------------ */

typedef struct evenness {
    double mean, deviation, least; /* of the distance to the nearest neighbour, in spacings; NaN if there is none */
    double density;                /* kg/m^3, the largest: Wendland's C2 kernel, support radius of two spacings */
    size_t lone;                   /* particles with no neighbour within two spacings: not in the first three */
} evenness;

evenness evenness_of(const pbd_surveyed *s, double spacing);
pbd_status granular_evenness(const pbd_scene *scene, const double *x, evenness *out);
/* The kinetic energy, J, of the velocities v (particles x 3, m/s) relative to the mean velocity of the neighbours,
 * weighted by the kernel of `evenness`. Particles without neighbours, and motion of the whole, contribute nothing. This
 * is the energy that XSPH (yu2024 Eq. 20) dissipates. PBD_FAILED when memory runs out. */
pbd_status granular_relative_energy(const pbd_scene *scene, const double *x, const double *v, double *out);
/* The largest density, kg/m^3, by the same kernel with the support radius `support`, m. With a radius of two grid cells
 * it does not depend on how particles are arranged within a cell. */
pbd_status granular_density(const pbd_scene *scene, const double *x, double support, double *out);

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* Connected components of particles, where those nearer than `link`, m, are connected. Pieces have `least` particles or
 * more, crumbs fewer. */
typedef struct pieces {
    size_t pieces, crumbs; /* number of each */
    size_t largest;        /* number of particles in the largest piece */
    uint32_t *of;          /* particles: the lowest particle of each one's component, which identifies it */
    uint32_t main;         /* the lowest particle of the largest piece */
} pieces;

pbd_status granular_pieces(const double *x, size_t count, double link, size_t least, pieces *out);
/* The link distance for granular matter, in spacings. */
#define GRANULAR_LINK 1.8
/* Counts the pieces of `of`, which alone is set. */
pbd_status granular_count_pieces(size_t count, size_t least, pieces *out);
void granular_free_pieces(pieces *p); /* safe on a zeroed one */

#endif
