/* A triangle mesh that the particles of its body carry, for pictures.
 *
 * Each vertex goes where the affine map takes it that fits its nearest CARRIERS particles of the body best, with
 * weights that fade to zero at the next one (moving least squares: D. Levin, Mathematics of Computation 67, 1998). The
 * map is linear in the particles' positions, so that its coefficients are found once, at rest. Where the carriers lie
 * in a plane, their normal is carried as a normal.
 *
 * Where the body tears: two carriers nearer than BOND spacings at rest are bound until they are more than TORN times as
 * far apart, or of a body that is stretched more than TORN times the median stretch of the vertex's bonds, and never
 * above LONGEST times: a lone particle that was thrown away takes no surface with it. Of a vertex's carriers those that
 * bonds still join to its nearest one carry it; a triangle of which two corners have no carrier in common is left out.
 */
#ifndef PBD_CARRIED_MESH_H
#define PBD_CARRIED_MESH_H

#include "harness/exec/arena.h"

enum { CARRIERS = 16 };

typedef struct carried_mesh {
    size_t vertices, triangles;
    double *rest;       /* vertices x 3, m */
    uint32_t *triangle; /* triangles x 3 */
    uint32_t *carrier;  /* vertices x CARRIERS, nearest first; UINT32_MAX: none */
    uint16_t *bound;    /* vertices x CARRIERS: bit k is set where a bond joins it to carrier k, k larger */
    double *share;      /* vertices x CARRIERS: coefficients of the carriers' positions */
    double *null;       /* vertices x 3: normal of carriers that lie in a plane, m, times the vertex's distance from it;
                           0 of others */
    double spacing;     /* m */
    const double *rest_particles;
    /* As the particles lie now. */
    double *position; /* vertices x 3, m */
    uint16_t *held;   /* vertices: bit k is set where carrier k carries it */
    uint32_t *shown;  /* shown_triangles x 3 */
    size_t shown_triangles;
    pbd_arena owned;
} carried_mesh;

/* `particle` (count of them, ascending) may carry it; rest: of all particles, x 3, which must outlive it. Edges longer
 * than a spacing are halved, at most 1e6 triangles. Free with carried_mesh_free (safe on a zeroed one), also after an
 * error. */
pbd_status carried_mesh_make(const pbd_skin *skin, const double *rest, const uint32_t *particle, size_t count,
                             double spacing, carried_mesh *out);
void carried_mesh_free(carried_mesh *mesh);

/* Sets positions and triangles for particles at x. */
void carried_mesh_move(carried_mesh *mesh, const double *x);

/* The carriers' values at a vertex. */
float carried_value(const carried_mesh *mesh, size_t vertex, const float *value);

#endif
