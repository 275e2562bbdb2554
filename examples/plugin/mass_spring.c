/* mass_spring: a lattice of springs, as a method out of tree. README.md says how to build and run it.
 *
 * Each hexahedron brings springs along its 12 edges and its 12 face diagonals. For a cubic lattice of edge a and
 * Young's modulus E with one stiffness k for both kinds, k = 0.4 E a makes the lattice isotropic with that E and, as
 * every lattice of central forces is, a Poisson's ratio of 1/4 (Cauchy's relation C12 = C44 = k/a, and C11 = 3 k/a). An
 * inner edge belongs to four hexahedra and an inner face diagonal to two, so a hexahedron brings a quarter and a half
 * of k: what hexahedra share adds up, and no spring needs to be found twice.
 *
 * `create` builds the springs on the host and uploads them; `step` launches two kernels (mass_spring_kernels.h) on
 * whichever backend the run has. `solve` steps with kinetic damping: whenever the kinetic energy has passed a peak all
 * velocities are set to zero, until the forces balance (dynamic relaxation, Cundall; Barnes 1988).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mass_spring_kernels.h"
#include "methods/plugin.h"

static const pbd_param params[] = {
    {"dt", "s", PBD_REAL, "0", 0, 1e3, 0, NULL, "time step; 0: a quarter of the largest that is stable"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities, in `step`"},
    {"tolerance", "", PBD_REAL, "1e-6", 0, 1, PBD_OPEN_MIN, NULL,
     "at rest when no force is larger than this fraction of the largest load"},
    {"max_steps", "", PBD_INTEGER, "200000", 1, 1e9, 0, NULL, "not_settled after so many"},
    {0}};

typedef struct mass_spring {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles, ends; /* two ends a spring */
    spring_args device;     /* its arrays are in device memory */
    real *host;             /* particles x 3: room for copies */
    double dt, damping, tolerance, largest_load;
    long max_steps;
} mass_spring;

static void destroy(void *state) {
    mass_spring *s = state;
    if (!s) return;
    void *const arrays[] = {s->device.x,
                            s->device.v,
                            s->device.f,
                            s->device.largest,
                            s->device.energy,
                            (void *)s->device.load,
                            (void *)s->device.inverse,
                            (void *)s->device.first,
                            (void *)s->device.other,
                            (void *)s->device.rest,
                            (void *)s->device.k};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) pbd_free(s->exec, arrays[i]);
    free(s->host);
    free(s);
}

/* ---- Building: on the host, in f64 ------------------------------------------------------------------------------- */

