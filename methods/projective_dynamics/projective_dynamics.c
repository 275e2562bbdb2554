/* projective_dynamics: alternating local and global steps for implicit Euler on tetrahedra (Bouaziz et al. 2014), with
 * a direct or a Jacobi global step (Wang 2015), and ADMM for any law (Narain, Overby and Brown 2016). README.md has the
 * equations. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"
#include "methods/physics/matter/law_material.h"
#include "methods/physics/parts/acceleration.h"
#include "methods/physics/parts/element_solver.h"
#include "methods/physics/parts/step_contact.h"
#include "methods/projective_dynamics/projective_dynamics_kernels.h"

#define PARAMS(REAL, INTEGER, CHOICE)                                                                               \
    CHOICE(form, "projections", (projections, admm),                                                                \
           "projective dynamics, of the law projective alone; or the alternating direction method of multipliers")  \
    CHOICE(solve, "direct", (direct, jacobi), "the global step: by a factorised matrix, on the host; or one sweep") \
    REAL(relaxation, "", "0", 0, 64, 0,                                                                             \
         "solve=jacobi: factor of a sweep; 0: 1.9 over a bound of the largest eigenvalue, where G cannot rise")     \
    REAL(admm_weight, "", "1", 0, 1e6, PBD_OPEN_MIN, "form=admm: W^2/V over 2 mu + lambda")
PBD_SETTINGS(pd_settings, PARAMS)
static const pbd_param params[] = {PBD_ROWS(PARAMS) PBD_ROWS(GUESS_PARAM) PBD_ROWS(POSITION_PARAMS)
                                       PBD_ROWS(ACCELERATION_PARAMS){0}};

typedef struct projective_dynamics {
    element_solver solver; /* first: the nodes, and the rows that tetrahedra write for them */
    pd_settings set;
    guess_settings guess;
    acceleration faster;
    step_matrix matrix;
    step_contact touch; /* solve=direct */
    size_t materials;
    hyperelastic law[PBD_MOST_MATERIALS];
    double stiffness[PBD_MOST_MATERIALS]; /* of the matrix, Pa */
    double dt, relaxation, rounding;      /* last step size, s; factor of a sweep; rounding of the residual, N */
    double *step, *start, *at;            /* host: particles x 3; the last two NULL without colliders */
    /* Device. */
    real *y, *before, *diagonal, *out, *dual;
} projective_dynamics;

static size_t arrays_of(const void *state, device_array *row) {
    const projective_dynamics *s = state;
    const size_t n = s->solver.position.particles;
    const device_array rows[] = {DEVICE_ARRAY(s->y, 4 * n), DEVICE_SAVED(s->before, 4 * n),
                                 DEVICE_ARRAY(s->diagonal, n), DEVICE_ARRAY(s->out, 4 * n),
                                 DEVICE_ARRAY(s->dual, s->set.form == form_admm ? 9 * s->solver.elements : 0)};
    const size_t count = DEVICE_ROWS(row, rows);
    return count + acceleration_arrays(&s->faster, row + count);
}

static void destroy(void *state) {
    projective_dynamics *s = state;
    if (!s) return;
    step_contact_free(&s->touch);
    step_matrix_free(&s->matrix);
    free(s->step);
    free(s->start);
    free(s->at);
    element_solver_free(&s->solver);
    free(s);
}

/* ---- The local step ---------------------------------------------------------------------------------------------- */

typedef enum local_step { LOCAL_STRESS, LOCAL_ADMM_BEGIN, LOCAL_ADMM } local_step;

/* Runs a local step on all tetrahedra at the present positions. */
static pbd_status local(const projective_dynamics *s, local_step step) {
    pbd_exec *exec = s->solver.position.run.exec;
    for (size_t k = 0; k < s->solver.spans; k++) {
        const element_batch *span = &s->solver.span[k];
        const hyperelastic law = s->law[span->material];
        const pd_args args = {.view = element_solver_view(&s->solver, span->first),
                              .law = law,
                              .stiffness = (real)s->stiffness[span->material],
                              .whole = law_domain_of(law.law) != LAW_UPRIGHT,
                              .dual = s->dual ? s->dual + span->first : NULL};
        PBD_TRY(step == LOCAL_STRESS ? PBD_RUN(exec, pd_project, span->count, &args)
                : step == LOCAL_ADMM ? PBD_RUN(exec, pd_admm, span->count, &args)
                                     : PBD_RUN(exec, pd_admm_begin, span->count, &args));
    }
    return pbd_ok();
}

