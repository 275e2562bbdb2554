/* Contact of particles with the triangles of a cloth, on either side, with Coulomb friction.
 *
 * A contact consists of a particle i, the nearest point q = sum b_k x_k of a triangle at the start of the step, and the
 * unit vector n from q to the particle; n and b are constant during the step. With the relative displacement r = (p_i -
 * x_i) - sum b_k (p_k - x_k) and the initial gap g_0 = |x_i - q| - d, the gap is g_0 + n r. Accumulated impulses (kg m)
 * are projected, all contacts at once:
 *
 *     push <- max(0, push - (g_0 + n r - floor)/D),   drag <- drag - (r - n n r)/D, no longer than mu push,
 *     x_i += w_i J,  x_k -= w_k b_k J,   J the change of push n + drag,   D = (w_i m_i + sum_k w_k b_k B_k)/relaxation
 *
 * with m_i the number of contacts of the particle and B_k = sum b over the contacts of vertex k. D bounds the row sums
 * of the matrix of all contacts, so sweeps converge for relaxation < 2 and any masses, and the common correction of all
 * contacts is exact after one sweep. Both sides get the same J and sum b = 1, so momentum is conserved to rounding,
 * also with friction. floor: the part of an initial penetration that need not close in this step. */
#ifndef PBD_CLOTH_CONTACT_KERNELS_H
#define PBD_CLOTH_CONTACT_KERNELS_H

#include <string.h>

#include "harness/exec/kernel.h"
#include "methods/physics/space/grid_search.h"
#include "methods/physics/surface/collider_pose.h"
#include "methods/physics/surface/mesh_search.h"

enum { CLOTH_CONTACTS_MOST = 6 }; /* contacts per particle: the nearest triangles */

/* ---- Finding contacts -------------------------------------------------------------------------------------------- */

typedef struct nearest_point {
    uint32_t triangle;
    real weight[3]; /* b */
    real distance;  /* m */
    vec3 normal;
    int face; /* the nearest point is in the triangle's interior, not on its boundary */
} nearest_point;

typedef struct cloth_contact_find_args {
    mesh_view mesh;              /* the cloth at the start of the step; its boxes also contain `later` */
    const real *later;           /* predicted vertices without contact; rows of four */
    const real *x, *v;           /* particles: rows of four; 1/kg is the fourth of v */
    real dt, distance, reach;    /* s; d, m; search margin beyond d, m */
    real floor;                  /* fraction of an initial penetration that may remain after a step */
    uint32_t *first;             /* by particle: count; after a scan, offset */
    uint32_t *particle, *vertex; /* by contact; 3 by contact */
    real *foot;                  /* by contact: b_1, b_2, b_3, and g_0 - floor, m */
    real *normal;                /* by contact: n, and g_0, m */
} cloth_contact_find_args;

PBD_FN vec3 mesh_blend(const real *rows, const uint32_t *corner, const real weight[3]) {
    const vec3 a = vec3_scale(weight[0], load3(rows, corner[0])), b = vec3_scale(weight[1], load3(rows, corner[1]));
    return vec3_add(vec3_add(a, b), vec3_scale(weight[2], load3(rows, corner[2])));
}

/* Nearest first; ties by triangle number, so that the order of the search does not matter. */
PBD_FN int cloth_contact_before(const nearest_point *a, const nearest_point *b) {
    return a->distance < b->distance || (!(b->distance < a->distance) && a->triangle < b->triangle);
}

/* The loop has a constant trip count and known indices, so that a GPU keeps the list in registers. */
PBD_FN int cloth_contact_insert(nearest_point *list, int count, const nearest_point *one) {
    nearest_point carried = *one;
    for (int k = 0; k < CLOTH_CONTACTS_MOST; k++) {
        const nearest_point here = list[k];
        if (k < count && !cloth_contact_before(&carried, &here)) continue;
        if (k <= count) list[k] = carried;
        carried = here;
    }
    return count < CLOTH_CONTACTS_MOST ? count + 1 : count;
}

