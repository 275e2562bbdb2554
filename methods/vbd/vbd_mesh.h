/* Tables that vbd precomputes from a tetrahedral mesh: stages of the free vertices, and their tetrahedra and
 * neighbours in slices (vbd_kernels.h). Host code, in f64. */
#ifndef PBD_VBD_MESH_H
#define PBD_VBD_MESH_H

#include "harness/exec/arena.h"

/* What each slice holds. Arrays belong to the arena, and the scene must live as long as the tables. Layout and meaning:
 * vbd_mesh of vbd_kernels.h. */
typedef struct vbd_tables {
    const pbd_scene *scene;
    size_t vertices, places, slices, lanes; /* free vertices; places, `lanes` per slice */
    size_t tet_rows, near_rows;             /* total over all slices */
    size_t tets, near;                      /* entries without padding */
    int colours;
    size_t stages;                     /* of pbd_cut_colours, without empty ones; one slab: the colours */
    size_t *stage_first, *stage_count; /* by stage: first place, number of vertices */
    uint32_t *own, *tet_count, *near_count, *tet_row, *near_row;
    /* Tetrahedra of vertex i: tet[first[i] .. first[i + 1]), each as 4 times the tetrahedron's number plus the corner.
     */
    size_t *first;
    uint32_t *tet;
    /* While the neighbours of a vertex are collected: by vertex, 1 + its index in `found`, 0: none; what was found. */
    uint32_t *mark, *found;
    double *found_spring;
} vbd_tables;

/* The rows of consecutive slices. NULL: not needed. */
typedef struct vbd_rows_of_slices {
    size_t tets, near; /* entries of a column: rows x lanes */
    uint32_t *corner, *neighbour;
    double *spring, *shape, *volume;
    uint8_t *material; /* by tetrahedron */
} vbd_rows_of_slices;

/* lanes: vertices per slice. slab: of pbd_slab. PBD_BAD_INPUT: a flat or inverted tetrahedron. PBD_NOT_SUPPORTED: too
 * many tetrahedra for 32-bit indices. */
pbd_status vbd_tables_make(const pbd_scene *scene, size_t lanes, size_t slab, pbd_arena *arena, vbd_tables *out);

/* Fills `tets`, `near` and the arrays of the rows of slices [begin, end). mu: by material, Pa, for the springs. */
pbd_status vbd_fill_rows(vbd_tables *t, const double *mu, size_t begin, size_t end, vbd_rows_of_slices *out);

#endif
