#include "harness/picture/collider_mesh.h"

#include <math.h>
#include <string.h>

#include "cases/geometry/solid.h"
#include "harness/picture/iso_mesh.h"

#define REAL double
#include "methods/physics/surface/collider_shapes.h"
#include "methods/physics/surface/colliders.h"

enum { CELLS = 72 /* of the grid along each edge of a collider's box */ };

bool collider_is_solid(const pbd_collider *c) {
    return c->shape != PBD_PLANE && c->shape != PBD_PERFORATED_PLATE && c->shape != PBD_BOX && !c->container;
}

void collider_meshes_free(collider_meshes *meshes) { pbd_arena_free(&meshes->owned); }

static pbd_status take_shape(const shape *s, pbd_arena *a, collider_mesh_of *out) {
    shape_mesh mesh PBD_CLEANUP(shape_mesh_free) = {0};
    PBD_TRY(shape_mesh_make(s, &mesh));
    return shape_mesh_copy(&mesh, a, &out->mesh);
}

/* Meshes the zero level of its distance, on a grid stretched to its box. */
static pbd_status take_distance(const pbd_scene *scene, const pbd_collider *c, pbd_arena *a, collider_mesh_of *out) {
    pbd_arena owned PBD_ARENA;
    iso_mesh mesh PBD_CLEANUP(iso_mesh_free) = {0};
    double half[3];
    scalar_grid g = {.nodes = {CELLS + 3, CELLS + 3, CELLS + 3}, .cell = 2.0 / CELLS};
    collider_extent(scene, c, half);
    for (int d = 0; d < 3; d++) g.origin[d] = -1 - g.cell;
    g.value = pbd_new(&owned, float, g.nodes[0] * g.nodes[1] * g.nodes[2]);
    PBD_TRY(pbd_arena_check(&owned));
    for (size_t n = 0; n < g.nodes[0] * g.nodes[1] * g.nodes[2]; n++) {
        const size_t at[3] = {n % g.nodes[0], n / g.nodes[0] % g.nodes[1], n / g.nodes[0] / g.nodes[1]};
        double x[3];
        for (int d = 0; d < 3; d++) x[d] = half[d] * (g.origin[d] + g.cell * (double)at[d]);
        g.value[n] = (float)-shape_gap((int)c->shape, c->half, vec3_make(x[0], x[1], x[2])).distance;
    }
    PBD_TRY(iso_mesh_make(&g, 0, &mesh));
    for (size_t i = 0; i < 3 * mesh.vertices; i++) mesh.vertex[i] *= half[i % 3];
    const shape_mesh found = {mesh.vertices, mesh.triangles, mesh.vertex, mesh.triangle};
    return shape_mesh_copy(&found, a, &out->mesh);
}

static pbd_status take_collider(const pbd_scene *scene, const pbd_collider *c, pbd_arena *a, collider_mesh_of *out) {
    const double r = c->half[0], h = c->half[2];
    switch (c->shape) {
        case PBD_SPHERE:
            return take_shape(&(shape){.kind = SHAPE_SPHERE, .size = {r}}, a, out);
        case PBD_CAPSULE:
            return take_shape(&(shape){.kind = SHAPE_ROUND_CONE, .at = {0, 0, -h}, .to = {0, 0, h}, .size = {r, r}}, a,
                              out);
        case PBD_CYLINDER:
            return take_shape(&(shape){.kind = SHAPE_CYLINDER, .at = {0, 0, -h}, .to = {0, 0, h}, .size = {r}}, a, out);
        case PBD_MESH: {
            const pbd_collider_mesh *m = &scene->colliders.mesh[c->mesh];
            const shape_mesh own = {m->vertices, m->triangles, m->vertex, m->triangle};
            return shape_mesh_copy(&own, a, &out->mesh);
        }
        default:
            return take_distance(scene, c, a, out);
    }
}

pbd_status collider_meshes_make(const pbd_scene *scene, collider_meshes *out) {
    *out = (collider_meshes){0};
    out->item = pbd_new(&out->owned, collider_mesh_of, scene->colliders.count);
    PBD_TRY(pbd_arena_check(&out->owned));
    for (size_t i = 0; i < scene->colliders.count; i++) {
        if (!collider_is_solid(&scene->colliders.item[i])) continue;
        collider_mesh_of *m = &out->item[out->count++];
        m->collider = i;
        PBD_TRY(take_collider(scene, &scene->colliders.item[i], &out->owned, m));
        out->vertices += m->mesh.vertices;
        out->triangles += m->mesh.triangles;
    }
    return pbd_ok();
}

void collider_meshes_place(const collider_meshes *meshes, const pbd_scene *scene, double time, double *vertex) {
    for (size_t i = 0; i < meshes->count; i++) {
        const shape_mesh *m = &meshes->item[i].mesh;
        double centre[3], axis[3][3];
        collider_at(&scene->colliders.item[meshes->item[i].collider], time, centre, axis);
        for (size_t v = 0; v < m->vertices; v++, vertex += 3)
            for (int d = 0; d < 3; d++)
                vertex[d] = centre[d] + m->vertex[3 * v] * axis[0][d] + m->vertex[3 * v + 1] * axis[1][d] +
                            m->vertex[3 * v + 2] * axis[2][d];
    }
}

void collider_meshes_join(const collider_meshes *meshes, uint32_t *triangle) {
    uint32_t first = 0;
    for (size_t i = 0; i < meshes->count; i++) {
        const shape_mesh *m = &meshes->item[i].mesh;
        for (size_t k = 0; k < 3 * m->triangles; k++) *triangle++ = first + m->triangle[k];
        first += (uint32_t)m->vertices;
    }
}
