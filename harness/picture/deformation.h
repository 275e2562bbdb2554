/* The elements of a body in a state: their strain, and which of them are connected. For files and pictures of states;
 * methods have measures of their own. */
#ifndef PBD_DEFORMATION_H
#define PBD_DEFORMATION_H

#include "methods/method.h"

/* The elements that files and pictures show: those that the method works on if the scene has several kinds; none for a
 * method whose particles sample a body. */
typedef struct pbd_body {
    size_t particles, elements;
    const uint32_t *node; /* elements x corners; NULL for bare particles, which are elements of one corner */
    int corners;          /* 8, 4, 3 or 1; in files also 10 and 27 (pbd_mesh) */
    const uint32_t *of;   /* bare particles: the body of each; NULL: all of one body */
} pbd_body;

pbd_body pbd_body_of(const pbd_scene *scene, const pbd_method *method);
/* The scene with only these elements, as input for surface_of (cases/geometry/surface.h). */
pbd_scene pbd_body_scene(const pbd_scene *scene, const pbd_body *body);

/* The strain of each element between rest and x (particles x 3, m): the Frobenius norm of Green's strain (F'F - I)/2 at
 * its middle, 0 at rest and under any rotation; for triangles within their plane. Bare particles have none: 0. */
void pbd_strain(const pbd_body *body, const double *rest, const double *x, double *strain);

/* The deformation gradient of an element between rest and x, at its middle, row by row. */
void pbd_gradient(const pbd_body *body, size_t element, const double *rest, const double *x, double F[3][3]);

/* The mean over the elements around each particle. */
pbd_status pbd_to_particles(const pbd_body *body, const double *of_elements, double *of_particles);

/* Numbers the bodies: particles that elements connect have one number, from 0 in the order of their first particles. */
pbd_status pbd_number_bodies(const pbd_body *body, uint32_t *number);

#endif
