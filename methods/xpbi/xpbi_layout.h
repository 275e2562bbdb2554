/* Building the layout of xpbi_layout_kernels.h. */
#ifndef PBD_XPBI_LAYOUT_H
#define PBD_XPBI_LAYOUT_H

#include "methods/physics/space/neighbours.h"
#include "methods/xpbi/xpbi_kernels.h"

PBD_PRECISE(xpbi_layout_create, xpbi_layout_free, xpbi_layout_make, xpbi_colours, xpbi_allocate, xpbi_room)

typedef struct xpbi_layout {
    pbd_exec *exec;
    size_t particles, nobody; /* nobody: the first row without a particle; rows of other matter come between */
    int period;               /* colours along an axis */
    double reach;             /* 2r, m */
    grid search;              /* after a sort its places are particles */
    grid colouring;           /* period 2: of cells of 4r */
    xpbi_layout_args at;
    xpbi_slices slices;
    size_t lanes, slice_count, rows;
    uint32_t colour_lane[XPBI_MOST_COLOURS + 1];
    /* By colour: particles with their neighbours, and with those that may touch; and all neighbours. */
    pbd_work work[XPBI_MOST_COLOURS], near[XPBI_MOST_COLOURS], all;
    size_t room[8]; /* of what grows, by array: see xpbi_room */
} xpbi_layout;

int xpbi_colours(const xpbi_layout *l);
void xpbi_layout_free(xpbi_layout *l);
pbd_status xpbi_allocate(pbd_exec *exec, size_t count, size_t size, void *out);
pbd_status xpbi_layout_create(xpbi_layout *l, pbd_exec *exec, size_t particles, double reach, int period);

/* Room for `wanted` things of `size` bytes in *device, of which *room fit now; what was there is lost. */
pbd_status xpbi_room(pbd_exec *exec, size_t wanted, size_t size, void *device, size_t *room);

/* Of particles in the order of `search`, which the caller has sorted; rows: where they are. Pairs nearer than `near`
 * come first. */
pbd_status xpbi_layout_make(xpbi_layout *l, const real *rows, double near);

#endif
