/* gissler_snow: implicit compressible SPH for snow (Gissler et al. 2020): pressure by relaxed Jacobi, shear by a
 * preconditioned BiCGSTAB on velocities, flow at the end of a step. README.md has the equations and what is chosen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/gissler_snow/gissler_snow_kernels.h"
#include "methods/physics/collider_poses.h"
#include "methods/physics/flow_material.h"
#include "methods/physics/neighbours.h"

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

enum { SOLVE_SPLIT, SOLVE_TOGETHER };
enum { PRECONDITION_JACOBI, PRECONDITION_MASSES };

static const char *const solves[] = {"split", "together", NULL};
static const char *const preconditioners[] = {"jacobi", "masses", NULL};
static const char *const divergences[] = {"uncorrected", "corrected", NULL};
static const char *const volumes[] = {"summed", "tracked", NULL};
static const char *const kernel_names[] = {"cubic_spline", "wendland_c2", NULL};
static const sph_kernel kernels[] = {SPH_CUBIC_SPLINE, SPH_WENDLAND_C2};
static const char *const plasticities[] = {"semi_implicit", "none", NULL};

static const pbd_param params[] = {
    {"dt", "s", PBD_REAL, "1e-4", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
    {"solve", "", PBD_CHOICE, "split", 0, 0, 0, solves,
     "pressure first and then shear, as published, or both at once by Krylov's method"},
    {"iterations", "", PBD_INTEGER, "200", 1, 100000, 0, NULL, "at most, of each of the two solvers and pass"},
    {"tolerance", "", PBD_REAL, "1e-4", 0, 1, PBD_OPEN_MAX, NULL, "residual of each solver over that before"},
    {"relaxation", "", PBD_REAL, "0.5", 0, 2, PBD_OPEN_MIN, NULL, "omega of the pressure's Jacobi"},
    {"preconditioner", "", PBD_CHOICE, "jacobi", 0, 0, 0, preconditioners,
     "of shear: inverse 3 x 3 blocks, or masses alone, which keep momentum at any tolerance"},
    {"contact_passes", "", PBD_INTEGER, "4", 1, 100, 0, NULL, "solves in a step, at most, until contacts are the same"},
    {"plasticity", "", PBD_CHOICE, "semi_implicit", 0, 0, 0, plasticities, "flow at the end of a step, or never"},
    {"divergence", "", PBD_CHOICE, "uncorrected", 0, 0, 0, divergences,
     "of velocity by plain kernels, as published, or by corrected ones as shear and rotation"},
    {"volume", "", PBD_CHOICE, "summed", 0, 0, 0, volumes,
     "of particles by the density that SPH sums, as published, or by the whole motion"},
    {"kernel", "", PBD_CHOICE, "cubic_spline", 0, 0, 0, kernel_names, "smoothing kernel"},
    {"radius", "", PBD_REAL, "1", 0.5, 10, PBD_OPEN_MIN, NULL, "r of the kernel, which ends at 2r, in spacings"},
    {"cutoff", "", PBD_REAL, "0.03", 0, 1, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL,
     "singular values of L^-1 below this times the largest count as 0"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities: exp(-damping dt) each step"},
    {0}};

/* ---- State ------------------------------------------------------------------------------------------------------- */

/* Rows of Krylov's method. */
enum { ROW_R, ROW_SHADOW, ROW_P, ROW_AP, ROW_S, ROW_Y, ROW_T, KRYLOV_ROWS };

typedef struct gissler_snow {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles;
    pbd_material material;
    double mu, lambda, gravity[3]; /* Pa */
    double spacing, support, cutoff, damping, relaxation, tolerance, forces_end;
    long iterations, passes;
    int solve, preconditioner;
    bool flows, corrected, tracked, loaded;
    sph_kernel kernel;
    double time;
    uint64_t steps;
    double looked, deficient, alone;              /* over all steps */
    double worst_pressure, worst_shear;           /* residuals left, relative */
    uint64_t unsettled, unsolved, jacobi, krylov; /* steps whose contacts or solvers did not settle; iterations */
    neighbours near;
    size_t pair_capacity;
    collider_poses colliders;
    /* Device, by particle. */
    real *x, *v, *body, *load; /* rows: place and mass; velocity, and 1 or (held) 0; gissler_snow_kernels.h */
    real *rest, *volume, *correction, *pair, *tensor;
    real *p, *diagonal, *square, *inverse;
    real *star, *pressed, *w, *wish, *target, *bound; /* rows: velocities on their way */
    real *row[KRYLOV_ROWS];
    uint32_t *note, *changed;
    real *block;
} gissler_snow;

