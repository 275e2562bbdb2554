#include "methods/physics/parts/element_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/physics/parts/surface_load.h"
#include "methods/physics/space/clusters.h"
#include "methods/physics/space/element_shape.h"

static size_t arrays_of(const element_solver *s, device_array *row) {
    const size_t n = s->elements, arity = (size_t)s->corners, jacobi = s->jacobi ? n : 0;
    const device_array rows[] = {DEVICE_ARRAY(s->corner, arity * n),
                                 DEVICE_ARRAY(s->inverse, (arity == 4 ? 9 : 4) * n),
                                 DEVICE_ARRAY(s->size, n),
                                 DEVICE_ARRAY(s->share, jacobi),
                                 DEVICE_ARRAY(s->impulse, 4 * arity * jacobi),
                                 DEVICE_ARRAY(s->gather_first, s->jacobi ? s->position.particles + 1 : 0),
                                 DEVICE_ARRAY(s->gather_slot, arity * jacobi),
                                 DEVICE_ARRAY(s->first_part, s->clusters ? s->clusters + 1 : 0),
                                 DEVICE_ARRAY(s->part, s->clusters ? s->parts + 1 : 0),
                                 DEVICE_ARRAY(s->first_row, s->clusters ? s->clusters + 1 : 0),
                                 DEVICE_ARRAY(s->row, s->rows),
                                 DEVICE_ARRAY(s->own, s->clusters ? arity * n : 0)};
    return DEVICE_ROWS(row, rows);
}

void element_solver_free(element_solver *s) {
    device_array row[DEVICE_MOST_ARRAYS];
    device_arrays_free(s->position.run.exec, row, arrays_of(s, row));
    position_free(&s->position);
    free(s->order);
    free(s->batch);
    free(s->span);
}

void element_solver_destroy(void *state) {
    if (state) element_solver_free(state);
    free(state);
}

pbd_status element_solver_upload(element_solver *s, const void *host, size_t bytes, void *device) {
    void **out = device;
    PBD_TRY(pbd_alloc(s->position.run.exec, bytes, out));
    return pbd_upload(s->position.run.exec, *out, host, bytes);
}

double element_solver_strain_rounding(const element_solver *s) {
    return position_strain_rounding(&s->position, s->edge);
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* Sorts the places [first, end) of s->order by material, stably, and appends a batch for each material. */
static void split_batch(element_solver *s, const uint8_t *material, size_t first, size_t end, uint32_t *sorted) {
    size_t place = first;
    for (int m = 0; m < PBD_MOST_MATERIALS; m++) {
        const size_t begin = place;
        for (size_t i = first; i < end; i++)
            if ((material ? material[s->order[i]] : 0) == m) sorted[place++] = s->order[i];
        if (place > begin)
            s->batch[s->batches++] = (element_batch){.first = begin, .count = place - begin, .material = m};
    }
    memcpy(s->order + first, sorted + first, (end - first) * sizeof *sorted);
}

static void join_batches(element_solver *s) {
    for (size_t k = 0; k < s->batches; k++) {
        element_batch *last = s->spans > 0 ? &s->span[s->spans - 1] : NULL;
        if (last && last->material == s->batch[k].material)
            last->count += s->batch[k].count;
        else
            s->span[s->spans++] = s->batch[k];
    }
}

/* With fewer elements a colour has few clusters, and sixteen are needed to fill a block: colours of single elements are
 * then as fast. */
enum { CLUSTERS_FROM = 4096 };

/* Leaves plan->colours 0 if no clusters are used. */
static pbd_status plan_clusters(const element_solver *s, const pbd_scene *scene, int clusters, pbd_arena *arena,
                                cluster_plan *plan) {
    const bool on = clusters == clusters_on;
    if (s->jacobi || clusters == clusters_off) return pbd_ok();
    if (!on && (!pbd_exec_is_gpu(s->position.run.exec) || s->corners != 4 || s->elements < CLUSTERS_FROM))
        return pbd_ok();
    if (s->corners != 4) return pbd_error(PBD_NOT_SUPPORTED, "clusters=on is for tetrahedra: this scene has triangles");
    PBD_TRY(cluster_plan_make(scene, arena, plan));
    if (on && plan->colours == 0)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "clusters=on: tetrahedra of such different sizes have no clusters of %d colours: leave it out",
                         CLUSTER_COLOURS);
    return pbd_ok();
}

static void order_by_clusters(element_solver *s, const cluster_plan *plan) {
    s->colours = plan->colours;
    s->clusters = plan->clusters;
    s->parts = plan->parts;
    s->rows = plan->entries;
    memcpy(s->order, plan->order, s->elements * sizeof *s->order);
    for (size_t k = 0; k < plan->batches; k++) {
        const size_t cluster = plan->batch[k].first, end = cluster + plan->batch[k].count;
        const size_t first = plan->part[plan->first_part[cluster]];
        s->batch[s->batches++] = (element_batch){.first = first,
                                                 .count = plan->part[plan->first_part[end]] - first,
                                                 .material = plan->batch[k].material,
                                                 .cluster = cluster,
                                                 .clusters = plan->batch[k].count,
                                                 .rows = plan->first_particle[end] - plan->first_particle[cluster]};
    }
}

