#include "methods/physics/parts/cloth.h"

#include <stdlib.h>
#include <string.h>

#include "methods/physics/parts/cloth_kernels.h"
#include "methods/physics/parts/element_solver.h"
#include "methods/physics/parts/hinges.h"

struct cloth {
    element_solver solver; /* of its triangles */
    double stiffness, nu;  /* E t, N/m */
    bool turned;           /* impulses follow their gradients */
    double dt;             /* s, of the running substep */
    size_t hinges;         /* those that can bend */
    int hinge_colours;
    size_t hinge_first[PBD_MOST_COLOURS + 1];
    /* Device: cloth_kernels.h says what they hold. */
    real *stress;
    uint32_t *hinge;
    real *hinge_stiffness, *rest, *moment;
};

void cloth_free(cloth *c) {
    if (!c) return;
    void *device[] = {c->stress, c->hinge, c->hinge_stiffness, c->rest, c->moment};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(c->solver.position.exec, device[i]);
    element_solver_free(&c->solver);
    free(c);
}

/* Multipliers, and what was done by them. */
static size_t per_triangle(const cloth *c) { return c->turned ? 9 : 3; }
static size_t per_hinge(const cloth *c) { return c->turned ? 10 : 1; }

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static pbd_status check_material(const pbd_material *m) {
    if (!pbd_named(m->law, "stvk"))
        return pbd_error(
            PBD_NOT_SUPPORTED,
            "cloth supports material=stvk only: its constraints are the strains of Saint Venant-Kirchhoff's "
            "membrane");
    if (!(m->nu > -1 && m->nu < 0.5)) return pbd_error(PBD_BAD_INPUT, "nu=%g must lie between -1 and 0.5", m->nu);
    return pbd_ok();
}

static pbd_status upload_hinges(cloth *c, const hinges *h, double bending, const uint32_t *order) {
    uint32_t *corner = malloc((4 * h->count + 1) * sizeof *corner);
    real *stiffness = malloc((h->count + 1) * sizeof *stiffness);
    pbd_status status =
        corner && stiffness ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu edges of a cloth", h->count);
    for (size_t i = 0; i < h->count && status.code == PBD_OK; i++) {
        memcpy(corner + 4 * i, h->corner + 4 * (size_t)order[i], 4 * sizeof *corner);
        stiffness[i] = (real)(bending * h->stiffness[order[i]]);
    }
    if (status.code == PBD_OK) status = element_solver_upload(&c->solver, corner, 16 * h->count, &c->hinge);
    if (status.code == PBD_OK)
        status = element_solver_upload(&c->solver, stiffness, h->count * sizeof *stiffness, &c->hinge_stiffness);
    free(corner);
    free(stiffness);
    return status;
}

/* The angles at rest, where the cloth may not be now. */
static pbd_status measure_rest(cloth *c, const pbd_scene *scene) {
    const size_t n = scene->particles.count, bytes = c->hinges * sizeof(real);
    void *rest = NULL, *moment = NULL;
    real *rows = calloc(4 * n + 1, sizeof *rows), *there = NULL;
    pbd_status status = rows ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    for (size_t i = 0; i < 3 * n && rows; i++) rows[4 * (i / 3) + i % 3] = (real)scene->particles.positions[i];
    if (status.code == PBD_OK) status = element_solver_upload(&c->solver, rows, 4 * n * sizeof *rows, &there);
    if (status.code == PBD_OK) status = pbd_alloc(c->solver.position.exec, bytes, &rest);
    if (status.code == PBD_OK) status = pbd_alloc(c->solver.position.exec, per_hinge(c) * bytes, &moment);
    c->rest = rest;
    c->moment = moment;
    const hinge_rest_args args = {c->hinge, there, c->rest};
    if (status.code == PBD_OK) status = PBD_RUN(c->solver.position.exec, measure_hinges, c->hinges, &args);
    if (status.code == PBD_OK) status = pbd_exec_wait(c->solver.position.exec);
    pbd_free(c->solver.position.exec, there);
    free(rows);
    return status;
}

static pbd_status colour_hinges(cloth *c, const pbd_scene *scene, const hinges *h) {
    uint32_t *order = malloc((h->count + 1) * sizeof *order);
    if (!order) return pbd_error(PBD_FAILED, "out of memory for %zu edges of a cloth", h->count);
    pbd_status status =
        pbd_colour(h->count, 4, h->corner, scene->particles.count, order, c->hinge_first, &c->hinge_colours);
    if (status.code == PBD_OK) status = upload_hinges(c, h, scene->material->bending, order);
    free(order);
    return status;
}