static void destroy(void *state) {
    gissler_snow *s = state;
    if (!s) return;
    void *device[] = {s->x,      s->v,      s->body,     s->load,   s->rest,    s->volume, s->correction, s->pair,
                      s->tensor, s->p,      s->diagonal, s->square, s->inverse, s->star,   s->pressed,    s->w,
                      s->wish,   s->target, s->bound,    s->note,   s->changed, s->block};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, device[i]);
    for (size_t i = 0; i < KRYLOV_ROWS; i++) pbd_free(s->exec, s->row[i]);
    neighbours_free(&s->near);
    collider_poses_free(&s->colliders);
    free(s);
}

static size_t blocks_of(const gissler_snow *s) { return (s->particles + GISSLER_BLOCK - 1) / GISSLER_BLOCK; }

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static pbd_status check(const pbd_scene *scene) {
    if (scene->particles == 0) return pbd_error(PBD_BAD_INPUT, "gissler_snow: the scene has no particles");
    if (!(scene->spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "gissler_snow: the scene's particles have a spacing of %g m: above 0, please",
                         scene->spacing);
    if (!(scene->material.nu >= 0 && scene->material.nu < 0.5))
        return pbd_error(PBD_BAD_INPUT, "gissler_snow needs 0 <= nu < 0.5, not %g: its pressure is lambda's",
                         scene->material.nu);
    if (scene->material.flow != PBD_FLOW_NONE && scene->material.flow != PBD_FLOW_SNOW)
        return pbd_error(PBD_NOT_SUPPORTED, "gissler_snow knows flow=snow and flow=none alone");
    for (size_t i = 0; i < scene->particles; i++)
        if (!(scene->masses[i] > 0 && isfinite(scene->masses[i])))
            return pbd_error(PBD_BAD_INPUT, "gissler_snow: particle %zu has the mass %g kg: above 0, please", i,
                             scene->masses[i]);
    return pbd_ok();
}

static void read_values(gissler_snow *s, const pbd_scene *scene, const pbd_values *values) {
    const double E = scene->material.E, nu = scene->material.nu;
    s->mu = E / (2 * (1 + nu));
    s->lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    s->spacing = scene->spacing;
    s->support = 2 * pbd_real(values, "radius") * scene->spacing;
    s->cutoff = pbd_real(values, "cutoff");
    s->damping = pbd_real(values, "damping");
    s->relaxation = pbd_real(values, "relaxation");
    s->tolerance = pbd_real(values, "tolerance");
    s->iterations = pbd_integer(values, "iterations");
    s->passes = pbd_integer(values, "contact_passes");
    s->solve = pbd_choice(values, "solve");
    s->preconditioner = pbd_choice(values, "preconditioner");
    s->flows = scene->material.flow != PBD_FLOW_NONE && pbd_choice(values, "plasticity") == 0;
    s->corrected = pbd_choice(values, "divergence") == 1;
    s->tracked = pbd_choice(values, "volume") == 1;
    s->kernel = kernels[pbd_choice(values, "kernel")];
    s->loaded = scene->forces || scene->contact.radius;
    s->forces_end = scene->forces ? scene->forces_end : 0;
    memcpy(s->gravity, scene->gravity, sizeof s->gravity);
}

static pbd_status allocate(gissler_snow *s) {
    const size_t n = s->particles;
    const struct {
        real **to;
        size_t each;
    } part[] = {{&s->x, 4},          {&s->v, 4},       {&s->body, GISSLER_BODY},
                {&s->load, 4},       {&s->rest, 1},    {&s->volume, 1},
                {&s->correction, 9}, {&s->tensor, 9},  {&s->p, 1},
                {&s->diagonal, 1},   {&s->square, 2},  {&s->inverse, 6},
                {&s->star, 4},       {&s->pressed, 4}, {&s->w, 4},
                {&s->wish, 4},       {&s->target, 4},  {&s->bound, 4}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        PBD_TRY(pbd_alloc(s->exec, part[i].each * n * sizeof(real), (void **)part[i].to));
    for (size_t i = 0; i < KRYLOV_ROWS; i++) PBD_TRY(pbd_alloc(s->exec, 4 * n * sizeof(real), (void **)&s->row[i]));
    PBD_TRY(pbd_alloc(s->exec, n * sizeof(uint32_t), (void **)&s->note));
    PBD_TRY(pbd_alloc(s->exec, n * sizeof(uint32_t), (void **)&s->changed));
    return pbd_alloc(s->exec, GISSLER_WATCHED * blocks_of(s) * sizeof(real), (void **)&s->block);
}

static double volume_of(const pbd_scene *scene, size_t i) {
    return scene->volumes                ? scene->volumes[i]
           : scene->material.density > 0 ? scene->masses[i] / scene->material.density
                                         : scene->spacing * scene->spacing * scene->spacing;
}

/* Of n particles: x, v, load (rows of four), body, rest, one after the other. */
static void fill_rows(const pbd_scene *scene, size_t n, real *rows) {
    real *x = rows, *v = x + 4 * n, *load = v + 4 * n, *body = load + 4 * n, *rest = body + GISSLER_BODY * n;
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < 3; d++) {
            x[4 * i + d] = (real)scene->positions[3 * i + d];
            v[4 * i + d] = (real)(scene->velocities ? scene->velocities[3 * i + d] : 0);
            load[4 * i + d] = (real)(scene->forces ? scene->forces[3 * i + d] / scene->masses[i] : 0);
            body[GISSLER_BODY * i + d] = 1;
        }
        x[4 * i + 3] = (real)scene->masses[i];
        v[4 * i + 3] = 1;
        load[4 * i + 3] = (real)(scene->contact.radius ? scene->contact.radius[i] : 0);
        body[GISSLER_BODY * i + GISSLER_STATE] = (real)flow_first_state(&scene->material);
        body[GISSLER_BODY * i + GISSLER_GROWTH] = 1;
        rest[i] = (real)volume_of(scene, i);
    }
    for (size_t k = 0; k < scene->fixed; k++)
        for (size_t d = 0; d < 4; d++) v[4 * (size_t)scene->fixed_particle[k] + d] = 0;
}

