/* Continuous collision of a particle with a triangle surface that it must not pass: signed distance and normal at the
 * end of its path over a substep. All is in the surface's frame, where only the particle moves.
 *
 * The inside of a closed surface is determined by the pseudonormal of the nearest point (mesh_surface.h). A sheet has
 * two admissible sides: a particle stays on its side. A particle that crosses the surface is projected onto the plane
 * of the first triangle that it crossed; on a closed surface, to the nearest point if the path could have entered
 * there.
 *
 * Most particles are far away. To skip their searches each particle has an anchor: a position and its distance to the
 * surface (signed, for a closed surface). Within that distance of the position there is no triangle, so the side is
 * known and nothing is crossed; outside it the distance still bounds the search. The anchor also stores half the lead
 * of the nearest triangle over the next one: within that distance of the position the nearest triangle is the same. An
 * anchor depends only on the surface, so it stays valid when particles are reordered. Results do not depend on anchors,
 * except for distances beyond the contact radius. */
#ifndef PBD_MESH_COLLIDER_H
#define PBD_MESH_COLLIDER_H

#include "methods/physics/surface/collider_shapes.h"
#include "methods/physics/surface/mesh_search.h"

enum { MESH_ANCHOR = 6 };

typedef struct collider_mesh {
    mesh_view view;
    const real *normal; /* triangles x MESH_FEATURES x 3, outward; NULL: a sheet */
    real *anchor; /* by particle, MESH_ANCHOR numbers: position; distance (0: unset); 1 + nearest triangle; the distance
                     within which it is the nearest, m. NULL: none */
    real thickness; /* m */
    real rounding;  /* m: well above the rounding of positions on the surface */
} collider_mesh;

PBD_FN collider_gap mesh_far_gap(real distance) {
    collider_gap gap;
    gap.distance = distance;
    gap.normal = vec3_make(0, 0, 1);
    return gap;
}

PBD_FN real mesh_distance(vec3 a, vec3 b) {
    const vec3 off = vec3_sub(a, b);
    return real_sqrt(vec3_dot(off, off));
}

/* Signed distance (of a sheet: unsigned) and normal at x, from its nearest point `p`. */
PBD_FN collider_gap mesh_gap_from(const collider_mesh *m, const mesh_point *p, vec3 x) {
    const vec3 off = vec3_sub(x, mesh_place(&m->view, p));
    const real length = real_sqrt(p->square), along = real_sqrt(vec3_dot(off, off));
    vec3 out = vec3_make(0, 0, 0);
    collider_gap gap;
    real side = 1;
    if (m->normal) {
        const real *n = m->normal + 3 * (MESH_FEATURES * (size_t)p->triangle + (size_t)p->feature);
        out = vec3_make(n[0], n[1], n[2]);
        side = vec3_dot(off, out) < 0 ? (real)-1 : (real)1;
    } else {
        const vec3 area = mesh_area(&m->view, p->triangle);
        const real size = real_sqrt(vec3_dot(area, area));
        out = vec3_scale(size > 0 ? (vec3_dot(off, area) < 0 ? -1 / size : 1 / size) : 0, area);
    }
    gap.distance = side * length;
    gap.normal = p->feature == MESH_FACE || !(along > m->rounding) ? out : vec3_scale(side / along, off);
    return gap;
}

/* The gap of a position without a path, searched within `reach`; MESH_FAR beyond it. Signs are reversed for a
 * container. */
PBD_FN_NOINLINE collider_gap mesh_gap_near(const collider_mesh *m, int container, vec3 x, real reach) {
    const mesh_point p = mesh_nearest(&m->view, x, reach, MESH_NONE);
    if (p.triangle == MESH_NONE) return mesh_far_gap(MESH_FAR);
    collider_gap gap = mesh_gap_from(m, &p, x);
    const real side = container ? (real)-1 : (real)1;
    gap.distance = side * gap.distance - m->thickness;
    gap.normal = vec3_scale(side, gap.normal);
    return gap;
}

