/* Cloth: triangles that resist strain and the bending of their common edges, by XPBD on positions. Used by xpbd_cloth
 * alone, and by xpbi inside its iterations (cloth_kernels.h has the equations).
 *
 * Its scene holds the cloth alone: methods/xpbi/scene_matter.h makes one of a scene of several kinds of matter. A
 * substep is cloth_begin, which predicts positions, cloth_iterate any number of times, with the caller's own moves of
 * `p` in between, and cloth_end, which makes velocities of what moved. Triangles and hinges are projected colour by
 * colour, so that an answer does not depend on threads. */
#ifndef PBD_CLOTH_H
#define PBD_CLOTH_H

#include "harness/exec/exec.h"
#include "harness/exec/real.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/parts/contact.h"

PBD_PRECISE(cloth_create, cloth_free, cloth_begin, cloth_iterate, cloth_end, cloth_record, cloth_rows_of, cloth_read,
            cloth_arrays, cloth_bytes, cloth_save, cloth_load)

typedef struct cloth cloth;

/* Device. Rows of four by particle of the cloth's scene. */
typedef struct cloth_rows {
    size_t particles, triangles;
    real *x, *v;            /* where the substep began, m, and its velocities, m/s */
    real *p;                /* now, m; 1/kg, 0: held */
    const uint32_t *corner; /* 3 by triangle */
} cloth_rows;

/* Of the scene's triangles, of `material` and the scene's bending stiffness. turned: impulses follow their gradients,
 * so that iterations converge to implicit Euler; else they stay as they were made, as XPBD has it. PBD_NOT_SUPPORTED
 * for a law other than StVK's. */
pbd_status cloth_create(const pbd_scene *scene, bool turned, contact_settings set, pbd_exec *exec,
                        pbd_recorder *recorder, cloth **out);
void cloth_free(cloth *c); /* NULL-safe */

pbd_status cloth_begin(cloth *c, double dt);
pbd_status cloth_iterate(cloth *c);
/* damping, 1/s: of velocities, exp(-damping dt). */
pbd_status cloth_end(cloth *c, double damping);
/* What contact has to tell. */
pbd_status cloth_record(cloth *c);

cloth_rows cloth_rows_of(const cloth *c);
/* Positions and velocities. */
pbd_status cloth_read(const cloth *c, pbd_field field, double *out);
/* Those that are saved. */
size_t cloth_arrays(const cloth *c, device_array *row);
size_t cloth_bytes(const cloth *c);
pbd_status cloth_save(const cloth *c, void *blob);
pbd_status cloth_load(cloth *c, const void *blob);

#endif