static pbd_status place_particles(gissler_snow *s, const pbd_scene *scene) {
    const size_t n = s->particles, all = 12 + GISSLER_BODY + 1;
    real *rows = calloc(all * n + 1, sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    fill_rows(scene, n, rows);
    const struct {
        real *to;
        size_t each;
    } part[] = {{s->x, 4}, {s->v, 4}, {s->load, 4}, {s->body, GISSLER_BODY}, {s->rest, 1}};
    pbd_status status = pbd_ok();
    const real *at = rows;
    for (size_t i = 0; i < sizeof part / sizeof *part && status.code == PBD_OK; at += part[i++].each * n)
        status = pbd_upload(s->exec, part[i].to, at, part[i].each * n * sizeof *rows);
    free(rows);
    return status;
}

static pbd_status build(gissler_snow *s, const pbd_scene *scene, const pbd_values *values) {
    read_values(s, scene, values);
    PBD_TRY(neighbours_create(&s->near, s->exec, s->particles, NULL, s->support, 0));
    PBD_TRY(allocate(s));
    PBD_TRY(collider_poses_create(&s->colliders, scene, s->exec, s->recorder));
    pbd_count(s->recorder, "particles", s->particles);
    return place_particles(s, scene);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    *state = NULL;
    PBD_TRY(check(scene));
    gissler_snow *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for gissler_snow");
    s->exec = exec;
    s->recorder = recorder;
    s->particles = scene->particles;
    s->material = scene->material;
    const pbd_status status = build(s, scene, values);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
}

/* ---- The start of a step ----------------------------------------------------------------------------------------- */

static gissler_lists lists_of(const gissler_snow *s) {
    return (gissler_lists){.first = s->near.first, .list = s->near.list, .pair = s->pair};
}

static gissler_law law_of(const gissler_snow *s, double dt) {
    gissler_law law = {.mu = (real)s->mu,
                       .lambda = (real)s->lambda,
                       .flows = s->flows,
                       .hardens = s->material.flow == PBD_FLOW_SNOW,
                       .corrected = s->corrected,
                       .dt = (real)dt};
    if (s->material.flow != PBD_FLOW_NONE) law.rule = flow_rule_of(&s->material, dt);
    return law;
}

static pbd_status search_phase(gissler_snow *s, double dt) {
    (void)dt;
    PBD_TRY(neighbours_update(&s->near, s->x, NULL));
    if (s->pair && s->near.entries <= s->pair_capacity) return pbd_ok();
    pbd_free(s->exec, s->pair);
    s->pair = NULL;
    s->pair_capacity = (size_t)s->near.entries + (size_t)s->near.entries / 4 + 64;
    return pbd_alloc(s->exec, 3 * s->pair_capacity * sizeof(real), (void **)&s->pair);
}

static pbd_status kernel_phase(gissler_snow *s, double dt) {
    (void)dt;
    const real support = (real)s->support, sigma = sph_kernel_factor(s->kernel, 3, support);
    const gissler_volume_args sizes = {.lists = lists_of(s),
                                       .x = s->x,
                                       .body = s->body,
                                       .rest = s->rest,
                                       .volume = s->volume,
                                       .kernel = s->kernel,
                                       .support = support,
                                       .sigma = sigma,
                                       .tracked = s->tracked};
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(gissler_volume), s->particles, &sizes));
    const gissler_pair_args pairs = {.lists = lists_of(s),
                                     .x = s->x,
                                     .volume = s->volume,
                                     .correction = s->correction,
                                     .note = s->note,
                                     .kernel = s->kernel,
                                     .support = support,
                                     .sigma = sigma,
                                     .cutoff = (real)s->cutoff};
    return pbd_run(s->exec, &PBD_KERNEL(gissler_pairs), s->particles, &pairs);
}

