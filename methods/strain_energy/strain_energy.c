/* strain_energy: one constraint per tetrahedron or triangle, made of its strain energy (continuum; cao2023
 * section 3.2).
 *
 * Three forms of the constraint, two orders of projection, all laws and joins of methods/physics, fibres, and plastic
 * flow by a split of Green's strain. README.md has the equations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/device/device_state.h"
#include "methods/physics/matter/energy_material.h"
#include "methods/physics/parts/element_solver.h"
#include "methods/physics/space/element_shape.h"
#include "methods/strain_energy/strain_energy_kernels.h"

static const pbd_param params[] = {ENERGY_FORM_PARAM("form"), ELEMENT_SOLVER_PARAMS ENERGY_MATERIAL_PARAMS, {0}};

typedef struct strain_energy {
    element_solver solver;
    energy_material material;                  /* the first fibre of triangles is the first axis of their frames */
    real *multiplier, *plastic, *idle, *lying; /* device; NULL where there are none */
    long iterations, substeps;
    double damping, dt;
    uint64_t steps;
    double looked, idled; /* constraints */
} strain_energy;

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void destroy(void *state) {
    strain_energy *s = state;
    if (!s) return;
    real *device[] = {s->multiplier, s->plastic, s->idle, s->lying};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->solver.exec, device[i]);
    element_solver_free(&s->solver);
    free(s);
}

static pbd_status take_material(strain_energy *s, const pbd_material *m, const pbd_values *values) {
    const bool membrane = s->solver.corners == 3;
    PBD_TRY(energy_material_make(m, values, pbd_choice(values, "form"), membrane, &s->material));
    if (membrane) s->material.fibre.direction[0] = vec3_make(1, 0, 0);
    return pbd_ok();
}

static pbd_status allocate(strain_energy *s) {
    const size_t n = s->solver.elements;
    void *multiplier = NULL, *plastic = NULL, *idle = NULL;
    pbd_status status = pbd_alloc(s->solver.exec, IDLE_SUMS * (n / IDLE_BLOCK + 1) * sizeof(real), &idle);
    if (status.code == PBD_OK && s->material.form != ENERGY_PBD)
        status = pbd_alloc(s->solver.exec, n * sizeof(real), &multiplier);
    if (status.code == PBD_OK && s->material.yield > 0)
        status = pbd_alloc(s->solver.exec, PLASTIC_ENTRIES * n * sizeof(real), &plastic);
    s->idle = idle;
    s->multiplier = multiplier;
    s->plastic = plastic;
    return status;
}

