/* Building the layout of xpbi_layout_kernels.h. */
#ifndef PBD_XPBI_LAYOUT_H
#define PBD_XPBI_LAYOUT_H

#include "methods/physics/space/neighbours.h"
#include "methods/xpbi/xpbi_kernels.h"

PBD_PRECISE(xpbi_layout_create, xpbi_layout_free, xpbi_layout_make, xpbi_allocate, xpbi_room)

typedef struct xpbi_layout {
    pbd_exec *exec;
    size_t particles, padding; /* padding: the first padding row, after the rows of other matter */
    bool large;                /* pbd_is_large, with `slab` as of pbd_slab */
    size_t slab;
    int period;     /* colours along an axis */
    double reach;   /* 2r, m */
    grid search;    /* after a sort, places are particles */
    grid colouring; /* period 2: cells of 4r */
    xpbi_layout_args at;
    xpbi_slices slices;
    size_t lanes, slice_count, rows;
    xpbi_stage_numbers stage[XPBI_MOST_STAGES + 1]; /* at.stages of them, and one more */
    /* The items of a sweep's launches over each stage, and the slices of those over all slots: the lanes and slices or,
     * on a GPU, upper bounds that seldom change. */
    size_t launched[XPBI_MOST_STAGES], launched_slices;
    pbd_work all;   /* particles and all neighbours */
    size_t room[8]; /* capacities of growing arrays: xpbi_room */
} xpbi_layout;

/* Particles of a stage and all neighbours; particles and neighbours that may touch. */
static inline pbd_work xpbi_work(const xpbi_layout *l, size_t stage) {
    return (pbd_work){.items = l->stage[stage].particles, .entries = l->stage[stage].neighbours};
}
static inline pbd_work xpbi_near_work(const xpbi_layout *l, size_t stage) {
    return (pbd_work){.items = l->stage[stage].particles, .entries = l->stage[stage].near};
}

void xpbi_layout_free(xpbi_layout *l);
pbd_status xpbi_allocate(pbd_exec *exec, size_t count, size_t size, void *out);
pbd_status xpbi_layout_create(xpbi_layout *l, pbd_exec *exec, size_t particles, double reach, int period);

/* Enlarges *device, with a capacity of *room elements of `size` bytes, to `wanted`; its contents are lost. */
pbd_status xpbi_room(pbd_exec *exec, size_t wanted, size_t size, void *device, size_t *room);

/* For particles in the order of `search`, which the caller has lent memory (grid_lend) and sorted; rows: positions.
 * Pairs nearer than `near` come first in the lists. Cells, lanes and stored neighbours are lost when the
 * first entry is written. */
pbd_status xpbi_layout_make(xpbi_layout *l, const real *rows, double near);

#endif
