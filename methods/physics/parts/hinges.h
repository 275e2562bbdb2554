/* The hinges of a cloth: edges shared by two triangles, with their bending stiffness. Built once from a scene's
 * triangles; cloth.h copies them to the device. Host, double. */
#ifndef PBD_HINGES_H
#define PBD_HINGES_H

#include "methods/method.h"

typedef struct hinges {
    size_t count;
    uint32_t *corner;  /* 4 each: the two ends of the edge, then the opposite corner of each triangle */
    double *stiffness; /* |e|^2/(A_1 + A_2) at rest; to be multiplied by the material's bending stiffness B */
} hinges;

/* A triangle whose corners are all held cannot bend: it does not count in A_1 + A_2, and two such triangles have no
 * hinge. Hinges are sorted by the lower corner of their edge. PBD_BAD_INPUT: more than two triangles share an edge. */
pbd_status hinges_make(const pbd_scene *scene, hinges *out);
void hinges_free(hinges *h); /* safe on a zeroed one */

#endif
