/* Clusters of elements as kernels see them (clusters.h), on the device. */
#ifndef PBD_CLUSTER_VIEW_H
#define PBD_CLUSTER_VIEW_H

#include <stdint.h>

enum { CLUSTER_PARTICLES = 64 }; /* of a cluster, at most */

/* Clusters from a first one on. Elements are held cluster by cluster, within a cluster part by part. */
typedef struct cluster_view {
    const uint32_t *first_part;     /* by cluster, and one more: index into `part` */
    const uint32_t *part;           /* by part, and one more: its first element */
    const uint32_t *first_particle; /* by cluster, and one more: index into `particle` */
    const uint32_t *particle;       /* of the scene */
    const uint32_t *own;            /* 4 by element: its corners as indices into the particles of its cluster */
} cluster_view;

#endif
