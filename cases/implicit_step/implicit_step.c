/* One step of implicit Euler of a clamped bar of tetrahedra: how near a solver comes to the step's solution, iteration
 * by iteration.
 *
 * The step minimises G (methods/physics/parts/step_function.h). Its minimiser x*, by Newton's method in f64, is the
 * reference, of the same mesh, lumped masses and law. Discretisation thus plays no part: only the solver is judged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scenes/beam.h"
#include "harness/exec/arena.h"
#include "methods/physics/parts/step_function.h"

static const char *const starts[] = {"rest", "swing", NULL};
static const char *const halves[] = {"tip", "root", NULL};

static const pbd_param params[] = {
    PBD_BOX_PARAMS("1e5", "0.3", "100", "macklin_neo_hookean", "1", "0.2", "2"),
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"step", "s", PBD_REAL, "0.005", 0, 1e3, PBD_OPEN_MIN, NULL,
     "the step, and simulated time; iterations are compared with it where the method's dt is the same"},
    {"start", "", PBD_CHOICE, "rest", 0, 0, 0, starts,
     "where the step starts: undeformed and at rest, or in the swing that begins so"},
    {"swing_time", "s", PBD_REAL, "0.1", 0, 1e3, PBD_OPEN_MIN, NULL,
     "start=swing: since rest, rounded to whole steps, by exact steps of the same length"},
    {"contrast_E", "", PBD_REAL, "1", 1e-9, 1e9, 0, NULL, "modulus of one half over that of the other"},
    {"contrast_density", "", PBD_REAL, "1", 1e-9, 1e9, 0, NULL, "density, likewise"},
    {"contrast_at", "", PBD_CHOICE, "tip", 0, 0, 0, halves,
     "contrast_E!=1 or contrast_density!=1: which half has E and density times these"},
    {0}};

typedef struct step_detail {
    step_function exact;
    double step;
    double *start, *best;     /* x_n and x*, particles x 3, m */
    double moved;             /* |x* - x_n|, weighted by mass, sqrt(kg) m */
    double at_start, at_best; /* G, J */
    long newton;
    /* Of the iterates seen so far. */
    long above; /* the last with an error above 1 %; -1: none */
    long seen;
    double energy, rise; /* J; the largest rise of G from one to the next, over G */
} step_detail;