static pbd_status push_phase(gissler_snow *s, double dt) {
    const bool ended = s->forces_end > 0 && s->time > s->forces_end - 0.5 * dt;
    const gissler_push_args args = {.v = s->v,
                                    .load = s->load,
                                    .out = s->star,
                                    .gravity = vec3_make((real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]),
                                    .dt = (real)dt,
                                    .keep = (real)exp(-s->damping * dt),
                                    .loaded = s->loaded && !ended};
    return pbd_run(s->exec, &PBD_KERNEL(gissler_push), s->particles, &args);
}

/* From what forces alone would give to what colliders and fixed particles leave, in `target`, and how they bind. */
static pbd_status bind(gissler_snow *s, const real *wish, double dt) {
    const gissler_bind_args args = {.collider = s->colliders.device,
                                    .colliders = (int)s->colliders.count,
                                    .x = s->x,
                                    .v = s->v,
                                    .load = s->load,
                                    .wish = wish,
                                    .out = s->target,
                                    .bound = s->bound,
                                    .changed = s->changed,
                                    .dt = (real)dt,
                                    .inverse_dt = (real)(1 / dt)};
    return pbd_run(s->exec, &PBD_KERNEL(gissler_bind), s->particles, &args);
}

/* ---- Sums over all ----------------------------------------------------------------------------------------------- */

/* Two sums from their blocks, in the order of the blocks. */
static pbd_status add_blocks(const gissler_snow *s, double out[2]) {
    const size_t count = 2 * blocks_of(s);
    real *block = malloc((count + 1) * sizeof *block);
    if (!block) return pbd_error(PBD_FAILED, "out of memory for %zu blocks of particles", count / 2);
    const pbd_status status = pbd_download(s->exec, block, s->block, count * sizeof *block);
    out[0] = out[1] = 0;
    for (size_t i = 0; i < count && status.code == PBD_OK; i++) out[i % 2] += (double)block[i];
    free(block);
    return status;
}

/* sum m x.y and sum m x.z. */
static pbd_status dots(const gissler_snow *s, const real *x, const real *y, const real *z, double out[2]) {
    const gissler_dots_args args = {.x = x, .y = y, .z = z, .place = s->x, .particles = s->particles, .out = s->block};
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(gissler_dots), blocks_of(s), &args));
    return add_blocks(s, out);
}

static pbd_status combine(const gissler_snow *s, real *out, double a, const real *x, double b, const real *y, double c,
                          const real *z) {
    const gissler_combine_args args = {.out = out, .x = x, .y = y, .z = z, .a = (real)a, .b = (real)b, .c = (real)c};
    return pbd_run(s->exec, &PBD_KERNEL(gissler_combine), s->particles, &args);
}

/* ---- Forces ------------------------------------------------------------------------------------------------------ */

static gissler_force_args force_args(const gissler_snow *s, const real *base, real *out, double scale, int form) {
    return (gissler_force_args){.lists = lists_of(s),
                                .tensor = s->tensor,
                                .volume = s->volume,
                                .x = s->x,
                                .base = base,
                                .bound = s->bound,
                                .target = s->target,
                                .out = out,
                                .scale = (real)scale,
                                .form = form};
}

/* The tensors Q of a velocity: the whole stress after the step, or what the velocity adds. */
static pbd_status make_stress(gissler_snow *s, const real *w, bool whole, double dt) {
    const gissler_stress_args args = {.lists = lists_of(s),
                                      .law = law_of(s, dt),
                                      .w = w,
                                      .body = s->body,
                                      .correction = s->correction,
                                      .tensor = s->tensor,
                                      .whole = whole,
                                      .shear = 1,
                                      .volume = s->solve == SOLVE_TOGETHER};
    return pbd_run(s->exec, &PBD_KERNEL(gissler_stress), s->particles, &args);
}

