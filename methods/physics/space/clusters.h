/* Clusters of tetrahedra for a GPU. In colours of single elements a mesh takes 30 to 40 launches a sweep, each with few
 * elements. Clusters of some twenty elements, coloured as clusters, take at most ten: a tile of lanes keeps the
 * particles of a cluster in shared memory and sweeps its elements there, by colours within the cluster (parts).
 *
 * Elements are gathered by the boxes of a grid that their centres lie in. Boxes two apart share no particle when a box
 * is twice as wide as an element, and nearly none in narrower ones: first fit, in the order of the eight parities of a
 * box's place, needs 8 to 10 colours. Where it needs more, boxes are made larger. Meshes with elements of very
 * different sizes may have no clusters. Each material has clusters and colours of its own, since a launch is of one.
 *
 * The order depends on the mesh alone, so results are the same to the bit on every run; they differ from those of plain
 * colours as those of any two orders of a sweep do. */
#ifndef PBD_CLUSTERS_H
#define PBD_CLUSTERS_H

#include "harness/exec/arena.h"
#include "methods/physics/space/cluster_view.h"

enum { CLUSTER_COLOURS = 10 }; /* at most */

/* Clusters of one colour and one material. */
typedef struct cluster_batch {
    size_t first, count; /* clusters */
    int material;        /* index into the scene's */
} cluster_batch;

typedef struct cluster_plan {
    size_t clusters, parts, entries; /* entries: particles of all clusters */
    int colours;                     /* of a material, at most; 0: none were found, and nothing else is set */
    uint32_t *order;                 /* place -> element of the scene */
    uint32_t *first_part, *part, *first_particle, *particle, *own; /* as in cluster_view */
    cluster_batch *batch;                                          /* by material, colour by colour */
    size_t batches;
} cluster_plan;

/* Of the scene's tetrahedra at rest; the arena owns the arrays. */
pbd_status cluster_plan_make(const pbd_scene *scene, pbd_arena *arena, cluster_plan *out);

#endif
