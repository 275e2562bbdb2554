/* Cloth: triangles that resist strain and the bending of their common edges, by XPBD on positions. The solver of
 * xpbd_cloth, and a part of xpbi (cloth_kernels.h has the equations).
 *
 * It is a position_solver.h, whose functions take it, of a scene that holds the cloth alone:
 * methods/xpbi/scene_matter.h makes one of a scene of several kinds of matter. Triangles and hinges are projected
 * colour by colour, so that an answer does not depend on threads. */
#ifndef PBD_CLOTH_H
#define PBD_CLOTH_H

#include "methods/physics/parts/contact.h"
#include "methods/physics/parts/stepper.h"

PBD_PRECISE(cloth_create, cloth_free, cloth_run, cloth_rows_of, cloth_read)

typedef struct cloth cloth;

/* Device. Rows of four by particle of the cloth's scene. */
typedef struct cloth_rows {
    size_t particles, triangles;
    real *x, *v;            /* where the substep began, m, and its velocities, m/s */
    real *p;                /* now, m; 1/kg, 0: held */
    const uint32_t *corner; /* 3 by triangle */
} cloth_rows;

typedef struct cloth_settings {
    long iterations, substeps;
    double damping; /* 1/s: of velocities, exp(-damping dt) each step */
    bool turned;    /* impulses follow their gradients, so that iterations converge to implicit Euler; else they stay as
                       they were made, as XPBD has it */
} cloth_settings;

/* Of the scene's triangles, of its first material. name: the method's, for messages. PBD_NOT_SUPPORTED for a law other
 * than StVK's. *out may be set, and is to be freed, also after an error. */
pbd_status cloth_create(const char *name, const pbd_scene *scene, cloth_settings set, contact_settings touch,
                        pbd_exec *exec, pbd_recorder *recorder, cloth **out);
void cloth_free(cloth *c); /* NULL-safe */
/* What steps it, for a solver of which it is a part. */
stepper *cloth_run(cloth *c);
cloth_rows cloth_rows_of(const cloth *c);
/* Positions and velocities. */
pbd_status cloth_read(const cloth *c, pbd_field field, double *out);

#endif