/* Whether a particle at x that moves by `move` may touch a triangle in the step. */
PBD_FN int cloth_contact_of(const cloth_contact_find_args *a, vec3 x, vec3 move, uint32_t triangle,
                            nearest_point *out) {
    const uint32_t *corner = a->mesh.corner + 3 * (size_t)triangle;
    const mesh_foot foot = mesh_foot_on(load3(a->mesh.vertex, corner[0]), load3(a->mesh.vertex, corner[1]),
                                        load3(a->mesh.vertex, corner[2]), x);
    const vec3 off = vec3_sub(x, mesh_blend(a->mesh.vertex, corner, foot.weight));
    const vec3 area = mesh_area(&a->mesh, triangle);
    const real size = real_sqrt(vec3_dot(area, area)), length = real_sqrt(vec3_dot(off, off));
    out->triangle = triangle;
    out->face = foot.feature == MESH_FACE;
    out->distance = length;
    for (int k = 0; k < 3; k++) out->weight[k] = foot.weight[k];
    if (out->face || !(length > (real)1e-6 * a->distance)) {
        if (!(size > 0)) return 0;
        out->normal = vec3_scale(real_sign(vec3_dot(off, area)) / size, area);
    } else
        out->normal = vec3_scale(1 / length, off);
    const vec3 drift =
        vec3_sub(mesh_blend(a->later, corner, foot.weight), mesh_blend(a->mesh.vertex, corner, foot.weight));
    return length - a->distance + vec3_dot(out->normal, vec3_sub(move, drift)) < a->reach;
}

/* Lists all triangles whose nearest point is in their interior. Nearest points on boundaries are shared by neighbouring
 * triangles: only the nearest of these is added, if it is nearer than every interior one. Returns the number of
 * contacts. */
PBD_FN_NOINLINE int find_cloth_contacts(const cloth_contact_find_args *a, size_t i,
                                        nearest_point list[CLOTH_CONTACTS_MOST]) {
    const vec3 x = load3(a->x, i), move = vec3_scale(a->dt, load3(a->v, i));
    const real wide = a->distance + a->reach + real_abs(move.x) + real_abs(move.y) + real_abs(move.z);
    const vec3 low = vec3_make(x.x - wide, x.y - wide, x.z - wide),
               high = vec3_make(x.x + wide, x.y + wide, x.z + wide);
    mesh_walk walk;
    nearest_point rim, one;
    int count = 0, rims = 0;
    memset(list, 0, CLOTH_CONTACTS_MOST * sizeof *list);
    memset(&rim, 0, sizeof rim);
    if (!(wide < MESH_FAR)) return 0; /* non-finite */
    mesh_walk_begin(&a->mesh, &walk);
    for (uint32_t t = mesh_walk_next(&a->mesh, &walk, low, high); t != MESH_NONE;
         t = mesh_walk_next(&a->mesh, &walk, low, high)) {
        if (!cloth_contact_of(a, x, move, t, &one)) continue;
        if (one.face)
            count = cloth_contact_insert(list, count, &one);
        else if (!rims || cloth_contact_before(&one, &rim)) {
            rim = one;
            rims = 1;
        }
    }
    if (rims && (count == 0 || rim.distance < (real)0.9999 * list[0].distance))
        count = cloth_contact_insert(list, count, &rim);
    return count;
}

/* The cost does not include tree traversal, whose length the host does not know. */
PBD_ITEM(count_cloth_contacts, cloth_contact_find_args, i, 8 * sizeof(real) + 4, 40) {
    nearest_point list[CLOTH_CONTACTS_MOST];
    a->first[i] = (uint32_t)find_cloth_contacts(a, i, list);
}

