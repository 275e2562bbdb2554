#include "methods/vbd/vbd_mesh.h"

#include "methods/physics/space/colouring.h"
#include "methods/physics/space/element_shape.h"

/* Tetrahedra of vertex i: tet[first[i] .. first[i + 1]), each as 4 times the tetrahedron's number plus the corner. */
typedef struct incidence {
    size_t *first;
    uint32_t *tet;
} incidence;

static pbd_status find_incidence(const pbd_scene *scene, pbd_arena *arena, incidence *out) {
    const size_t n = scene->particles.count, entries = 4 * scene->tets.count;
    const uint32_t *corner = scene->tets.corner;
    if (entries >= UINT32_MAX)
        return pbd_error(PBD_NOT_SUPPORTED, "vbd supports fewer than %u tetrahedra, not %zu", UINT32_MAX / 4,
                         scene->tets.count);
    size_t *first = pbd_new(arena, size_t, n + 2);
    out->tet = pbd_new(arena, uint32_t, entries);
    PBD_TRY(pbd_arena_check(arena));
    for (size_t k = 0; k < entries; k++) first[corner[k] + 2]++;
    for (size_t i = 0; i < n; i++) first[i + 2] += first[i + 1];
    for (size_t k = 0; k < entries; k++) out->tet[first[corner[k] + 1]++] = (uint32_t)k;
    out->first = first;
    return pbd_ok();
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* Orders the free vertices by colour and, within a colour, by decreasing number of tetrahedra, so that the vertices of
 * a slice have nearly equal numbers. */
static pbd_status order_vertices(const pbd_scene *scene, const incidence *of, size_t lanes, pbd_arena *arena,
                                 vbd_tables *t) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    bool *held = pbd_new(&a, bool, n);
    uint32_t *vertex = pbd_new(&a, uint32_t, n), *order = pbd_new(&a, uint32_t, n), *tet;
    size_t *first = pbd_new(&a, size_t, n + 1), *begin, entries = 0, most = 0;
    tet = pbd_new(&a, uint32_t, 4 * scene->tets.count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < scene->particles.fixed; i++) held[scene->particles.fixed_particle[i]] = true;
    for (size_t i = 0; i < n; i++) {
        if (held[i]) continue;
        if (of->first[i + 1] - of->first[i] > most) most = of->first[i + 1] - of->first[i];
        for (size_t k = of->first[i]; k < of->first[i + 1]; k++) tet[entries++] = of->tet[k] / 4;
        vertex[t->vertices++] = (uint32_t)i;
        first[t->vertices] = entries;
    }
    PBD_TRY(pbd_colour_lists(t->vertices, first, tet, scene->tets.count, false, &a, order, &begin, &t->colours));
    t->colour_first = pbd_new(arena, size_t, t->colours + 1);
    t->colour_count = pbd_new(arena, size_t, t->colours + 1);
    t->own = pbd_new(arena, uint32_t, t->vertices + (size_t)t->colours * lanes + 1);
    size_t *bucket = pbd_new(&a, size_t, most + 2);
    PBD_TRY(pbd_arena_check(arena));
    PBD_TRY(pbd_arena_check(&a));
    for (int c = 0; c < t->colours; c++) {
        const size_t count = begin[c + 1] - begin[c], padded = (count + lanes - 1) / lanes * lanes;
        t->colour_first[c] = t->places;
        t->colour_count[c] = count;
        memset(bucket, 0, (most + 2) * sizeof *bucket);
        for (size_t k = begin[c]; k < begin[c + 1]; k++) bucket[most - (first[order[k] + 1] - first[order[k]]) + 1]++;
        for (size_t b = 0; b < most; b++) bucket[b + 1] += bucket[b];
        for (size_t k = begin[c]; k < begin[c + 1]; k++)
            t->own[t->places + bucket[most - (first[order[k] + 1] - first[order[k]])]++] = vertex[order[k]];
        for (size_t k = count; k < padded; k++) t->own[t->places + k] = t->own[t->places + count - 1];
        t->places += padded;
    }
    t->slices = t->places / lanes;
    return pbd_ok();
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Gradients of a tetrahedron's shape functions, 1/m: F = sum_a x_a gradient_a^T. */
static pbd_status shape_of(const pbd_scene *scene, size_t e, double gradient[4][3], double *volume) {
    element_shape shape;
    PBD_TRY(element_shape_of(scene, 4, e, &shape));
    *volume = shape.size;
    for (int d = 0; d < 3; d++) {
        gradient[3][d] = 0;
        for (int c = 0; c < 3; c++) {
            gradient[c][d] = shape.inverse[3 * d + c];
            gradient[3][d] -= gradient[c][d];
        }
    }
    return pbd_ok();
}

/* Whether (c - b) x (d - b) points towards the vertex, at rest. */
static bool faces(const double *x, uint32_t own, const uint32_t other[3]) {
    double u[3], v[3], w[3];
    for (int d = 0; d < 3; d++) {
        u[d] = x[3 * other[1] + (uint32_t)d] - x[3 * other[0] + (uint32_t)d];
        v[d] = x[3 * other[2] + (uint32_t)d] - x[3 * other[0] + (uint32_t)d];
        w[d] = x[3 * own + (uint32_t)d] - x[3 * other[0] + (uint32_t)d];
    }
    return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
               (u[0] * v[1] - u[1] * v[0]) * w[2] >
           0;
}

/* Neighbours of one vertex while they are collected. */
typedef struct near_list {
    uint32_t *mark; /* by vertex: 1 + its index in `vertex`; 0: not a neighbour */
    uint32_t *vertex;
    double *spring;
    size_t count;
} near_list;

static void add_spring(near_list *list, uint32_t vertex, double spring) {
    if (list->mark[vertex] == 0) {
        list->vertex[list->count] = vertex;
        list->spring[list->count] = 0;
        list->mark[vertex] = (uint32_t)++list->count;
    }
    list->spring[list->mark[vertex] - 1] += spring;
}

static void fill_place(const pbd_scene *scene, const double *mu, const incidence *of, const double *gradients,
                       const double *volumes, size_t lanes, size_t place, near_list *list, vbd_tables *t) {
    const size_t lane = place % lanes, slice = place / lanes, stride = t->tet_rows * lanes;
    const uint32_t own = t->own[place];
    list->count = 0;
    for (size_t k = of->first[own]; k < of->first[own + 1]; k++) {
        const size_t e = of->tet[k] / 4, self = of->tet[k] % 4;
        const size_t at = (t->tet_row[slice] + (k - of->first[own])) * lanes + lane;
        const double *g = gradients + 12 * e;
        size_t other[3];
        for (size_t c = 0, seen = 0; c < 4; c++)
            if (c != self) other[seen++] = c;
        const uint32_t *corner = scene->tets.corner + 4 * e;
        const uint32_t three[3] = {corner[other[0]], corner[other[1]], corner[other[2]]};
        if (!faces(scene->particles.positions, own, three)) {
            const size_t swap = other[1];
            other[1] = other[2], other[2] = swap;
        }
        const uint8_t material = scene->tets.material ? scene->tets.material[e] : 0;
        for (size_t c = 0; c < 3; c++) {
            double dot = 0;
            t->corner[c * stride + at] = corner[other[c]];
            for (size_t d = 0; d < 3; d++) {
                t->shape[(3 * c + d) * stride + at] = g[3 * other[c] + d];
                dot += g[3 * self + d] * g[3 * other[c] + d];
            }
            add_spring(list, corner[other[c]], -mu[material] * volumes[e] * dot);
        }
        t->volume[at] = volumes[e];
        t->material[at] = material;
    }
    for (size_t k = 0; k < list->count; k++) {
        const size_t at = (t->near_row[slice] + k) * lanes + lane;
        t->neighbour[at] = list->vertex[k];
        t->spring[at] = list->spring[k];
        list->mark[list->vertex[k]] = 0;
    }
}

/* Counts the tetrahedra and neighbours of the vertex at each place. */
static void count_neighbours(const pbd_scene *scene, const incidence *of, near_list *list, vbd_tables *t) {
    for (size_t place = 0; place < t->places; place++) {
        const uint32_t own = t->own[place];
        list->count = 0;
        for (size_t k = of->first[own]; k < of->first[own + 1]; k++)
            for (size_t c = 0; c < 4; c++) {
                const uint32_t vertex = scene->tets.corner[4 * (of->tet[k] / 4) + c];
                if (vertex != own) add_spring(list, vertex, 0);
            }
        t->tet_count[place] = (uint32_t)(of->first[own + 1] - of->first[own]);
        t->near_count[place] = (uint32_t)list->count;
        for (size_t k = 0; k < list->count; k++) list->mark[list->vertex[k]] = 0;
    }
}

/* Finds the first row of each slice. Padding places repeat a vertex: they count as its copies and are never read
 * alone. */
static void place_rows(vbd_tables *t, size_t lanes) {
    for (size_t s = 0; s < t->slices; s++) {
        uint32_t tets = 0, near = 0;
        for (size_t l = s * lanes; l < (s + 1) * lanes; l++) {
            if (t->tet_count[l] > tets) tets = t->tet_count[l];
            if (t->near_count[l] > near) near = t->near_count[l];
        }
        t->tet_row[s + 1] = t->tet_row[s] + tets;
        t->near_row[s + 1] = t->near_row[s] + near;
    }
    t->tet_rows = t->tet_row[t->slices];
    t->near_rows = t->near_row[t->slices];
    for (int c = 0; c < t->colours; c++)
        for (size_t k = 0; k < t->colour_count[c]; k++) {
            t->tets += t->tet_count[t->colour_first[c] + k];
            t->near += t->near_count[t->colour_first[c] + k];
        }
}

static pbd_status allocate_rows(vbd_tables *t, size_t lanes, pbd_arena *arena) {
    const size_t tets = t->tet_rows * lanes, near = t->near_rows * lanes;
    t->corner = pbd_new(arena, uint32_t, 3 * tets);
    t->neighbour = pbd_new(arena, uint32_t, near);
    t->spring = pbd_new(arena, double, near);
    t->shape = pbd_new(arena, double, 9 * tets);
    t->volume = pbd_new(arena, double, tets);
    t->material = pbd_new(arena, uint8_t, tets);
    PBD_TRY(pbd_arena_check(arena));
    for (size_t s = 0; s < t->slices; s++)
        for (size_t l = 0; l < lanes; l++) {
            const uint32_t own = t->own[s * lanes + l];
            for (size_t row = t->tet_row[s]; row < t->tet_row[s + 1]; row++)
                for (size_t c = 0; c < 3; c++) t->corner[c * tets + row * lanes + l] = own;
            for (size_t row = t->near_row[s]; row < t->near_row[s + 1]; row++) t->neighbour[row * lanes + l] = own;
        }
    return pbd_ok();
}

pbd_status vbd_tables_make(const pbd_scene *scene, const double *mu, size_t lanes, pbd_arena *arena, vbd_tables *out) {
    pbd_arena a PBD_ARENA;
    incidence of = {0};
    *out = (vbd_tables){0};
    PBD_TRY(find_incidence(scene, &a, &of));
    PBD_TRY(order_vertices(scene, &of, lanes, arena, out));
    near_list list = {.mark = pbd_new(&a, uint32_t, scene->particles.count),
                      .vertex = pbd_new(&a, uint32_t, scene->particles.count),
                      .spring = pbd_new(&a, double, scene->particles.count)};
    double *gradients = pbd_new(&a, double, 12 * scene->tets.count), *volumes = pbd_new(&a, double, scene->tets.count);
    out->tet_count = pbd_new(arena, uint32_t, out->places);
    out->near_count = pbd_new(arena, uint32_t, out->places);
    out->tet_row = pbd_new(arena, uint32_t, out->slices + 1);
    out->near_row = pbd_new(arena, uint32_t, out->slices + 1);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_arena_check(arena));
    for (size_t e = 0; e < scene->tets.count; e++)
        PBD_TRY(shape_of(scene, e, (double(*)[3])(gradients + 12 * e), &volumes[e]));
    count_neighbours(scene, &of, &list, out);
    place_rows(out, lanes);
    PBD_TRY(allocate_rows(out, lanes, arena));
    for (size_t place = 0; place < out->places; place++)
        fill_place(scene, mu, &of, gradients, volumes, lanes, place, &list, out);
    return pbd_ok();
}
