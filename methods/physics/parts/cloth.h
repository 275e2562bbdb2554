/* Cloth by XPBD on positions: membrane strain of triangles and bending of their common edges. The solver of xpbd_cloth,
 * and a part of xpbi. Equations: cloth_kernels.h.
 *
 * A cloth begins with a position_solver, so the functions of position_solver.h accept it. Its scene contains only the
 * cloth; methods/xpbi/scene_matter.h extracts one from a scene of several kinds of matter. Triangles and hinges are
 * projected colour by colour, so that results do not depend on threads. */
#ifndef PBD_CLOTH_H
#define PBD_CLOTH_H

#include "methods/physics/parts/contact.h"
#include "methods/physics/parts/stepper.h"

PBD_PRECISE(cloth_create, cloth_free, cloth_run, cloth_rows_of, cloth_read)

typedef struct cloth cloth;

/* Device arrays; rows of four by particle of the cloth's scene. */
typedef struct cloth_rows {
    size_t particles, triangles;
    real *x, *v;            /* at the start of the substep: m; m/s */
    real *p;                /* present positions, m; 1/kg, 0: held */
    const uint32_t *corner; /* 3 by triangle */
} cloth_rows;

typedef struct cloth_settings {
    long iterations, substeps;
    double damping; /* 1/s: velocities are scaled by exp(-damping dt) each step */
    bool turned;    /* earlier impulses are rotated to the present gradients, so that iterations converge to implicit
                       Euler; false: as in XPBD */
} cloth_settings;

/* Creates a cloth from the scene's triangles and its first material. name: the method's, for messages.
 * PBD_NOT_SUPPORTED for a law other than StVK. Free *out also after an error. */
pbd_status cloth_create(const char *name, const pbd_scene *scene, cloth_settings set, contact_settings touch,
                        pbd_exec *exec, pbd_recorder *recorder, cloth **out);
void cloth_free(cloth *c); /* NULL-safe */
/* The cloth's stepper, for a solver that has the cloth as a part. */
stepper *cloth_run(cloth *c);
cloth_rows cloth_rows_of(const cloth *c);
/* Reads positions, velocities or collider sums. */
pbd_status cloth_read(const cloth *c, pbd_field field, double *out);

#endif
