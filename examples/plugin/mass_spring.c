/* mass_spring: a lattice of springs, as a method out of tree. One file; README.md says how to build and run it.
 *
 * Each hexahedron brings springs along its 12 edges and its 12 face diagonals. For a cubic lattice of edge a and
 * Young's modulus E with one stiffness k for both kinds, k = 0.4 E a makes the lattice isotropic with that E and, as
 * every lattice of central forces is, a Poisson's ratio of 1/4 (Cauchy's relation C12 = C44 = k/a, and C11 = 3 k/a). An
 * inner edge belongs to four hexahedra and an inner face diagonal to two, so a hexahedron brings a quarter and a half
 * of k: what hexahedra share adds up, and no spring needs to be found twice.
 *
 * `step` is symplectic Euler. `solve` steps with kinetic damping: whenever the kinetic energy has passed a peak all
 * velocities are set to zero, until the forces balance (dynamic relaxation, Cundall; Barnes 1988).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/real.h"
#include "methods/plugin.h"

static const pbd_param params[] = {
    {"dt", "s", PBD_REAL, "0", 0, 1e3, 0, NULL, "time step; 0: a quarter of the largest that is stable"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities, in `step`"},
    {"tolerance", "", PBD_REAL, "1e-6", 0, 1, PBD_OPEN_MIN, NULL,
     "at rest when no force is larger than this fraction of the largest load"},
    {"max_steps", "", PBD_INTEGER, "200000", 1, 1e9, 0, NULL, "not_settled after so many"},
    {0}};

typedef struct spring {
    uint32_t a, b;
    real rest, k; /* m, N/m */
} spring;

typedef struct mass_spring {
    size_t particles, springs;
    spring *spring;
    real *x, *v, *f;        /* particles x 3 */
    double *load, *inverse; /* N; 1/kg, 0 where it is held */
    double dt, damping, tolerance, largest_load, extent;
    long max_steps;
    pbd_recorder *recorder;
} mass_spring;

