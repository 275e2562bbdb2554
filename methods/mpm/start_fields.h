/* What a scene says of its particles' start beyond places and velocities: how much each is stretched, and how velocity
 * changes about it. On the host, in f64. */
#ifndef PBD_START_FIELDS_H
#define PBD_START_FIELDS_H

#include "methods/method.h"

typedef struct start_fields {
    double *stretch;  /* particles x 9, column by column: F from rest to the start; NULL: the identity everywhere */
    double *velocity; /* particles x 9: dv/dx at the start, 1/s; NULL: zero everywhere */
} start_fields;

/* Least squares over the neighbours of one body nearer than `radius` at rest, exact for affine fields; what they do not
 * span (a sheet, a lone particle) is the identity, or zero. */
pbd_status start_fields_make(const pbd_scene *scene, double radius, start_fields *out);
void start_fields_free(start_fields *f); /* safe on a zeroed one */

#endif
