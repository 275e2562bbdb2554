#include "methods/physics/parts/cloth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/physics/parts/cloth_kernels.h"
#include "methods/physics/parts/element_solver.h"
#include "methods/physics/parts/hinges.h"

struct cloth {
    element_solver solver; /* first; its elements are the triangles */
    double stiffness, nu;  /* E t, N/m */
    bool turned;           /* earlier impulses are rotated to the present gradients */
    size_t hinges;         /* hinges that can bend */
    int hinge_colours;
    size_t hinge_first[PBD_MOST_COLOURS + 1];
    /* Device; contents: cloth_kernels.h. */
    real *stress;
    uint32_t *hinge;
    real *hinge_stiffness, *rest, *moment;
    real *square; /* sums of squared residuals by block */
};

/* Reals of a triangle or hinge: multipliers, and with `turned` the impulses applied so far. */
static size_t per_triangle(const cloth *c) { return c->turned ? 9 : 3; }
static size_t per_hinge(const cloth *c) { return c->turned ? 10 : 1; }

static size_t arrays_of(const void *self, device_array *row) {
    const cloth *c = self;
    const size_t most = c->solver.elements > c->hinges ? c->solver.elements : c->hinges;
    const device_array rows[] = {DEVICE_ARRAY(c->stress, per_triangle(c) * c->solver.elements),
                                 DEVICE_ARRAY(c->hinge, 4 * c->hinges),
                                 DEVICE_ARRAY(c->hinge_stiffness, c->hinges),
                                 DEVICE_ARRAY(c->rest, c->hinges),
                                 DEVICE_ARRAY(c->moment, per_hinge(c) * c->hinges),
                                 DEVICE_ARRAY(c->square, most / CLOTH_BLOCK + 1)};
    return DEVICE_ROWS(row, rows);
}

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

/* Measures the rest angles, at the rest positions rather than at the start. */
static pbd_status measure_rest(cloth *c, const pbd_scene *scene) {
    const size_t n = scene->particles.count;
    pbd_exec *exec = c->solver.position.run.exec;
    real *there = NULL;
    pbd_arena a PBD_ARENA;
    real *rows = pbd_new(&a, real, 4 * n);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < 3 * n; i++) rows[4 * (i / 3) + i % 3] = (real)scene->particles.positions[i];
    PBD_TRY(element_solver_upload(&c->solver, rows, 4 * n * sizeof *rows, &there));
    const hinge_rest_args args = {c->hinge, there, c->rest};
    pbd_status status = PBD_RUN(exec, measure_hinges, c->hinges, &args);
    if (status.code == PBD_OK) status = pbd_exec_wait(exec);
    pbd_free(exec, there);
    return status;
}

static pbd_status upload_hinges(cloth *c, const pbd_scene *scene, const hinges *h, const uint32_t *order) {
    pbd_exec *exec = c->solver.position.run.exec;
    pbd_arena a PBD_ARENA;
    uint32_t *corner = pbd_new(&a, uint32_t, 4 * h->count);
    real *stiffness = pbd_new(&a, real, h->count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < h->count; i++) {
        memcpy(corner + 4 * i, h->corner + 4 * (size_t)order[i], 4 * sizeof *corner);
        stiffness[i] = (real)(scene->material->bending * h->stiffness[order[i]]);
    }
    PBD_TRY(pbd_upload(exec, c->hinge, corner, 4 * h->count * sizeof *corner));
    PBD_TRY(pbd_upload(exec, c->hinge_stiffness, stiffness, h->count * sizeof *stiffness));
    return measure_rest(c, scene);
}

/* Allocates all arrays and fills those of hinges. */
static pbd_status make_hinges(cloth *c, const pbd_scene *scene) {
    hinges h PBD_CLEANUP(hinges_free) = {0};
    if (scene->material->bending > 0) PBD_TRY(hinges_make(scene, &h));
    c->hinges = h.count;
    PBD_TRY(position_allocate(&c->solver.position));
    if (h.count == 0) return pbd_ok();
    pbd_arena a PBD_ARENA;
    uint32_t *order = pbd_new(&a, uint32_t, h.count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_colour(h.count, 4, h.corner, scene->particles.count, order, c->hinge_first, &c->hinge_colours));
    return upload_hinges(c, scene, &h, order);
}

/* ---- A substep --------------------------------------------------------------------------------------------------- */

static pbd_status begin(void *self, stepper *run) {
    const cloth *c = self;
    const clear_args stress = {c->stress}, moment = {c->moment};
    PBD_TRY(PBD_RUN(run->exec, clear_reals, per_triangle(c) * c->solver.elements, &stress));
    return c->hinges > 0 ? PBD_RUN(run->exec, clear_reals, per_hinge(c) * c->hinges, &moment) : pbd_ok();
}