/* The nearest point to `to`: on the anchor's triangle if it is still the nearest, otherwise by a search within `reach`,
 * which sets the anchor. moved, m: upper bound of the lead that is computed. */
PBD_FN mesh_point mesh_nearest_from(const collider_mesh *m, real *anchor, vec3 to, real reach, real moved) {
    mesh_point near;
    real lead;
    if (anchor && anchor[4] > 0) {
        const vec3 at = vec3_make(anchor[0], anchor[1], anchor[2]);
        near.triangle = MESH_NONE;
        near.square = MESH_FAR * MESH_FAR;
        if (mesh_distance(to, at) < anchor[5])
            mesh_try_triangle(&m->view, (uint32_t)anchor[4] - 1, to, MESH_NONE, &near);
        if (near.triangle != MESH_NONE) return near;
    }
    near = mesh_nearest_by(&m->view, to, reach, MESH_NONE, anchor ? moved : 0, &lead);
    if (!anchor || near.triangle == MESH_NONE) return near;
    anchor[0] = to.x;
    anchor[1] = to.y;
    anchor[2] = to.z;
    anchor[4] = near.triangle < 1u << 24 ? (real)(near.triangle + 1) : 0; /* integers exact in f32 */
    anchor[5] = (real)0.5 * lead - m->rounding;
    anchor[3] = mesh_gap_from(m, &near, to).distance;
    return near;
}

/* The gap at the end of the path from `from` to `to`. Beyond `radius` the distance is only a lower bound and the normal
 * is arbitrary. *room, m: if positive, neither the path nor a continuation shorter than this crosses anything; 0:
 * unknown; negative: the path ends on the wrong side. */
PBD_FN_NOINLINE collider_gap mesh_gap_after(const collider_mesh *m, int container, real *anchor, vec3 from, vec3 to,
                                            real radius, real *room) {
    const real side = container ? (real)-1 : (real)1;
    real reach = MESH_FAR;
    *room = 0;
    if (anchor && anchor[3] != 0) {
        const vec3 at = vec3_make(anchor[0], anchor[1], anchor[2]);
        const real start = mesh_distance(from, at), end = mesh_distance(to, at), known = anchor[3];
        const real clear = known < 0 ? -known : known, most = start > end ? start : end;
        const int right = !m->normal || known * side > 0;
        if (right && clear - most > radius + m->thickness + m->rounding)
            return mesh_far_gap(clear - end - m->thickness);
        reach = clear + end + m->rounding;
    }
    const real apart = mesh_distance(from, to), about = (real)0.25 * (radius + m->thickness) + 2 * apart;
    const mesh_point near = mesh_nearest_from(m, anchor, to, reach, about);
    if (near.triangle == MESH_NONE) return mesh_far_gap(MESH_FAR); /* a non-finite position */
    collider_gap gap = mesh_gap_from(m, &near, to);
    const real clear = (gap.distance < 0 ? -gap.distance : gap.distance) - m->rounding;
    gap.distance = side * gap.distance - m->thickness;
    gap.normal = vec3_scale(side, gap.normal);
    if (apart < clear) { /* the path is shorter than the distance */
        *room = clear;
        return gap;
    }
    const int sides = !m->normal ? MESH_FROM_FRONT | MESH_FROM_BACK : container ? MESH_FROM_BACK : MESH_FROM_FRONT;
    const mesh_hit hit = mesh_crossing(&m->view, from, to, sides, m->rounding);
    if (hit.triangle == MESH_NONE) return gap;
    const real beyond = vec3_dot(vec3_sub(to, mesh_corner(&m->view, hit.triangle, 0)), hit.normal);
    const real ahead = vec3_dot(vec3_sub(from, mesh_place(&m->view, &near)), gap.normal);
    /* a sheet has no rounding tolerance: below a fold the particle would be on the other side */
    *room = beyond < (m->normal ? -m->rounding : 0) ? (real)-1 : 0;
    if (m->normal && gap.distance + m->thickness < 0 && ahead >= -m->rounding) return gap;
    gap.distance = beyond - m->thickness;
    gap.normal = hit.normal;
    return gap;
}

#endif
