/* strain_based: stretch and shear of the material axes as constraints of their own (continuum; Mueller et al. 2015), on
 * tetrahedra or triangles. README.md has the equations. */
#include <stdlib.h>

#include "methods/physics/parts/element_solver.h"
#include "methods/strain_based/strain_based_kernels.h"

static const char *const forms[] = {"pbd", "xpbd", NULL};
static const char *const stretches[] = {"length", "squared", NULL};
static const char *const shears[] = {"normalised", "naive", NULL};

#define FRACTION(name, doc) \
    { name, "", PBD_REAL, "1", 0, 1, 0, NULL, doc }

static const pbd_param params[] = {
    {"form", "", PBD_CHOICE, "pbd", 0, 0, 0, forms,
     "pbd: each constraint takes the fraction k_* of its step; xpbd: stretch has the modulus k_* E, shear k_* E/2"},
    ELEMENT_SOLVER_PARAMS{"stretch_form", "", PBD_CHOICE, "length", 0, 0, 0, stretches,
                          "C = |F e_i| - 1, or its square as in |F e_i|^2 - 1"},
    {"shear_form", "", PBD_CHOICE, "normalised", 0, 0, 0, shears, "the angle only, or F e_i . F e_j"},
    FRACTION("k_x", "stretch along the first material axis; 0: none"),
    FRACTION("k_y", "along the second"),
    FRACTION("k_z", "along the third"),
    FRACTION("k_xy", "shear of the first and second axes; 0: none"),
    FRACTION("k_yz", "of the second and third"),
    FRACTION("k_zx", "of the third and first"),
    {0}};

typedef struct strain_based {
    element_solver solver;
    real *multiplier;                            /* device: STRAINS x elements; NULL: PBD */
    double stiffness[STRAINS], modulus[STRAINS]; /* modulus: Pa */
    double thickness, dt, damping;
    long iterations, substeps;
    int squared, naive;
} strain_based;

static void destroy(void *state) {
    strain_based *s = state;
    if (!s) return;
    pbd_free(s->solver.exec, s->multiplier);
    element_solver_free(&s->solver);
    free(s);
}

/* With these moduli and all k_* at 1, small strains are those of an elastic body of nu = 0. */
static void take_moduli(strain_based *s, const pbd_scene *scene, const pbd_values *values) {
    static const char *const names[STRAINS] = {"k_x", "k_y", "k_z", "k_xy", "k_yz", "k_zx"};
    for (int k = 0; k < STRAINS; k++) {
        s->stiffness[k] = pbd_real(values, names[k]);
        s->modulus[k] = s->stiffness[k] * scene->material->E * (k < 3 ? 1 : 0.5);
    }
    s->thickness = s->solver.corners == 3 && scene->material->thickness > 0 ? scene->material->thickness : 1;
}

static pbd_status allocate(strain_based *s, bool xpbd) {
    void *multiplier = NULL;
    if (xpbd) PBD_TRY(pbd_alloc(s->solver.exec, STRAINS * s->solver.elements * sizeof(real), &multiplier));
    s->multiplier = multiplier;
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    strain_based *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for strain_based");
    s->squared = pbd_choice(values, "stretch_form");
    s->naive = pbd_choice(values, "shear_form");
    s->iterations = pbd_integer(values, "iterations");
    s->substeps = pbd_integer(values, "substeps");
    s->damping = pbd_real(values, "damping");
    pbd_status status =
        element_solver_create(&s->solver, scene, pbd_choice(values, "solver") == 1, pbd_real(values, "relaxation"),
                              contact_settings_read(values), exec, recorder);
    if (status.code == PBD_OK) {
        take_moduli(s, scene, values);
        status = allocate(s, pbd_choice(values, "form") == 1);
    }
    if (status.code != PBD_OK) {
        destroy(s);
        return status;
    }
    pbd_metric(recorder, "applied_fraction", "1", PBD_QUALITY, 1); /* none is ever cut off */
    *state = s;
    return status;
}

static pbd_status project(void *method, size_t first, size_t count) {
    strain_based *s = method;
    strain_args args = {.view = element_solver_view(&s->solver, first),
                        .multiplier = s->multiplier ? s->multiplier + first : NULL,
                        .squared = s->squared,
                        .naive = s->naive};
    for (int k = 0; k < STRAINS; k++) {
        args.stiffness[k] = (real)s->stiffness[k];
        if (s->modulus[k] > 0) args.compliance[k] = (real)(1 / (s->modulus[k] * s->dt * s->dt * s->thickness));
    }
    const bool tets = s->solver.corners == 4;
    if (s->solver.jacobi)
        return tets ? PBD_RUN(s->solver.exec, store_tet_impulses, count, &args)
                    : PBD_RUN(s->solver.exec, store_triangle_impulses, count, &args);
    return tets ? PBD_RUN(s->solver.exec, project_tets, count, &args)
                : PBD_RUN(s->solver.exec, project_triangles, count, &args);
}

static pbd_status step(void *state, double dt) {
    strain_based *s = state;
    s->dt = dt / (double)s->substeps;
    PBD_TRY(pbd_repeat_begin(s->solver.exec, &s->solver.repeat));
    for (long n = 0; n < s->substeps; n++) {
        PBD_TRY(element_solver_predict(&s->solver, s->dt));
        if (s->multiplier) {
            clear_args clear = {s->multiplier};
            PBD_TRY(PBD_RUN(s->solver.exec, clear_reals, STRAINS * s->solver.elements, &clear));
        }
        for (long i = 0; i < s->iterations; i++) PBD_TRY(element_solver_sweep(&s->solver, project, s));
        PBD_TRY(element_solver_advance(&s->solver, s->dt, s->damping));
    }
    PBD_TRY(pbd_repeat_end(s->solver.exec));
    pbd_count(s->solver.recorder, "steps", 1);
    PBD_TRY(contact_record(&s->solver.contact));
    return pbd_ok();
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const strain_based *s = state;
    return element_solver_read(&s->solver, "strain_based", field, out);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const strain_based *s = state;
    *bytes = element_solver_bytes(&s->solver);
    return blob ? element_solver_save(&s->solver, blob) : pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    strain_based *s = state;
    if (bytes == element_solver_bytes(&s->solver)) return element_solver_load(&s->solver, blob);
    return pbd_error(PBD_BAD_INPUT, "strain_based: the saved state has %zu bytes, not %zu", bytes,
                     element_solver_bytes(&s->solver));
}

const pbd_method PBD_NAME(strain_based) = {
    .bytes = sizeof(pbd_method),
    .name = "strain_based",
    .summary = "stretch and shear of material axes as constraints, one stiffness each",
    .source = "continuum (strain-based); Mueller et al. 2015 (T-2)",
    .needs = PBD_NEEDS_TETS_OR_TRIANGLES,
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_START | PBD_TAKES_FORCES_END,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};
