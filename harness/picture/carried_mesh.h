/* A triangle mesh that the particles of its body carry, for pictures.
 *
 * Each vertex follows the affine map that best fits the motion of its CARRIERS nearest particles of the body, with
 * weights that fade to zero at the next nearest (moving least squares: D. Levin, Mathematics of Computation 67, 1998).
 * The map is linear in the particles' positions, so its coefficients are computed once, at rest. Where the carriers lie
 * in a plane, the vertex keeps its distance from the plane along the current normal.
 *
 * Tearing: two carriers within BOND spacings at rest are joined by a bond. It breaks at a stretch of more than TORN; in
 * a stretched body, of more than TORN times the median stretch of the vertex's bonds; and always above LONGEST, so that
 * a single particle that flies off drags no surface with it. A vertex is carried by those of its carriers that bonds
 * still connect to its nearest one. A triangle is left out if two of its corners have no carrier in common. */
#ifndef PBD_CARRIED_MESH_H
#define PBD_CARRIED_MESH_H

#include "harness/exec/arena.h"

enum { CARRIERS = 16 };

typedef struct carried_mesh {
    size_t vertices, triangles;
    double *rest;       /* vertices x 3, m */
    uint32_t *triangle; /* triangles x 3 */
    uint32_t *carrier;  /* vertices x CARRIERS, nearest first; UINT32_MAX: none */
    uint16_t *bound;    /* vertices x CARRIERS: bit k is set if a bond joins this carrier to the later carrier k */
    double *share;      /* vertices x CARRIERS: coefficients of the carriers' positions */
    double *null;       /* vertices x 3, m: unit normal of carriers that lie in a plane, times the vertex's distance
                           from it; 0 for others */
    double spacing;     /* m */
    const double *rest_particles;
    /* For the current positions of the particles. */
    double *position; /* vertices x 3, m */
    uint16_t *held;   /* vertices: bit k is set if carrier k carries the vertex */
    uint32_t *shown;  /* shown_triangles x 3 */
    size_t shown_triangles;
    pbd_arena owned;
} carried_mesh;

/* `particle`: the `count` particles that may carry the mesh, ascending. rest: positions of all particles at rest, x 3,
 * m; must outlive the mesh. Edges longer than a spacing are halved, up to 1e6 triangles. Free with carried_mesh_free
 * (safe on a zeroed one), also after an error. */
pbd_status carried_mesh_make(const pbd_skin *skin, const double *rest, const uint32_t *particle, size_t count,
                             double spacing, carried_mesh *out);
void carried_mesh_free(carried_mesh *mesh);

/* Sets positions and triangles for particles at x. */
void carried_mesh_move(carried_mesh *mesh, const double *x);

/* The weighted mean of the carriers' finite values at a vertex. */
float carried_value(const carried_mesh *mesh, size_t vertex, const float *value);

#endif
