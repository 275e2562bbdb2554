/* Deformation and velocity gradients of a scene's initial state at each particle. Host, f64. */
#ifndef PBD_START_FIELDS_H
#define PBD_START_FIELDS_H

#include "harness/exec/arena.h"

typedef struct start_fields {
    double *stretch;  /* particles x 9, column by column: F from rest to the start; NULL: the identity everywhere */
    double *velocity; /* particles x 9: dv/dx at the start, 1/s; NULL: zero everywhere */
} start_fields;

/* Least squares over neighbours of the same body nearer than `radius` at rest, exact for affine fields. In directions
 * that neighbours do not span (a sheet, an isolated particle): the identity, or zero. The arena owns the arrays. */
pbd_status start_fields_make(const pbd_scene *scene, double radius, pbd_arena *arena, start_fields *out);

#endif
