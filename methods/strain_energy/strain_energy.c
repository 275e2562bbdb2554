/* strain_energy: one constraint per tetrahedron or triangle, from its strain energy (cao2023 section 3.2).
 *
 * Five forms of the constraint, two orders of projection, all laws and joins of methods/physics, fibres, and plastic
 * flow by a split of Green's strain. README.md has the equations. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"
#include "methods/physics/matter/energy_material.h"
#include "methods/physics/parts/acceleration.h"
#include "methods/physics/parts/element_solver.h"
#include "methods/physics/space/element_shape.h"
#include "methods/strain_energy/global_solve.h"
#include "methods/strain_energy/strain_energy_kernels.h"

#define FORM(REAL, INTEGER, CHOICE)                                                                                  \
    CHOICE(                                                                                                          \
        form, "xpbd_root", (pbd, xpbd, xpbd_root, six_strains, two_constraints),                                     \
        "C = V psi without compliance; XPBD with C = psi, alpha = 1 as printed; XPBD with C = sqrt(2 psi), alpha = " \
        "1/V; XPBD of Green's six strains (material=stvk); of |F| and J (material=macklin_neo_hookean)")             \
    CHOICE(constraint_order, "both", (dh, hd, both), "form=two_constraints: |F| then J; J then |F|; both at once")   \
    CHOICE(solve, "local", (local, global),                                                                          \
           "an iteration: a sweep over the constraints; one exact solve of their linearised system, on the host")
#define SOLVER(REAL, INTEGER, CHOICE) ELEMENT_SOLVER_PARAMS_WITH(POSITION_PARAMS_AUTO, REAL, INTEGER, CHOICE)
static const pbd_param params[] = {PBD_ROWS(FORM) PBD_ROWS(SOLVER) PBD_ROWS(ACCELERATION_PARAMS)
                                       PBD_ROWS(CONTACT_PARAMS) PBD_ROWS(ENERGY_PARAMS){0}};

typedef struct strain_energy {
    element_solver solver;                        /* first */
    energy_material material[PBD_MOST_MATERIALS]; /* triangles: the first fibre is the first axis of the frame */
    real compliance[PBD_MOST_MATERIALS];          /* energy_compliance of the step */
    bool yields;                                  /* any material yields */
    size_t materials, fibres;                     /* fibres: the largest number in any material */
    size_t components;                            /* multipliers per element if several; 0: one or none */
    int constraint_order;
    energy_samples samples;
    acceleration faster;
    bool global;
    global_solve all;                          /* solve=global */
    real *multiplier, *plastic, *idle, *lying; /* device; NULL if unused */
    real *gradient, *left;                     /* device, solve=global: row_args */
} strain_energy;

static size_t multipliers_of(const strain_energy *s) {
    if (s->components > 0) return s->components * s->solver.elements;
    return s->material->form != ENERGY_PBD ? s->solver.elements : 0;
}

static size_t arrays_of(const void *state, device_array *row) {
    const strain_energy *s = state;
    const size_t n = s->solver.elements, fibres = s->solver.corners == 3 ? s->fibres : 0;
    const device_array rows[] = {DEVICE_ARRAY(s->idle, IDLE_SUMS * (n / IDLE_BLOCK + 1)),
                                 DEVICE_ARRAY(s->multiplier, multipliers_of(s)),
                                 DEVICE_SAVED(s->plastic, s->yields ? PLASTIC_ENTRIES * n : 0),
                                 DEVICE_ARRAY(s->lying, fibres > 1 ? 2 * (fibres - 1) * n : 0),
                                 DEVICE_ARRAY(s->gradient, s->global ? 12 * multipliers_of(s) : 0),
                                 DEVICE_ARRAY(s->left, s->global ? multipliers_of(s) : 0)};
    const size_t count = DEVICE_ROWS(row, rows);
    return count + acceleration_arrays(&s->faster, row + count);
}

/* Uploads the second and third fibre in the frames of the triangles, whose first axis is the first fibre
 * (element_shape.h). */
