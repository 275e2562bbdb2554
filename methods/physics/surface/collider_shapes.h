/* How far a point is from a collider's surface, and which way out: by closed formulas that hold everywhere, inside too.
 * The formula of each shape is in shapes/NAME.h; this file has what they share. One text for a point and for a batch of
 * points. */
#ifndef PBD_BODY
#ifndef PBD_COLLIDER_SHAPES_H
#define PBD_COLLIDER_SHAPES_H

#include "methods/method.h"
#include "methods/physics/math/scalar.h"

#define PBD_BODY "methods/physics/surface/collider_shapes.h"
#include "methods/physics/math/twice.h"
#endif
#else

/* Distance from the surface, below 0 inside, and the direction in which it grows fastest. Where that is every direction
 * (the centre of a sphere) it is one of them. */
typedef struct V(collider_gap) {
    V(real) distance;
    V(vec3) normal;
} V(collider_gap);

PBD_FN V(real) V(axis_distance)(V(vec3) x) { return V(real_sqrt)(x.x * x.x + x.y * x.y); }

/* `off`: from a point or a segment that the surface surrounds at the distance `radius`. */
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

/* `q`: how far beyond each pair of faces, below 0 between them; `sign`: on which side. Outside, the nearest point is on
 * the faces that it is beyond; inside, on the face that is nearest. */
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

/* Of a surface of revolution: from the half plane of (distance from the axis, z), where the normal is (outward, up), to
 * space. */
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

/* At x in the collider's frame. Of PBD_MESH, which mesh_collider.h serves, there is none. */
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
