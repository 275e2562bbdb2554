/* Signed distance from a point to a collider's surface, and its gradient, by formulas that hold inside and outside.
 * Each shape's formula is in shapes/NAME.h; this file has what they share. For a point and for a batch of points. */
#ifndef PBD_BODY
#ifndef PBD_COLLIDER_SHAPES_H
#define PBD_COLLIDER_SHAPES_H

#include "methods/method.h"
#include "methods/physics/math/scalar.h"

#define PBD_BODY "methods/physics/surface/collider_shapes.h"
#include "methods/physics/math/twice.h"
#endif
#else

/* Signed distance, negative inside, and its gradient. Where the gradient is not unique (the centre of a sphere), any of
 * them. */
typedef struct V(collider_gap) {
    V(real) distance;
    V(vec3) normal;
} V(collider_gap);

PBD_FN V(real) V(axis_distance)(V(vec3) x) { return V(real_sqrt)(x.x * x.x + x.y * x.y); }

/* The surface at the distance `radius` from a point or segment. off: the vector from the nearest point of the point or
 * segment; fallback: the normal where off is 0. */
PBD_FN V(collider_gap) V(gap_from_middle)(V(vec3) off, real radius, vec3 fallback) {
    const V(real) length = V(real_sqrt)(V(vec3_dot)(off, off)), one = V(real_set)(1);
    const V(mask) away = length > 0;
    const V(vec3) out = V(vec3_scale)(1 / V(real_where)(away, length, one), off);
    V(collider_gap) gap;
    gap.distance = length - radius;
    gap.normal.x = V(real_where)(away, out.x, V(real_set)(fallback.x));
    gap.normal.y = V(real_where)(away, out.y, V(real_set)(fallback.y));
    gap.normal.z = V(real_where)(away, out.z, V(real_set)(fallback.z));
    return gap;
}

/* A box. q: distance beyond each pair of faces, negative between them; sign: which face of each pair. Outside, the
 * vector from the nearest point has the positive components of q; inside, the nearest face counts. */
PBD_FN V(collider_gap) V(gap_of_faces)(V(vec3) q, V(vec3) sign) {
    const V(real) zero = V(real_set)(0), one = V(real_set)(1);
    const V(vec3) beyond = V(vec3_make)(V(real_max)(q.x, zero), V(real_max)(q.y, zero), V(real_max)(q.z, zero));
    const V(real) length = V(real_sqrt)(V(vec3_dot)(beyond, beyond));
    const V(real) nearest = V(real_max)(q.x, V(real_max)(q.y, q.z));
    const V(mask) outside = length > 0;
    const V(real) x = V(real_where)(q.x >= nearest, one, zero), y = V(real_where)(q.y >= nearest, one - x, zero);
    V(vec3) out = V(vec3_make)(x, y, one - x - y);
    V(collider_gap) gap;
    gap.distance = nearest;
    if (V(mask_any)(outside)) {
        const V(real) inverse = 1 / V(real_where)(outside, length, one);
        gap.distance = V(real_where)(outside, length, nearest);
        out.x = V(real_where)(outside, inverse * beyond.x, out.x);
        out.y = V(real_where)(outside, inverse * beyond.y, out.y);
        out.z = V(real_where)(outside, inverse * beyond.z, out.z);
    }
    gap.normal = V(vec3_make)(sign.x * out.x, sign.y * out.y, sign.z * out.z);
    return gap;
}

/* A surface of revolution about z, from its distance and normal (outward, up) in the half plane (distance from the
 * axis, z). */
PBD_FN V(collider_gap) V(gap_about_axis)(V(vec3) x, V(real) distance, V(real) outward, V(real) up) {
    const V(real) radial = V(axis_distance)(x), one = V(real_set)(1);
    const V(mask) away = radial > 0;
    const V(real) divisor = V(real_where)(away, radial, one);
    V(collider_gap) gap;
    gap.distance = distance;
    gap.normal.x = outward * V(real_where)(away, x.x / divisor, one);
    gap.normal.y = outward * V(real_where)(away, x.y / divisor, V(real_set)(0));
    gap.normal.z = up;
    return gap;
}

#include "methods/physics/surface/shapes/shapes.def"

/* The gap at x in the collider's frame. Not for PBD_MESH (mesh_collider.h). */
PBD_FN V(collider_gap) V(shape_gap)(int kind, const real half[3], V(vec3) x) {
    switch (kind) {
#define COLLIDER_SHAPE(NAME, name) \
    case PBD_##NAME:               \
        return V(name##_gap)(half, x);
#include "methods/physics/surface/shapes/shapes.def"
#undef COLLIDER_SHAPE
        default:
            return V(plane_gap)(half, x);
    }
}
#endif
