/* Elements at rest: what their deformation gradient needs, in f64, and whether they can be used at all. */
#ifndef PBD_ELEMENT_SHAPE_H
#define PBD_ELEMENT_SHAPE_H

#include "methods/method.h"

typedef struct element_shape {
    double inverse[9]; /* B = D_m^-1, 1/m, column by column: 9 entries of a tetrahedron, 4 of a triangle */
    double size;       /* m^3 or m^2 */
    double fibre[PBD_MOST_FIBRES][2]; /* triangles: unit vectors of the fibres that have a stiffness, as they lie in the
                                         plane, in its frame */
} element_shape;

/* Element `e` of the scene's tetrahedra (corners 4) or triangles (3). A triangle's frame in its plane begins with the
 * material's first fibre that has a stiffness, as it lies in that plane, so that this one is (1, 0) in all of them;
 * without fibres with the x axis as it lies there; where that is perpendicular, with the first edge. PBD_BAD_INPUT
 * names an element that is flat, inverted or not finite, or whose plane a fibre is perpendicular to. */
pbd_status element_shape_of(const pbd_scene *scene, int corners, size_t e, element_shape *out);

/* Every tetrahedron and triangle of the scene, every particle that none of its elements (of any kind) names, and every
 * coordinate that is not finite. For cases whose mesh comes from a person. */
pbd_status element_check_scene(const pbd_scene *scene);

#endif
