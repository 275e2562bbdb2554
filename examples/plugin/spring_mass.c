/* A method of one file, outside pbdbench: damped springs along the edges of hexahedra, symplectic Euler to rest. An
 * example of a plug-in, not a good solid: springs know no Poisson's ratio, and a cube of edges alone shears for
 * nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/method.h"
#include "methods/physics/real.h"

static const pbd_param params[] = {
    {"dt", "s", PBD_REAL, "0.01", 0, 10, PBD_OPEN_MIN, NULL, "time step"},
    {"spring", "N/m", PBD_REAL, "5", 0, 1e9, PBD_OPEN_MIN, NULL, "stiffness of each edge"},
    {"drag", "1/s", PBD_REAL, "0.5", 0, 1e6, 0, NULL, "damping of velocities"},
    {"max_steps", "", PBD_INTEGER, "20000", 1, 1e9, 0, NULL, "not_settled after so many"},
    {0}};

static const int edges[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                 {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};

typedef struct spring_mass {
    size_t particles, springs;
    real *x, *v;   /* particles x 3, m and m/s; v behind x in one block */
    real *inverse; /* particles, 1/kg; 0 where held */
    real *load;    /* particles x 3, N */
    uint32_t *end; /* springs x 2 */
    real *length;  /* springs, m */
    double dt, spring, drag, extent;
    long most_steps;
    pbd_recorder *recorder;
} spring_mass;

static void destroy(void *state) {
    spring_mass *s = state;
    if (!s) return;
    free(s->x);
    free(s->inverse);
    free(s->load);
    free(s->end);
    free(s->length);
    free(s);
}

static void fill(spring_mass *s, const pbd_scene *scene) {
    for (size_t i = 0; i < 3 * s->particles; i++) {
        s->x[i] = (real)scene->positions[i];
        s->v[i] = scene->velocities ? (real)scene->velocities[i] : 0;
        s->load[i] = (real)scene->forces[i];
    }
    for (size_t p = 0; p < s->particles; p++) s->inverse[p] = (real)(1 / scene->masses[p]);
    for (size_t f = 0; f < scene->fixed; f++) s->inverse[scene->fixed_particle[f]] = 0;
    for (size_t e = 0; e < s->springs; e++) {
        double sum = 0;
        for (int k = 0; k < 2; k++) s->end[2 * e + (size_t)k] = scene->hex[8 * (e / 12) + (size_t)edges[e % 12][k]];
        for (size_t d = 0; d < 3; d++) {
            const double along = scene->positions[3 * s->end[2 * e] + d] - scene->positions[3 * s->end[2 * e + 1] + d];
            sum += along * along;
        }
        s->length[e] = (real)sqrt(sum);
    }
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    (void)exec;
    spring_mass *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for spring_mass");
    const size_t n = scene->particles;
    *s = (spring_mass){.particles = n,
                       .springs = 12 * scene->hexes,
                       .dt = pbd_real(values, "dt"),
                       .spring = pbd_real(values, "spring"),
                       .drag = pbd_real(values, "drag"),
                       .extent = scene->extent,
                       .most_steps = pbd_integer(values, "max_steps"),
                       .recorder = recorder};
    s->x = calloc(6 * n, sizeof *s->x);
    s->v = s->x + 3 * n;
    s->inverse = calloc(n, sizeof *s->inverse);
    s->load = calloc(3 * n, sizeof *s->load);
    s->end = calloc(2 * s->springs, sizeof *s->end);
    s->length = calloc(s->springs, sizeof *s->length);
    if (!s->x || !s->inverse || !s->load || !s->end || !s->length) {
        destroy(s);
        return pbd_error(PBD_FAILED, "out of memory for %zu springs", 12 * scene->hexes);
    }
    fill(s, scene);
    *state = s;
    return pbd_ok();
}

static pbd_status step(void *state, double dt) {
    spring_mass *s = state;
    for (size_t p = 0; p < s->particles; p++)
        for (size_t d = 0; d < 3; d++) s->v[3 * p + d] += (real)dt * s->inverse[p] * s->load[3 * p + d];
    for (size_t e = 0; e < s->springs; e++) {
        const uint32_t a = s->end[2 * e], b = s->end[2 * e + 1];
        real along[3], length = 0;
        for (size_t d = 0; d < 3; d++) {
            along[d] = s->x[3 * b + d] - s->x[3 * a + d];
            length += along[d] * along[d];
        }
        length = real_sqrt(length);
        const real push = (real)(dt * s->spring) * (length - s->length[e]) / length;
        for (size_t d = 0; d < 3; d++) {
            s->v[3 * a + d] += s->inverse[a] * push * along[d];
            s->v[3 * b + d] -= s->inverse[b] * push * along[d];
        }
    }
    for (size_t i = 0; i < 3 * s->particles; i++) {
        s->v[i] *= (real)(1 / (1 + s->drag * dt));
        s->x[i] += (real)dt * s->v[i];
    }
    pbd_count(s->recorder, "steps", 1);
    return pbd_ok();
}

/* At rest when nobody moves more than a millionth of the body's size in a step. */
static pbd_status solve(void *state) {
    spring_mass *s = state;
    for (long i = 0; i < s->most_steps; i++) {
        double fastest = 0;
        if (pbd_stop_requested(s->recorder)) return pbd_error(PBD_INTERRUPTED, "interrupted");
        pbd_status status = step(s, s->dt);
        if (status.code != PBD_OK) return status;
        for (size_t k = 0; k < 3 * s->particles; k++) {
            if (!isfinite(s->v[k])) return pbd_error(PBD_DIVERGED, "a velocity is not finite: is dt too long?");
            if (fabs((double)s->v[k]) > fastest) fastest = fabs((double)s->v[k]);
        }
        if (i > 10 && fastest * s->dt < 1e-6 * s->extent) return pbd_ok();
    }
    return pbd_error(PBD_NOT_SETTLED, "not at rest after %ld steps", s->most_steps);
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const spring_mass *s = state;
    if (field == PBD_PREDICTED) return pbd_error(PBD_NOT_SUPPORTED, "spring_mass predicts no positions");
    for (size_t i = 0; i < 3 * s->particles; i++) out[i] = field == PBD_POSITIONS ? (double)s->x[i] : (double)s->v[i];
    return pbd_ok();
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const spring_mass *s = state;
    *bytes = 6 * s->particles * sizeof *s->x;
    if (blob) memcpy(blob, s->x, *bytes);
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    spring_mass *s = state;
    if (bytes != 6 * s->particles * sizeof *s->x) return pbd_error(PBD_BAD_INPUT, "a state of another scene");
    memcpy(s->x, blob, bytes);
    return pbd_ok();
}

const pbd_method PBD_NAME(spring_mass) = {
    .abi = PBD_METHOD_ABI,
    .name = "spring_mass",
    .summary = "damped springs along the edges of hexahedra (an example of a plug-in)",
    .source = "none: an example",
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