PBD_ITEM_OVER(fill_cloth_contacts, cloth_contact_find_args, i, 8, 0, 16 * sizeof(real) + 28, 80) {
    nearest_point list[CLOTH_CONTACTS_MOST];
    const uint32_t first = a->first[i], count = a->first[i + 1] - first;
    if (count == 0) return;
    const int found = find_cloth_contacts(a, i, list);
    for (uint32_t k = 0; k < CLOTH_CONTACTS_MOST; k++) {
        if (k >= count || k >= (uint32_t)found) break;
        const size_t c = first + k;
        const nearest_point *one = &list[k];
        const real gap = one->distance - a->distance;
        a->particle[c] = (uint32_t)i;
        for (size_t d = 0; d < 3; d++) {
            a->vertex[3 * c + d] = a->mesh.corner[3 * (size_t)one->triangle + d];
            a->foot[4 * c + d] = one->weight[d];
        }
        a->foot[4 * c + 3] = gap < 0 ? gap - a->floor * gap : gap;
        a->normal[4 * c] = one->normal.x;
        a->normal[4 * c + 1] = one->normal.y;
        a->normal[4 * c + 2] = one->normal.z;
        a->normal[4 * c + 3] = gap;
    }
}

/* ---- Contacts of each vertex ------------------------------------------------------------------------------------- */

typedef struct cloth_contact_sides_args {
    const uint32_t *vertex;
    uint32_t *key, *side; /* 3 by contact: vertex; index of the side */
} cloth_contact_sides_args;

PBD_ITEM(list_sides, cloth_contact_sides_args, k, 12, 0) {
    a->key[k] = a->vertex[k];
    a->side[k] = (uint32_t)k;
}

/* Finds the first side of each vertex, as for the cells of a grid. */
PBD_BATCH_OF(find_first_sides, grid_cells_args, first, count, 8, 20) { grid_find_firsts(a, first, count); }

/* ---- Impulses ---------------------------------------------------------------------------------------------------- */

typedef struct cloth_contact_args {
    const uint32_t *particle, *vertex, *first; /* first: contacts of each particle */
    const uint32_t *side, *first_side;         /* of each vertex */
    const real *foot, *normal;
    real *state;         /* by contact: drag, push, kg m */
    real *impulse;       /* by contact: J, and 1/D, kg */
    real *vertex_weight; /* by vertex: B */
    const real *start;   /* vertices at the start of the step: rows of four */
    real *p;             /* present vertices; the fourth: 1/kg */
    real *v;             /* particles' velocities; the fourth: 1/kg */
    real dt, inverse_dt, friction, relaxation;
} cloth_contact_args;

/* Work of this kernel and of push_vertices: vertices and their sides of contacts. */
PBD_ITEM_OVER(sum_vertex_weights, cloth_contact_args, k, sizeof(real) + 8, 0, sizeof(real) + 4, 1) {
    real sum = 0;
    for (uint32_t s = a->first_side[k]; s < a->first_side[k + 1]; s++)
        sum += a->foot[4 * (size_t)(a->side[s] / 3) + a->side[s] % 3];
    a->vertex_weight[k] = sum;
}

PBD_ITEM(weigh_cloth_contacts, cloth_contact_args, c, 17 * sizeof(real) + 24, 12) {
    const uint32_t i = a->particle[c];
    real sum = a->v[4 * (size_t)i + 3] * (real)(a->first[i + 1] - a->first[i]);
    for (size_t k = 0; k < 3; k++) {
        const size_t vertex = a->vertex[3 * c + k];
        sum += a->p[4 * vertex + 3] * a->foot[4 * c + k] * a->vertex_weight[vertex];
    }
    a->impulse[4 * c + 3] = sum > 0 ? a->relaxation / sum : 0; /* both sides held */
    for (size_t d = 0; d < 4; d++) a->state[4 * c + d] = 0;
}