/* Triangles from `first` on. */
static stretch_args stretch_from(const cloth *c, size_t first) {
    const stepper *run = &c->solver.position.run;
    return (stretch_args){.view = element_solver_view(&c->solver, first),
                          .stress = c->stress + first,
                          .impulse = c->turned ? c->stress + 3 * c->solver.elements + first : NULL,
                          .stiffness = (real)(c->stiffness * run->dt * run->dt),
                          .nu = (real)c->nu};
}

/* Hinges from `first` on. */
static bending_args bending_from(const cloth *c, size_t first) {
    const stepper *run = &c->solver.position.run;
    return (bending_args){.corner = c->hinge + 4 * first,
                          .stiffness = c->hinge_stiffness + first,
                          .rest = c->rest + first,
                          .moment = c->moment + first,
                          .impulse = c->turned ? c->moment + c->hinges + first : NULL,
                          .stride = c->hinges,
                          .p = c->solver.position.p,
                          .square = (real)(run->dt * run->dt)};
}

static pbd_status stretch(void *state, const element_batch *batch) {
    const cloth *c = state;
    const stretch_args args = stretch_from(c, batch->first);
    return PBD_RUN(c->solver.position.run.exec, project_stretch, batch->count, &args);
}

static pbd_status bend(const cloth *c, const stepper *run) {
    for (int k = 0; k < c->hinge_colours; k++) {
        const size_t first = c->hinge_first[k];
        const bending_args args = bending_from(c, first);
        PBD_TRY(PBD_RUN(run->exec, project_bending, c->hinge_first[k + 1] - first, &args));
    }
    pbd_count(run->recorder, "constraint_solves", c->hinges);
    return pbd_ok();
}

static pbd_status sweep(void *self, stepper *run) {
    cloth *c = self;
    PBD_TRY(bend(c, run));
    return element_solver_sweep(&c->solver, stretch, c);
}

/* Sum of the squares of the residuals of triangles and hinges: both are strains. */
static pbd_status sum_squares(const cloth *c, double *out) {
    pbd_exec *exec = c->solver.position.run.exec;
    const size_t n = c->solver.elements, blocks = (n + CLOTH_BLOCK - 1) / CLOTH_BLOCK;
    const size_t hinge_blocks = (c->hinges + CLOTH_BLOCK - 1) / CLOTH_BLOCK;
    const stretch_sum_args triangles = {stretch_from(c, 0), n, c->square};
    const bending_sum_args bends = {bending_from(c, 0), c->hinges, c->square};
    *out = 0;
    PBD_TRY(PBD_RUN(exec, sum_stretch_residuals, blocks, &triangles));
    PBD_TRY(device_blocks_take(exec, c->square, blocks, 1, 0, out));
    if (c->hinges == 0) return pbd_ok();
    PBD_TRY(PBD_RUN(exec, sum_bending_residuals, hinge_blocks, &bends));
    return device_blocks_take(exec, c->square, hinge_blocks, 1, 0, out);
}

static pbd_status residual(void *self, stepper *run, step_residual *out) {
    const cloth *c = self;
    const double count = (double)(3 * c->solver.elements + c->hinges);
    double squares;
    (void)run;
    PBD_TRY(sum_squares(c, &squares));
    *out = (step_residual){sqrt(squares), sqrt(count) * element_solver_strain_rounding(&c->solver)};
    return pbd_ok();
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

pbd_status cloth_create(const char *name, const pbd_scene *scene, cloth_settings set, contact_settings touch,
                        pbd_exec *exec, pbd_recorder *recorder, cloth **out) {
    static const step_part own = {.begin = begin, .iterate = sweep, .residual = residual, .arrays = arrays_of};
    const element_settings elements = {.iterations = set.iterations, .substeps = set.substeps, .damping = set.damping};
    const pbd_material *m = scene->material;
    if (scene->triangles.count == 0) return pbd_error(PBD_BAD_INPUT, "the scene has no triangles for cloth");
    PBD_TRY(check_material(m));
    cloth *c = calloc(1, sizeof *c);
    if (!c) return pbd_error(PBD_FAILED, "out of memory for a cloth");
    *out = c;
    PBD_TRY(element_solver_create(&c->solver, name, &own, scene, elements, touch, exec, recorder));
    c->stiffness = m->E * (m->thickness > 0 ? m->thickness : 1);
    c->nu = m->nu;
    c->turned = set.turned;
    PBD_TRY(make_hinges(c, scene));
    pbd_count(recorder, "hinges", c->hinges);
    return pbd_ok();
}

void cloth_free(cloth *c) { element_solver_destroy(c); }

stepper *cloth_run(cloth *c) { return &c->solver.position.run; }

cloth_rows cloth_rows_of(const cloth *c) {
    const position_solver *s = &c->solver.position;
    return (cloth_rows){s->particles, c->solver.elements, s->x, s->v, s->p, c->solver.corner};
}

pbd_status cloth_read(const cloth *c, pbd_field field, double *out) { return position_read(c, field, out); }
