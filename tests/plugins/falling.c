/* A plug-in with kernels: particles that fall freely under their loads for a given number of steps, but for those that
 * are held. After n steps of symplectic Euler from rest x - x0 = a dt^2 n (n + 1) / 2. */
#include <stdlib.h>

#include "falling_kernels.h"
#include "methods/plugin.h"

static const pbd_param params[] = {{"dt", "s", PBD_REAL, "0.01", 0, 1, PBD_OPEN_MIN, NULL, "time step"},
                                   {"steps", "", PBD_INTEGER, "10", 1, 1e6, 0, NULL, "of a solve"},
                                   {0}};

typedef struct falling {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles;
    long steps;
    double dt;
    real *x, *v, *a, *sum; /* device */
} falling;

static void destroy(void *state) {
    falling *s = state;
    if (!s) return;
    pbd_free(s->exec, s->x);
    pbd_free(s->exec, s->v);
    pbd_free(s->exec, s->a);
    pbd_free(s->exec, s->sum);
    free(s);
}

static pbd_status rows_to_device(falling *s, const double *rows, real **device) {
    const size_t n = 3 * s->particles;
    void *memory;
    PBD_TRY(pbd_alloc(s->exec, n * sizeof(real), &memory));
    *device = memory;
    real *host = malloc((n + 1) * sizeof *host);
    if (!host) return pbd_error(PBD_FAILED, "out of memory");
    for (size_t i = 0; i < n; i++) host[i] = (real)rows[i];
    const pbd_status status = pbd_upload(s->exec, *device, host, n * sizeof *host);
    free(host);
    return status;
}

static pbd_status build(const pbd_scene *scene, falling *s) {
    const size_t n = 3 * scene->particles.count;
    void *memory;
    double *a = calloc(n + 1, sizeof *a);
    if (!a) return pbd_error(PBD_FAILED, "out of memory");
    for (size_t i = 0; i < n && scene->particles.velocities; i++) a[i] = scene->particles.velocities[i];
    for (size_t i = 0; i < 3 * scene->particles.fixed; i++) a[3 * scene->particles.fixed_particle[i / 3] + i % 3] = 0;
    pbd_status status = rows_to_device(s, a, &s->v);
    for (size_t i = 0; i < n; i++)
        a[i] = scene->loads.forces[i] / scene->particles.masses[i / 3] + scene->loads.gravity[i % 3];
    for (size_t i = 0; i < 3 * scene->particles.fixed; i++) a[3 * scene->particles.fixed_particle[i / 3] + i % 3] = 0;
    if (status.code == PBD_OK) status = rows_to_device(s, scene->particles.positions, &s->x);
    if (status.code == PBD_OK) status = rows_to_device(s, a, &s->a);
    if (status.code == PBD_OK) status = pbd_alloc(s->exec, scene->particles.count * sizeof(real), &memory);
    if (status.code == PBD_OK) s->sum = memory;
    free(a);
    return status;
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    falling *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory");
    s->exec = exec;
    s->recorder = recorder;
    s->particles = scene->particles.count;
    s->steps = pbd_integer(values, "steps");
    s->dt = pbd_real(values, "dt");
    const pbd_status status = build(scene, s);
    if (status.code == PBD_OK)
        *state = s;
    else
        destroy(s);
    return status;
}

static pbd_status step(void *state, double dt) {
    falling *s = state;
    const fall_args args = {s->x, s->v, s->a, s->sum, (real)dt};
    PBD_TRY(PBD_RUN(s->exec, fall, s->particles, &args));
    return PBD_RUN(s->exec, add_up, s->particles, &args);
}

/* Records the sum of all squared speeds as the kernels added it up. */
static pbd_status solve(void *state) {
    falling *s = state;
    double sum = 0;
    real *each = malloc((s->particles + 1) * sizeof *each);
    if (!each) return pbd_error(PBD_FAILED, "out of memory");
    pbd_status status = pbd_ok();
    for (long i = 0; i < s->steps && status.code == PBD_OK; i++) status = step(s, s->dt);
    if (status.code == PBD_OK) status = pbd_download(s->exec, each, s->sum, s->particles * sizeof *each);
    for (size_t i = 0; i < s->particles && status.code == PBD_OK; i++) sum += (double)each[i];
    free(each);
    pbd_metric(s->recorder, "sum_of_squared_speeds", "m^2/s^2", PBD_STATE, sum);
    pbd_series(s->recorder, "done", "value", "1", &sum, 1, 1);
    pbd_warning(s->recorder, "free_fall", "nothing holds these particles");
    return status;
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const falling *s = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "falling has positions and velocities only");
    real *rows = malloc((3 * s->particles + 1) * sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory");
    const pbd_status status =
        pbd_download(s->exec, rows, field == PBD_POSITIONS ? s->x : s->v, 3 * s->particles * sizeof *rows);
    for (size_t i = 0; i < 3 * s->particles && status.code == PBD_OK; i++) out[i] = (double)rows[i];
    free(rows);
    return status;
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const falling *s = state;
    const size_t half = 3 * s->particles * sizeof(real);
    *bytes = 2 * half;
    if (!blob) return pbd_ok();
    PBD_TRY(pbd_download(s->exec, blob, s->x, half));
    return pbd_download(s->exec, (char *)blob + half, s->v, half);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    falling *s = state;
    const size_t half = 3 * s->particles * sizeof(real);
    if (bytes != 2 * half) return pbd_error(PBD_BAD_INPUT, "falling: not its state");
    PBD_TRY(pbd_upload(s->exec, s->x, blob, half));
    return pbd_upload(s->exec, s->v, (const char *)blob + half, half);
}

const pbd_method PBD_NAME(falling) = {
    .bytes = sizeof(pbd_method),
    .name = "falling",
    .summary = "particles in free fall",
    .source = "",
    .needs = PBD_NEEDS_PARTICLES,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .solve = solve,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};

PBD_PLUGIN(falling, "0.1")
