/* Building the layout of xpbi_layout_kernels.h. */
#ifndef PBD_XPBI_LAYOUT_H
#define PBD_XPBI_LAYOUT_H

#include "methods/physics/space/neighbours.h"
#include "methods/xpbi/xpbi_kernels.h"

PBD_PRECISE(xpbi_layout_create, xpbi_layout_free, xpbi_layout_make, xpbi_colours, xpbi_allocate, xpbi_room)

typedef struct xpbi_layout {
    pbd_exec *exec;
    size_t particles, padding; /* padding: the first padding row, after the rows of other matter */
    int period;                /* colours along an axis */
    double reach;              /* 2r, m */
    grid search;               /* after a sort, places are particles */
    grid colouring;            /* period 2: cells of 4r */
    xpbi_layout_args at;
    xpbi_slices slices;
    size_t lanes, slice_count, rows;
    uint32_t colour_lane[XPBI_MOST_COLOURS + 1];
    /* By colour: particles and all neighbours; particles and neighbours that may touch. all: `work` of all colours. */
    pbd_work work[XPBI_MOST_COLOURS], near[XPBI_MOST_COLOURS], all;
    size_t room[7]; /* capacities of growing arrays: xpbi_room */
} xpbi_layout;

int xpbi_colours(const xpbi_layout *l);
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
