/* States made small for a page: positions of 16 bits within one box and fields of 8 bits, as differences from what the
 * states before say, deflated (RFC 1950). view_data.js reads them.
 *
 * A state is x of all points, then y, z: first the low bytes, then the high bytes of the differences; then the fields
 * in turn. A difference d is kept as 2 d or, if negative, as -2 d - 1, so that high bytes are mostly 0. */
#ifndef PBD_PACK_H
#define PBD_PACK_H

#include "methods/method.h"

enum { PACK_HIDDEN = 65535, PACK_LARGEST = 65534 }; /* of a coordinate: the point is outside the box; the upper end */

/* How a position is foretold: bits. Of the first state neither has a meaning. */
enum {
    PACK_BY_MOTION = 1,    /* 2 x[t-1] - x[t-2], else x[t-1] */
    PACK_BY_NEIGHBOUR = 2, /* the difference is taken from that of the point before */
};

typedef struct pbd_packer {
    size_t points, fields;
    double low[3], size;               /* m: the box is a cube */
    size_t states;                     /* so far */
    uint16_t *now, *before, *long_ago; /* 3 x points; likewise the two states before */
    unsigned char *field, *last_field; /* fields x points */
    unsigned char *raw;                /* a state before it is deflated */
    unsigned char *packed;             /* likewise after, owned; and its length and mode */
    size_t bytes;
    unsigned mode;
    size_t hidden; /* points outside the box */
} pbd_packer;

pbd_status pbd_pack_open(size_t points, size_t fields, const double low[3], double size, pbd_packer *out);
void pbd_pack_close(pbd_packer *packer); /* safe on a zeroed one */

/* The next state: positions (points x 3, m) are given, `field` is filled in by the caller. Sets packed, bytes, mode,
 * hidden. */
pbd_status pbd_pack_state(pbd_packer *packer, const double *position);

#endif