static pbd_status upload_fibres(strain_energy *s, const pbd_scene *scene) {
    const size_t n = s->solver.elements, rows = 2 * (s->fibres - 1);
    pbd_arena a PBD_ARENA;
    real *lying = pbd_new(&a, real, rows * n);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n; i++) {
        element_shape shape;
        PBD_TRY(element_shape_of(scene, 3, s->solver.order[i], &shape));
        const pbd_material *m = pbd_cell_material(scene, &scene->triangles, s->solver.order[i]);
        size_t row = 0;
        for (int k = 0, seen = 0; k < PBD_MOST_FIBRES; k++) {
            if (!(m->fibre_stiffness[k] > 0) || seen++ == 0) continue;
            for (int d = 0; d < 2; d++) lying[row++ * n + i] = (real)shape.fibre[k][d];
        }
    }
    return pbd_upload(s->solver.position.run.exec, s->lying, lying, rows * n * sizeof *lying);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static energy_args args_from(const strain_energy *s, size_t first, int material) {
    const energy_material *m = &s->material[material];
    return (energy_args){.view = element_solver_view(&s->solver, first),
                         .law = m->law,
                         .fibre = m->fibre,
                         .lying = s->lying ? s->lying + first : NULL,
                         .plastic = m->yield > 0 ? s->plastic + first : NULL,
                         .multiplier = s->multiplier ? s->multiplier + first : NULL,
                         .compliance = s->compliance[material],
                         .form = m->form};
}

/* Arguments of constraints with several components (vector_constraints.h). */
static vector_args vectors_from(const strain_energy *s, size_t first, int material) {
    const energy_material *m = &s->material[material];
    return (vector_args){.view = element_solver_view(&s->solver, first),
                         .multiplier = s->multiplier + first,
                         .out = s->idle,
                         .mu = m->law.mu,
                         .lambda = m->law.lambda,
                         .compliance = s->compliance[material],
                         .components = (real_bits)s->components,
                         .order = (real_bits)s->constraint_order};
}

static pbd_status project_clusters(const strain_energy *s, const element_batch *batch) {
    pbd_exec *exec = s->solver.position.run.exec;
    const cluster_view clusters = element_solver_clusters(&s->solver, batch);
    const pbd_work work = {.items = batch->rows, .entries = batch->count};
    if (s->components > 0) {
        const vector_cluster_args args = {vectors_from(s, 0, batch->material), clusters};
        return PBD_RUN(exec, project_vector_clusters, batch->clusters, work, &args);
    }
    const energy_cluster_args args = {args_from(s, 0, batch->material), clusters};
    return PBD_RUN(exec, project_tet_clusters, batch->clusters, work, &args);
}

static pbd_status project(void *method, const element_batch *batch) {
    strain_energy *s = method;
    pbd_exec *exec = s->solver.position.run.exec;
    if (batch->clusters > 0) return project_clusters(s, batch);
    if (s->components > 0) {
        const vector_args args = vectors_from(s, batch->first, batch->material);
        return s->solver.jacobi ? PBD_RUN(exec, store_vector_impulses, batch->count, &args)
                                : PBD_RUN(exec, project_vectors, batch->count, &args);
    }
    const bool tets = s->solver.corners == 4;
    const size_t count = batch->count;
    const energy_args args = args_from(s, batch->first, batch->material);
    if (s->solver.jacobi)
        return tets ? PBD_RUN(exec, store_tet_impulses, count, &args)
                    : PBD_RUN(exec, store_triangle_impulses, count, &args);
    return tets ? PBD_RUN(exec, project_tets, count, &args) : PBD_RUN(exec, project_triangles, count, &args);
}

static pbd_status begin(void *state, stepper *run) {
    strain_energy *s = state;
    for (size_t k = 0; k < s->materials; k++) s->compliance[k] = energy_compliance(&s->material[k], run->dt);
    const clear_args clear = {s->multiplier};
    return s->multiplier ? PBD_RUN(run->exec, clear_reals, multipliers_of(s), &clear) : pbd_ok();
}

/* ---- One solve of all constraints -------------------------------------------------------------------------------- */

static pbd_status store_rows(const strain_energy *s) {
    pbd_exec *exec = s->solver.position.run.exec;
    for (size_t k = 0; k < s->solver.spans; k++) {
        const element_batch *span = &s->solver.span[k];
        real *gradient = s->gradient + span->first, *left = s->left + span->first;
        const row_args rows = {args_from(s, span->first, span->material), gradient, left};
        const vector_row_args vectors = {vectors_from(s, span->first, span->material), gradient, left};
        PBD_TRY(s->components > 0 ? PBD_RUN(exec, store_vector_rows, span->count, &vectors)
                                  : PBD_RUN(exec, store_tet_rows, span->count, &rows));
    }
    return pbd_ok();
}

