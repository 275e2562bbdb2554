/* Gradients of a scene's start at each particle: deformation and velocity. On the host, in f64. */
#ifndef PBD_START_FIELDS_H
#define PBD_START_FIELDS_H

#include "harness/exec/arena.h"

typedef struct start_fields {
    double *stretch;  /* particles x 9, column by column: F from rest to the start; NULL: the identity everywhere */
    double *velocity; /* particles x 9: dv/dx at the start, 1/s; NULL: zero everywhere */
} start_fields;

/* Least squares over the neighbours of one body nearer than `radius` at rest, exact for affine fields; in directions
 * that they do not span (a sheet, a lone particle) the identity, or zero. The arena owns the arrays. */
pbd_status start_fields_make(const pbd_scene *scene, double radius, pbd_arena *arena, start_fields *out);

#endif
