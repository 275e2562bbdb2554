/* Tables that vbd precomputes from a tetrahedral mesh: colours of the free vertices, and their tetrahedra and
 * neighbours in slices (vbd_kernels.h). Host code, in f64. */
#ifndef PBD_VBD_MESH_H
#define PBD_VBD_MESH_H

#include "harness/exec/arena.h"

/* Arrays belong to the arena. Layout and meaning: vbd_mesh of vbd_kernels.h. */
typedef struct vbd_tables {
    size_t vertices, places, slices; /* free vertices; places, VBD_LANES per slice */
    size_t tet_rows, near_rows;      /* total over all slices */
    size_t tets, near;               /* entries without padding */
    int colours;
    size_t *colour_first, *colour_count; /* by colour: first place, number of vertices */
    uint32_t *own, *tet_count, *near_count, *tet_row, *near_row, *corner, *neighbour;
    double *spring, *shape, *volume;
    uint8_t *material; /* by tetrahedron, in rows like `volume` */
} vbd_tables;

/* mu: by material, Pa, for the springs. lanes: vertices per slice. PBD_BAD_INPUT: a flat or inverted tetrahedron.
 * PBD_NOT_SUPPORTED: too many tetrahedra for 32-bit indices. */
pbd_status vbd_tables_make(const pbd_scene *scene, const double *mu, size_t lanes, pbd_arena *arena, vbd_tables *out);

#endif
