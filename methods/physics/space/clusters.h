/* Clusters of tetrahedra for a GPU. With a colouring of single elements, a sweep takes 30 to 40 launches, each with few
 * elements. With a colouring of clusters of about twenty elements it takes at most ten: a tile of lanes keeps the
 * particles of a cluster in shared memory and sweeps its elements there, by colours within the cluster (parts).
 *
 * Elements are grouped by the box of a grid that contains their centre. Boxes two apart share no particle if a box is
 * twice as wide as an element, and nearly none if it is narrower. First fit, with boxes sorted by the parities of their
 * three grid coordinates (eight classes), therefore needs 8 to 10 colours. If it needs more, larger boxes are tried.
 * Meshes with elements of very different sizes may have no clusters. Each material has its own clusters and colours,
 * since a launch has a single material.
 *
 * The order depends on the mesh alone, so results are bitwise the same in every run. They differ from those of plain
 * colours as the results of any two sweep orders do. */
#ifndef PBD_CLUSTERS_H
#define PBD_CLUSTERS_H

#include "harness/exec/arena.h"
#include "methods/physics/space/cluster_view.h"

enum { CLUSTER_COLOURS = 10 }; /* largest number for one material */

/* Clusters of one colour and one material. */
typedef struct cluster_batch {
    size_t first, count; /* clusters */
    int material;        /* index into the scene's materials */
} cluster_batch;

typedef struct cluster_plan {
    size_t clusters, parts, entries; /* entries: particles of all clusters */
    int colours;                     /* largest number for one material; 0: no clusters found, nothing else is set */
    uint32_t *order;                 /* place -> element of the scene */
    uint32_t *first_part, *part, *first_particle, *particle, *own; /* as in cluster_view */
    cluster_batch *batch;                                          /* by material, then by colour */
    size_t batches;
} cluster_plan;

/* Clusters the scene's tetrahedra at rest. The arena owns the arrays. */
pbd_status cluster_plan_make(const pbd_scene *scene, pbd_arena *arena, cluster_plan *out);

#endif
