/* What particles have near them, by one search on several threads (near_places.h): spacing, density, relative motion,
 * and the pieces that they form. Bitwise the same for any number of threads. */
#ifndef PBD_NEIGHBOURS_H
#define PBD_NEIGHBOURS_H

#include "methods/method.h"

/* ---- How evenly particles lie ------------------------------------------------------------------------------------ */

typedef struct evenness {
    double mean, deviation, least; /* of the distance of nearest neighbours, over the spacing; NaN where none has any */
    double density;                /* kg/m^3, the largest: Wendland's C2 kernel that ends at two spacings */
    size_t lone;                   /* particles with no neighbour within two spacings: not in the three above */
} evenness;

pbd_status granular_evenness(const pbd_scene *scene, const double *x, evenness *out);
/* J: of velocities v (particles x 3, m/s) relative to the mean of those of the neighbours, weighted by the kernel of
 * `evenness`; a particle without neighbours has none. Motion as a whole does not count. It is what XSPH takes from
 * (yu2024 Eq. 20). PBD_FAILED when memory is out. */
pbd_status granular_relative_energy(const pbd_scene *scene, const double *x, const double *v, double *out);
/* kg/m^3, the largest: the same kernel ending at `support`, m. Over two cells of a grid it does not see how particles
 * lie within one. */
pbd_status granular_density(const pbd_scene *scene, const double *x, double support, double *out);

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* Particles nearer than `link` hang together. Pieces have `least` particles or more, crumbs fewer. */
typedef struct pieces {
    size_t pieces, crumbs; /* number of each */
    size_t largest;        /* particles of the largest one */
    uint32_t *of;          /* particles: the lowest number in the piece of each */
    uint32_t main;         /* that of the largest */
} pieces;

pbd_status granular_pieces(const double *x, size_t count, double link, size_t least, pieces *out);
/* Within how many spacings particles of granular matter hang together. */
#define GRANULAR_LINK 1.8
void granular_free_pieces(pieces *p); /* safe on a zeroed one */

/* ---- All of it by one search ------------------------------------------------------------------------------------- */

typedef struct neighbours_seen {
    evenness even;
    double relative; /* J, as granular_relative_energy */
} neighbours_seen;

/* support, m: at least GRANULAR_LINK spacings where parts are wanted. v (particles x 3, m/s), parts: NULL where they
 * are not wanted. PBD_FAILED when memory is out. */
pbd_status neighbours_see(const pbd_scene *scene, const double *x, const double *v, double support, pieces *parts,
                          neighbours_seen *out);

#endif
