/* pbd_distance: hexahedra of eight particles held by distance and volume constraints (rodero2016).
 *
 * A step predicts positions under the load, projects them `iterations` times, and takes velocities from what moved.
 * Rest is found by stepping until nothing moves (mode=dynamic, as the paper does), or from the linear analysis of one
 * step (mode=static, Eq. 6 with K_PBD of Eq. 9). Stiffnesses come from a fit to linear FEM, from the paper's
 * polynomials, or from the caller. Analysis and fit are f64 whatever `real` is. */
#include <stdlib.h>
#include <string.h>

#include "methods/pbd_distance/fit.h"
#include "methods/pbd_distance/linear.h"
#include "methods/pbd_distance/pbd_distance_kernels.h"
#include "methods/physics/space/colouring.h"

static const char *const modes[] = {"dynamic", "static", NULL};
static const char *const solvers[] = {"jacobi", "coloured_gs", NULL};
static const char *const stiffnesses[] = {"fitted", "polynomial", "fixed", NULL};
static const char *const fits[] = {"bounded_lsq", "nelder_mead", "deformation_tests", NULL};
static const char *const sets[] = {"all", "no_volume", NULL};
static const char *const splits[] = {"A", "B", "averaged_gradient", "mean_of_projections", NULL};
static const char *const norms[] = {"spectral", "frobenius", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
enum { MODE_DYNAMIC, MODE_STATIC };
enum { STIFFNESS_FITTED, STIFFNESS_POLYNOMIAL, STIFFNESS_FIXED };
enum { FIT_BOUNDED_LSQ, FIT_NELDER_MEAD, FIT_DEFORMATION_TESTS };

static const pbd_param params[] = {
    {"mode", "", PBD_CHOICE, "dynamic", 0, 0, 0, modes, "step until at rest, or solve K_PBD u = f"},
    {"solver", "", PBD_CHOICE, "jacobi", 0, 0, 0, solvers, "jacobi as the paper analyses, coloured_gs as PBD is used"},
    {"iterations", "", PBD_INTEGER, "1", 1, 10000, 0, NULL, "projections a step"},
    {"stiffness", "", PBD_CHOICE, "fitted", 0, 0, 0, stiffnesses,
     "fitted to FEM, the printed polynomials, or fixed by k_*"},
    {"k_edge", "", PBD_REAL, "0.05", 0, 1, 0, NULL, "stiffness=fixed: of edges"},
    {"k_face", "", PBD_REAL, "0.16", 0, 1, 0, NULL, "stiffness=fixed: of face diagonals"},
    {"k_diagonal", "", PBD_REAL, "0.12", 0, 1, 0, NULL, "stiffness=fixed: of inner diagonals"},
    {"k_volume", "", PBD_REAL, "0", 0, 1, 0, NULL, "stiffness=fixed: of volumes"},
    {"fit", "", PBD_CHOICE, "bounded_lsq", 0, 0, 0, fits,
     "Eq. 11 directly, by Nelder-Mead, or to the deformation tests"},
    {"fit_start", "", PBD_REAL, "0.1", 0, 1, 0, NULL, "nelder_mead: every stiffness at the start"},
    {"fit_iterations", "", PBD_INTEGER, "1", 0, 1000, 0, NULL,
     "Jacobi iterations that are fitted (paper: 1); 0: as `iterations`"},
    {"constraints", "", PBD_CHOICE, "all", 0, 0, 0, sets, "with or without volume constraints"},
    {"face_split", "", PBD_CHOICE, "mean_of_projections", 0, 0, 0, splits, "triangles of the volume constraint (R-7)"},
    {"mass_norm", "", PBD_CHOICE, "spectral", 0, 0, 0, norms, "norm of M in Eq. 10 (R-4)"},
    {"dt", "s", PBD_REAL, "0", 0, 1e3, 0, NULL, "time step; 0: by Eq. 10"},
    {"dt_scale", "", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "multiplies the time step, not the fit"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities"},
    {"velocity_threshold", "size/step", PBD_REAL, "1e-9", 0, 1, PBD_OPEN_MIN, NULL,
     "mode=dynamic: at rest when every particle moves less than this fraction of the body's size in each of two steps"},
    {"max_steps", "", PBD_INTEGER, "200000", 1, 1e9, 0, NULL,
     "mode=dynamic: largest number of steps, then not_settled"},
    {"spectrum", "", PBD_CHOICE, "no", 0, 0, 0, no_yes, "record the largest eigenvalue of a Jacobi iteration (R-12)"},
    {"jacobian", "", PBD_CHOICE, "no", 0, 0, 0, no_yes,
     "record K_PBD by finite differences of the projection against the closed form"},
    {"order_samples", "", PBD_INTEGER, "0", 0, 1e6, 0, NULL,
     "record K of Gauss-Seidel, averaged over this number of random orders"},
    {"order_seed", "", PBD_INTEGER, "1", 0, 1e9, 0, NULL, "of those orders"},
    {0}};

/* Constraints of one kind on the device, colour by colour. */
typedef struct coloured {
    size_t count;
    int colours;
    size_t first[PBD_MOST_COLOURS + 1];
    uint32_t *order;    /* host: new place -> constraint in mesh order */
    uint32_t *particle; /* device: count x arity */
    real *rest[2];      /* device: distances: [0]; volumes: splits A and B */
} coloured;

typedef struct pbd_distance {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles, held_count;
    coloured kind[HEX_KINDS];
    real *x, *v, *a, *p;                  /* device: particles x 4 */
    real *impulse;                        /* device: Jacobi only, rows of 4 */
    uint32_t *gather_first, *gather_slot; /* device: Jacobi only */
    uint32_t *held;                       /* device */
    real *held_rest;                      /* device: held x 4 */
    real *fastest;                        /* device: by block */
    double k[HEX_KINDS];
    double dt, damping, threshold, extent, largest_impulse;
    int solver, iterations, mode, split;
    long max_steps;
    pbd_fixing fixing;
    /* Host, f64: for the linear analysis and for reading back. */
    hex_constraints constraints;
    double *rest, *forces, *masses; /* forces with the weight */
    bool *is_held;
    pbd_repeat *repeat;                      /* the launches of a step */
    double *static_predicted, *static_after; /* displacements of mode=static, particles x 3; NULL before a solve */
} pbd_distance;

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void destroy(void *state) {
    pbd_distance *s = state;
    if (!s) return;
    pbd_repeat_free(s->exec, s->repeat);
    for (int kind = 0; kind < HEX_KINDS; kind++) {
        free(s->kind[kind].order);
        pbd_free(s->exec, s->kind[kind].particle);
        for (int r = 0; r < 2; r++) pbd_free(s->exec, s->kind[kind].rest[r]);
    }
    void *device[] = {s->x,           s->v,    s->a,         s->p,      s->impulse, s->gather_first,
                      s->gather_slot, s->held, s->held_rest, s->fastest};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, device[i]);
    hex_constraints_free(&s->constraints);
    free(s->rest);
    free(s->forces);
    free(s->masses);
    free(s->is_held);
    free(s->static_predicted);
    free(s->static_after);
    free(s);
}

static pbd_status upload_new(pbd_distance *s, const void *host, size_t bytes, void *device) {
    void **out = device;
    PBD_TRY(pbd_alloc(s->exec, bytes, out));
    return pbd_upload(s->exec, *out, host, bytes);
}

/* One kind's constraints, coloured, in `real`, on the device. */
static pbd_status upload_kind(pbd_distance *s, int kind) {
    const hex_constraints *h = &s->constraints;
    coloured *c = &s->kind[kind];
    bool volume = kind == HEX_VOLUME;
    int arity = volume ? 8 : 2;
    const uint32_t *particle = volume ? h->cell : h->pair[kind];
    c->count = volume ? h->cells : h->count[kind];
    c->order = malloc((c->count + 1) * sizeof *c->order);
    uint32_t *sorted = malloc((c->count * (size_t)arity + 1) * sizeof *sorted);
    real *rest = malloc((c->count + 1) * sizeof *rest);
    pbd_status status = pbd_ok();
    if (!c->order || !sorted || !rest) status = pbd_error(PBD_FAILED, "out of memory for %zu constraints", c->count);
    if (status.code == PBD_OK && s->solver == PBD_SOLVER_COLOURED_GS)
        status = pbd_colour(c->count, arity, particle, s->particles, c->order, c->first, &c->colours);
    else if (status.code ==
             PBD_OK) /* Jacobi needs no colours, and in mesh order impulses lie near those who gather them */
        for (size_t i = 0; i < c->count; i++) c->order[i] = (uint32_t)i;
    if (status.code == PBD_OK) {
        for (size_t i = 0; i < c->count; i++)
            memcpy(sorted + i * (size_t)arity, particle + c->order[i] * (size_t)arity, (size_t)arity * sizeof *sorted);
        status = upload_new(s, sorted, c->count * (size_t)arity * sizeof *sorted, &c->particle);
    }
    for (int r = 0; r < (volume ? 2 : 1) && status.code == PBD_OK; r++) {
        const double *from = volume ? h->rest_volume[r] : h->rest[kind];
        for (size_t i = 0; i < c->count; i++) rest[i] = (real)from[c->order[i]];
        status = upload_new(s, rest, c->count * sizeof *rest, &c->rest[r]);
    }
    free(sorted);
    free(rest);
    return status;
}

/* Row of `impulse` where the constraints of a kind begin: distances take one row each, volumes eight. */
static size_t impulse_rows_before(const pbd_distance *s, int kind) {
    size_t rows = 0;
    for (int i = 0; i < kind; i++) rows += s->kind[i].count;
    return rows;
}

/* Two particles gather the impulse of a distance; each of a cell's eight has its own of a volume. */
static size_t gathered(const pbd_distance *s) {
    return 2 * impulse_rows_before(s, HEX_VOLUME) + 8 * s->constraints.cells;
}

/* Which impulses each particle gathers (Jacobi): a counting sort, so the order of the sum is always the same. */
static pbd_status upload_gather(pbd_distance *s) {
    const size_t volume_rows = impulse_rows_before(s, HEX_VOLUME), entries = gathered(s);
    uint32_t *first = calloc(s->particles + 2, sizeof *first), *slot = malloc((entries + 1) * sizeof *slot);
    if (!first || !slot || entries >= UINT32_MAX / 2) {
        free(first);
        free(slot);
        return pbd_error(PBD_FAILED, "out of memory for %zu impulses", entries);
    }
    for (int pass = 0; pass < 2; pass++) { /* count, then place */
        for (int kind = 0; kind < HEX_KINDS; kind++) {
            int arity = kind == HEX_VOLUME ? 8 : 2;
            const uint32_t *particle = kind == HEX_VOLUME ? s->constraints.cell : s->constraints.pair[kind];
            size_t base = impulse_rows_before(s, kind);
            for (size_t i = 0; i < s->kind[kind].count; i++)
                for (int a = 0; a < arity; a++) {
                    uint32_t p = particle[s->kind[kind].order[i] * (size_t)arity + (size_t)a];
                    size_t row = arity == 2 ? base + i : base + 8 * i + (size_t)a;
                    if (pass == 0)
                        first[p + 2]++;
                    else
                        slot[first[p + 1]++] = (uint32_t)(row << 1 | (arity == 2 && a == 1));
                }
        }
        if (pass == 0)
            for (size_t p = 0; p < s->particles; p++) first[p + 2] += first[p + 1];
    }
    pbd_status status = upload_new(s, first, (s->particles + 1) * sizeof *first, &s->gather_first);
    if (status.code == PBD_OK) status = upload_new(s, slot, entries * sizeof *slot, &s->gather_slot);
    void *impulse = NULL;
    if (status.code == PBD_OK)
        status = pbd_alloc(s->exec, 4 * (volume_rows + 8 * s->constraints.cells) * sizeof(real), &impulse);
    s->impulse = impulse;
    free(first);
    free(slot);
    return status;
}

static pbd_status upload_particles(pbd_distance *s, const pbd_scene *scene) {
    size_t n = scene->particles.count, bytes = 4 * n * sizeof(real);
    real *rows[3];
    for (int i = 0; i < 3; i++) rows[i] = calloc(4 * n + 1, sizeof(real));
    pbd_status status = pbd_ok();
    if (!rows[0] || !rows[1] || !rows[2])
        status = pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    else
        for (size_t i = 0; i < n; i++) {
            bool weightless = s->is_held[i] && scene->hints.fixing == PBD_FIXED_WEIGHT;
            for (size_t d = 0; d < 3; d++) {
                rows[0][4 * i + d] = (real)scene->particles.positions[3 * i + d];
                if (s->is_held[i]) continue;
                if (scene->particles.velocities) rows[1][4 * i + d] = (real)scene->particles.velocities[3 * i + d];
                rows[2][4 * i + d] = (real)(s->forces[3 * i + d] / s->masses[i]);
            }
            rows[0][4 * i + 3] = weightless ? 0 : (real)(1 / scene->particles.masses[i]);
        }
    real **device[] = {&s->x, &s->v, &s->a};
    for (int i = 0; i < 3 && status.code == PBD_OK; i++) status = upload_new(s, rows[i], bytes, device[i]);
    if (status.code == PBD_OK) status = upload_new(s, rows[0], bytes, &s->p);
    if (status.code == PBD_OK) {
        for (size_t i = 0; i < scene->particles.fixed; i++)
            for (size_t d = 0; d < 3; d++)
                rows[1][4 * i + d] = (real)scene->particles.positions[3 * scene->particles.fixed_particle[i] + d];
        status = upload_new(s, scene->particles.fixed_particle,
                            scene->particles.fixed * sizeof *scene->particles.fixed_particle, &s->held);
    }
    if (status.code == PBD_OK)
        status = upload_new(s, rows[1], 4 * scene->particles.fixed * sizeof(real), &s->held_rest);
    void *fastest = NULL;
    if (status.code == PBD_OK) status = pbd_alloc(s->exec, (n / SPEED_BLOCK + 1) * sizeof(real), &fastest);
    s->fastest = fastest;
    for (int i = 0; i < 3; i++) free(rows[i]);
    return status;
}

static pbd_status copy_scene(pbd_distance *s, const pbd_scene *scene) {
    size_t n = scene->particles.count;
    s->rest = malloc((3 * n + 1) * sizeof *s->rest);
    s->forces = malloc((3 * n + 1) * sizeof *s->forces);
    s->masses = malloc((n + 1) * sizeof *s->masses);
    s->is_held = calloc(n + 1, sizeof *s->is_held);
    if (!s->rest || !s->forces || !s->masses || !s->is_held)
        return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    memcpy(s->rest, scene->particles.positions, 3 * n * sizeof *s->rest);
    for (size_t i = 0; i < 3 * n; i++)
        s->forces[i] = scene->loads.forces[i] + scene->particles.masses[i / 3] * scene->loads.gravity[i % 3];
    memcpy(s->masses, scene->particles.masses, n * sizeof *s->masses);
    for (size_t i = 0; i < scene->particles.fixed; i++) s->is_held[scene->particles.fixed_particle[i]] = true;
    s->particles = n;
    s->held_count = scene->particles.fixed;
    s->fixing = scene->hints.fixing;
    s->extent = scene->extent;
    return hex_constraints_create(scene, &s->constraints);
}

/* ---- Stiffnesses ------------------------------------------------------------------------------------------------- */

static void record_fit(pbd_recorder *recorder, const double k[HEX_KINDS], double error, double dt,
                       const fit_matrices *m) {
    static const char *const names[HEX_KINDS] = {"k_edge", "k_face", "k_diagonal", "k_volume"};
    for (int kind = 0; kind < HEX_KINDS; kind++) pbd_metric(recorder, names[kind], "1", PBD_STATE, k[kind]);
    pbd_metric(recorder, "fit_error", "1", PBD_ERROR, error);
    pbd_metric(recorder, "dt", "s", PBD_STATE, dt);
    pbd_metric(recorder, "norm_K_fem", "N/m", PBD_STATE, m->norm_fem);
}

/* Chooses k, and dt by Eq. 10, from the first element (all elements of the cube cases are alike). */
static pbd_status choose_stiffness(pbd_distance *s, const pbd_scene *scene, const pbd_values *values) {
    fit_problem problem = {.material = scene->material[0],
                           .mass_norm = (fit_norm)pbd_choice(values, "mass_norm"),
                           .split = (hex_split)s->split,
                           .volume = pbd_choice(values, "constraints") == 0,
                           .iterations = (int)pbd_integer(values, "fit_iterations"),
                           .fixing = scene->hints.fixing};
    for (int a = 0; a < 8; a++)
        memcpy(problem.corner[a], scene->particles.positions + 3 * scene->hexes.corner[a], sizeof problem.corner[a]);
    problem.mass = scene->particles.masses[scene->hexes.corner[0]];
    if (problem.iterations == 0) problem.iterations = s->iterations;
    fit_matrices m;
    fit_answer answer = {0};
    PBD_TRY(fit_prepare(&problem, &m));
    pbd_status status = pbd_ok();
    int stiffness = pbd_choice(values, "stiffness"), fit = pbd_choice(values, "fit");
    if (stiffness == STIFFNESS_FIXED) {
        static const char *const names[HEX_KINDS] = {"k_edge", "k_face", "k_diagonal", "k_volume"};
        for (int kind = 0; kind < HEX_KINDS; kind++) answer.k[kind] = pbd_real(values, names[kind]);
    } else if (stiffness == STIFFNESS_POLYNOMIAL)
        fit_polynomials(scene->material->nu, answer.k);
    else if (fit == FIT_BOUNDED_LSQ)
        status = fit_bounded_least_squares(&m, &answer);
    else if (fit == FIT_NELDER_MEAD)
        status = fit_nelder_mead(&m, pbd_real(values, "fit_start"), &answer);
    else
        status = fit_deformation_tests(&m, &answer);
    if (!problem.volume) answer.k[HEX_VOLUME] = 0;
    memcpy(s->k, answer.k, sizeof s->k);
    double dt = pbd_real(values, "dt");
    s->dt = (dt > 0 ? dt : m.dt) * pbd_real(values, "dt_scale");
    if (status.code == PBD_OK) {
        record_fit(s->recorder, s->k, fit_error(&m, s->k), s->dt, &m);
        if (answer.evaluations) pbd_count(s->recorder, "fit_evaluations", (uint64_t)answer.evaluations);
        long samples = pbd_integer(values, "order_samples");
        double difference = 0, spread = 0;
        if (samples > 0) {
            status = fit_sample_orders(&m, s->k, (int)samples, (uint64_t)pbd_integer(values, "order_seed"), &difference,
                                       &spread);
            pbd_metric(s->recorder, "gs_mean_difference", "1", PBD_STATE, difference);
            pbd_metric(s->recorder, "gs_order_spread", "1", PBD_STATE, spread);
        }
    }
    fit_release(&m);
    return status;
}

/* ---- Projection -------------------------------------------------------------------------------------------------- */

/* Constraints from `first` on, where particles are too many for the cache; else 0. */
static size_t left_of(const pbd_distance *s, const coloured *c, size_t first) {
    enum { IN_CACHE = 8 << 20 }; /* bytes */
    return 4 * s->particles * sizeof(real) > IN_CACHE ? c->count - first : 0;
}

static pbd_status project_distances_of(pbd_distance *s, int kind, size_t first, size_t count) {
    const coloured *c = &s->kind[kind];
    distance_args args = {.pair = c->particle + 2 * first,
                          .rest = c->rest[0] + first,
                          .p = s->p,
                          .k = (real)s->k[kind],
                          .left = left_of(s, c, first)};
    if (s->solver == PBD_SOLVER_COLOURED_GS) return PBD_RUN(s->exec, project_distances, count, &args);
    args.impulse = s->impulse + 4 * (impulse_rows_before(s, kind) + first);
    return PBD_RUN(s->exec, store_distance_impulses, count, &args);
}

static pbd_status project_volumes_of(pbd_distance *s, size_t first, size_t count) {
    const coloured *c = &s->kind[HEX_VOLUME];
    volume_args args = {.cell = c->particle + 8 * first,
                        .rest_a = c->rest[0] + first,
                        .rest_b = c->rest[1] + first,
                        .p = s->p,
                        .k = (real)s->k[HEX_VOLUME],
                        .split = s->split,
                        .left = left_of(s, c, first)};
    if (s->solver == PBD_SOLVER_COLOURED_GS) return PBD_RUN(s->exec, project_volumes, count, &args);
    args.impulse = s->impulse + 4 * (impulse_rows_before(s, HEX_VOLUME) + 8 * first);
    return PBD_RUN(s->exec, store_volume_impulses, count, &args);
}

/* One iteration on s->p: kinds in turn, colours in turn; a kind without stiffness is left out. */
static pbd_status project(pbd_distance *s) {
    bool jacobi = s->solver == PBD_SOLVER_JACOBI;
    for (int kind = 0; kind < HEX_KINDS; kind++) {
        const coloured *c = &s->kind[kind];
        if (s->k[kind] == 0) continue; /* Jacobi: its impulses stay the zeros they began with */
        /* Jacobi writes to no particle, so its colours need not wait for one another. */
        for (int colour = 0; colour < (jacobi ? 1 : c->colours); colour++) {
            size_t first = jacobi ? 0 : c->first[colour], end = jacobi ? c->count : c->first[colour + 1];
            if (kind == HEX_VOLUME)
                PBD_TRY(project_volumes_of(s, first, end - first));
            else
                PBD_TRY(project_distances_of(s, kind, first, end - first));
        }
        if (s->k[kind] > 0) pbd_count(s->recorder, "constraint_solves", c->count);
    }
    if (jacobi) {
        gather_args gather = {s->gather_first, s->gather_slot, s->impulse, s->p};
        PBD_TRY(PBD_RUN(s->exec, gather_impulses, s->particles, (pbd_work){s->particles, gathered(s)}, &gather));
    }
    hold_args hold_base = {s->held, s->held_rest, s->p};
    return PBD_RUN(s->exec, hold, s->held_count, &hold_base);
}

static pbd_status step(void *state, double dt) {
    pbd_distance *s = state;
    predict_args prediction = {.x = s->x, .v = s->v, .a = s->a, .p = s->p, .dt = (real)dt};
    PBD_TRY(pbd_repeat_begin(s->exec, &s->repeat));
    PBD_TRY(PBD_RUN(s->exec, predict, s->particles, &prediction));
    for (int i = 0; i < s->iterations; i++) PBD_TRY(project(s));
    double keep = 1 - s->damping * dt;
    advance_args motion = {s->p, s->x, s->v, (real)(1 / dt), (real)(keep > 0 ? keep : 0)};
    PBD_TRY(PBD_RUN(s->exec, advance, s->particles, &motion));
    PBD_TRY(pbd_repeat_end(s->exec));
    pbd_count(s->recorder, "steps", 1);
    return pbd_ok();
}

/* ---- Rest -------------------------------------------------------------------------------------------------------- */

/* Largest speed, m/s; infinite when any is not finite. */
static pbd_status largest_speed(pbd_distance *s, double *out) {
    size_t blocks = (s->particles + SPEED_BLOCK - 1) / SPEED_BLOCK;
    speed_args args = {s->v, s->fastest, s->particles};
    PBD_TRY(PBD_RUN(s->exec, block_speed, blocks, &args));
    *out = 0;
    for (size_t done = 0; done < blocks;) {
        real part[256];
        size_t count = blocks - done < 256 ? blocks - done : 256;
        PBD_TRY(pbd_download(s->exec, part, s->fastest + done, count * sizeof(real)));
        for (size_t i = 0; i < count; i++)
            if ((double)part[i] > *out) *out = (double)part[i];
        done += count;
    }
    return pbd_ok();
}

/* Steps until nothing moves. The threshold is relative to the body and the step, so that metres or centimetres, soft or
 * stiff, give the same answer. Less than a few units in the last place of a position cannot be seen in `real`: the
 * threshold is raised to that, and says so. */
static pbd_status settle(pbd_distance *s) {
    double threshold = s->threshold, resolved = 8 * REAL_EPSILON;
    if (threshold < resolved) {
        threshold = resolved;
        pbd_warning(s->recorder, "threshold_raised",
                    "velocity_threshold %g is below what this precision resolves; %.3g is used", s->threshold,
                    threshold);
    }
    threshold *= s->extent / s->dt; /* m/s from here on */
    long next_record = 1;
    bool slow = false; /* at the last look */
    for (long done = 1; done <= s->max_steps; done++) {
        if (pbd_stop_requested(s->recorder)) return pbd_error(PBD_INTERRUPTED, "stopped after %ld steps", done - 1);
        PBD_TRY(step(s, s->dt));
        if (done % 8 != 0 && !slow) continue;
        double speed = 0;
        PBD_TRY(largest_speed(s, &speed));
        if (done >= next_record) { /* a thinning record keeps long runs small */
            double at = (double)done;
            pbd_series(s->recorder, "largest_speed", "step", "1", &at, 1, 1);
            pbd_series(s->recorder, "largest_speed", "value", "m/s", &speed, 1, 1);
            next_record = done + 8 + done / 20;
        }
        if (!(speed * s->dt < s->extent))
            return pbd_error(PBD_DIVERGED, "after %ld steps a particle moves %.3g m in one step, in a body of %g m",
                             done, speed * s->dt, s->extent);
        /* Slow once may be a turning point; slow in two steps running is rest. */
        if (slow && speed < threshold) return pbd_ok();
        slow = speed < threshold;
    }
    return pbd_error(PBD_NOT_SETTLED, "still moving after max_steps=%ld steps", s->max_steps);
}

/* The Gauss-Seidel order as the linear analysis lists constraints: kind by kind, colour by colour. */
static uint32_t *projection_order(const pbd_distance *s, size_t constraints) {
    uint32_t *order = malloc((constraints + 1) * sizeof *order), base = 0;
    if (!order) return NULL;
    size_t n = 0;
    for (int kind = 0; kind < HEX_KINDS; kind++) {
        uint32_t each = kind == HEX_VOLUME && s->split == HEX_SPLIT_MEAN ? 2 : 1;
        for (size_t i = 0; i < s->kind[kind].count; i++)
            for (uint32_t half = 0; half < each; half++) order[n++] = base + each * s->kind[kind].order[i] + half;
        base += each * (uint32_t)s->kind[kind].count;
    }
    return order;
}

/* The step linearised about rest; release with linear_release. */
typedef struct linearised {
    linear_system system;
    linear_constraint *constraint;
    uint32_t *order;
    double *w;
} linearised;

static void linear_release(linearised *l) {
    free(l->constraint);
    free(l->order);
    free(l->w);
}

static pbd_status linearise(const pbd_distance *s, const bool *held, linearised *l) {
    *l = (linearised){0};
    size_t count = 0;
    PBD_TRY(hex_linear_constraints(&s->constraints, s->rest, (hex_split)s->split, &l->constraint, &count));
    l->order = projection_order(s, count);
    l->w = malloc((s->particles + 1) * sizeof *l->w);
    if (!l->order || !l->w) {
        linear_release(l);
        return pbd_error(PBD_FAILED, "out of memory for the linear analysis");
    }
    for (size_t p = 0; p < s->particles; p++) l->w[p] = held[p] && s->fixing == PBD_FIXED_WEIGHT ? 0 : 1 / s->masses[p];
    l->system = (linear_system){.constraint = l->constraint,
                                .constraints = count,
                                .order = l->order,
                                .k = s->k,
                                .w = l->w,
                                .held = held,
                                .particles = s->particles,
                                .solver = (pbd_solver)s->solver,
                                .iterations = s->iterations};
    return pbd_ok();
}

static pbd_status solve_static(pbd_distance *s) {
    size_t n = 3 * s->particles;
    if (!s->static_predicted) s->static_predicted = calloc(n + 1, sizeof(double));
    if (!s->static_after) s->static_after = calloc(n + 1, sizeof(double));
    if (!s->static_predicted || !s->static_after) return pbd_error(PBD_FAILED, "out of memory for %zu unknowns", n);
    linearised l;
    PBD_TRY(linearise(s, s->is_held, &l));
    pbd_status status = linear_rest(&l.system, s->forces, s->masses, s->dt, s->static_predicted, s->static_after);
    linear_release(&l);
    return status;
}

static pbd_status solve(void *state) {
    pbd_distance *s = state;
    return s->mode == MODE_STATIC ? solve_static(s) : settle(s);
}

/* ---- What is recorded at creation -------------------------------------------------------------------------------- */

/* A constraint can act when one of its particles has weight; those that cannot are counted, never dropped in silence.
 */
static void record_applied_fraction(pbd_distance *s) {
    size_t all = 0, applied = 0;
    for (int kind = 0; kind < HEX_KINDS; kind++) {
        if (s->k[kind] == 0) continue;
        size_t arity = kind == HEX_VOLUME ? 8 : 2;
        const uint32_t *particle = kind == HEX_VOLUME ? s->constraints.cell : s->constraints.pair[kind];
        for (size_t i = 0; i < s->kind[kind].count; i++) {
            bool moves = s->fixing == PBD_FIXED_RESET;
            for (size_t a = 0; a < arity; a++) moves = moves || !s->is_held[particle[arity * i + a]];
            applied += moves;
        }
        all += s->kind[kind].count;
    }
    pbd_count(s->recorder, "constraints_total", all);
    pbd_metric(s->recorder, "applied_fraction", "1", PBD_QUALITY, all ? (double)applied / (double)all : 0);
    pbd_count(s->recorder, "particles", s->particles);
}

/* K_PBD by central differences of the projection that runs, against the closed form: one column per unknown, nothing
 * held. The error is relative to the norm of the closed form. */
static pbd_status record_jacobian_error(pbd_distance *s) {
    size_t n = 3 * s->particles;
    bool *nobody = calloc(s->particles + 1, sizeof *nobody);
    real *rows = malloc((4 * s->particles + 1) * sizeof *rows), *back = malloc((4 * s->particles + 1) * sizeof *back);
    double *A = malloc((n * n + 1) * sizeof *A), *column = malloc((n + 1) * sizeof *column);
    linearised l = {0};
    pbd_status status = pbd_ok();
    if (!nobody || !rows || !back || !A || !column)
        status = pbd_error(PBD_FAILED, "out of memory for jacobian=yes");
    else if (s->fixing == PBD_FIXED_WEIGHT && s->held_count > 0)
        status = pbd_error(PBD_BAD_INPUT, "jacobian=yes differentiates a free body: use base=reset");
    if (status.code == PBD_OK) status = linearise(s, nobody, &l);
    l.system.iterations = 1;
    if (status.code == PBD_OK) status = linear_map(&l.system, A);
    double h = cbrt(REAL_EPSILON) * s->extent, sum = 0, norm = 0;
    size_t held = s->held_count;
    s->held_count = 0;
    for (size_t j = 0; j < n && status.code == PBD_OK; j++) {
        memset(column, 0, n * sizeof *column);
        for (int side = -1; side <= 1 && status.code == PBD_OK; side += 2) {
            for (size_t i = 0; i < s->particles; i++) {
                for (size_t d = 0; d < 3; d++) rows[4 * i + d] = (real)s->rest[3 * i + d];
                rows[4 * i + 3] = (real)(1 / s->masses[i]);
            }
            rows[4 * (j / 3) + j % 3] += (real)(side * h);
            status = pbd_upload(s->exec, s->p, rows, 4 * s->particles * sizeof *rows);
            if (status.code == PBD_OK) status = project(s);
            if (status.code == PBD_OK) status = pbd_download(s->exec, back, s->p, 4 * s->particles * sizeof *back);
            for (size_t i = 0; i < n; i++)
                column[i] += side * ((double)back[4 * (i / 3) + i % 3] - s->rest[i]) / (2 * h);
        }
        for (size_t i = 0; i < n; i++) {
            double closed = (i == j) - A[i * n + j], difference = (i == j) - column[i] - closed;
            sum += difference * difference;
            norm += closed * closed;
        }
    }
    s->held_count = held;
    if (status.code == PBD_OK) pbd_metric(s->recorder, "jacobian_fd_error", "1", PBD_ERROR, sqrt(sum / norm));
    linear_release(&l);
    free(nobody);
    free(rows);
    free(back);
    free(A);
    free(column);
    return status;
}

static pbd_status record_spectrum(pbd_distance *s) {
    linearised l;
    PBD_TRY(linearise(s, s->is_held, &l));
    double largest = 0;
    pbd_status status = linear_largest_eigenvalue(&l.system, &largest);
    if (status.code == PBD_OK) pbd_metric(s->recorder, "largest_eigenvalue", "1", PBD_ERROR, largest);
    linear_release(&l);
    return status;
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    pbd_distance *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for pbd_distance");
    s->exec = exec;
    s->recorder = recorder;
    s->mode = pbd_choice(values, "mode");
    s->solver = pbd_choice(values, "solver");
    s->split = pbd_choice(values, "face_split");
    s->iterations = (int)pbd_integer(values, "iterations");
    s->damping = pbd_real(values, "damping");
    s->threshold = pbd_real(values, "velocity_threshold");
    s->max_steps = pbd_integer(values, "max_steps");
    pbd_status status = copy_scene(s, scene);
    if (status.code == PBD_OK) status = choose_stiffness(s, scene, values);
    for (int kind = 0; kind < HEX_KINDS && status.code == PBD_OK; kind++) status = upload_kind(s, kind);
    if (status.code == PBD_OK) status = upload_particles(s, scene);
    if (status.code == PBD_OK && s->solver == PBD_SOLVER_JACOBI) status = upload_gather(s);
    if (status.code == PBD_OK) record_applied_fraction(s);
    if (status.code == PBD_OK && pbd_choice(values, "spectrum") == 1) status = record_spectrum(s);
    if (status.code == PBD_OK && pbd_choice(values, "jacobian") == 1) status = record_jacobian_error(s);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_rows(const pbd_distance *s, const real *device, double *out) {
    real *rows = malloc((4 * s->particles + 1) * sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", s->particles);
    pbd_status status = pbd_download(s->exec, rows, device, 4 * s->particles * sizeof *rows);
    for (size_t i = 0; i < 3 * s->particles && status.code == PBD_OK; i++) out[i] = (double)rows[4 * (i / 3) + i % 3];
    free(rows);
    return status;
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const pbd_distance *s = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES && field != PBD_PREDICTED)
        return pbd_error(PBD_NOT_SUPPORTED, "pbd_distance has positions and velocities only");
    if (s->static_after && field != PBD_VELOCITIES) {
        const double *u = field == PBD_POSITIONS ? s->static_after : s->static_predicted;
        for (size_t i = 0; i < 3 * s->particles; i++) out[i] = s->rest[i] + u[i];
        return pbd_ok();
    }
    if (field == PBD_POSITIONS) return read_rows(s, s->x, out);
    if (field == PBD_VELOCITIES) return read_rows(s, s->v, out);
    predict_args prediction = {
        .x = s->x, .v = s->v, .a = s->a, .p = s->p, .dt = (real)s->dt}; /* p is free between steps */
    PBD_TRY(PBD_RUN(s->exec, predict, s->particles, &prediction));
    return read_rows(s, s->p, out);
}

/* A saved state is x, then v: all that a step starts from. */
static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const pbd_distance *s = state;
    size_t half = 4 * s->particles * sizeof(real);
    *bytes = 2 * half;
    if (!blob) return pbd_ok();
    PBD_TRY(pbd_download(s->exec, blob, s->x, half));
    return pbd_download(s->exec, (char *)blob + half, s->v, half);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    pbd_distance *s = state;
    size_t half = 4 * s->particles * sizeof(real);
    if (bytes != 2 * half)
        return pbd_error(PBD_BAD_INPUT, "pbd_distance: the saved state has %zu bytes, not %zu", bytes, 2 * half);
    PBD_TRY(pbd_upload(s->exec, s->x, blob, half));
    return pbd_upload(s->exec, s->v, (const char *)blob + half, half);
}

const pbd_method PBD_NAME(pbd_distance) = {
    .bytes = sizeof(pbd_method),
    .name = "pbd_distance",
    .summary = "hexahedra of distance and volume constraints, fitted to FEM",
    .source = "rodero2016 Eqs. 1, 7-12 (corrections R-2, R-3, R-7)",
    .needs = PBD_NEEDS_HEXES,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .solve = solve,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};
