/* Colliders and blades as lines, for pictures: boxes by their edges, round shapes by circles, meshes by their edges or
 * sections, walls as rectangles on the ground. */
#ifndef PBD_COLLIDER_LINES_H
#define PBD_COLLIDER_LINES_H

#include "methods/method.h"

typedef struct pbd_lines {
    size_t count, capacity;
    double *end; /* count x 6, m: from, to */
} pbd_lines;

/* The ground: the highest plane with an upward normal; NULL: there is none. */
const pbd_collider *pbd_ground_of(const pbd_scene *scene);

/* Grows the box from low to high (m) to hold the colliders at the start and at the end; of planes, only walls normal to
 * x or y. If there is a ground, low[2] is set to it first. */
void pbd_grow_by_colliders(const pbd_scene *scene, double low[3], double high[3]);

/* Colliders and blades at a time (s), walls cut to the box; `solids`: also those that pictures draw as triangles
 * (collider_mesh.h). The caller frees lines->end, also on failure. */
pbd_status pbd_collider_lines(const pbd_scene *scene, double time, const double low[3], const double high[3],
                              bool solids, pbd_lines *lines);

#endif
