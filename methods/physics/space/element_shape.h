/* Rest shapes of elements, from which deformation gradients are computed, in f64; and checks of a mesh. */
#ifndef PBD_ELEMENT_SHAPE_H
#define PBD_ELEMENT_SHAPE_H

#include "methods/method.h"

typedef struct element_shape {
    double inverse[9]; /* B = D_m^-1, 1/m, column by column: 9 entries of a tetrahedron, 4 of a triangle */
    double size;       /* m^3 or m^2 */
    double fibre[PBD_MOST_FIBRES][2]; /* triangles: the fibres with a stiffness, unit vectors in the plane's frame */
} element_shape;

/* Computes the rest shape of element `e` of the scene's tetrahedra (corners 4) or triangles (3). The first axis of a
 * triangle's frame is the first fibre with a stiffness, projected into the triangle's plane; without fibres, the
 * projected x axis; if the x axis is perpendicular to the plane, the first edge. PBD_BAD_INPUT: the element is flat,
 * inverted, not finite, or perpendicular to a fibre. */
pbd_status element_shape_of(const pbd_scene *scene, int corners, size_t e, element_shape *out);

/* Checks every tetrahedron and triangle of the scene, and refuses particles without an element and non-finite
 * coordinates. For meshes from users' files. */
pbd_status element_check_scene(const pbd_scene *scene);

#endif