static const int edges[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                 {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
static const int diagonals[12][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 5}, {1, 4},
                                     {1, 6}, {2, 5}, {2, 7}, {3, 6}, {3, 4}, {0, 7}};

/* Springs by the particles at whose ends they are. */
typedef struct lists {
    uint32_t *first, *other;
    double *rest, *k;
    double *load, *inverse, *sum; /* sum: of the stiffnesses that meet in a particle */
} lists;

static void lists_free(lists *l) {
    free(l->first);
    free(l->other);
    free(l->rest);
    free(l->k);
    free(l->load);
    free(l->inverse);
    free(l->sum);
}

static pbd_status lists_make(lists *l, size_t particles, size_t ends) {
    l->first = calloc(particles + 2, sizeof *l->first);
    l->other = calloc(ends + 1, sizeof *l->other);
    l->rest = calloc(ends + 1, sizeof *l->rest);
    l->k = calloc(ends + 1, sizeof *l->k);
    l->load = calloc(3 * particles + 1, sizeof *l->load);
    l->inverse = calloc(particles + 1, sizeof *l->inverse);
    l->sum = calloc(particles + 1, sizeof *l->sum);
    if (l->first && l->other && l->rest && l->k && l->load && l->inverse && l->sum) return pbd_ok();
    return pbd_error(PBD_FAILED, "out of memory for mass_spring with %zu particles", particles);
}

/* Appends the spring to the list of `from`: first[from + 1] is where that list ends so far. */
static void add_end(lists *l, uint32_t from, uint32_t to, double length, double k) {
    const uint32_t at = l->first[from + 1]++;
    l->other[at] = to;
    l->rest[at] = length;
    l->k[at] = k;
    l->sum[from] += k;
}

/* `share` of 0.4 E a, with the edge a = length / stretch. */
static void add_spring(const pbd_scene *scene, lists *l, const uint32_t *corner, const int end[2], double share,
                       double stretch) {
    const uint32_t a = corner[end[0]], b = corner[end[1]];
    double square = 0;
    for (size_t d = 0; d < 3; d++) {
        const double difference =
            scene->particles.positions[3 * (size_t)b + d] - scene->particles.positions[3 * (size_t)a + d];
        square += difference * difference;
    }
    const double length = sqrt(square), k = share * 0.4 * scene->material->E * length / stretch;
    add_end(l, a, b, length, k);
    add_end(l, b, a, length, k);
}

/* Counts ends, turns counts into offsets, then fills: while filling, first[p + 1] moves from the begin of p's list to
 * its end, which is where that of p + 1 begins. */
static void fill_lists(const pbd_scene *scene, lists *l) {
    enum { ENDS = 6 }; /* of a hexahedron's springs, at each of its corners */
    for (size_t i = 0; i < 8 * scene->hexes.count; i++)
        if (scene->hexes.corner[i] + 2 <= scene->particles.count) l->first[scene->hexes.corner[i] + 2] += ENDS;
    for (size_t p = 2; p <= scene->particles.count; p++) l->first[p] += l->first[p - 1];
    for (size_t h = 0; h < scene->hexes.count; h++)
        for (int e = 0; e < 12; e++) {
            add_spring(scene, l, scene->hexes.corner + 8 * h, edges[e], 0.25, 1);
            add_spring(scene, l, scene->hexes.corner + 8 * h, diagonals[e], 0.5, sqrt(2));
        }
}

static void take_loads(const pbd_scene *scene, lists *l, double *largest) {
    for (size_t i = 0; i < 3 * scene->particles.count; i++) {
        l->load[i] = scene->loads.forces[i] + scene->particles.masses[i / 3] * scene->loads.gravity[i % 3];
        *largest = fmax(*largest, fabs(l->load[i]));
    }
    for (size_t p = 0; p < scene->particles.count; p++) l->inverse[p] = 1 / scene->particles.masses[p];
    for (size_t p = 0; p < scene->particles.fixed; p++) l->inverse[scene->particles.fixed_particle[p]] = 0;
}

/* By Gershgorin no frequency is above sqrt(2 K / m), K being the stiffnesses that meet in a particle; symplectic Euler
 * is stable below 2 / frequency. */
static double stable_step(const lists *l, size_t particles) {
    double fastest = 0;
    for (size_t p = 0; p < particles; p++) fastest = fmax(fastest, sqrt(2 * l->sum[p] * l->inverse[p]));
    return 2 / fastest;
}

/* ---- To the device ----------------------------------------------------------------------------------------------- */

static pbd_status upload(mass_spring *s, const void *host, size_t bytes, const void *member) {
    void *memory;
    PBD_TRY(pbd_alloc(s->exec, bytes + 1, &memory));
    memcpy((void *)(uintptr_t)member, &memory, sizeof memory);
    return host ? pbd_upload(s->exec, memory, host, bytes) : pbd_ok();
}

/* host: NULL for zeros. */
static pbd_status upload_reals(mass_spring *s, const double *host, size_t count, const void *member) {
    real *rounded = host ? malloc((count + 1) * sizeof *rounded) : NULL;
    if (host && !rounded) return pbd_error(PBD_FAILED, "out of memory for mass_spring");
    for (size_t i = 0; i < count && host; i++) rounded[i] = (real)host[i];
    const pbd_status status = upload(s, rounded, count * sizeof *rounded, member);
    free(rounded);
    return status;
}

static pbd_status to_device(const pbd_scene *scene, const lists *l, mass_spring *s) {
    const size_t n = s->particles;
    PBD_TRY(upload_reals(s, scene->particles.start ? scene->particles.start : scene->particles.positions, 3 * n,
                         &s->device.x));
    PBD_TRY(upload_reals(s, scene->particles.velocities, 3 * n, &s->device.v));
    PBD_TRY(upload_reals(s, NULL, 3 * n, &s->device.f));
    PBD_TRY(upload_reals(s, NULL, n, &s->device.largest));
    PBD_TRY(upload_reals(s, NULL, n, &s->device.energy));
    PBD_TRY(upload_reals(s, l->load, 3 * n, &s->device.load));
    PBD_TRY(upload_reals(s, l->inverse, n, &s->device.inverse));
    PBD_TRY(upload_reals(s, l->rest, s->ends, &s->device.rest));
    PBD_TRY(upload_reals(s, l->k, s->ends, &s->device.k));
    PBD_TRY(upload(s, l->first, (n + 1) * sizeof *l->first, &s->device.first));
    return upload(s, l->other, s->ends * sizeof *l->other, &s->device.other);
}

static pbd_status choose_step(mass_spring *s, const pbd_values *values, double stable) {
    s->dt = pbd_real(values, "dt") > 0 ? pbd_real(values, "dt") : stable / 4;
    if (!isfinite(s->dt)) return pbd_error(PBD_NOT_SUPPORTED, "mass_spring: nothing that is held by springs can move");
    if (s->dt > stable)
        pbd_warning(s->recorder, "unstable", "dt=%g s is above %g s, where this explicit method may blow up", s->dt,
                    stable);
    pbd_metric(s->recorder, "dt", "s", PBD_STATE, s->dt);
    return pbd_ok();
}

static pbd_status build(const pbd_scene *scene, const pbd_values *values, mass_spring *s) {
    lists l = {0};
    s->particles = scene->particles.count;
    s->ends = 48 * scene->hexes.count;
    s->damping = pbd_real(values, "damping");
    s->tolerance = pbd_real(values, "tolerance");
    s->max_steps = pbd_integer(values, "max_steps");
    s->host = calloc(3 * s->particles + 1, sizeof *s->host);
    pbd_status status = s->host ? lists_make(&l, s->particles, s->ends) : pbd_error(PBD_FAILED, "out of memory");
    if (status.code == PBD_OK) {
        fill_lists(scene, &l);
        take_loads(scene, &l, &s->largest_load);
        status = choose_step(s, values, stable_step(&l, s->particles));
    }
    if (status.code == PBD_OK) status = to_device(scene, &l, s);
    lists_free(&l);
    return status;
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    mass_spring *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for mass_spring");
    s->exec = exec;
    s->recorder = recorder;
    const pbd_status status = build(scene, values, s);
    if (status.code == PBD_OK)
        *state = s;
    else
        destroy(s);
    return status;
}

/* ---- Moving ------------------------------------------------------------------------------------------------------ */

static pbd_status forces(mass_spring *s) {
    pbd_count(s->recorder, "spring_forces", s->ends);
    return PBD_RUN(s->exec, spring_forces, s->particles, (pbd_work){.items = s->particles, .entries = s->ends},
                   &s->device);
}

static pbd_status move(mass_spring *s, double dt, double keep) {
    s->device.dt = (real)dt;
    s->device.keep = (real)keep;
    return PBD_RUN(s->exec, spring_move, s->particles, &s->device);
}

static pbd_status step(void *state, double dt) {
    mass_spring *s = state;
    PBD_TRY(forces(s));
    return move(s, dt, 1 / (1 + s->damping * dt));
}

/* One number of each particle, from the device. */
static pbd_status fetch(const mass_spring *s, const real *values) {
    return pbd_download(s->exec, s->host, values, s->particles * sizeof *values);
}

static pbd_status balanced(const mass_spring *s, double limit, bool *yes) {
    double largest = 0;
    PBD_TRY(fetch(s, s->device.largest));
    for (size_t p = 0; p < s->particles; p++) largest = fmax(largest, (double)s->host[p]);
    *yes = largest <= limit;
    return pbd_ok();
}

static pbd_status kinetic_energy(const mass_spring *s, double *sum) {
    *sum = 0;
    PBD_TRY(fetch(s, s->device.energy));
    for (size_t p = 0; p < s->particles; p++) *sum += (double)s->host[p];
    return pbd_ok();
}

static pbd_status stop(mass_spring *s) {
    memset(s->host, 0, 3 * s->particles * sizeof *s->host);
    return pbd_upload(s->exec, s->device.v, s->host, 3 * s->particles * sizeof *s->host);
}

static pbd_status solve(void *state) {
    mass_spring *s = state;
    double before = 0, energy;
    bool at_rest;
    const double limit = fmax(s->tolerance, 1e3 * REAL_EPSILON) * s->largest_load; /* below it is rounding */
    for (long n = 0; n < s->max_steps; n++) {
        if (pbd_stop_requested(s->recorder)) return pbd_error(PBD_INTERRUPTED, "stopped after %ld steps", n);
        PBD_TRY(forces(s));
        PBD_TRY(balanced(s, limit, &at_rest));
        if (at_rest) return pbd_ok();
        PBD_TRY(move(s, s->dt, 1));
        PBD_TRY(kinetic_energy(s, &energy));
        if (!isfinite(energy)) return pbd_error(PBD_DIVERGED, "after %ld steps the energy is not finite", n + 1);
        if (energy < before) PBD_TRY(stop(s));
        before = energy < before ? 0 : energy;
    }
    return pbd_error(PBD_NOT_SETTLED, "forces do not balance after max_steps=%ld steps", s->max_steps);
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const mass_spring *s = state;
    const size_t n = 3 * s->particles;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "mass_spring has positions and velocities only");
    PBD_TRY(pbd_download(s->exec, s->host, field == PBD_POSITIONS ? s->device.x : s->device.v, n * sizeof *s->host));
    for (size_t i = 0; i < n; i++) out[i] = (double)s->host[i];
    return pbd_ok();
}

/* A saved state is x, then v. */
static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const mass_spring *s = state;
    const size_t half = 3 * s->particles * sizeof(real);
    *bytes = 2 * half;
    if (!blob) return pbd_ok();
    PBD_TRY(pbd_download(s->exec, blob, s->device.x, half));
    return pbd_download(s->exec, (char *)blob + half, s->device.v, half);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    mass_spring *s = state;
    const size_t half = 3 * s->particles * sizeof(real);
    if (bytes != 2 * half)
        return pbd_error(PBD_BAD_INPUT, "mass_spring: the saved state has %zu bytes, not %zu", bytes, 2 * half);
    PBD_TRY(pbd_upload(s->exec, s->device.x, blob, half));
    return pbd_upload(s->exec, s->device.v, (const char *)blob + half, half);
}

const pbd_method PBD_NAME(mass_spring) = {
    .bytes = sizeof(pbd_method),
    .name = "mass_spring",
    .summary = "a lattice of springs on the edges and face diagonals of hexahedra, explicit in time",
    .source = "",
    .needs = PBD_NEEDS_HEXES,
    .takes = PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | (PBD_HAVE_CUDA ? PBD_CUDA : 0),
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .solve = solve,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};

PBD_PLUGIN(mass_spring, "0.2")
