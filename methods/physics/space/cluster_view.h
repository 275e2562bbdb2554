/* Device view of clusters of elements (clusters.h), for kernels. */
#ifndef PBD_CLUSTER_VIEW_H
#define PBD_CLUSTER_VIEW_H

#include <stdint.h>

enum { CLUSTER_PARTICLES = 64 }; /* largest number of particles of a cluster */

/* Clusters from a given first one on. Elements are stored by cluster and, within a cluster, by part. */
typedef struct cluster_view {
    const uint32_t *first_part;     /* by cluster, one more at the end: index into `part` */
    const uint32_t *part;           /* by part, one more at the end: its first element */
    const uint32_t *first_particle; /* by cluster, one more at the end: index into `particle` */
    const uint32_t *particle;       /* index in the scene */
    const uint32_t *own;            /* elements x 4: corners, as indices into the particles of the cluster */
} cluster_view;

#endif
