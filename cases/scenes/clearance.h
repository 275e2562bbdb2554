/* How near particles are to a scene's colliders where it starts, scenes built so that no particle starts in one (a
 * method pushes whatever does out in a step, at that depth over the step), and which are beyond colliders later. */
#ifndef PBD_CLEARANCE_H
#define PBD_CLEARANCE_H

#include "harness/exec/arena.h"
#include "methods/method.h"

/* A particle nearer to a collider than its contact radius. */
typedef struct start_overlap {
    double depth, gap; /* m: radius less gap; distance from the surface, less a mesh's thickness, below 0 beyond it */
    size_t particle, collider;
} start_overlap;

/* The deepest overlap of free particles with colliders at time 0; depth is -INFINITY where there is nothing to compare.
 * Held particles are left out: no collider moves them. Sheets have no inside; they overlap what is near. */
pbd_status clearance_deepest(const pbd_scene *scene, start_overlap *out);

/* Free particles whose middle is beyond a collider's surface by more than their radius, and by more than half a spacing
 * (without one, by more than 0.01 of the scene's extent). */
typedef struct beyond_walls {
    size_t free, beyond;   /* particles: that are not held; of these, beyond */
    start_overlap deepest; /* depth: of the middle; -INFINITY without colliders */
} beyond_walls;

/* x: particles x 3, m, at `time`. Sheets have no inside. A non-finite position is not beyond. */
pbd_status clearance_beyond(const pbd_scene *scene, const double *x, double time, beyond_walls *out);

/* Which particles are held at `time`, s; the arena owns it. NULL without memory. */
bool *clearance_held(const pbd_scene *scene, double time, pbd_arena *arena);

/* Where particles start, m: particles x 3. */
static inline double *clearance_start(const pbd_scene *scene) {
    return scene->particles.start ? scene->particles.start : scene->particles.positions;
}

/* Removes overlaps of up to one spacing from a built scene: lattices do not fit shapes exactly, but end up to a quarter
 * of a spacing beyond them, and contact radii may exceed half a spacing. All particles are lifted off planes that face
 * up; other planes step back; and unless `share` is NULL, all radii are reduced by one factor, *share, not below a
 * tenth of the spacing, to the gaps that other colliders leave. Deeper overlaps stay, for the scene check to refuse; a
 * scene without any stays as it is, to the bit. */
pbd_status clearance_keep(pbd_scene *scene, double *share);

#endif
