/* Overlaps of particles with a scene's colliders at the start, their removal from built scenes, and particles beyond
 * colliders later. A particle that starts in a collider is pushed out by the method in one step, thus at a speed of its
 * depth over the time step. */
#ifndef PBD_CLEARANCE_H
#define PBD_CLEARANCE_H

#include "harness/exec/arena.h"
#include "methods/method.h"

/* A particle nearer to a collider than its contact radius. */
typedef struct start_overlap {
    double depth, gap; /* m: radius - gap; signed distance from the surface, minus a mesh's thickness, < 0 beyond it */
    size_t particle, collider;
} start_overlap;

/* Finds the deepest overlap of a free particle with a collider at time 0; depth is -INFINITY if there is nothing to
 * compare. Held particles are left out: no collider moves them. Sheets have no inside; particles overlap them only by
 * being near. */
pbd_status clearance_deepest(const pbd_scene *scene, start_overlap *out);

/* A free particle is beyond a collider if its centre is beyond the surface by more than its radius and by more than
 * half a spacing (0.01 of the scene's extent if there is no spacing). */
typedef struct beyond_walls {
    size_t free, beyond;   /* number of particles that are not held; of these, beyond a collider */
    start_overlap deepest; /* depth: of the centre, m; -INFINITY without colliders */
} beyond_walls;

/* x: particles x 3, m, at `time`. Sheets have no inside. A non-finite position is not beyond. */
pbd_status clearance_beyond(const pbd_scene *scene, const double *x, double time, beyond_walls *out);

/* Returns whether each particle is held at `time`, s; the arena owns the array. NULL when memory runs out. */
bool *clearance_held(const pbd_scene *scene, double time, pbd_arena *arena);

/* Returns the initial positions, particles x 3, m. */
static inline double *clearance_start(const pbd_scene *scene) {
    return scene->particles.start ? scene->particles.start : scene->particles.positions;
}

/* Removes overlaps of up to one spacing from a built scene. They arise because a lattice does not fit a shape exactly
 * and may end up to a quarter of a spacing beyond it, and because contact radii may exceed half a spacing. All
 * particles are lifted off planes that face up, and other planes are moved back. Unless `share` is NULL, all radii are
 * then multiplied by one factor, *share, to fit into the gaps to other colliders, but not to below a tenth of the
 * spacing. Deeper overlaps remain, and the scene check refuses them. A scene without overlaps stays bitwise the same.
 */
pbd_status clearance_keep(pbd_scene *scene, double *share);

#endif