static pd_vertex_args vertices_of(const projective_dynamics *s) {
    return (pd_vertex_args){.first = s->solver.gather_first,
                            .slot = s->solver.gather_slot,
                            .rows = s->solver.impulse,
                            .y = s->y,
                            .diagonal = s->diagonal,
                            .p = s->solver.position.p,
                            .out = s->out,
                            .relaxation = (real)s->relaxation};
}

static pbd_work work_of(const projective_dynamics *s) {
    return (pbd_work){.items = s->solver.position.particles, .entries = 4 * s->solver.elements};
}

/* Runs pd_measure and downloads its rows. *out belongs to the arena. */
static pbd_status gather(const projective_dynamics *s, pbd_arena *a, real **out) {
    const size_t n = s->solver.position.particles;
    const pd_vertex_args args = vertices_of(s);
    PBD_TRY(PBD_RUN(s->solver.position.run.exec, pd_measure, n, work_of(s), &args));
    *out = pbd_new(a, real, 4 * n);
    PBD_TRY(pbd_arena_check(a));
    return pbd_download(s->solver.position.run.exec, *out, s->out, 4 * n * sizeof(real));
}

static pbd_status energy(void *state, double *out) {
    const projective_dynamics *s = state;
    pbd_arena a PBD_ARENA;
    real *row;
    PBD_TRY(local(s, LOCAL_STRESS));
    PBD_TRY(gather(s, &a, &row));
    *out = 0;
    for (size_t i = 0; i < s->solver.position.particles; i++) *out += (double)row[4 * i + 3];
    return pbd_ok();
}