static pbd_status run_force(gissler_snow *s, const gissler_force_args *args) {
    pbd_count(s->recorder, "neighbour_updates", 2 * s->near.entries);
    return pbd_run(s->exec, &PBD_KERNEL(gissler_force), s->particles, args);
}

/* ---- Pressure ---------------------------------------------------------------------------------------------------- */

static gissler_pressure_args pressure_args(const gissler_snow *s, double dt) {
    return (gissler_pressure_args){.lists = lists_of(s),
                                   .law = law_of(s, dt),
                                   .w = s->w,
                                   .x = s->x,
                                   .body = s->body,
                                   .correction = s->correction,
                                   .volume = s->volume,
                                   .p = s->p,
                                   .diagonal = s->diagonal,
                                   .tensor = s->tensor,
                                   .square = s->square,
                                   .particles = s->particles,
                                   .relaxation = (real)s->relaxation};
}

/* Residuals so small against what they are of are rounding. */
static double rounding(void) { return 4 * REAL_EPSILON; }

/* Solves for p; `pressed` is then the velocity that it gives, and w the same with what is bound. */
static pbd_status solve_pressure(gissler_snow *s, double dt, double *left) {
    const gissler_pressure_args args = pressure_args(s, dt);
    const gissler_force_args step = force_args(s, s->star, s->w, dt, GISSLER_SET);
    const gissler_sums_args sums = {.square = s->square, .particles = s->particles, .out = s->block};
    double first = 0, sum[2];
    *left = 0;
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(gissler_pressure_begin), s->particles, &args));
    for (long k = 0; k <= s->iterations; k++) {
        PBD_TRY(run_force(s, &step));
        PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(gissler_pressure_improve), s->particles, &args));
        PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(gissler_sums), blocks_of(s), &sums));
        PBD_TRY(add_blocks(s, sum));
        s->jacobi++;
        const double error = sqrt(sum[0]), size = sqrt(sum[1]);
        if (k == 0) first = error;
        *left = first > 0 ? error / first : 0;
        if (!(error > s->tolerance * first) || error <= rounding() * size) break;
    }
    const gissler_force_args all = force_args(s, s->star, s->pressed, dt, GISSLER_ALL);
    PBD_TRY(run_force(s, &all));
    return run_force(s, &step);
}

/* ---- Shear: BiCGSTAB (van der Vorst 1992), preconditioned from the right, in the masses' inner product ------------
 */

/* The free part of w - dt a(w), a linear. */
static pbd_status apply(gissler_snow *s, const real *w, real *out, double dt) {
    PBD_TRY(make_stress(s, w, false, dt));
    const gissler_force_args args = force_args(s, w, out, -dt, GISSLER_FREE_PART);
    return run_force(s, &args);
}

static pbd_status precondition(gissler_snow *s, const real *in, real *out) {
    const gissler_precondition_args args = {.in = in, .inverse = s->inverse, .bound = s->bound, .out = out};
    if (s->preconditioner == PRECONDITION_MASSES) return combine(s, out, 1, in, 0, NULL, 0, NULL);
    return pbd_run(s->exec, &PBD_KERNEL(gissler_precondition), s->particles, &args);
}

static pbd_status make_preconditioner(gissler_snow *s, double dt) {
    const gissler_diagonal_args args = {.lists = lists_of(s),
                                        .law = law_of(s, dt),
                                        .x = s->x,
                                        .body = s->body,
                                        .correction = s->correction,
                                        .volume = s->volume,
                                        .inverse = s->inverse,
                                        .shear = 1,
                                        .pressure = s->solve == SOLVE_TOGETHER};
    if (s->preconditioner == PRECONDITION_MASSES) return pbd_ok();
    return pbd_run(s->exec, &PBD_KERNEL(gissler_diagonal), s->particles, &args);
}

/* What is left of w = base + dt a(w), in row R; its size, and that of w. */
static pbd_status krylov_residual(gissler_snow *s, const real *base, double dt, double *size, double *of) {
    double sum[2];
    PBD_TRY(make_stress(s, s->w, true, dt));
    gissler_force_args args = force_args(s, base, s->row[ROW_R], dt, GISSLER_FREE_PART);
    args.minus = s->w;
    PBD_TRY(run_force(s, &args));
    PBD_TRY(dots(s, s->row[ROW_R], s->row[ROW_R], s->row[ROW_R], sum));
    *size = sqrt(sum[0]);
    PBD_TRY(dots(s, s->w, s->w, s->w, sum));
    *of = sqrt(sum[0]);
    return pbd_ok();
}

typedef struct krylov {
    double rho, alpha, omega, size; /* size: of the residual */
    bool stuck;                     /* a product that it divides by is 0 */
} krylov;

