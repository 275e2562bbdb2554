#include "cases/scenes/collider_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#include "cases/geometry/triangle_file.h"

void collider_mesh_free(pbd_collider_mesh *mesh) {
    free(mesh->vertex);
    free(mesh->triangle);
    *mesh = (pbd_collider_mesh){0};
}

static pbd_status open_mesh(size_t vertices, size_t triangles, pbd_collider_mesh *out) {
    *out = (pbd_collider_mesh){.vertex = malloc((3 * vertices + 1) * sizeof *out->vertex),
                               .triangle = malloc((3 * triangles + 1) * sizeof *out->triangle)};
    if (out->vertex && out->triangle) return pbd_ok();
    collider_mesh_free(out);
    return pbd_no_memory();
}

static uint32_t put_vertex(pbd_collider_mesh *m, double x, double y, double z) {
    double *at = m->vertex + 3 * m->vertices;
    at[0] = x, at[1] = y, at[2] = z;
    return (uint32_t)m->vertices++;
}

static void put_triangle(pbd_collider_mesh *m, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *corner = m->triangle + 3 * m->triangles++;
    corner[0] = a, corner[1] = b, corner[2] = c;
}

/* Corners counter-clockwise as seen from outside. */
static void put_square(pbd_collider_mesh *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    put_triangle(m, a, b, c);
    put_triangle(m, a, c, d);
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

pbd_status collider_mesh_box(const double half[3], pbd_collider_mesh *out) {
    PBD_TRY(open_mesh(8, 12, out));
    for (int k = 0; k < 8; k++)
        put_vertex(out, k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]);
    put_square(out, 0, 2, 3, 1);
    put_square(out, 4, 5, 7, 6);
    put_square(out, 0, 1, 5, 4);
    put_square(out, 2, 6, 7, 3);
    put_square(out, 0, 4, 6, 2);
    put_square(out, 1, 3, 7, 5);
    return pbd_ok();
}

