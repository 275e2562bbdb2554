#include "methods/physics/parts/element_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/space/element_shape.h"

void element_solver_free(element_solver *s) {
    pbd_repeat_free(s->exec, s->repeat);
    void *device[] = {s->corner, s->inverse, s->size,    s->share,        s->x,           s->v,
                      s->a,      s->p,       s->impulse, s->gather_first, s->gather_slot, s->later};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, device[i]);
    contact_free(&s->contact);
    free(s->order);
}

pbd_status element_solver_upload(element_solver *s, const void *host, size_t bytes, void *device) {
    void **out = device;
    PBD_TRY(pbd_alloc(s->exec, bytes, out));
    return pbd_upload(s->exec, *out, host, bytes);
}

element_view element_solver_view(const element_solver *s, size_t first) {
    return (element_view){.corner = s->corner + first * (size_t)s->corners,
                          .inverse = s->inverse + first,
                          .size = s->size + first,
                          .share = s->share ? s->share + first : NULL,
                          .p = s->p,
                          .impulse = s->impulse ? s->impulse + 4 * (size_t)s->corners * first : NULL,
                          .stride = s->elements,
                          .left = s->elements - first};
}

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

/* Accelerations of gravity, and of forces if asked for. */
static void element_solver_accelerations(const pbd_scene *scene, const bool *held, bool forces, real *out) {
    for (size_t i = 0; i < 3 * scene->particles.count; i++) {
        const size_t p = i / 3, d = i % 3;
        double a = scene->loads.gravity[d];
        if (forces && scene->loads.forces) a += scene->loads.forces[i] / scene->particles.masses[p];
        out[4 * p + d] = held[p] ? 0 : (real)a;
    }
}

static void element_solver_rows(const pbd_scene *scene, const bool *held, real *x, real *v) {
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    for (size_t p = 0; p < scene->particles.count; p++) {
        for (size_t d = 0; d < 3; d++) {
            x[4 * p + d] = (real)start[3 * p + d];
            if (!held[p] && scene->particles.velocities) v[4 * p + d] = (real)scene->particles.velocities[3 * p + d];
        }
        x[4 * p + 3] = held[p] ? 0 : (real)(1 / scene->particles.masses[p]);
    }
}

static pbd_status element_solver_particles(element_solver *s, const pbd_scene *scene) {
    const size_t n = scene->particles.count, bytes = 4 * n * sizeof(real);
    real *rows = calloc(12 * n + 1, sizeof *rows), *x = rows, *v = rows + 4 * n, *a = rows + 8 * n;
    bool *held = calloc(n + 1, sizeof *held);
    pbd_status status = rows && held ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    if (status.code == PBD_OK) {
        for (size_t i = 0; i < scene->particles.fixed; i++) held[scene->particles.fixed_particle[i]] = true;
        element_solver_rows(scene, held, x, v);
        element_solver_accelerations(scene, held, true, a);
        status = element_solver_upload(s, x, bytes, &s->x);
    }
    if (status.code == PBD_OK) status = element_solver_upload(s, v, bytes, &s->v);
    if (status.code == PBD_OK) status = element_solver_upload(s, a, bytes, &s->a);
    if (status.code == PBD_OK) status = element_solver_upload(s, x, bytes, &s->p);
    if (status.code == PBD_OK && scene->loads.forces_end > 0) {
        element_solver_accelerations(scene, held, false, a);
        status = element_solver_upload(s, a, bytes, &s->later);
    }
    free(rows);
    free(held);
    return status;
}

/* Colours with Gauss-Seidel; mesh order with Jacobi, so that impulses lie near those who gather them. */
static pbd_status element_solver_order(element_solver *s, const uint32_t *corner) {
    s->order = malloc((s->elements + 1) * sizeof *s->order);
    if (!s->order) return pbd_error(PBD_FAILED, "out of memory for %zu elements", s->elements);
    if (!s->jacobi) return pbd_colour(s->elements, s->corners, corner, s->particles, s->order, s->first, &s->colours);
    for (size_t i = 0; i < s->elements; i++) s->order[i] = (uint32_t)i;
    s->colours = 1;
    s->first[1] = s->elements;
    return pbd_ok();
}