/* One iteration; w takes what it finds. */
static pbd_status krylov_step(gissler_snow *s, krylov *k, double dt) {
    real *r = s->row[ROW_R], *shadow = s->row[ROW_SHADOW], *p = s->row[ROW_P], *ap = s->row[ROW_AP];
    real *sr = s->row[ROW_S], *y = s->row[ROW_Y], *t = s->row[ROW_T];
    double sum[2];
    PBD_TRY(dots(s, r, shadow, r, sum));
    const double rho = sum[0], beta = rho / k->rho * (k->alpha / k->omega);
    k->stuck = rho == 0 || !isfinite(beta);
    if (k->stuck) return pbd_ok();
    k->rho = rho;
    PBD_TRY(combine(s, p, 1, r, beta, p, -beta * k->omega, ap));
    PBD_TRY(precondition(s, p, y));
    PBD_TRY(apply(s, y, ap, dt));
    PBD_TRY(dots(s, shadow, ap, ap, sum));
    k->alpha = rho / sum[0];
    k->stuck = !isfinite(k->alpha);
    if (k->stuck) return pbd_ok();
    PBD_TRY(combine(s, s->w, 1, s->w, k->alpha, y, 0, NULL));
    PBD_TRY(combine(s, sr, 1, r, -k->alpha, ap, 0, NULL));
    PBD_TRY(precondition(s, sr, y));
    PBD_TRY(apply(s, y, t, dt));
    PBD_TRY(dots(s, t, sr, t, sum));
    k->omega = sum[1] > 0 ? sum[0] / sum[1] : 0;
    PBD_TRY(combine(s, s->w, 1, s->w, k->omega, y, 0, NULL));
    PBD_TRY(combine(s, r, 1, sr, -k->omega, t, 0, NULL));
    PBD_TRY(dots(s, r, r, r, sum));
    k->size = sqrt(sum[0]);
    k->stuck = k->omega == 0;
    return pbd_ok();
}

/* Solves w = base + dt a(w) for w where it is free, from what is there. */
static pbd_status solve_shear(gissler_snow *s, const real *base, double dt, double *left) {
    double first, of;
    *left = 0;
    PBD_TRY(krylov_residual(s, base, dt, &first, &of));
    if (!isfinite(first)) return pbd_ok(); /* the end of the step says so */
    if (!(first > rounding() * of)) return pbd_ok();
    PBD_TRY(make_preconditioner(s, dt));
    PBD_TRY(combine(s, s->row[ROW_SHADOW], 1, s->row[ROW_R], 0, NULL, 0, NULL));
    PBD_TRY(combine(s, s->row[ROW_P], 0, s->row[ROW_R], 0, NULL, 0, NULL));
    PBD_TRY(combine(s, s->row[ROW_AP], 0, s->row[ROW_R], 0, NULL, 0, NULL));
    krylov k = {.rho = 1, .alpha = 1, .omega = 1, .size = first};
    for (long i = 0; i < s->iterations && !k.stuck; i++) {
        PBD_TRY(krylov_step(s, &k, dt));
        s->krylov++;
        if (!(k.size > s->tolerance * first) || k.size <= rounding() * of) break;
    }
    *left = k.size / first;
    return pbd_ok();
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

/* Numbers of all: the largest v^2; how many are deficient, alone, bound anew. */
static pbd_status watch(const gissler_snow *s, double out[GISSLER_WATCHED]) {
    const size_t blocks = blocks_of(s), count = GISSLER_WATCHED * blocks;
    const gissler_watch_args args = {.v = s->target,
                                     .place = s->x,
                                     .note = s->note,
                                     .changed = s->changed,
                                     .particles = s->particles,
                                     .out = s->block};
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(gissler_watch), blocks, &args));
    real *block = malloc((count + 1) * sizeof *block);
    if (!block) return pbd_error(PBD_FAILED, "out of memory for %zu blocks of particles", blocks);
    const pbd_status status = pbd_download(s->exec, block, s->block, count * sizeof *block);
    memset(out, 0, GISSLER_WATCHED * sizeof *out);
    for (size_t i = 0; i < count && status.code == PBD_OK; i++) {
        const double x = (double)block[i];
        double *to = &out[i % GISSLER_WATCHED];
        *to = i % GISSLER_WATCHED > 0 ? *to + x : x > *to || isnan(x) ? x : *to;
    }
    free(block);
    return status;
}