/* Where the second and third fibre lie in the frames of triangles: the first is their first axis (element_shape.h). */
static pbd_status lay_fibres(strain_energy *s, const pbd_scene *scene) {
    const size_t n = s->solver.elements, rows = 2 * (size_t)(s->material.fibre.count - 1);
    real *lying = malloc((rows * n + 1) * sizeof *lying);
    if (!lying) return pbd_error(PBD_FAILED, "out of memory for %zu triangles", n);
    pbd_status status = pbd_ok();
    for (size_t i = 0; i < n && status.code == PBD_OK; i++) {
        element_shape shape;
        status = element_shape_of(scene, 3, s->solver.order[i], &shape);
        size_t row = 0;
        for (int k = 0, seen = 0; k < PBD_MOST_FIBRES; k++) {
            if (!(scene->material->fibre_stiffness[k] > 0) || seen++ == 0) continue;
            for (int d = 0; d < 2; d++) lying[row++ * n + i] = (real)shape.fibre[k][d];
        }
    }
    if (status.code == PBD_OK) status = element_solver_upload(&s->solver, lying, rows * n * sizeof *lying, &s->lying);
    free(lying);
    return status;
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    strain_energy *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for strain_energy");
    s->iterations = pbd_integer(values, "iterations");
    s->substeps = pbd_integer(values, "substeps");
    s->damping = pbd_real(values, "damping");
    pbd_status status =
        element_solver_create(&s->solver, scene, pbd_choice(values, "solver") == 1, pbd_real(values, "relaxation"),
                              contact_settings_read(values), exec, recorder);
    if (status.code == PBD_OK) {
        status = take_material(s, scene->material, values);
        if (status.code == PBD_OK) status = allocate(s);
    }
    if (status.code == PBD_OK && s->solver.corners == 3 && s->material.fibre.count > 1) status = lay_fibres(s, scene);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static energy_args args_from(const strain_energy *s, size_t first) {
    return (energy_args){.view = element_solver_view(&s->solver, first),
                         .law = s->material.law,
                         .fibre = s->material.fibre,
                         .lying = s->lying ? s->lying + first : NULL,
                         .plastic = s->plastic ? s->plastic + first : NULL,
                         .multiplier = s->multiplier ? s->multiplier + first : NULL,
                         .compliance = energy_compliance(&s->material, s->dt),
                         .form = s->material.form};
}

static pbd_status project(void *method, size_t first, size_t count) {
    strain_energy *s = method;
    const bool tets = s->solver.corners == 4;
    const energy_args args = args_from(s, first);
    if (s->solver.jacobi)
        return tets ? PBD_RUN(s->solver.exec, store_tet_impulses, count, &args)
                    : PBD_RUN(s->solver.exec, store_triangle_impulses, count, &args);
    return tets ? PBD_RUN(s->solver.exec, project_tets, count, &args)
                : PBD_RUN(s->solver.exec, project_triangles, count, &args);
}

static pbd_status substep(strain_energy *s) {
    element_solver *solver = &s->solver;
    PBD_TRY(element_solver_predict(solver, s->dt));
    if (s->multiplier) {
        clear_args clear = {s->multiplier};
        PBD_TRY(PBD_RUN(solver->exec, clear_reals, solver->elements, &clear));
    }
    for (long i = 0; i < s->iterations; i++) PBD_TRY(element_solver_sweep(solver, project, s));
    if (s->plastic) {
        const flow_args flow = {.view = element_solver_view(solver, 0),
                                .plastic = s->plastic,
                                .yield = (real)s->material.yield,
                                .creep = (real)(1 - exp(-s->material.creep * s->dt)),
                                .deviatoric = s->material.deviatoric};
        PBD_TRY(solver->corners == 4 ? PBD_RUN(solver->exec, flow_tets, solver->elements, &flow)
                                     : PBD_RUN(solver->exec, flow_triangles, solver->elements, &flow));
    }
    return element_solver_advance(solver, s->dt, s->damping);
}

/* Which share of the constraints could act: nothing is cut off, but a state such as StVK's at a point has energy and no
 * gradient. Looked at in steps 1, 2, 4, ... and then every 64th. */
static pbd_status look_for_idle(strain_energy *s) {
    const size_t n = s->solver.elements, blocks = (n + IDLE_BLOCK - 1) / IDLE_BLOCK;
    const idle_args args = {.energy = args_from(s, 0), .elements = n, .idle = s->idle};
    PBD_TRY(s->solver.corners == 4 ? PBD_RUN(s->solver.exec, count_idle_tets, blocks, &args)
                                   : PBD_RUN(s->solver.exec, count_idle_triangles, blocks, &args));
    double sum[IDLE_SUMS] = {0};
    PBD_TRY(device_blocks_take(s->solver.exec, s->idle, blocks, IDLE_SUMS, 0, sum));
    s->idled += sum[0];
    s->looked += (double)n;
    energy_warn_of_undefined(s->solver.recorder, &s->material, sum[1], n, s->steps);
    pbd_metric(s->solver.recorder, "applied_fraction", "1", PBD_QUALITY, 1 - s->idled / s->looked);
    return pbd_ok();
}

static pbd_status step(void *state, double dt) {
    strain_energy *s = state;
    s->dt = dt / (double)s->substeps;
    PBD_TRY(pbd_repeat_begin(s->solver.exec, &s->solver.repeat));
    for (long i = 0; i < s->substeps; i++) PBD_TRY(substep(s));
    PBD_TRY(pbd_repeat_end(s->solver.exec));
    pbd_count(s->solver.recorder, "steps", 1);
    PBD_TRY(contact_record(&s->solver.contact));
    s->steps++;
    const bool power_of_two = (s->steps & (s->steps - 1)) == 0;
    return (power_of_two && s->steps < 64) || s->steps % 64 == 0 ? look_for_idle(s) : pbd_ok();
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const strain_energy *s = state;
    return element_solver_read(&s->solver, "strain_energy", field, out);
}

static size_t plastic_bytes(const strain_energy *s) {
    return s->plastic ? PLASTIC_ENTRIES * s->solver.elements * sizeof(real) : 0;
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const strain_energy *s = state;
    const size_t own = element_solver_bytes(&s->solver);
    *bytes = own + plastic_bytes(s);
    if (!blob) return pbd_ok();
    PBD_TRY(element_solver_save(&s->solver, blob));
    return s->plastic ? pbd_download(s->solver.exec, (char *)blob + own, s->plastic, plastic_bytes(s)) : pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    strain_energy *s = state;
    const size_t own = element_solver_bytes(&s->solver), wanted = own + plastic_bytes(s);
    if (bytes != wanted)
        return pbd_error(PBD_BAD_INPUT, "strain_energy: the saved state has %zu bytes, not %zu", bytes, wanted);
    PBD_TRY(element_solver_load(&s->solver, blob));
    return s->plastic ? pbd_upload(s->solver.exec, s->plastic, (const char *)blob + own, plastic_bytes(s)) : pbd_ok();
}

const pbd_method PBD_NAME(strain_energy) = {
    .bytes = sizeof(pbd_method),
    .name = "strain_energy",
    .summary = "strain energies of tetrahedra or triangles as constraints: PBD, XPBD, XPBD of the root",
    .source = "continuum; cao2023 Eqs. 5, 6, 10 (corrections C-1, C-4, C-7, C-9, T-1)",
    .needs = PBD_NEEDS_TETS_OR_TRIANGLES,
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_FIBRES |
             PBD_TAKES_PLASTICITY,
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
