/* Sweeps over clusters of elements (clusters.h) in tile kernels. A tile processes one cluster, with its particles in
 * shared memory; the lanes share the elements of one part of the cluster at a time. */
#ifndef PBD_ELEMENT_CLUSTERS_H
#define PBD_ELEMENT_CLUSTERS_H

#include "harness/exec/tile.h"
#include "methods/physics/parts/element_solver_kernels.h"
#include "methods/physics/space/cluster_view.h"

PBD_FN void cluster_load(const cluster_view *v, size_t cluster, const real *p, real *row) {
    const uint32_t first = v->first_particle[cluster], count = v->first_particle[cluster + 1] - first;
    for (uint32_t k = PBD_LANE; k < count; k += PBD_LANES) {
        real values[4];
        row_load(p + 4 * (size_t)v->particle[first + k], values);
        row_store(row + 4 * k, values);
    }
}

PBD_FN void cluster_store(const cluster_view *v, size_t cluster, const real *row, real *p) {
    const uint32_t first = v->first_particle[cluster], count = v->first_particle[cluster + 1] - first;
    for (uint32_t k = PBD_LANE; k < count; k += PBD_LANES) {
        real values[4];
        row_load(row + 4 * k, values);
        row_store(p + 4 * (size_t)v->particle[first + k], values);
    }
}

/* The view of a cluster's elements with its particles in `row`. Elements are stored in the order of the sweep, so they
 * are not prefetched. */
PBD_FN element_view cluster_elements(const cluster_view *v, const element_view *all, real *row) {
    element_view own = *all;
    own.corner = v->own;
    own.p = row;
    own.left = 0;
    return own;
}

/* Projects all elements of a cluster once. `project` is an expression that projects `count` elements from `first` on in
 * the element_view `at`. all: the view from the first element of the mesh on. */
#define CLUSTER_SWEEP(clusters, all, cluster, project)                                                     \
    do {                                                                                                   \
        const cluster_view *const of_ = (clusters);                                                        \
        PBD_SHARED(real, rows_, 4 * CLUSTER_PARTICLES * PBD_TILES);                                        \
        real *const row_ = rows_ + 4 * CLUSTER_PARTICLES * PBD_TILE_IN_BLOCK;                              \
        const element_view at = cluster_elements(of_, all, row_);                                          \
        cluster_load(of_, cluster, (all)->p, row_);                                                        \
        tile_barrier();                                                                                    \
        for (uint32_t part_ = of_->first_part[cluster]; part_ < of_->first_part[(cluster) + 1]; part_++) { \
            const uint32_t end_ = of_->part[part_ + 1];                                                    \
            for (size_t first = of_->part[part_] + PBD_BATCH * PBD_LANE; first < end_;                     \
                 first += PBD_BATCH * PBD_LANES) {                                                         \
                const int count = end_ - first < PBD_BATCH ? (int)(end_ - first) : PBD_BATCH;              \
                project;                                                                                   \
            }                                                                                              \
            tile_barrier();                                                                                \
        }                                                                                                  \
        cluster_store(of_, cluster, row_, (all)->p);                                                       \
    } while (0)

#endif