/* Solves once, with what is bound bound as it is; then asks colliders again. */
static pbd_status solve_pass(gissler_snow *s, double dt, double left[2], double seen[GISSLER_WATCHED]) {
    const bool split = s->solve == SOLVE_SPLIT;
    left[0] = 0;
    pbd_phase_begin(s->recorder, "pressure");
    pbd_status status = split ? solve_pressure(s, dt, &left[0]) : combine(s, s->w, 1, s->target, 0, NULL, 0, NULL);
    pbd_phase_end(s->recorder);
    PBD_TRY(status);
    const real *base = split ? s->pressed : s->star;
    pbd_phase_begin(s->recorder, "shear");
    status = solve_shear(s, base, dt, &left[1]);
    pbd_phase_end(s->recorder);
    PBD_TRY(status);
    PBD_TRY(make_stress(s, s->w, true, dt));
    gissler_force_args reaction = force_args(s, base, s->wish, dt, GISSLER_REACTION);
    reaction.target = s->w;
    PBD_TRY(run_force(s, &reaction));
    pbd_phase_begin(s->recorder, collider_poses_phase(&s->colliders, "colliders"));
    status = bind(s, s->wish, dt);
    pbd_phase_end(s->recorder);
    PBD_TRY(status);
    return watch(s, seen);
}

static pbd_status solve_step(gissler_snow *s, double dt, double seen[GISSLER_WATCHED]) {
    double left[2] = {0, 0};
    for (long pass = 0; pass < s->passes; pass++) {
        PBD_TRY(solve_pass(s, dt, left, seen));
        pbd_count(s->recorder, "solves", 1);
        if (!isfinite(seen[0]) || seen[3] == 0) break;
    }
    s->worst_pressure = fmax(s->worst_pressure, left[0]);
    s->worst_shear = fmax(s->worst_shear, left[1]);
    s->unsolved += left[0] > s->tolerance || left[1] > s->tolerance;
    s->unsettled += seen[3] > 0;
    return pbd_ok();
}

static pbd_status advance_phase(gissler_snow *s, double dt) {
    const gissler_advance_args args = {
        .lists = lists_of(s), .law = law_of(s, dt), .w = s->target, .correction = s->correction, .body = s->body};
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(gissler_advance), s->particles, &args));
    const gissler_move_args move = {.x = s->x, .v = s->v, .w = s->target, .dt = (real)dt};
    return pbd_run(s->exec, &PBD_KERNEL(gissler_move), s->particles, &move);
}

static void warn(gissler_snow *s, double dt, const double seen[GISSLER_WATCHED]) {
    const double courant = sqrt(seen[0]) * dt / (0.5 * s->support);
    if (courant > 0.5)
        pbd_warning(s->recorder, "kernel_cfl",
                    "a particle moves %.3g r in a step of %g s: above r/2 neighbours are missed", courant, dt);
    if (seen[1] > 0)
        pbd_warning(s->recorder, "few_neighbours",
                    "%g of %zu particles have neighbours in less than three directions: their gradients of velocity "
                    "are 0 along the others",
                    seen[1], s->particles);
    if (s->unsolved > 0)
        pbd_warning(s->recorder, "solver_residual",
                    "a solver left %.3g (pressure) or %.3g (shear) of its residual after %ld iterations, where %g is "
                    "asked for: more iterations or a smaller dt",
                    s->worst_pressure, s->worst_shear, s->iterations, s->tolerance);
}

static pbd_status report(gissler_snow *s, double dt, const double seen[GISSLER_WATCHED]) {
    pbd_count(s->recorder, "steps", 1);
    if (!isfinite(seen[0]))
        return pbd_error(PBD_DIVERGED, "after %.6g s (step %llu) a velocity is not finite", s->time,
                         (unsigned long long)s->steps);
    warn(s, dt, seen);
    s->looked += (double)s->particles;
    s->deficient += seen[1];
    s->alone += seen[2];
    const double steps = (double)s->steps;
    pbd_metric(s->recorder, "deficient_fraction", "1", PBD_LOWER_IS_BETTER, s->deficient / s->looked);
    pbd_metric(s->recorder, "lone_fraction", "1", PBD_NEUTRAL, s->alone / s->looked);
    pbd_metric(s->recorder, "pressure_residual", "1", PBD_LOWER_IS_BETTER, s->worst_pressure);
    pbd_metric(s->recorder, "shear_residual", "1", PBD_LOWER_IS_BETTER, s->worst_shear);
    pbd_metric(s->recorder, "pressure_iterations", "1", PBD_LOWER_IS_BETTER, (double)s->jacobi / steps);
    pbd_metric(s->recorder, "shear_iterations", "1", PBD_LOWER_IS_BETTER, (double)s->krylov / steps);
    pbd_metric(s->recorder, "unsettled_contacts", "1", PBD_LOWER_IS_BETTER, (double)s->unsettled / steps);
    pbd_metric(s->recorder, "neighbours_total", "1", PBD_NEUTRAL, (double)s->near.entries);
    return pbd_ok();
}