static pbd_status residual(void *state, stepper *run, step_residual *out) {
    const projective_dynamics *s = state;
    (void)run;
    pbd_arena a PBD_ARENA;
    real *row;
    PBD_TRY(local(s, LOCAL_STRESS));
    PBD_TRY(gather(s, &a, &row));
    double sum = 0;
    if (s->start) step_contact_forces(&s->touch, s->at);
    for (size_t i = 0; i < 3 * s->solver.position.particles; i++) {
        const double force = (double)row[4 * (i / 3) + i % 3] + (s->start ? s->at[i] : 0);
        sum += force * force;
    }
    *out = (step_residual){sqrt(sum), s->rounding};
    return pbd_ok();
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Updates everything that depends on the step size. */
static pbd_status prepare(projective_dynamics *s, stepper *run) {
    if (s->set.solve == solve_direct) {
        bool done;
        PBD_TRY(step_matrix_factorise(&s->matrix, run->dt, &done));
        pbd_count(run->recorder, "factorisations", done);
    }
    if (s->dt == run->dt) return pbd_ok();
    s->dt = run->dt;
    s->relaxation = s->set.relaxation > 0 ? s->set.relaxation : 1.9 / step_matrix_bound(&s->matrix, run->dt);
    step_matrix_diagonal(&s->matrix, s->step);
    double squares = 0;
    for (size_t i = 0; i < s->solver.position.particles; i++) {
        const double entry = s->step[i] + s->matrix.mass[i] / (run->dt * run->dt);
        squares += 3 * entry * entry;
    }
    s->rounding = REAL_EPSILON * s->solver.position.extent * sqrt(squares);
    return pbd_ok();
}

static pbd_status begin(void *state, stepper *run) {
    projective_dynamics *s = state;
    PBD_TRY(prepare(s, run));
    PBD_TRY(position_guess(&s->solver.position, run, s->guess, s->before, s->y));
    if (s->set.form == form_admm) PBD_TRY(local(s, LOCAL_ADMM_BEGIN));
    if (s->start) {
        PBD_TRY(device_rows_read(run->exec, s->solver.position.x, s->solver.position.particles, 4, 3, NULL, NULL,
                                 s->start));
        PBD_TRY(step_contact_begin(&s->touch, run->time));
    }
    return acceleration_begin(&s->faster, s->solver.position.p, NULL);
}

/* Turns the unconstrained move in s->step into one that leaves all particles outside the colliders. */
static pbd_status constrain(projective_dynamics *s, stepper *run) {
    long rounds;
    if (!s->start) return pbd_ok();
    PBD_TRY(device_rows_read(run->exec, s->solver.position.p, s->solver.position.particles, 4, 3, NULL, NULL, s->at));
    PBD_TRY(step_contact_move(&s->touch, s->start, s->at, s->step, &rounds));
    pbd_count(run->recorder, "contact_rounds", (uint64_t)rounds);
    return pbd_ok();
}

/* p += A^-1 r, constrained to stay outside the colliders. */
static pbd_status solve_directly(projective_dynamics *s, stepper *run) {
    const size_t n = s->solver.position.particles;
    pbd_arena a PBD_ARENA;
    real *row;
    PBD_TRY(gather(s, &a, &row));
    for (size_t i = 0; i < 3 * n; i++) s->step[i] = (double)row[4 * (i / 3) + i % 3];
    const pbd_status status = step_matrix_solve(&s->matrix, s->step);
    if (status.code == PBD_NO_EQUILIBRIUM)
        return pbd_error(PBD_DIVERGED, "the forces of a local step are not finite: set guess=previous, or reduce dt");
    PBD_TRY(status);
    PBD_TRY(constrain(s, run));
    for (size_t i = 0; i < 3 * n; i++) row[4 * (i / 3) + i % 3] = (real)s->step[i];
    PBD_TRY(pbd_upload(run->exec, s->out, row, 4 * n * sizeof *row));
    const pd_move_args args = {.step = s->out, .p = s->solver.position.p};
    return PBD_RUN(run->exec, pd_move, n, &args);
}

static pbd_status iterate(void *state, stepper *run) {
    projective_dynamics *s = state;
    PBD_TRY(local(s, s->set.form == form_admm ? LOCAL_ADMM : LOCAL_STRESS));
    if (s->set.solve == solve_direct) {
        PBD_TRY(solve_directly(s, run));
    } else {
        const pd_vertex_args args = vertices_of(s);
        PBD_TRY(PBD_RUN(run->exec, pd_jacobi, s->solver.position.particles, work_of(s), &args));
    }
    pbd_count(run->recorder, "element_evaluations", s->solver.elements);
    return acceleration_sweep(&s->faster, s->solver.position.p, energy, s);
}

static pbd_status end(void *state, stepper *run) {
    projective_dynamics *s = state;
    (void)run;
    if (s->start) step_contact_end(&s->touch, s->start);
    return pbd_ok();
}

/* ADMM continues when tetrahedra are inverted and the law has no energy there, since its z is not inverted. The run
 * then carries a warning. */
static pbd_status record(void *state, stepper *run) {
    projective_dynamics *s = state;
    double sum;
    if (s->set.form != form_admm || !stepper_samples(run)) return pbd_ok();
    PBD_TRY(energy(s, &sum));
    if (!isfinite(sum))
        pbd_warning(run->recorder, "undefined_energy", "the law %s has no energy where tetrahedra are inverted",
                    law_names[s->law[0].law]);
    return pbd_ok();
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static pbd_status check_material(const projective_dynamics *s, const pbd_material *m, int first) {
    int law;
    PBD_TRY(law_find(m->law, &law));
    if (law != first)
        return pbd_error(PBD_NOT_SUPPORTED, "projective_dynamics takes one law in a scene, not %s and %s",
                         law_names[first], law_names[law]);
    if (s->set.form == form_projections && law != LAW_projective)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "form=projections minimises the energy of its own law: set material=projective, not %s, or "
                         "form=admm",
                         law_names[law]);
    if (!(m->E > 0 && isfinite(m->E)))
        return pbd_error(PBD_NOT_SUPPORTED, "projective_dynamics needs elastic matter, but this scene has E=%g Pa",
                         m->E);
    if (m->nu >= 0.5) return pbd_error(PBD_BAD_INPUT, "nu=%g must be below 0.5", m->nu);
    if (m->nu < 0)
        return pbd_error(PBD_NOT_SUPPORTED, "nu=%g must be at least 0: the weight of a projection, 3 lambda, is",
                         m->nu);
    if (m->yield_strain > 0)
        return pbd_error(PBD_NOT_SUPPORTED, "projective_dynamics has no plastic flow: set yield_strain=0");
    return pbd_ok();
}

static pbd_status make_materials(projective_dynamics *s, const pbd_scene *scene) {
    int law;
    s->materials = scene->materials > 0 ? scene->materials : 1;
    PBD_TRY(law_find(scene->material[0].law, &law));
    for (size_t k = 0; k < s->materials; k++) {
        const pbd_material *m = &scene->material[k];
        PBD_TRY(check_material(s, m, law));
        s->law[k] = law_plain(m);
        const double mu = m->E / (2 * (1 + m->nu)), lambda = m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu));
        s->stiffness[k] = s->set.form == form_admm ? s->set.admm_weight * (2 * mu + lambda) : 2 * mu + 3 * lambda;
    }
    return pbd_ok();
}

