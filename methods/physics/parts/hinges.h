/* The hinges of a cloth: edges that two triangles share, with their bending stiffness. Built once from a scene's
 * triangles; cloth.h copies them to the device. Host, double. */
#ifndef PBD_HINGES_H
#define PBD_HINGES_H

#include "methods/method.h"

typedef struct hinges {
    size_t count;
    uint32_t *corner;  /* 4 each: the two ends of the edge, then the corner across it of either triangle */
    double *stiffness; /* |e|^2/(A_1 + A_2) at rest; times the bending stiffness it is that of the hinge */
} hinges;

/* A triangle whose corners are all held cannot bend: where one of the two is such, the hinge stands for the other
 * alone, and where both are, there is none. Hinges are in the order of their lower corner. PBD_BAD_INPUT where more
 * than two triangles share an edge, naming it. */
pbd_status hinges_make(const pbd_scene *scene, hinges *out);
void hinges_free(hinges *h); /* safe on a zeroed one */

#endif
