/* How near particles are to a scene's colliders where it starts, and scenes built so that no particle starts in one: a
 * method pushes whatever does out in a step, at that depth over the step. */
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

/* Which particles are held; the arena owns it. NULL without memory. */
bool *clearance_held(const pbd_scene *scene, pbd_arena *arena);

/* Where particles start, m: particles x 3. */
static inline double *clearance_start(const pbd_scene *scene) {
    return scene->particles.start ? scene->particles.start : scene->particles.positions;
}

/* Removes overlaps of up to one spacing from a built scene: lattices do not fit shapes exactly, but end up to a quarter
 * of a spacing beyond them, and contact radii may exceed half a spacing. All particles are lifted off planes that face
 * up; other planes step back; and where `shrink` is set, all radii are reduced by one factor, not below a tenth of the
 * spacing, to the gaps that other colliders leave. Deeper overlaps stay, for the scene check to refuse; a scene without
 * any stays as it is, to the bit. */
pbd_status clearance_keep(pbd_scene *scene, bool shrink);

#endif
