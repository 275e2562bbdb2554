/* Colliders and blades as lines, for pictures: boxes by their edges, round things by circles, meshes by their edges or
 * by cuts, walls by where they stand on the ground. */
#ifndef PBD_COLLIDER_LINES_H
#define PBD_COLLIDER_LINES_H

#include "methods/method.h"

typedef struct pbd_lines {
    size_t count, capacity;
    double *end; /* count x 6, m: from, to */
} pbd_lines;

/* The plane that things fall to: the highest with its normal upward; NULL: there is none. */
const pbd_collider *pbd_ground_of(const pbd_scene *scene);

/* The box from low to high (m), grown to hold what colliders there are, wherever they move to; walls that stand upright
 * bound it where they stand. Without a ground under it its low end stays. */
void pbd_grow_by_colliders(const pbd_scene *scene, double low[3], double high[3]);

/* All of them at a time (s), walls within the box; `solids`: also those that pictures draw as triangles
 * (collider_mesh.h). To be freed with free(lines->end), also on failure. */
pbd_status pbd_collider_lines(const pbd_scene *scene, double time, const double low[3], const double high[3],
                              bool solids, pbd_lines *lines);

#endif
