/* Filling a solid with particles: on a cubic lattice, or spread at random but evenly (Poisson disks). */
#ifndef PBD_SAMPLING_H
#define PBD_SAMPLING_H

#include "cases/geometry/solid.h"

typedef enum sampling_kind { SAMPLING_LATTICE, SAMPLING_POISSON } sampling_kind;
extern const char *const sampling_kinds[]; /* lattice, poisson; ends with NULL */

/* The request. A count > 0 asks for exactly so many particles, and the spacing follows from it. */
typedef struct sampling_plan {
    sampling_kind kind;
    double spacing; /* m; read when count is 0 */
    size_t count;
    uint64_t seed; /* of SAMPLING_POISSON */
    bool cubes;    /* SAMPLING_LATTICE: leave out sites that are not a corner of a cube of eight sites */
    bool inside;   /* SAMPLING_LATTICE: leave out sites whose sphere of half a spacing is not all inside: for vessels */
} sampling_plan;

typedef struct sampling {
    size_t count;
    double *position;     /* count x 3, m */
    unsigned char *layer; /* count: 1 at the surface, 2 right beneath it, 0 deeper */
    double spacing;       /* m: of the lattice; of poisson the cube root of a particle's volume */
    double volume;        /* m^3, of each particle */
    double solid_volume;  /* m^3: of the solid itself; 0 if neither known nor measured */
    size_t dropped;       /* sites of the lattice that were left out to make the count exact */
    int32_t (*site)[3];   /* count: indices on the lattice; NULL for poisson */
} sampling;

/* Fills the solid. The same solid and plan give the same particles on every machine and for any number of threads.
 *
 * lattice: the sites of a cubic lattice that lie inside. Sites are the centres of cubes of volume spacing^3, arranged
 * symmetrically about the centre of the solid's bounding box. They fill a box whose edges are multiples of the spacing
 * without a gap; other edges are rounded to a multiple. For an exact count the spacing is bisected to the fewest sites
 * that are at least so many. The surplus sites nearest to the surface are then left out; of equally near ones those
 * that come last (sorted by x, then y, then z). A site is in layer 1 if one of its six neighbours is missing, in layer
 * 2 if one of them is in layer 1.
 *
 * poisson: sample elimination (C. Yuksel, Computer Graphics Forum 34, 2015) from five times as many seeded random
 * points, in time proportional to their number (elimination.c). The nearest pair is 0.76 spacings apart; no point of
 * the solid is farther than about one spacing from all particles. Where the solid is thick enough, particles keep 0.3
 * spacings from the surface: they stand for volumes, and would crowd at the surface otherwise. Each stands for an equal
 * share of the solid. Layers are by the distance from the surface, one spacing each.
 *
 * PBD_BAD_INPUT: no particle fits, the solid is smaller than half of one, or there would be too many. */
pbd_status sampling_make(const solid *body, const sampling_plan *plan, sampling *out);
void sampling_free(sampling *s); /* safe on a zeroed one */

/* Five tetrahedra (corners as in method.h) for each cube of eight sites of a lattice, mirrored from one cube to the
 * next: a mesh on the same particles. The caller frees *tet. *loose: number of particles in none of them. */
pbd_status sampling_tets(const sampling *s, uint32_t **tet, size_t *tets, size_t *loose);
/* The cubes themselves, eight corners each in the order of method.h. The caller frees *cube. */
pbd_status sampling_cubes(const sampling *s, uint32_t **cube, size_t *cubes);

enum { SAMPLING_MOST = 20000000 };

#endif
