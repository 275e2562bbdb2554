/* Compression of states for a page: positions with 16 bits within one box and fields with 8 bits, as differences from a
 * prediction by the previous states, deflated (RFC 1950). view_data.js reads them.
 *
 * A state holds x of all points, then y, then z, of each first the low and then the high bytes of the differences; then
 * the fields in turn. A difference d is stored as 2 d or, if negative, as -2 d - 1, so that high bytes are mostly 0. */
#ifndef PBD_PACK_H
#define PBD_PACK_H

#include "methods/method.h"

enum { PACK_HIDDEN = 65535, PACK_LARGEST = 65534 }; /* coordinates: of a point outside the box; of its upper end */

/* How a position is predicted, as bits. Before the first state x is 0. */
enum {
    PACK_BY_MOTION = 1,    /* 2 x[t-1] - x[t-2], else x[t-1] */
    PACK_BY_NEIGHBOUR = 2, /* stores the difference minus that of the previous point */
};

typedef struct pbd_packer {
    size_t points, fields;
    double low[3], size;               /* m: the box is a cube */
    size_t states;                     /* packed so far */
    uint16_t *now, *before, *long_ago; /* 3 x points; of this state and of the two before it */
    unsigned char *field, *last_field; /* fields x points */
    unsigned char *raw;                /* the state before deflation */
    unsigned char *packed;             /* the state after deflation, owned; then its length and mode */
    size_t bytes;
    unsigned mode;
    size_t hidden; /* points outside the box */
} pbd_packer;

pbd_status pbd_pack_open(size_t points, size_t fields, const double low[3], double size, pbd_packer *out);
void pbd_pack_close(pbd_packer *packer); /* safe on a zeroed one */

/* Packs the next state: `position` (points x 3, m), and `field`, which the caller has filled in. Sets packed, bytes,
 * mode and hidden. */
pbd_status pbd_pack_state(pbd_packer *packer, const double *position);

#endif