static pbd_status element_solver_shapes(element_solver *s, const pbd_scene *scene, const uint32_t *corner) {
    const size_t n = s->elements, arity = (size_t)s->corners, entries = arity == 4 ? 9 : 4;
    uint32_t *sorted = malloc((n * arity + 1) * sizeof *sorted);
    real *inverse = malloc((n * entries + 1) * sizeof *inverse), *size = malloc((n + 1) * sizeof *size);
    pbd_status status =
        sorted && inverse && size ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu elements", n);
    for (size_t i = 0; i < n && status.code == PBD_OK; i++) {
        element_shape shape;
        memcpy(sorted + i * arity, corner + s->order[i] * arity, arity * sizeof *sorted);
        status = element_shape_of(scene, s->corners, s->order[i], &shape);
        for (size_t k = 0; k < entries; k++) inverse[k * n + i] = (real)shape.inverse[k];
        size[i] = (real)shape.size;
    }
    if (status.code == PBD_OK) status = element_solver_upload(s, sorted, n * arity * sizeof *sorted, &s->corner);
    if (status.code == PBD_OK) status = element_solver_upload(s, inverse, n * entries * sizeof *inverse, &s->inverse);
    if (status.code == PBD_OK) status = element_solver_upload(s, size, n * sizeof *size, &s->size);
    free(sorted);
    free(inverse);
    free(size);
    return status;
}

/* Jacobi adds up what all elements of a particle want, which overshoots. Each constraint takes a share of its step, the
 * relaxation over the largest number of elements at one of its corners: one number per constraint, so that momenta stay
 * as they are, which averaging by particle would not do. */
static pbd_status element_solver_gather(element_solver *s, const uint32_t *corner, double relaxation) {
    const size_t arity = (size_t)s->corners, entries = s->elements * arity;
    uint32_t *first = calloc(s->particles + 2, sizeof *first), *slot = malloc((entries + 1) * sizeof *slot);
    real *share = malloc((s->elements + 1) * sizeof *share);
    pbd_status status = first && slot && share && entries < UINT32_MAX / 2
                            ? pbd_ok()
                            : pbd_error(PBD_FAILED, "out of memory for %zu impulses", entries);
    if (status.code == PBD_OK) {
        for (size_t i = 0; i < entries; i++) first[corner[i] + 2]++;
        for (size_t e = 0; e < s->elements; e++) {
            uint32_t most = 1;
            for (size_t c = 0; c < arity; c++)
                if (first[corner[e * arity + c] + 2] > most) most = first[corner[e * arity + c] + 2];
            share[e] = (real)(relaxation / most);
        }
        for (size_t p = 0; p < s->particles; p++) first[p + 2] += first[p + 1];
        for (size_t i = 0; i < entries; i++) slot[first[corner[i] + 1]++] = (uint32_t)(i << 1);
        status = element_solver_upload(s, first, (s->particles + 1) * sizeof *first, &s->gather_first);
    }
    if (status.code == PBD_OK) status = element_solver_upload(s, slot, entries * sizeof *slot, &s->gather_slot);
    if (status.code == PBD_OK) status = element_solver_upload(s, share, s->elements * sizeof *share, &s->share);
    void *impulse = NULL;
    if (status.code == PBD_OK) status = pbd_alloc(s->exec, 4 * entries * sizeof(real), &impulse);
    s->impulse = impulse;
    free(first);
    free(slot);
    free(share);
    return status;
}