static void free_detail(void *detail) {
    step_detail *d = detail;
    step_function_free(&d->exact);
    free(d->start);
    free(d->best);
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* Gives one half the second material, and lumps masses: a quarter of each tetrahedron's to each corner. */
static pbd_status split(const pbd_values *values, const beam_size *size, pbd_scene *scene) {
    const double E = pbd_real(values, "contrast_E"), density = pbd_real(values, "contrast_density");
    const bool tip = pbd_choice(values, "contrast_at") == 0;
    const double *x = scene->particles.positions;
    if (E != 1 || density != 1) {
        scene->materials = 2;
        scene->material[1] = scene->material[0];
        scene->material[1].E *= E;
        scene->material[1].density *= density;
        PBD_TRY_NEW(scene->tets.material, scene->tets.count);
        for (size_t e = 0; e < scene->tets.count; e++) {
            double middle = 0;
            for (int c = 0; c < 4; c++) middle += x[3 * scene->tets.corner[4 * e + (size_t)c]] / 4;
            scene->tets.material[e] = (middle > size->length / 2) == tip;
        }
    }
    for (size_t i = 0; i < scene->particles.count; i++) scene->particles.masses[i] = 0;
    for (size_t e = 0; e < scene->tets.count; e++) {
        const uint32_t *corner = scene->tets.corner + 4 * e;
        double edge[3][3];
        for (int c = 0; c < 3; c++)
            for (uint32_t d = 0; d < 3; d++) edge[c][d] = x[3 * corner[c] + d] - x[3 * corner[3] + d];
        const double six = edge[0][0] * (edge[1][1] * edge[2][2] - edge[1][2] * edge[2][1]) -
                           edge[0][1] * (edge[1][0] * edge[2][2] - edge[1][2] * edge[2][0]) +
                           edge[0][2] * (edge[1][0] * edge[2][1] - edge[1][1] * edge[2][0]);
        const double mass = pbd_cell_material(scene, &scene->tets, e)->density * six / 6;
        for (int c = 0; c < 4; c++) scene->particles.masses[corner[c]] += mass / 4;
    }
    return pbd_ok();
}

/* Takes exact steps from rest to the start, for its positions and velocities. The last step leads from there to x*. */
static pbd_status solve_exactly(const pbd_values *values, pbd_scene *scene, step_detail *d) {
    const size_t n = 3 * scene->particles.count, bytes = n * sizeof(double);
    const long swing = pbd_choice(values, "start") == 1 ? lround(pbd_real(values, "swing_time") / d->step) : 0;
    double *x = d->best, *v = scene->particles.velocities;
    memcpy(x, scene->particles.positions, bytes);
    for (long k = 0; k <= swing; k++) {
        memcpy(d->start, x, bytes);
        step_function_begin(&d->exact, d->step, d->start, v, scene->loads.gravity, NULL);
        const pbd_status status = step_function_minimise(&d->exact, x, &d->newton);
        if (status.code != PBD_OK)
            return pbd_error(PBD_BAD_INPUT, "step %ld of %ld before the start has no solution: %s", k, swing,
                             status.text);
        for (size_t i = 0; i < n && k < swing; i++) v[i] = (x[i] - d->start[i]) / d->step;
    }
    memcpy(scene->particles.start, d->start, bytes);
    d->moved = step_function_distance(&d->exact, x, d->start);
    d->at_start = step_function_value(&d->exact, d->start);
    d->at_best = step_function_value(&d->exact, x);
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    step_detail *d = setup->detail;
    beam_size size;
    PBD_TRY(beam_build(values, scene, &size));
    scene->hexes.count = 0; /* the step is that of the tetrahedra */
    PBD_TRY(beam_hold_root(scene, &size));
    PBD_TRY(split(values, &size, scene));
    const size_t n = 3 * scene->particles.count;
    PBD_TRY_NEW(scene->particles.velocities, n);
    PBD_TRY_NEW(scene->particles.start, n);
    PBD_TRY_NEW(d->start, n);
    PBD_TRY_NEW(d->best, n);
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    scene->duration = d->step = pbd_real(values, "step");
    d->above = -1;
    PBD_TRY(step_function_create(scene, &d->exact));
    return solve_exactly(values, scene, d);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static double error_of(const step_detail *d, const double *x) {
    return step_function_distance(&d->exact, x, d->best) / d->moved;
}

static void iterate(const pbd_setup *setup, long iteration, const double *positions, pbd_recorder *recorder) {
    step_detail *d = setup->detail;
    if (fabs(setup->dt - d->step) > 1e-9 * d->step) return;
    const double number = (double)iteration, error = error_of(d, positions);
    const double energy = step_function_value(&d->exact, positions);
    const double excess = (energy - d->at_best) / fabs(d->at_start - d->at_best);
    if (iteration == 0) pbd_metric(recorder, "start_error", "1", PBD_STATE, error);
    if (!(error <= 0.01)) d->above = iteration;
    d->seen = iteration;
    if (iteration > 0) d->rise = fmax(d->rise, (energy - d->energy) / energy);
    d->energy = energy;
    pbd_series(recorder, "iteration", "value", "1", &number, 1, 1);
    pbd_series(recorder, "step_error", "value", "1", &error, 1, 1);
    pbd_series(recorder, "step_energy_excess", "value", "1", &excess, 1, 1);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const step_detail *d = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(&setup->scene, method, state, &x));
    pbd_metric(recorder, "step_error", "1", PBD_ERROR, error_of(d, x));
    pbd_metric(recorder, "step_norm", "kg^0.5 m", PBD_STATE, d->moved);
    pbd_metric(recorder, "reference_newton_iterations", "1", PBD_STATE, (double)d->newton);
    if (d->seen > 0) pbd_metric(recorder, "energy_rise", "1", PBD_STATE, d->rise);
    if (d->seen > 0 && d->above < d->seen)
        pbd_metric(recorder, "iterations_to_1_percent", "1", PBD_STATE, (double)(d->above + 1));
    else if (d->seen > 0)
        pbd_warning(recorder, "above_1_percent", "the error is above 1 %% after %ld iterations", d->seen);
    return pbd_ok();
}

const pbd_case pbd_case_implicit_step = {
    .name = "implicit_step",
    .summary = "one step of implicit Euler of a clamped bar, against its exact solution on the same mesh",
    .source = "Newton's method on the same mesh, masses and law",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_TETS,
    .params = params,
    .detail_bytes = sizeof(step_detail),
    .build = build,
    .measure = measure,
    .iterate = iterate,
    .free_detail = free_detail,
};
