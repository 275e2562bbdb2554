/* Filling a solid with particles: on a cubic lattice, or spread at random but evenly (Poisson disks). */
#ifndef PBD_SAMPLING_H
#define PBD_SAMPLING_H

#include "cases/geometry/solid.h"

typedef enum sampling_kind { SAMPLING_LATTICE, SAMPLING_POISSON } sampling_kind;
extern const char *const sampling_kinds[]; /* lattice, poisson; ends with NULL */

/* The request. With a count, exactly so many particles; the spacing follows. */
typedef struct sampling_plan {
    sampling_kind kind;
    double spacing; /* m; read when count is 0 */
    size_t count;
    uint64_t seed; /* of SAMPLING_POISSON */
    bool cubes;    /* SAMPLING_LATTICE: leave out sites that are no corner of a cube of eight sites */
    bool inside;   /* SAMPLING_LATTICE: leave out sites whose sphere of half a spacing is not all inside: of a vessel */
} sampling_plan;

typedef struct sampling {
    size_t count;
    double *position;     /* count x 3, m */
    unsigned char *layer; /* count: 1 at the surface, 2 right beneath it, 0 deeper */
    double spacing;       /* m: of the lattice; else the cube root of a particle's volume */
    double volume;        /* m^3, of each particle */
    double solid_volume;  /* m^3: the solid's own; 0 when neither known nor measured */
    size_t dropped;       /* sites of the lattice that were left out to make the count exact */
    int32_t (*site)[3];   /* count: place on the lattice; NULL of others */
} sampling;

/* Fills the solid. The same solid and plan give the same particles on every machine and for any number of threads.
 *
 * lattice: the sites of a cubic lattice that lie inside, in the middle of cubes that together are symmetric about the
 * middle of the solid's box; a box whose edges are whole multiples of the spacing is filled without a gap. Each stands
 * for spacing^3. An edge that is no whole multiple is rounded to one. For an exact count the spacing is bisected to the
 * fewest sites that are not fewer, and of these the ones nearest to the surface are left out; of equally near ones
 * those that come last (x before y before z). A site is in layer 1 when one of its six neighbours is missing, in layer
 * 2 when one of them is in layer 1.
 *
 * poisson: sample elimination (C. Yuksel, Computer Graphics Forum 34, 2015) from five times as many seeded random
 * points, in time proportional to their number (elimination.c). The nearest pair is 0.76 spacings apart, no point
 * farther than about one spacing from all of them. None is nearer than 0.3 spacings to the surface where the solid is
 * thick enough: particles stand for volumes, and would crowd at the surface otherwise. Each stands for an equal share
 * of the solid. Layers are by the distance from the surface, one spacing each.
 *
 * PBD_BAD_INPUT: no particle fits, the solid is smaller than half of one, or there would be too many. */
pbd_status sampling_make(const solid *body, const sampling_plan *plan, sampling *out);
void sampling_free(sampling *s); /* safe on a zeroed one */

/* Five tetrahedra (corners as in method.h) for each cube of eight sites of a lattice, mirrored from one cube to the
 * next: a mesh on the same particles. *tet is the caller's. Particles in none of them are counted in *loose. */
pbd_status sampling_tets(const sampling *s, uint32_t **tet, size_t *tets, size_t *loose);
/* These cubes themselves, eight corners each in the order of method.h; likewise. */
pbd_status sampling_cubes(const sampling *s, uint32_t **cube, size_t *cubes);

enum { SAMPLING_MOST = 20000000 };

#endif