pbd_status element_solver_create(element_solver *s, const pbd_scene *scene, bool jacobi, double relaxation,
                                 contact_settings set, pbd_exec *exec, pbd_recorder *recorder) {
    *s = (element_solver){.exec = exec,
                          .recorder = recorder,
                          .particles = scene->particles.count,
                          .forces_end = scene->loads.forces_end,
                          .elements = scene->tets.count ? scene->tets.count : scene->triangles.count,
                          .corners = scene->tets.count ? 4 : 3,
                          .jacobi = jacobi};
    const uint32_t *corner = scene->tets.count ? scene->tets.corner : scene->triangles.corner;
    if (s->elements == 0) return pbd_error(PBD_BAD_INPUT, "the scene has neither tetrahedra nor triangles");
    PBD_TRY(element_solver_order(s, corner));
    PBD_TRY(element_solver_shapes(s, scene, corner));
    PBD_TRY(element_solver_particles(s, scene));
    if (jacobi) PBD_TRY(element_solver_gather(s, corner, relaxation));
    PBD_TRY(contact_create(&s->contact, scene, NULL, exec, recorder, set));
    pbd_count(recorder, "particles", s->particles);
    pbd_count(recorder, "constraints_total", s->elements);
    pbd_count(recorder, "colours", (uint64_t)s->colours);
    return pbd_ok();
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

pbd_status element_solver_predict(element_solver *s, double dt) {
    /* Half a step of slack: sums of steps do not hit `forces_end` to the bit. */
    const bool ended = s->later && s->time > s->forces_end - 0.5 * dt;
    predict_args args = {.x = s->x, .v = s->v, .a = ended ? s->later : s->a, .p = s->p, .dt = (real)dt};
    PBD_TRY(PBD_RUN(s->exec, predict, s->particles, &args));
    return contact_begin(&s->contact, s->p, s->time, dt);
}

pbd_status element_solver_sweep(element_solver *s, element_projection project, void *method) {
    for (int c = 0; c < s->colours; c++) PBD_TRY(project(method, s->first[c], s->first[c + 1] - s->first[c]));
    pbd_count(s->recorder, "constraint_solves", s->elements);
    if (s->jacobi) {
        gather_args gather = {s->gather_first, s->gather_slot, s->impulse, s->p};
        PBD_TRY(PBD_RUN(s->exec, gather_impulses, s->particles,
                        (pbd_work){s->particles, s->elements * (size_t)s->corners}, &gather));
    }
    return contact_iterate(&s->contact, s->x, s->p);
}

pbd_status element_solver_advance(element_solver *s, double dt, double damping) {
    advance_args args = {s->p, s->x, s->v, (real)(1 / dt), (real)exp(-damping * dt)};
    s->time += dt;
    PBD_TRY(contact_end(&s->contact, s->p));
    return PBD_RUN(s->exec, advance, s->particles, &args);
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

pbd_status element_solver_read(const element_solver *s, const char *method, pbd_field field, double *out) {
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "%s has positions and velocities only", method);
    real *rows = malloc((4 * s->particles + 1) * sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", s->particles);
    const pbd_status status =
        pbd_download(s->exec, rows, field == PBD_POSITIONS ? s->x : s->v, 4 * s->particles * sizeof *rows);
    for (size_t i = 0; i < 3 * s->particles && status.code == PBD_OK; i++) out[i] = (double)rows[4 * (i / 3) + i % 3];
    free(rows);
    return status;
}

size_t element_solver_bytes(const element_solver *s) { return 8 * s->particles * sizeof(real) + sizeof s->time; }

pbd_status element_solver_save(const element_solver *s, void *blob) {
    const size_t rows = 4 * s->particles * sizeof(real);
    PBD_TRY(pbd_download(s->exec, blob, s->x, rows));
    PBD_TRY(pbd_download(s->exec, (char *)blob + rows, s->v, rows));
    memcpy((char *)blob + 2 * rows, &s->time, sizeof s->time);
    return pbd_ok();
}

pbd_status element_solver_load(element_solver *s, const void *blob) {
    const size_t rows = 4 * s->particles * sizeof(real);
    PBD_TRY(pbd_upload(s->exec, s->x, blob, rows));
    PBD_TRY(pbd_upload(s->exec, s->v, (const char *)blob + rows, rows));
    memcpy(&s->time, (const char *)blob + 2 * rows, sizeof s->time);
    return pbd_ok();
}
