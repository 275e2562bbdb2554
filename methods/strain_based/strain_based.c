/* strain_based: separate constraints on stretch and shear of the material axes (Mueller et al. 2015), for tetrahedra or
 * triangles. README.md has the equations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/parts/element_solver.h"
#include "methods/strain_based/strain_based_kernels.h"

#define FORM(REAL, INTEGER, CHOICE) \
    CHOICE(                         \
        form, "pbd", (pbd, xpbd),   \
        "pbd: each constraint takes the fraction k_* of its step; xpbd: stretch has the modulus k_* E, shear k_* E/2")
#define STRAIN_PARAMS(REAL, INTEGER, CHOICE)                                                                \
    CHOICE(stretch_form, "length", (length, squared), "C = |F e_i| - 1, or its square as in |F e_i|^2 - 1") \
    CHOICE(shear_form, "normalised", (normalised, naive), "the angle only, or F e_i . F e_j")               \
    REAL(k_x, "", "1", 0, 1, 0, "stretch along the first material axis; 0: none")                           \
    REAL(k_y, "", "1", 0, 1, 0, "along the second")                                                         \
    REAL(k_z, "", "1", 0, 1, 0, "along the third")                                                          \
    REAL(k_xy, "", "1", 0, 1, 0, "shear of the first and second axes; 0: none")                             \
    REAL(k_yz, "", "1", 0, 1, 0, "of the second and third")                                                 \
    REAL(k_zx, "", "1", 0, 1, 0, "of the third and first")
PBD_SETTINGS(form_settings, FORM)
PBD_SETTINGS(strain_settings, STRAIN_PARAMS)
static const pbd_param params[] = {PBD_ROWS(FORM) PBD_ROWS(ELEMENT_SOLVER_PARAMS) PBD_ROWS(CONTACT_PARAMS)
                                       PBD_ROWS(STRAIN_PARAMS){0}};

typedef struct strain_based {
    element_solver solver; /* first */
    bool xpbd;
    int squared, naive;
    real *multiplier;                             /* device: STRAINS x elements; NULL: PBD */
    real stiffness[STRAINS], compliance[STRAINS]; /* as in strain_args, for this step */
    double modulus[STRAINS];                      /* Pa */
    double thickness;
    real *square; /* device: per block */
} strain_based;

static size_t arrays_of(const void *state, device_array *row) {
    const strain_based *s = state;
    const device_array rows[] = {DEVICE_ARRAY(s->multiplier, s->xpbd ? STRAINS * s->solver.elements : 0),
                                 DEVICE_ARRAY(s->square, s->solver.elements / STRAIN_BLOCK + 1)};
    return DEVICE_ROWS(row, rows);
}

/* Arguments for the elements from `first` on. */
static strain_args args_from(const strain_based *s, size_t first) {
    strain_args args = {.view = element_solver_view(&s->solver, first),
                        .multiplier = s->multiplier ? s->multiplier + first : NULL,
                        .squared = s->squared,
                        .naive = s->naive};
    memcpy(args.stiffness, s->stiffness, sizeof args.stiffness);
    memcpy(args.compliance, s->compliance, sizeof args.compliance);
    return args;
}

static pbd_status project(void *method, const element_batch *batch) {
    const strain_based *s = method;
    pbd_exec *exec = s->solver.position.run.exec;
    const size_t count = batch->count;
    if (batch->clusters > 0) {
        const strain_cluster_args of = {args_from(s, 0), element_solver_clusters(&s->solver, batch)};
        return PBD_RUN(exec, project_tet_clusters, batch->clusters, (pbd_work){.items = batch->rows, .entries = count},
                       &of);
    }
    const strain_args args = args_from(s, batch->first);
    const bool tets = s->solver.corners == 4;
    if (s->solver.jacobi)
        return tets ? PBD_RUN(exec, store_tet_impulses, count, &args)
                    : PBD_RUN(exec, store_triangle_impulses, count, &args);
    return tets ? PBD_RUN(exec, project_tets, count, &args) : PBD_RUN(exec, project_triangles, count, &args);
}

static pbd_status begin(void *state, stepper *run) {
    strain_based *s = state;
    for (int k = 0; k < STRAINS; k++)
        s->compliance[k] = s->modulus[k] > 0 ? (real)(1 / (s->modulus[k] * run->dt * run->dt * s->thickness)) : 0;
    const clear_args clear = {s->multiplier};
    if (!s->multiplier) return pbd_ok();
    return PBD_RUN(run->exec, clear_reals, STRAINS * s->solver.elements, &clear);
}

static pbd_status sweep(void *state, stepper *run) {
    (void)run;
    return element_solver_sweep(state, project, state);
}

static pbd_status residual(void *state, stepper *run, step_residual *out) {
    const strain_based *s = state;
    const size_t n = s->solver.elements, blocks = (n + STRAIN_BLOCK - 1) / STRAIN_BLOCK;
    const strain_sum_args args = {args_from(s, 0), n, s->square};
    double sum = 0;
    PBD_TRY(s->solver.corners == 4 ? PBD_RUN(run->exec, sum_tet_residuals, blocks, &args)
                                   : PBD_RUN(run->exec, sum_triangle_residuals, blocks, &args));
    PBD_TRY(device_blocks_take(run->exec, s->square, blocks, 1, 0, &sum));
    *out = (step_residual){sqrt(sum), sqrt((double)(STRAINS * n)) * element_solver_strain_rounding(&s->solver)};
    return pbd_ok();
}

/* With form=xpbd and all k_* at 1, small strains are those of an elastic body of nu = 0. */
static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    static const step_part own = {.begin = begin, .iterate = sweep, .residual = residual, .arrays = arrays_of};
    const strain_settings set = strain_settings_read(values);
    const double k[STRAINS] = {set.k_x, set.k_y, set.k_z, set.k_xy, set.k_yz, set.k_zx};
    strain_based *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for strain_based");
    *state = s;
    PBD_TRY(element_solver_create(&s->solver, "strain_based", &own, scene, element_settings_read(values),
                                  contact_settings_read(values), exec, recorder));
    s->xpbd = form_settings_read(values).form == form_xpbd;
    s->squared = set.stretch_form == stretch_form_squared;
    s->naive = set.shear_form == shear_form_naive;
    for (int i = 0; i < STRAINS; i++) {
        s->stiffness[i] = (real)k[i];
        s->modulus[i] = k[i] * scene->material->E * (i < 3 ? 1 : 0.5);
    }
    s->thickness = s->solver.corners == 3 && scene->material->thickness > 0 ? scene->material->thickness : 1;
    pbd_metric(recorder, "applied_fraction", "1", PBD_QUALITY, 1); /* corrections are not clamped */
    return position_allocate(&s->solver.position);
}

const pbd_method PBD_NAME(strain_based) = {
    .name = "strain_based",
    .summary = "stretch and shear of material axes as constraints, one stiffness each",
    .source = "continuum (strain-based); Mueller et al. 2015 (T-2)",
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .residual = "2-norm over all stretches and shears of C; of C + alpha~ lambda with form=xpbd",
    .unconverged = "form=pbd or " STEPPER_SMALL_STEPS ": " STEPPER_UNCONVERGED,
    ELEMENT_SOLVER_SLOTS,
};