PBD_ITEM(project_cloth_contacts, cloth_contact_args, c, 52 * sizeof(real) + 16, 90) {
    const uint32_t *vertex = a->vertex + 3 * c;
    const real *foot = a->foot + 4 * c, per = a->impulse[4 * c + 3];
    real *state = a->state + 4 * c;
    const vec3 n = load3(a->normal, c), was = load3(a->state, c);
    const vec3 carried = vec3_sub(mesh_blend(a->p, vertex, foot), mesh_blend(a->start, vertex, foot));
    const vec3 r = vec3_sub(vec3_scale(a->dt, load3(a->v, a->particle[c])), carried);
    const real along = vec3_dot(n, r), push = real_max(0, state[3] - per * (foot[3] + along));
    vec3 drag = vec3_sub(was, vec3_scale(per, vec3_sub(r, vec3_scale(along, n))));
    const real length = real_sqrt(vec3_dot(drag, drag)), most = a->friction * push;
    drag = vec3_scale(length > most ? most / length : (real)1, drag);
    const vec3 j = vec3_add(vec3_scale(push - state[3], n), vec3_sub(drag, was));
    state[0] = drag.x;
    state[1] = drag.y;
    state[2] = drag.z;
    state[3] = push;
    a->impulse[4 * c] = j.x;
    a->impulse[4 * c + 1] = j.y;
    a->impulse[4 * c + 2] = j.z;
}

/* The item of a particle's first contact applies all its impulses. */
PBD_ITEM(push_particles, cloth_contact_args, c, 12 * sizeof(real) + 12, 10) {
    const uint32_t i = a->particle[c];
    if (a->first[i] != c) return;
    vec3 sum = vec3_make(0, 0, 0);
    for (uint32_t k = a->first[i]; k < a->first[i + 1]; k++) sum = vec3_add(sum, load3(a->impulse, k));
    real *v = a->v + 4 * (size_t)i;
    const real w = a->inverse_dt * v[3];
    v[0] += w * sum.x;
    v[1] += w * sum.y;
    v[2] += w * sum.z;
}

PBD_ITEM_OVER(push_vertices, cloth_contact_args, k, 8 * sizeof(real) + 8, 6, 5 * sizeof(real) + 4, 6) {
    vec3 sum = vec3_make(0, 0, 0);
    for (uint32_t s = a->first_side[k]; s < a->first_side[k + 1]; s++) {
        const size_t c = a->side[s] / 3;
        sum = vec3_add(sum, vec3_scale(a->foot[4 * c + a->side[s] % 3], load3(a->impulse, c)));
    }
    real *p = a->p + 4 * k;
    p[0] -= p[3] * sum.x;
    p[1] -= p[3] * sum.y;
    p[2] -= p[3] * sum.z;
}

/* ---- Penetration ------------------------------------------------------------------------------------------------- */

enum { CLOTH_CONTACT_BLOCK = 16, CLOTH_CONTACT_SUMS = 2 };

typedef struct cloth_contact_measure_args {
    const real *normal;
    size_t contacts;
    real distance; /* d */
    real *out;     /* CLOTH_CONTACT_SUMS by block: largest penetration at the start of the step, m; number of contacts
                      nearer than 1.01 d */
} cloth_contact_measure_args;

PBD_ITEM(measure_cloth_contacts, cloth_contact_measure_args, block, CLOTH_CONTACT_BLOCK * sizeof(real),
         CLOTH_CONTACT_BLOCK * 3) {
    const size_t begin = block * CLOTH_CONTACT_BLOCK,
                 end = begin + CLOTH_CONTACT_BLOCK < a->contacts ? begin + CLOTH_CONTACT_BLOCK : a->contacts;
    real deepest = 0, near = 0;
    for (size_t c = begin; c < end; c++) {
        const real gap = a->normal[4 * c + 3];
        deepest = real_max(deepest, -gap);
        near += gap < (real)0.01 * a->distance ? (real)1 : (real)0;
    }
    a->out[CLOTH_CONTACT_SUMS * block] = deepest;
    a->out[CLOTH_CONTACT_SUMS * block + 1] = near;
}

#endif