/* Computes the inverses of the step's compliances, with the same scaling by `unit`. */
static pbd_status stiffen(strain_energy *s) {
    const size_t n = s->solver.elements, components = s->all.components;
    pbd_arena a PBD_ARENA;
    double *size = pbd_new(&a, double, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(device_rows_read(s->solver.position.run.exec, s->solver.size, n, 1, 1, NULL, NULL, size));
    for (size_t k = 0; k < s->solver.spans; k++) {
        const element_batch *span = &s->solver.span[k];
        const energy_material *m = &s->material[span->material];
        const double mu = (double)m->law.mu, lambda = (double)m->law.lambda;
        for (size_t i = 0; i < components * components; i++) {
            const size_t row = i / components, column = i % components;
            double each = row == column ? 1 : 0;
            if (components == VECTOR_PAIR && row == column) each = row == 0 ? mu : lambda + mu;
            if (components == VECTOR_STRAINS) each = 2 * mu * each + (row < 3 && column < 3 ? lambda : 0);
            for (size_t e = span->first; e < span->first + span->count; e++)
                s->all.stiff[i * n + e] = each * size[e] / (double)s->compliance[span->material];
        }
    }
    return pbd_ok();
}

static pbd_status upload_doubles(pbd_exec *exec, const double *from, size_t count, real *to) {
    pbd_arena a PBD_ARENA;
    real *host = pbd_new(&a, real, count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++) host[i] = (real)from[i];
    return pbd_upload(exec, to, host, count * sizeof *host);
}

static pbd_status solve_all(strain_energy *s) {
    pbd_exec *exec = s->solver.position.run.exec;
    global_solve *g = &s->all;
    const size_t rows = multipliers_of(s), particles = s->solver.position.particles;
    real *p = s->solver.position.p;
    PBD_TRY(store_rows(s));
    PBD_TRY(device_rows_read(exec, s->gradient, 12 * rows, 1, 1, NULL, NULL, g->gradient));
    PBD_TRY(device_rows_read(exec, s->left, rows, 1, 1, NULL, NULL, g->left));
    PBD_TRY(device_rows_read(exec, s->multiplier, rows, 1, 1, NULL, NULL, g->multiplier));
    PBD_TRY(device_rows_read(exec, p, particles, 4, 4, NULL, NULL, g->position));
    PBD_TRY(global_solve_once(g));
    pbd_count(s->solver.position.run.recorder, "factorisations", 1);
    pbd_count(s->solver.position.run.recorder, "constraint_solves", s->solver.elements);
    PBD_TRY(upload_doubles(exec, g->multiplier, rows, s->multiplier));
    return upload_doubles(exec, g->position, 4 * particles, p);
}

static pbd_status sweep(void *state, stepper *run) {
    strain_energy *s = state;
    real *p = s->solver.position.p;
    if (run->done == 0) PBD_TRY(acceleration_begin(&s->faster, p, s->multiplier)); /* from the predicted positions */
    if (run->done == 0 && s->global) PBD_TRY(stiffen(s));
    PBD_TRY(s->global ? solve_all(s) : element_solver_sweep(&s->solver, project, s));
    return acceleration_sweep(&s->faster, p, NULL, NULL);
}

static pbd_status end(void *state, stepper *run) {
    const strain_energy *s = state;
    for (size_t k = 0; k < s->solver.spans; k++) {
        const element_batch *span = &s->solver.span[k];
        const energy_material *m = &s->material[span->material];
        if (!(m->yield > 0)) continue;
        const flow_args flow = {.view = element_solver_view(&s->solver, span->first),
                                .plastic = s->plastic + span->first,
                                .yield = (real)m->yield,
                                .creep = (real)(1 - exp(-m->creep * run->dt)),
                                .deviatoric = m->deviatoric};
        PBD_TRY(s->solver.corners == 4 ? PBD_RUN(run->exec, flow_tets, span->count, &flow)
                                       : PBD_RUN(run->exec, flow_triangles, span->count, &flow));
    }
    return pbd_ok();
}

static pbd_status record(void *state, stepper *run) {
    strain_energy *s = state;
    for (size_t k = 0; k < s->solver.spans && s->components == 0 && stepper_samples(run); k++) {
        const element_batch *span = &s->solver.span[k];
        const size_t blocks = (span->count + IDLE_BLOCK - 1) / IDLE_BLOCK;
        const idle_args args = {
            .energy = args_from(s, span->first, span->material), .elements = span->count, .idle = s->idle};
        double sum[IDLE_SUMS] = {0};
        PBD_TRY(s->solver.corners == 4 ? PBD_RUN(run->exec, count_idle_tets, blocks, &args)
                                       : PBD_RUN(run->exec, count_idle_triangles, blocks, &args));
        PBD_TRY(device_blocks_take(run->exec, s->idle, blocks, IDLE_SUMS, 0, sum));
        energy_sample(&s->samples, &s->material[span->material], sum[0], sum[1], span->count, run->steps,
                      run->recorder);
    }
    return pbd_ok();
}

static pbd_status vector_residual(strain_energy *s, stepper *run, step_residual *out) {
    const double strain = element_solver_strain_rounding(&s->solver);
    double squares = 0;
    for (size_t k = 0; k < s->solver.spans; k++) {
        const element_batch *span = &s->solver.span[k];
        const size_t blocks = (span->count + VECTOR_BLOCK - 1) / VECTOR_BLOCK;
        vector_args args = vectors_from(s, span->first, span->material);
        args.elements = span->count;
        PBD_TRY(PBD_RUN(run->exec, sum_vector_residuals, blocks, &args));
        PBD_TRY(device_blocks_take(run->exec, s->idle, blocks, 1, 0, &squares));
    }
    *out = (step_residual){sqrt(squares), strain * sqrt((double)(s->components * s->solver.elements))};
    return pbd_ok();
}

static pbd_status residual(void *state, stepper *run, step_residual *out) {
    strain_energy *s = state;
    if (s->components > 0) return vector_residual(s, run, out);
    const double strain = element_solver_strain_rounding(&s->solver);
    double squares = 0, rounding = 0;
    for (size_t k = 0; k < s->solver.spans; k++) {
        const element_batch *span = &s->solver.span[k];
        const size_t blocks = (span->count + IDLE_BLOCK - 1) / IDLE_BLOCK;
        const idle_args args = {
            .energy = args_from(s, span->first, span->material), .elements = span->count, .idle = s->idle};
        const double each = energy_rounding(&s->material[span->material], strain);
        double sum[IDLE_SUMS] = {0};
        PBD_TRY(s->solver.corners == 4 ? PBD_RUN(run->exec, sum_tet_residuals, blocks, &args)
                                       : PBD_RUN(run->exec, sum_triangle_residuals, blocks, &args));
        PBD_TRY(device_blocks_take(run->exec, s->idle, blocks, IDLE_SUMS, 0, sum));
        squares += sum[0];
        rounding += (double)span->count * each * each;
    }
    *out = (step_residual){sqrt(squares), sqrt(rounding)};
    return pbd_ok();
}

/* Each form with several components supports only one law. */
static pbd_status check_form(strain_energy *s, const energy_material *m) {
    const bool strains = m->form == ENERGY_SIX_STRAINS;
    if (!strains && m->form != ENERGY_TWO_CONSTRAINTS) return pbd_ok();
    const int law = strains ? LAW_stvk : LAW_macklin_neo_hookean;
    const char *form = strains ? "six_strains" : "two_constraints";
    if (s->solver.corners != 4)
        return pbd_error(PBD_NOT_SUPPORTED, "form=%s is for tetrahedra: this scene has triangles", form);
    if (m->law.law != law)
        return pbd_error(PBD_NOT_SUPPORTED, "form=%s is the energy of one law: set material=%s, not %s", form,
                         law_names[law], law_names[m->law.law]);
    if (m->fibre.count > 0 || m->yield > 0 || m->law.join != PBD_JOIN_NONE)
        return pbd_error(PBD_NOT_SUPPORTED, "form=%s has no fibres, plastic flow or join: use form=xpbd_root", form);
    s->components = strains ? VECTOR_STRAINS : VECTOR_PAIR;
    return pbd_ok();
}

static pbd_status make_materials(strain_energy *s, const pbd_scene *scene, const pbd_values *values) {
    const bool membrane = s->solver.corners == 3;
    s->constraint_order = pbd_choice(values, "constraint_order");
    s->materials = scene->materials > 0 ? scene->materials : 1;
    for (size_t k = 0; k < s->materials; k++) {
        energy_material *m = &s->material[k];
        PBD_TRY(energy_material_make(&scene->material[k], energy_settings_read(values), pbd_choice(values, "form"),
                                     membrane, m));
        PBD_TRY(check_form(s, m));
        if (membrane) m->fibre.direction[0] = vec3_make(1, 0, 0);
        s->yields = s->yields || m->yield > 0;
        if ((size_t)m->fibre.count > s->fibres) s->fibres = (size_t)m->fibre.count;
    }
    return pbd_ok();
}

/* In norms of the acceleration, a multiplier counts as the distance by which it moves a corner. C changes by about 1
 * when an edge of an element changes by its own length, so a unit multiplier moves a corner by its inverse mass over
 * the edge. */
static pbd_status make_faster(strain_energy *s, const pbd_scene *scene, const pbd_values *values) {
    const acceleration_settings set = acceleration_settings_read(values);
    position_solver *of = &s->solver.position;
    double mass = 0;
    for (size_t i = 0; i < scene->particles.count; i++) mass += scene->particles.masses[i];
    PBD_TRY(acceleration_check(set, scene->colliders.count > 0 || of->contact.pairs));
    acceleration_create(&s->faster, set, of->particles, of->run.exec, of->run.recorder);
    acceleration_join(&s->faster, multipliers_of(s), (double)scene->particles.count / (mass * s->solver.edge));
    if (set.acceleration != acceleration_none || s->global) of->run.repeats = false;
    return pbd_ok();
}

static pbd_status check_global(const strain_energy *s, const pbd_scene *scene, const pbd_values *values) {
    const int form = s->material->form;
    if (sizeof(real) < sizeof(double))
        return pbd_error(PBD_NOT_SUPPORTED, "solve=global is in f64: set -p f64, or solve=local");
    if (s->solver.corners != 4)
        return pbd_error(PBD_NOT_SUPPORTED, "solve=global is for tetrahedra: this scene has triangles");
    if (form == ENERGY_PBD || form == ENERGY_XPBD)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "solve=global is for form=xpbd_root, six_strains or two_constraints: form=%s has no "
                         "compliance of its energy",
                         form == ENERGY_PBD ? "pbd" : "xpbd");
    if (form == ENERGY_TWO_CONSTRAINTS && s->constraint_order != VECTOR_BOTH)
        return pbd_error(PBD_NOT_SUPPORTED, "solve=global solves all constraints at once: set constraint_order=both");
    if (s->solver.jacobi) return pbd_error(PBD_NOT_SUPPORTED, "solve=global has no sweeps: leave out solver=jacobi");
    if (element_settings_read(values).clusters == clusters_on)
        return pbd_error(PBD_NOT_SUPPORTED, "solve=global has no sweeps: leave out clusters=on");
    if (scene->colliders.count > 0 || s->solver.position.contact.pairs)
        return pbd_error(PBD_NOT_SUPPORTED, "solve=global has no contact, and this scene has: set solve=local");
    return pbd_ok();
}

