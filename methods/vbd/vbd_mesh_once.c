#include "methods/vbd/vbd_mesh.h"

#include "methods/physics/space/colouring.h"
#include "methods/physics/space/element_shape.h"

static pbd_status find_incidence(vbd_tables *t, pbd_arena *arena) {
    const pbd_scene *scene = t->scene;
    const size_t n = scene->particles.count, entries = 4 * scene->tets.count;
    const uint32_t *corner = scene->tets.corner;
    if (entries >= UINT32_MAX)
        return pbd_error(PBD_NOT_SUPPORTED, "vbd supports fewer than %u tetrahedra, not %zu", UINT32_MAX / 4,
                         scene->tets.count);
    size_t *first = pbd_new(arena, size_t, n + 2);
    t->tet = pbd_new(arena, uint32_t, entries);
    PBD_TRY(pbd_arena_check(arena));
    for (size_t k = 0; k < entries; k++) first[corner[k] + 2]++;
    for (size_t i = 0; i < n; i++) first[i + 2] += first[i + 1];
    for (size_t k = 0; k < entries; k++) t->tet[first[corner[k] + 1]++] = (uint32_t)k;
    t->first = first;
    return pbd_ok();
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* Orders the free vertices by stage and, within a stage, by decreasing number of tetrahedra, so that the vertices of a
 * slice have nearly equal numbers. Slabs are ranges of tetrahedra, which vertices of different colours share. */
static pbd_status order_vertices(vbd_tables *t, size_t slab, pbd_arena *arena) {
    const pbd_scene *scene = t->scene;
    const size_t n = scene->particles.count, lanes = t->lanes, tets = scene->tets.count;
    const size_t tet_slab = (size_t)((double)slab * (double)tets / (double)n);
    pbd_arena a PBD_ARENA;
    bool *held = pbd_new(&a, bool, n);
    uint32_t *vertex = pbd_new(&a, uint32_t, n), *order = pbd_new(&a, uint32_t, n), *tet;
    size_t *first = pbd_new(&a, size_t, n + 1), *begin, stages, entries = 0, most = 0;
    tet = pbd_new(&a, uint32_t, 4 * tets);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < scene->particles.fixed; i++) held[scene->particles.fixed_particle[i]] = true;
    for (size_t i = 0; i < n; i++) {
        if (held[i]) continue;
        if (t->first[i + 1] - t->first[i] > most) most = t->first[i + 1] - t->first[i];
        for (size_t k = t->first[i]; k < t->first[i + 1]; k++) tet[entries++] = t->tet[k] / 4;
        vertex[t->vertices++] = (uint32_t)i;
        first[t->vertices] = entries;
    }
    PBD_TRY(pbd_colour_lists(t->vertices, first, tet, tets, false, &a, order, &begin, &t->colours));
    PBD_TRY(pbd_cut_colours(t->vertices, 0, first, tet, tets, tet_slab, order, begin, t->colours, &a, &begin, &stages));
    t->stage_first = pbd_new(arena, size_t, stages + 1);
    t->stage_count = pbd_new(arena, size_t, stages + 1);
    t->own = pbd_new(arena, uint32_t, t->vertices + stages * lanes + 1);
    size_t *bucket = pbd_new(&a, size_t, most + 2);
    PBD_TRY(pbd_arena_check(arena));
    PBD_TRY(pbd_arena_check(&a));
    for (size_t s = 0; s < stages; s++) {
        const size_t count = begin[s + 1] - begin[s], padded = (count + lanes - 1) / lanes * lanes;
        if (count == 0) continue;
        t->stage_first[t->stages] = t->places;
        t->stage_count[t->stages++] = count;
        memset(bucket, 0, (most + 2) * sizeof *bucket);
        for (size_t k = begin[s]; k < begin[s + 1]; k++) bucket[most - (first[order[k] + 1] - first[order[k]]) + 1]++;
        for (size_t b = 0; b < most; b++) bucket[b + 1] += bucket[b];
        for (size_t k = begin[s]; k < begin[s + 1]; k++)
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

static size_t add_neighbour(vbd_tables *t, uint32_t vertex, double spring, size_t count) {
    if (t->mark[vertex] == 0) {
        t->found[count] = vertex;
        t->found_spring[count] = 0;
        t->mark[vertex] = (uint32_t)++count;
    }
    t->found_spring[t->mark[vertex] - 1] += spring;
    return count;
}

static void forget_neighbours(vbd_tables *t, size_t count) {
    for (size_t k = 0; k < count; k++) t->mark[t->found[k]] = 0;
}

/* Row 0 of the block is row `tet_row` of tetrahedra, `near_row` of neighbours. */
static pbd_status fill_place(vbd_tables *t, const double *mu, size_t place, size_t tet_row, size_t near_row,
                             vbd_rows_of_slices *out) {
    const pbd_scene *scene = t->scene;
    const size_t lane = place % t->lanes, slice = place / t->lanes;
    const uint32_t own = t->own[place];
    size_t found = 0;
    for (size_t k = t->first[own]; k < t->first[own + 1]; k++) {
        const size_t e = t->tet[k] / 4, self = t->tet[k] % 4;
        const size_t at = (t->tet_row[slice] - tet_row + (k - t->first[own])) * t->lanes + lane;
        const uint32_t *corner = scene->tets.corner + 4 * e;
        double g[4][3], volume;
        size_t other[3];
        PBD_TRY(shape_of(scene, e, g, &volume));
        for (size_t c = 0, seen = 0; c < 4; c++)
            if (c != self) other[seen++] = c;
        const uint32_t three[3] = {corner[other[0]], corner[other[1]], corner[other[2]]};
        if (!faces(scene->particles.positions, own, three)) {
            const size_t swap = other[1];
            other[1] = other[2], other[2] = swap;
        }
        const uint8_t material = scene->tets.material ? scene->tets.material[e] : 0;
        for (size_t c = 0; c < 3; c++) {
            double dot = 0;
            out->corner[c * out->tets + at] = corner[other[c]];
            for (size_t d = 0; d < 3; d++) {
                if (out->shape) out->shape[(3 * c + d) * out->tets + at] = g[other[c]][d];
                dot += g[self][d] * g[other[c]][d];
            }
            if (out->spring) found = add_neighbour(t, corner[other[c]], -mu[material] * volume * dot, found);
        }
        out->volume[at] = volume;
        out->material[at] = material;
    }
    for (size_t k = 0; k < found; k++) {
        const size_t at = (t->near_row[slice] - near_row + k) * t->lanes + lane;
        out->neighbour[at] = t->found[k];
        out->spring[at] = t->found_spring[k];
    }
    forget_neighbours(t, found);
    return pbd_ok();
}

/* Padding: the corners and neighbours are the vertex itself, and all values are zero. */
static void fill_padding(const vbd_tables *t, size_t place, size_t tet_row, size_t near_row, vbd_rows_of_slices *out) {
    const size_t lane = place % t->lanes, slice = place / t->lanes;
    for (size_t row = t->tet_row[slice] + t->tet_count[place]; row < t->tet_row[slice + 1]; row++) {
        const size_t at = (row - tet_row) * t->lanes + lane;
        for (size_t c = 0; c < 3; c++) out->corner[c * out->tets + at] = t->own[place];
        for (size_t k = 0; k < 9 && out->shape; k++) out->shape[k * out->tets + at] = 0;
        out->volume[at] = 0;
        out->material[at] = 0;
    }
    for (size_t row = t->near_row[slice] + t->near_count[place]; row < t->near_row[slice + 1] && out->spring; row++) {
        const size_t at = (row - near_row) * t->lanes + lane;
        out->neighbour[at] = t->own[place];
        out->spring[at] = 0;
    }
}

pbd_status vbd_fill_rows(vbd_tables *t, const double *mu, size_t begin, size_t end, vbd_rows_of_slices *out) {
    const size_t tet_row = t->tet_row[begin], near_row = t->near_row[begin];
    out->tets = (t->tet_row[end] - tet_row) * t->lanes;
    out->near = (t->near_row[end] - near_row) * t->lanes;
    for (size_t place = begin * t->lanes; place < end * t->lanes; place++) {
        PBD_TRY(fill_place(t, mu, place, tet_row, near_row, out));
        fill_padding(t, place, tet_row, near_row, out);
    }
    return pbd_ok();
}

/* Counts the tetrahedra and neighbours of the vertex at each place. */
static void count_neighbours(vbd_tables *t) {
    for (size_t place = 0; place < t->places; place++) {
        const uint32_t own = t->own[place];
        size_t found = 0;
        for (size_t k = t->first[own]; k < t->first[own + 1]; k++)
            for (size_t c = 0; c < 4; c++) {
                const uint32_t vertex = t->scene->tets.corner[4 * (t->tet[k] / 4) + c];
                if (vertex != own) found = add_neighbour(t, vertex, 0, found);
            }
        t->tet_count[place] = (uint32_t)(t->first[own + 1] - t->first[own]);
        t->near_count[place] = (uint32_t)found;
        forget_neighbours(t, found);
    }
}

/* Finds the first row of each slice. Padding places repeat a vertex: they count as its copies and are never read
 * alone. */
static void place_rows(vbd_tables *t) {
    for (size_t s = 0; s < t->slices; s++) {
        uint32_t tets = 0, near = 0;
        for (size_t l = s * t->lanes; l < (s + 1) * t->lanes; l++) {
            if (t->tet_count[l] > tets) tets = t->tet_count[l];
            if (t->near_count[l] > near) near = t->near_count[l];
        }
        t->tet_row[s + 1] = t->tet_row[s] + tets;
        t->near_row[s + 1] = t->near_row[s] + near;
    }
    t->tet_rows = t->tet_row[t->slices];
    t->near_rows = t->near_row[t->slices];
    for (size_t s = 0; s < t->stages; s++)
        for (size_t k = 0; k < t->stage_count[s]; k++) {
            t->tets += t->tet_count[t->stage_first[s] + k];
            t->near += t->near_count[t->stage_first[s] + k];
        }
}

pbd_status vbd_tables_make(const pbd_scene *scene, size_t lanes, size_t slab, pbd_arena *arena, vbd_tables *out) {
    const size_t n = scene->particles.count;
    *out = (vbd_tables){.scene = scene, .lanes = lanes};
    for (size_t e = 0; e < scene->tets.count; e++) { /* also those of held vertices alone, which are in no row */
        element_shape shape;
        PBD_TRY(element_shape_of(scene, 4, e, &shape));
    }
    PBD_TRY(find_incidence(out, arena));
    PBD_TRY(order_vertices(out, slab, arena));
    out->mark = pbd_new(arena, uint32_t, n);
    out->found = pbd_new(arena, uint32_t, n);
    out->found_spring = pbd_new(arena, double, n);
    out->tet_count = pbd_new(arena, uint32_t, out->places);
    out->near_count = pbd_new(arena, uint32_t, out->places);
    out->tet_row = pbd_new(arena, uint32_t, out->slices + 1);
    out->near_row = pbd_new(arena, uint32_t, out->slices + 1);
    PBD_TRY(pbd_arena_check(arena));
    count_neighbours(out);
    place_rows(out);
    return pbd_ok();
}