static pbd_status check_settings(const projective_dynamics *s) {
    if (s->set.form != form_admm) return pbd_ok();
    if (s->set.solve != solve_direct)
        return pbd_error(PBD_NOT_SUPPORTED, "form=admm needs the exact global step: set solve=direct");
    if (s->faster.set.acceleration != acceleration_none)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "form=admm has multipliers, which an extrapolation of positions leaves behind: set "
                         "acceleration=none");
    return pbd_ok();
}

static pbd_status make_contact(projective_dynamics *s, const pbd_scene *scene) {
    const size_t n = 3 * s->solver.position.particles;
    PBD_TRY(step_contact_create(&s->touch, scene, &s->solver.position.run.colliders, &s->matrix));
    if (scene->colliders.count == 0) return pbd_ok();
    PBD_TRY_NEW(s->start, n);
    PBD_TRY_NEW(s->at, n);
    return pbd_ok();
}

static pbd_status upload_diagonal(projective_dynamics *s) {
    const size_t n = s->solver.position.particles;
    pbd_arena a PBD_ARENA;
    real *host = pbd_new(&a, real, n);
    PBD_TRY(pbd_arena_check(&a));
    step_matrix_diagonal(&s->matrix, s->step);
    for (size_t i = 0; i < n; i++) host[i] = (real)s->step[i];
    return pbd_upload(s->solver.position.run.exec, s->diagonal, host, n * sizeof *host);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    static const step_part own = {
        .begin = begin, .iterate = iterate, .end = end, .record = record, .residual = residual, .arrays = arrays_of};
    projective_dynamics *s = calloc(1, sizeof *s);
    if (!s) return pbd_no_memory();
    *state = s;
    if (scene->tets.count == 0) return pbd_error(PBD_BAD_INPUT, "the scene has no tetrahedra");
    s->set = pd_settings_read(values);
    s->guess = guess_settings_read(values);
    const acceleration_settings faster = acceleration_settings_read(values);
    acceleration_create(&s->faster, faster, scene->particles.count, exec, recorder);
    PBD_TRY(check_settings(s));
    PBD_TRY(make_materials(s, scene));
    const position_settings steps = position_settings_read(values);
    const element_settings elements = {.solver = solver_jacobi,
                                       .iterations = steps.iterations,
                                       .substeps = steps.substeps,
                                       .dt = steps.dt,
                                       .damping = steps.damping,
                                       .relaxation = 1};
    PBD_TRY(element_solver_create(&s->solver, "projective_dynamics", &own, scene, elements, (contact_settings){0}, exec,
                                  recorder));
    PBD_TRY(acceleration_check(faster, scene->colliders.count > 0));
    s->solver.position.guesses = true;
    s->solver.position.touches = s->set.solve == solve_direct;
    if (s->set.solve != solve_jacobi || faster.acceleration != acceleration_none) s->solver.position.run.repeats = false;
    PBD_TRY_NEW(s->step, 3 * s->solver.position.particles);
    PBD_TRY(step_matrix_create(scene, s->stiffness, &s->matrix));
    if (s->set.solve == solve_direct) PBD_TRY(make_contact(s, scene));
    if (s->set.solve == solve_jacobi) collider_sums_leave_out(&s->solver.position.run.colliders);
    PBD_TRY(position_allocate(&s->solver.position));
    PBD_TRY(upload_diagonal(s));
    return position_guess_start(&s->solver.position, s->before);
}

const pbd_method PBD_NAME(projective_dynamics) = {
    .name = "projective_dynamics",
    .summary = "projective dynamics on the implicit Euler step of tetrahedra: direct, Jacobi, Chebyshev, ADMM",
    .source = "Bouaziz et al. 2014; Wang 2015; Narain, Overby and Brown 2016",
    .needs = PBD_NEEDS_TETS,
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_MATERIALS | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .destroy = destroy,
    .law = "projective",
    .residual = "2-norm of dG/dx over free vertices, N: inertia and elastic forces that do not balance",
    .unconverged = "its published form does a fixed number of iterations in each step",
    POSITION_SLOTS,
};