static pbd_status make_global(strain_energy *s, const pbd_scene *scene, const pbd_values *values) {
    const size_t n = s->solver.elements, particles = s->solver.position.particles;
    const element_solver *of = &s->solver;
    pbd_arena a PBD_ARENA;
    uint32_t *corner = pbd_new(&a, uint32_t, 4 * n);
    double *position = pbd_new(&a, double, 4 * particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(check_global(s, scene, values));
    PBD_TRY(pbd_download(of->position.run.exec, corner, of->corner, 4 * n * sizeof *corner));
    PBD_TRY(device_rows_read(of->position.run.exec, of->position.p, particles, 4, 4, NULL, NULL, position));
    return global_solve_create(particles, n, s->components > 0 ? s->components : 1, corner, position, &s->all);
}

static void destroy(void *state) {
    strain_energy *s = state;
    if (s) global_solve_free(&s->all);
    element_solver_destroy(s);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    static const step_part own = {
        .begin = begin, .iterate = sweep, .end = end, .record = record, .residual = residual, .arrays = arrays_of};
    strain_energy *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for strain_energy");
    *state = s;
    PBD_TRY(element_solver_create(&s->solver, "strain_energy", &own, scene, element_settings_read(values),
                                  contact_settings_read(values), exec, recorder));
    PBD_TRY(make_materials(s, scene, values));
    s->global = pbd_choice(values, "solve") == 1;
    if (s->global) PBD_TRY(make_global(s, scene, values));
    PBD_TRY(make_faster(s, scene, values));
    PBD_TRY(position_allocate(&s->solver.position));
    return s->lying ? upload_fibres(s, scene) : pbd_ok();
}

const pbd_method PBD_NAME(strain_energy) = {
    .name = "strain_energy",
    .summary = "strain energies of tetrahedra or triangles as constraints: PBD, and four forms of XPBD",
    .source = "continuum; cao2023 Eqs. 5, 6, 10 (corrections C-1, C-4, C-7, C-9, T-1)",
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_FIBRES |
             PBD_TAKES_PLASTICITY | PBD_TAKES_MATERIALS | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .residual = ENERGY_RESIDUAL,
    .unconverged = "form=pbd or " STEPPER_SMALL_STEPS ": " STEPPER_UNCONVERGED,
    .choose = position_choose_dt,
    .needs = PBD_NEEDS_TETS_OR_TRIANGLES,
    .destroy = destroy,
    POSITION_SLOTS,
};