static void destroy(void *state) {
    mass_spring *s = state;
    if (!s) return;
    free(s->spring);
    free(s->x);
    free(s->v);
    free(s->f);
    free(s->load);
    free(s->inverse);
    free(s);
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static const int edges[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                 {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
static const int diagonals[12][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 5}, {1, 4},
                                     {1, 6}, {2, 5}, {2, 7}, {3, 6}, {3, 4}, {0, 7}};

/* `share` of 0.4 E a, with the edge a = length / stretch. */
static spring spring_between(const pbd_scene *scene, uint32_t a, uint32_t b, double share, double stretch) {
    double square = 0;
    for (size_t d = 0; d < 3; d++) {
        const double difference = scene->positions[3 * (size_t)b + d] - scene->positions[3 * (size_t)a + d];
        square += difference * difference;
    }
    const double length = sqrt(square);
    return (spring){a, b, (real)length, (real)(share * 0.4 * scene->material.E * length / stretch)};
}

static void add_springs(const pbd_scene *scene, mass_spring *s) {
    for (size_t h = 0; h < scene->hexes; h++) {
        const uint32_t *corner = scene->hex + 8 * h;
        for (int e = 0; e < 12; e++) {
            s->spring[s->springs++] = spring_between(scene, corner[edges[e][0]], corner[edges[e][1]], 0.25, 1);
            s->spring[s->springs++] =
                spring_between(scene, corner[diagonals[e][0]], corner[diagonals[e][1]], 0.5, sqrt(2));
        }
    }
}

static void take_particles(const pbd_scene *scene, mass_spring *s) {
    const double *start = scene->start ? scene->start : scene->positions;
    for (size_t i = 0; i < 3 * s->particles; i++) {
        s->x[i] = (real)start[i];
        if (scene->velocities) s->v[i] = (real)scene->velocities[i];
        s->load[i] = scene->forces[i] + scene->masses[i / 3] * scene->gravity[i % 3];
        s->largest_load = fmax(s->largest_load, fabs(s->load[i]));
    }
    for (size_t p = 0; p < s->particles; p++) s->inverse[p] = 1 / scene->masses[p];
    for (size_t p = 0; p < scene->fixed; p++) s->inverse[scene->fixed_particle[p]] = 0;
}

/* By Gershgorin no frequency is above sqrt(2 K / m), K being the stiffnesses that meet in a particle; symplectic Euler
 * is stable below 2 / frequency. */
static double stable_step(const mass_spring *s) {
    double *sum = calloc(s->particles + 1, sizeof *sum), fastest = 0;
    if (!sum) return (double)NAN;
    for (size_t i = 0; i < s->springs; i++) {
        sum[s->spring[i].a] += (double)s->spring[i].k;
        sum[s->spring[i].b] += (double)s->spring[i].k;
    }
    for (size_t p = 0; p < s->particles; p++) fastest = fmax(fastest, sqrt(2 * sum[p] * s->inverse[p]));
    free(sum);
    return 2 / fastest;
}

static pbd_status allocate(const pbd_scene *scene, mass_spring *s) {
    const size_t n = 3 * scene->particles + 1;
    s->particles = scene->particles;
    s->spring = calloc(24 * scene->hexes + 1, sizeof *s->spring);
    s->x = calloc(n, sizeof *s->x);
    s->v = calloc(n, sizeof *s->v);
    s->f = calloc(n, sizeof *s->f);
    s->load = calloc(n, sizeof *s->load);
    s->inverse = calloc(n, sizeof *s->inverse);
    if (s->spring && s->x && s->v && s->f && s->load && s->inverse) return pbd_ok();
    return pbd_error(PBD_FAILED, "out of memory for mass_spring with %zu particles", scene->particles);
}

static pbd_status build(const pbd_scene *scene, const pbd_values *values, mass_spring *s) {
    PBD_TRY(allocate(scene, s));
    add_springs(scene, s);
    take_particles(scene, s);
    const double stable = stable_step(s);
    s->dt = pbd_real(values, "dt") > 0 ? pbd_real(values, "dt") : stable / 4;
    s->damping = pbd_real(values, "damping");
    s->tolerance = pbd_real(values, "tolerance");
    s->max_steps = pbd_integer(values, "max_steps");
    s->extent = scene->extent;
    if (!isfinite(s->dt)) return pbd_error(PBD_NOT_SUPPORTED, "mass_spring: nothing that is held by springs can move");
    if (s->dt > stable)
        pbd_warning(s->recorder, "unstable", "dt=%g s is above %g s, where this explicit method may blow up", s->dt,
                    stable);
    pbd_metric(s->recorder, "dt", "s", PBD_NEUTRAL, s->dt);
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    (void)exec; /* no kernels: plain loops on one core */
    mass_spring *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for mass_spring");
    s->recorder = recorder;
    const pbd_status status = build(scene, values, s);
    if (status.code == PBD_OK)
        *state = s;
    else
        destroy(s);
    return status;
}

/* ---- Moving ------------------------------------------------------------------------------------------------------ */

static void sum_forces(mass_spring *s) {
    for (size_t i = 0; i < 3 * s->particles; i++) s->f[i] = (real)s->load[i];
    for (size_t i = 0; i < s->springs; i++) {
        const spring *l = &s->spring[i];
        real *fa = s->f + 3 * (size_t)l->a, *fb = s->f + 3 * (size_t)l->b, along[3], square = 0;
        for (size_t d = 0; d < 3; d++) {
            along[d] = s->x[3 * (size_t)l->b + d] - s->x[3 * (size_t)l->a + d];
            square += along[d] * along[d];
        }
        const real length = real_sqrt(square), pull = length > 0 ? l->k * (length - l->rest) / length : 0;
        for (size_t d = 0; d < 3; d++) {
            fa[d] += pull * along[d];
            fb[d] -= pull * along[d];
        }
    }
}

static void move(mass_spring *s, double dt, double keep) {
    for (size_t i = 0; i < 3 * s->particles; i++) {
        s->v[i] = (real)keep * (s->v[i] + (real)(dt * s->inverse[i / 3]) * s->f[i]);
        s->x[i] += (real)dt * s->v[i];
    }
    pbd_count(s->recorder, "spring_forces", s->springs);
}

static pbd_status step(void *state, double dt) {
    mass_spring *s = state;
    sum_forces(s);
    move(s, dt, 1 / (1 + s->damping * dt));
    return pbd_ok();
}

static double largest_free_force(const mass_spring *s) {
    double largest = 0;
    for (size_t i = 0; i < 3 * s->particles; i++)
        if (s->inverse[i / 3] > 0) largest = fmax(largest, fabs((double)s->f[i]));
    return largest;
}

static double kinetic_energy(const mass_spring *s) {
    double sum = 0;
    for (size_t i = 0; i < 3 * s->particles; i++)
        if (s->inverse[i / 3] > 0) sum += (double)s->v[i] * (double)s->v[i] / s->inverse[i / 3] / 2;
    return sum;
}

static pbd_status solve(void *state) {
    mass_spring *s = state;
    double before = 0;
    const double limit = fmax(s->tolerance, 1e3 * REAL_EPSILON) * s->largest_load; /* below it is rounding */
    for (long n = 0; n < s->max_steps; n++) {
        if (pbd_stop_requested(s->recorder)) return pbd_error(PBD_INTERRUPTED, "stopped after %ld steps", n);
        sum_forces(s);
        if (largest_free_force(s) <= limit) return pbd_ok();
        move(s, s->dt, 1);
        const double energy = kinetic_energy(s);
        if (!isfinite(energy)) return pbd_error(PBD_DIVERGED, "after %ld steps the energy is not finite", n + 1);
        if (energy < before) memset(s->v, 0, 3 * s->particles * sizeof *s->v);
        before = energy < before ? 0 : energy;
    }
    return pbd_error(PBD_NOT_SETTLED, "forces do not balance after max_steps=%ld steps", s->max_steps);
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const mass_spring *s = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "mass_spring has positions and velocities only");
    const real *rows = field == PBD_POSITIONS ? s->x : s->v;
    for (size_t i = 0; i < 3 * s->particles; i++) out[i] = (double)rows[i];
    return pbd_ok();
}

/* A saved state is x, then v. */
static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const mass_spring *s = state;
    const size_t half = 3 * s->particles * sizeof(real);
    *bytes = 2 * half;
    if (!blob) return pbd_ok();
    memcpy(blob, s->x, half);
    memcpy((char *)blob + half, s->v, half);
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    mass_spring *s = state;
    const size_t half = 3 * s->particles * sizeof(real);
    if (bytes != 2 * half)
        return pbd_error(PBD_BAD_INPUT, "mass_spring: the saved state has %zu bytes, not %zu", bytes, 2 * half);
    memcpy(s->x, blob, half);
    memcpy(s->v, (const char *)blob + half, half);
    return pbd_ok();
}

const pbd_method PBD_NAME(mass_spring) = {
    .abi = PBD_METHOD_ABI,
    .name = "mass_spring",
    .summary = "a lattice of springs on the edges and face diagonals of hexahedra, explicit in time",
    .source = "",
    .needs = PBD_NEEDS_HEXES,
    .params = params,
    .create = create,
    .backends = PBD_CPU,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .solve = solve,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};

PBD_PLUGIN(mass_spring, "0.1")
