/* States as VTK XML files, which ParaView, VisIt, PyVista and meshio open:
 * https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
 *
 * One .vtu a state, its arrays compressed by zlib, as base64: points, elements, displacement and
 * velocity of the points, strain and body of the elements. A .pvd lists them with their times. */
#ifndef PBD_VTK_H
#define PBD_VTK_H

#include "harness/picture/deformation.h"

typedef struct vtk_state {
    const double *position, *velocity; /* particles x 3; velocity NULL: unknown */
    const double *rest;                /* particles x 3 */
    const double *strain;              /* elements */
    const uint32_t *body;              /* particles: which body */
} vtk_state;

/* PBD_FAILED with the path and why when the file cannot be written. */
pbd_status vtk_write(const char *path, const pbd_body *body, const vtk_state *state);

/* Writes the .pvd, a list of state_000.vtu, state_001.vtu ... in the same folder. */
pbd_status vtk_write_series(const char *path, const double *time, size_t count);

#endif