static pbd_status upload_clusters(const element_solver *s, const cluster_plan *plan) {
    pbd_exec *exec = s->position.run.exec;
    if (s->clusters == 0) return pbd_ok();
    PBD_TRY(pbd_upload(exec, s->first_part, plan->first_part, (s->clusters + 1) * sizeof *s->first_part));
    PBD_TRY(pbd_upload(exec, s->part, plan->part, (s->parts + 1) * sizeof *s->part));
    PBD_TRY(pbd_upload(exec, s->first_row, plan->first_particle, (s->clusters + 1) * sizeof *s->first_row));
    PBD_TRY(pbd_upload(exec, s->row, plan->particle, s->rows * sizeof *s->row));
    return pbd_upload(exec, s->own, plan->own, (size_t)s->corners * s->elements * sizeof *s->own);
}

/* Orders elements by stage (pbd_cut_colours) for Gauss-Seidel, and as in the mesh for Jacobi, so that impulses are near
 * the nodes that gather them. */
static pbd_status order_elements(element_solver *s, const pbd_cells *cells, const cluster_plan *plan) {
    size_t first[PBD_MOST_COLOURS + 1] = {0, s->elements}, *stage = first, stages = 1;
    pbd_arena a PBD_ARENA;
    uint32_t *sorted = pbd_new(&a, uint32_t, s->elements);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY_NEW(s->order, s->elements);
    for (size_t i = 0; i < s->elements; i++) s->order[i] = (uint32_t)i;
    s->colours = 1;
    if (!s->jacobi && plan->colours == 0) {
        const size_t n = s->position.particles, slab = pbd_slab(s->position.run.exec, n, 4 * sizeof(real));
        PBD_TRY(pbd_colour(s->elements, s->corners, cells->corner, n, s->order, first, &s->colours));
        PBD_TRY(pbd_cut_colours(s->elements, s->corners, NULL, cells->corner, n, slab, s->order, first, s->colours, &a,
                                &stage, &stages));
    }
    const size_t most = plan->colours > 0 ? plan->batches : stages * PBD_MOST_MATERIALS;
    PBD_TRY_NEW(s->batch, most);
    PBD_TRY_NEW(s->span, most);
    if (plan->colours > 0) {
        order_by_clusters(s, plan);
        join_batches(s);
        return pbd_ok();
    }
    for (size_t k = 0; k < stages; k++) split_batch(s, cells->material, stage[k], stage[k + 1], sorted);
    join_batches(s);
    return pbd_ok();
}

/* Elements whose arrays are made and uploaded at a time, so that they stay in the cache. */
enum { SHAPES = 8192 };

typedef struct shape_piece {
    uint32_t *corner;
    real *inverse, *size; /* inverse: entry by entry */
} shape_piece;

/* Makes the arrays of elements [begin, end) and adds their sizes to *sum. */
static pbd_status make_shapes(const element_solver *s, const pbd_scene *scene, const uint32_t *corner, size_t begin,
                              size_t end, shape_piece *out, double *sum) {
    const size_t arity = (size_t)s->corners, entries = arity == 4 ? 9 : 4;
    for (size_t i = begin; i < end; i++) {
        element_shape shape;
        memcpy(out->corner + (i - begin) * arity, corner + s->order[i] * arity, arity * sizeof *corner);
        PBD_TRY(element_shape_of(scene, s->corners, s->order[i], &shape));
        for (size_t k = 0; k < entries; k++) out->inverse[k * SHAPES + i - begin] = (real)shape.inverse[k];
        out->size[i - begin] = (real)shape.size;
        *sum += shape.size;
    }
    return pbd_ok();
}

static pbd_status upload_shapes(element_solver *s, const pbd_scene *scene, const uint32_t *corner) {
    const size_t n = s->elements, arity = (size_t)s->corners, entries = arity == 4 ? 9 : 4;
    pbd_exec *exec = s->position.run.exec;
    pbd_arena a PBD_ARENA;
    shape_piece made = {pbd_new(&a, uint32_t, SHAPES * arity), pbd_new(&a, real, SHAPES * entries),
                        pbd_new(&a, real, SHAPES)};
    double sum = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t begin = 0; begin < n; begin += SHAPES) {
        const size_t count = n - begin < SHAPES ? n - begin : SHAPES, bytes = count * sizeof(real);
        PBD_TRY(make_shapes(s, scene, corner, begin, begin + count, &made, &sum));
        PBD_TRY(pbd_upload(exec, s->corner + begin * arity, made.corner, count * arity * sizeof *made.corner));
        for (size_t k = 0; k < entries; k++)
            PBD_TRY(pbd_upload(exec, s->inverse + k * n + begin, made.inverse + k * SHAPES, bytes));
        PBD_TRY(pbd_upload(exec, s->size + begin, made.size, bytes));
    }
    s->edge = pow(sum / (double)n, arity == 4 ? 1.0 / 3 : 0.5);
    return pbd_ok();
}