/* Twelve vertices on the unit sphere, four in each coordinate plane. */
static void put_icosahedron(pbd_collider_mesh *m) {
    static const uint32_t corner[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                           {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                           {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                           {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const double g = 0.5 * (1 + sqrt(5)), size = sqrt(1 + g * g);
    for (int plane = 0; plane < 3; plane++)
        for (int k = 0; k < 4; k++) {
            double x[3] = {0};
            x[plane] = (k & 1 ? 1 : -1) / size;
            x[(plane + 1) % 3] = (k & 2 ? -g : g) / size;
            put_vertex(m, x[0], x[1], x[2]);
        }
    for (int t = 0; t < 20; t++) put_triangle(m, corner[t][0], corner[t][1], corner[t][2]);
}

/* The midpoint of an edge, moved onto the unit sphere. It is made twice, once for each triangle of the edge, bitwise
 * equal, so that both copies can be merged into one vertex. */
static uint32_t put_middle(pbd_collider_mesh *m, uint32_t a, uint32_t b) {
    double x[3], square = 0;
    for (size_t d = 0; d < 3; d++) {
        x[d] = m->vertex[3 * (size_t)a + d] + m->vertex[3 * (size_t)b + d];
        square += x[d] * x[d];
    }
    return put_vertex(m, x[0] / sqrt(square), x[1] / sqrt(square), x[2] / sqrt(square));
}

pbd_status collider_mesh_sphere(double radius, int cuts, pbd_collider_mesh *out) {
    const size_t most = (size_t)20 << 2 * cuts;
    PBD_TRY(open_mesh(12 + 3 * most, most, out));
    put_icosahedron(out);
    for (int cut = 0; cut < cuts; cut++) {
        for (size_t t = 0, before = out->triangles; t < before; t++) {
            uint32_t *c = out->triangle + 3 * t;
            const uint32_t a = c[0], ab = put_middle(out, c[0], c[1]), bc = put_middle(out, c[1], c[2]),
                           ca = put_middle(out, c[2], c[0]);
            put_triangle(out, ab, c[1], bc);
            put_triangle(out, ca, bc, c[2]);
            put_triangle(out, a, ab, ca);
            c[0] = ab, c[1] = bc, c[2] = ca;
        }
    }
    for (size_t i = 0; i < 3 * out->vertices; i++) out->vertex[i] *= radius;
    return pbd_ok();
}

pbd_status collider_mesh_hourglass(const double half[3], int around, int rows, pbd_collider_mesh *out) {
    const int circles = 2 * rows + 1;
    const double turn = 2 * acos(-1) / around;
    PBD_TRY(open_mesh((size_t)(around * circles + 2), (size_t)(2 * around * circles), out));
    for (int row = -rows; row <= rows; row++) {
        const double share = abs(row) / (double)rows, radius = half[0] + share * (half[1] - half[0]);
        for (int k = 0; k < around; k++)
            put_vertex(out, radius * cos(turn * k), radius * sin(turn * k), half[2] * row / rows);
    }
    const uint32_t low = put_vertex(out, 0, 0, -half[2]), high = put_vertex(out, 0, 0, half[2]);
    for (uint32_t k = 0, n = (uint32_t)around; k < n; k++) {
        const uint32_t next = (k + 1) % n, top = n * (uint32_t)(circles - 1);
        for (uint32_t row = 0; row + 1 < (uint32_t)circles; row++)
            put_square(out, n * row + k, n * row + next, n * (row + 1) + next, n * (row + 1) + k);
        put_triangle(out, low, next, k);
        put_triangle(out, high, top + k, top + next);
    }
    return pbd_ok();
}

pbd_status collider_mesh_sheet(double half, int cells, double thickness, pbd_collider_mesh *out) {
    const size_t lines = (size_t)cells + 1;
    PBD_TRY(open_mesh(lines * lines, 2 * (size_t)cells * (size_t)cells, out));
    out->thickness = thickness;
    for (int j = 0; j <= cells; j++)
        for (int i = 0; i <= cells; i++) put_vertex(out, half * (2.0 * i / cells - 1), half * (2.0 * j / cells - 1), 0);
    for (uint32_t j = 0; j < (uint32_t)cells; j++)
        for (uint32_t i = 0; i < (uint32_t)cells; i++) {
            const uint32_t a = j * (uint32_t)lines + i, above = a + (uint32_t)lines;
            put_square(out, a, a + 1, above + 1, above);
        }
    return pbd_ok();
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void stand_in_the_middle(pbd_collider_mesh *m, double unit) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < 3 * m->vertices; i++) {
        m->vertex[i] *= unit;
        low[i % 3] = fmin(low[i % 3], m->vertex[i]);
        high[i % 3] = fmax(high[i % 3], m->vertex[i]);
    }
    for (size_t i = 0; i < 3 * m->vertices; i++) m->vertex[i] -= i % 3 == 2 ? low[2] : 0.5 * (low[i % 3] + high[i % 3]);
}

pbd_status collider_mesh_read(const pbd_content *content, double unit, double thickness, pbd_collider_mesh *out) {
    triangle_mesh read PBD_CLEANUP(triangle_mesh_free) = {0};
    *out = (pbd_collider_mesh){0};
    PBD_TRY(triangle_file_read(content, &read));
    if (read.triangles == 0) return pbd_error(PBD_BAD_INPUT, "%s holds no triangles", content->path);
    *out = (pbd_collider_mesh){read.vertices, read.triangles, read.position, read.triangle, thickness};
    read.position = NULL;
    read.triangle = NULL;
    stand_in_the_middle(out, unit);
    return pbd_ok();
}

/* ---- Into a scene ------------------------------------------------------------------------------------------------ */

pbd_status particle_add_mesh(pbd_scene *scene, pbd_collider_mesh *mesh, const double at[3], double friction,
                             pbd_collider **out) {
    const size_t count = scene->colliders.meshes;
    pbd_collider_mesh *grown = realloc(scene->colliders.mesh, (count + 1) * sizeof *grown);
    if (!grown) {
        collider_mesh_free(mesh);
        return pbd_no_memory();
    }
    scene->colliders.mesh = grown;
    grown[scene->colliders.meshes++] = *mesh;
    *mesh = (pbd_collider_mesh){0};
    pbd_collider *c = &scene->colliders.item[scene->colliders.count++];
    *c = (pbd_collider){
        .shape = PBD_MESH, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .friction = friction, .mesh = count};
    memcpy(c->centre, at, sizeof c->centre);
    if (out) *out = c;
    return pbd_ok();
}