static pbd_status make_hinges(cloth *c, const pbd_scene *scene) {
    hinges h;
    if (!(scene->material->bending > 0)) return pbd_ok();
    PBD_TRY(hinges_make(scene, &h));
    c->hinges = h.count;
    pbd_status status = pbd_ok();
    if (c->hinges > 0) status = colour_hinges(c, scene, &h);
    if (c->hinges > 0 && status.code == PBD_OK) status = measure_rest(c, scene);
    hinges_free(&h);
    return status;
}

static pbd_status build(cloth *c, const pbd_scene *scene, bool turned, contact_settings set, pbd_exec *exec,
                        pbd_recorder *recorder) {
    static const position_method method = {.name = "cloth"}; /* the caller has its own loop */
    const pbd_material *m = scene->material;
    void *stress;
    PBD_TRY(check_material(m));
    PBD_TRY(element_solver_create(&c->solver, &method, scene, (element_settings){0}, set, exec, recorder));
    c->stiffness = m->E * (m->thickness > 0 ? m->thickness : 1);
    c->nu = m->nu;
    c->turned = turned;
    PBD_TRY(pbd_alloc(exec, per_triangle(c) * c->solver.elements * sizeof(real), &stress));
    c->stress = stress;
    PBD_TRY(make_hinges(c, scene));
    pbd_count(recorder, "hinges", c->hinges);
    return pbd_ok();
}

pbd_status cloth_create(const pbd_scene *scene, bool turned, contact_settings set, pbd_exec *exec,
                        pbd_recorder *recorder, cloth **out) {
    *out = NULL;
    if (scene->triangles.count == 0) return pbd_error(PBD_BAD_INPUT, "the scene has no triangles for cloth");
    cloth *c = calloc(1, sizeof *c);
    if (!c) return pbd_error(PBD_FAILED, "out of memory for a cloth");
    c->solver.position.exec = exec;
    const pbd_status status = build(c, scene, turned, set, exec, recorder);
    if (status.code != PBD_OK)
        cloth_free(c);
    else
        *out = c;
    return status;
}

/* ---- A substep --------------------------------------------------------------------------------------------------- */

pbd_status cloth_begin(cloth *c, double dt) {
    const clear_args stress = {c->stress}, moment = {c->moment};
    c->dt = dt;
    PBD_TRY(PBD_RUN(c->solver.position.exec, clear_reals, per_triangle(c) * c->solver.elements, &stress));
    if (c->hinges > 0) PBD_TRY(PBD_RUN(c->solver.position.exec, clear_reals, per_hinge(c) * c->hinges, &moment));
    return position_begin(&c->solver.position, dt);
}

static pbd_status stretch(void *state, size_t first, size_t count) {
    const cloth *c = state;
    const stretch_args args = {.view = element_solver_view(&c->solver, first),
                               .stress = c->stress + first,
                               .impulse = c->turned ? c->stress + 3 * c->solver.elements + first : NULL,
                               .stiffness = (real)(c->stiffness * c->dt * c->dt),
                               .nu = (real)c->nu};
    return PBD_RUN(c->solver.position.exec, project_stretch, count, &args);
}

static pbd_status bend(cloth *c) {
    for (int k = 0; k < c->hinge_colours; k++) {
        const size_t first = c->hinge_first[k];
        const bending_args args = {.corner = c->hinge + 4 * first,
                                   .stiffness = c->hinge_stiffness + first,
                                   .rest = c->rest + first,
                                   .moment = c->moment + first,
                                   .impulse = c->turned ? c->moment + c->hinges + first : NULL,
                                   .stride = c->hinges,
                                   .p = c->solver.position.p,
                                   .square = (real)(c->dt * c->dt)};
        PBD_TRY(PBD_RUN(c->solver.position.exec, project_bending, c->hinge_first[k + 1] - first, &args));
    }
    pbd_count(c->solver.position.recorder, "constraint_solves", c->hinges);
    return pbd_ok();
}

pbd_status cloth_iterate(cloth *c) {
    PBD_TRY(bend(c));
    return element_solver_sweep(&c->solver, stretch, c);
}

pbd_status cloth_end(cloth *c, double damping) { return position_end(&c->solver.position, damping); }

pbd_status cloth_record(cloth *c) { return contact_record(&c->solver.position.contact); }

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

cloth_rows cloth_rows_of(const cloth *c) {
    const position_solver *s = &c->solver.position;
    return (cloth_rows){s->particles, c->solver.elements, s->x, s->v, s->p, c->solver.corner};
}

pbd_status cloth_read(const cloth *c, pbd_field field, double *out) { return position_read(&c->solver, field, out); }

size_t cloth_bytes(const cloth *c) {
    size_t bytes = 0;
    (void)position_save(&c->solver, NULL, &bytes);
    return bytes;
}

pbd_status cloth_save(const cloth *c, void *blob) {
    size_t bytes;
    return position_save(&c->solver, blob, &bytes);
}

pbd_status cloth_load(cloth *c, const void *blob) { return position_load(&c->solver, blob, cloth_bytes(c)); }