/* Jacobi adds the corrections of all elements of a particle, which overshoots. Each constraint's correction is
 * therefore scaled by the relaxation over the largest number of elements at one of its corners. One factor per
 * constraint conserves momenta; averaging per particle would not. */
static pbd_status upload_gather(element_solver *s, const uint32_t *corner, double relaxation) {
    const size_t arity = (size_t)s->corners, entries = s->elements * arity, n = s->position.particles;
    pbd_exec *exec = s->position.run.exec;
    if (entries >= UINT32_MAX / 2)
        return pbd_error(PBD_NOT_SUPPORTED, "solver=jacobi supports fewer than %u impulses, not %zu: use coloured_gs",
                         UINT32_MAX / 2, entries);
    pbd_arena a PBD_ARENA;
    uint32_t *first = pbd_new(&a, uint32_t, n + 2), *slot = pbd_new(&a, uint32_t, entries);
    real *share = pbd_new(&a, real, s->elements);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < entries; i++) first[corner[i] + 2]++;
    for (size_t e = 0; e < s->elements; e++) {
        uint32_t most = 1;
        for (size_t c = 0; c < arity; c++)
            if (first[corner[s->order[e] * arity + c] + 2] > most) most = first[corner[s->order[e] * arity + c] + 2];
        share[e] = (real)(relaxation / most);
    }
    for (size_t p = 0; p < n; p++) first[p + 2] += first[p + 1];
    for (size_t e = 0; e < s->elements; e++)
        for (size_t c = 0; c < arity; c++)
            slot[first[corner[s->order[e] * arity + c] + 1]++] = (uint32_t)((e * arity + c) << 1);
    PBD_TRY(pbd_upload(exec, s->gather_first, first, (n + 1) * sizeof *first));
    PBD_TRY(pbd_upload(exec, s->gather_slot, slot, entries * sizeof *slot));
    return pbd_upload(exec, s->share, share, s->elements * sizeof *share);
}

pbd_status element_solver_create(element_solver *s, const char *name, const step_part *own, const pbd_scene *scene,
                                 element_settings set, contact_settings touch, pbd_exec *exec, pbd_recorder *recorder) {
    *s = (element_solver){.position = {.name = name, .set = {set.iterations, set.substeps, set.dt, set.damping}},
                          .elements = scene->tets.count ? scene->tets.count : scene->triangles.count,
                          .corners = scene->tets.count ? 4 : 3,
                          .jacobi = set.solver == solver_jacobi};
    const pbd_cells *cells = scene->tets.count ? &scene->tets : &scene->triangles;
    if (s->elements == 0) return pbd_error(PBD_BAD_INPUT, "the scene has neither tetrahedra nor triangles");
    pbd_arena a PBD_ARENA;
    pbd_scene loaded = *scene;
    if (s->corners == 4) PBD_TRY(surface_load_of_tets(scene, &a, &loaded));
    PBD_TRY(position_create(&s->position, own, &loaded, NULL, NULL, touch, exec, recorder));
    cluster_plan plan = {0};
    PBD_TRY(plan_clusters(s, scene, set.clusters, &a, &plan));
    PBD_TRY(order_elements(s, cells, &plan));
    device_array row[DEVICE_MOST_ARRAYS];
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    PBD_TRY(upload_shapes(s, scene, cells->corner));
    PBD_TRY(upload_clusters(s, &plan));
    if (s->jacobi) PBD_TRY(upload_gather(s, cells->corner, set.relaxation));
    pbd_count(recorder, "particles", s->position.particles);
    pbd_count(recorder, "constraints_total", s->elements);
    pbd_count(recorder, "colours", (uint64_t)s->colours);
    if (s->clusters > 0) pbd_count(recorder, "clusters", s->clusters);
    return pbd_ok();
}

pbd_status element_solver_sweep(element_solver *s, element_projection project, void *method) {
    const position_solver *of = &s->position;
    for (size_t k = 0; k < s->batches; k++) PBD_TRY(project(method, &s->batch[k]));
    pbd_count(of->run.recorder, "constraint_solves", s->elements);
    if (!s->jacobi) return pbd_ok();
    const gather_args gather = {s->gather_first, s->gather_slot, s->impulse, of->p};
    return PBD_RUN(of->run.exec, gather_impulses, of->particles,
                   (pbd_work){.items = of->particles, .entries = s->elements * (size_t)s->corners}, &gather);
}