static pbd_status phase(gissler_snow *s, const char *name, pbd_status (*work)(gissler_snow *, double), double dt) {
    pbd_phase_begin(s->recorder, name);
    const pbd_status status = work(s, dt);
    pbd_phase_end(s->recorder);
    return status;
}

static pbd_status step(void *state, double dt) {
    gissler_snow *s = state;
    double seen[GISSLER_WATCHED] = {0};
    PBD_TRY(phase(s, "neighbour_search", search_phase, dt));
    PBD_TRY(phase(s, "kernels", kernel_phase, dt));
    PBD_TRY(phase(s, "state_update", push_phase, dt));
    PBD_TRY(collider_poses_move(&s->colliders, s->time, dt));
    PBD_TRY(bind(s, s->star, dt));
    PBD_TRY(solve_step(s, dt, seen));
    PBD_TRY(phase(s, "state_update", advance_phase, dt));
    s->time += dt;
    s->steps++;
    return report(s, dt, seen);
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* Entry e of a particle's field is at `entry[e]` of its `stride` numbers. */
static pbd_status read_rows(const gissler_snow *s, const real *device, size_t stride, const size_t *entry, size_t width,
                            double *out) {
    const size_t n = s->particles;
    real *rows = malloc((stride * n + 1) * sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", n);
    const pbd_status status = pbd_download(s->exec, rows, device, stride * n * sizeof *rows);
    for (size_t k = 0; k < width * n && status.code == PBD_OK; k++)
        out[k] = (double)rows[stride * (k / width) + entry[k % width]];
    free(rows);
    return status;
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    static const size_t three[] = {0, 1, 2}, nine[] = {0, 3, 5, 3, 1, 4, 5, 4, 2};
    const gissler_snow *s = state;
    if (field == PBD_POSITIONS) return read_rows(s, s->x, 4, three, 3, out);
    if (field == PBD_VELOCITIES) return read_rows(s, s->v, 4, three, 3, out);
    if (field == PBD_DEFORMATION_GRADIENTS) return read_rows(s, s->body, GISSLER_BODY, nine, 9, out);
    return pbd_error(PBD_NOT_SUPPORTED, "gissler_snow has positions, velocities and elastic stretches only");
}

typedef struct saved_head {
    double time;
    uint64_t steps;
} saved_head;

typedef struct saved_part {
    real *device;
    size_t bytes;
} saved_part;

enum { SAVED_PARTS = 3 };

static size_t saved_bytes(const gissler_snow *s, saved_part out[SAVED_PARTS]) {
    const size_t n = s->particles * sizeof(real);
    out[0] = (saved_part){s->x, 4 * n};
    out[1] = (saved_part){s->v, 4 * n};
    out[2] = (saved_part){s->body, GISSLER_BODY * n};
    return sizeof(saved_head) + (8 + GISSLER_BODY) * n;
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const gissler_snow *s = state;
    saved_part part[SAVED_PARTS];
    *bytes = saved_bytes(s, part);
    if (!blob) return pbd_ok();
    const saved_head head = {s->time, s->steps};
    memcpy(blob, &head, sizeof head);
    char *at = (char *)blob + sizeof head;
    for (size_t k = 0; k < SAVED_PARTS; at += part[k++].bytes)
        PBD_TRY(pbd_download(s->exec, at, part[k].device, part[k].bytes));
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    gissler_snow *s = state;
    saved_part part[SAVED_PARTS];
    const size_t wanted = saved_bytes(s, part);
    if (bytes != wanted)
        return pbd_error(PBD_BAD_INPUT, "gissler_snow: the saved state has %zu bytes, not %zu", bytes, wanted);
    saved_head head;
    memcpy(&head, blob, sizeof head);
    s->time = head.time;
    s->steps = head.steps;
    const char *at = (const char *)blob + sizeof head;
    for (size_t k = 0; k < SAVED_PARTS; at += part[k++].bytes)
        PBD_TRY(pbd_upload(s->exec, part[k].device, at, part[k].bytes));
    return pbd_ok();
}

const pbd_method PBD_NAME(gissler_snow) = {
    .abi = PBD_METHOD_ABI,
    .name = "gissler_snow",
    .summary = "implicit compressible SPH for snow: pressure by Jacobi, shear by BiCGSTAB, flow after a step",
    .source = "Gissler et al. 2020, yu2024 Figure 19",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_FORCES_END | PBD_TAKES_COLLIDERS | PBD_TAKES_FLOW,
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
