/* A plug-in that does wrong on purpose. What is wrong with its tables is chosen by the variable PBD_FAULT when it is
 * loaded, what goes wrong in a run by its parameter `fault`. Compiled for f64 in earnest; its f32 is another object
 * that exports nothing. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/exec/real.h"
#include "methods/plugin.h"

typedef enum fault {
    NONE,
    CRASH_IN_CREATE,
    CRASH_IN_STEP,
    CRASH_IN_SOLVE,
    CRASH_IN_READ,
    ABORT,
    EXIT,
    EXIT_0,
    KILL,
    NOT_FINITE,
    FAILS,
    PRINTS,
    SCENE,
    FORGETS,
    BOUND_TO_AXES,
    BOUND_TO_PLACE,
    DRIFTS,
    ASLEEP,
    UNDECLARED,
    RESTLESS
} fault;
static const char *const faults[] = {"none",           "crash_in_create", "crash_in_step",
                                     "crash_in_solve", "crash_in_read",   "abort",
                                     "exit",           "exit_0",          "kill",
                                     "not_finite",     "fails",           "prints",
                                     "scene",          "forgets",         "bound_to_axes",
                                     "bound_to_place", "drifts",          "asleep",
                                     "undeclared",     "restless",        NULL};

static pbd_param params[] = {{"fault", "", PBD_CHOICE, "none", 0, 0, 0, faults, "what goes wrong"},
                             {"dt", "s", PBD_REAL, "0.01", 0, 1, PBD_OPEN_MIN, NULL, "time step"},
                             {"other", "", PBD_REAL, "0", 0, 1, 0, NULL, "nothing"},
                             {0}};

/* Particles that are moved by their load, each for itself. */
typedef struct faulty {
    size_t particles;
    double *x, *load;
    fault fault;
    long hidden; /* part of the state that save leaves out */
    pbd_recorder *recorder;
} faulty;

static void crash(void) {
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static void destroy(void *state) {
    faulty *s = state;
    if (!s) return;
    free(s->x);
    free(s->load);
    free(s);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    (void)exec;
    const fault wrong = (fault)pbd_choice(values, "fault");
    if (wrong == CRASH_IN_CREATE) crash();
    if (wrong == UNDECLARED) (void)pbd_real(values, "no_such_parameter");
    if (wrong == SCENE) scene->particles.positions[0] += 1e-9;
    if (wrong == PRINTS) puts("a plug-in prints this");
    const size_t n = 3 * scene->particles.count;
    faulty *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory");
    *s = (faulty){.particles = scene->particles.count, .fault = wrong, .recorder = recorder};
    s->x = calloc(n + 1, sizeof *s->x);
    s->load = calloc(n + 1, sizeof *s->load);
    if (!s->x || !s->load) {
        destroy(s);
        return pbd_error(PBD_FAILED, "out of memory");
    }
    memcpy(s->x, scene->particles.positions, n * sizeof *s->x);
    for (size_t i = 0; i < n; i++)
        s->load[i] = scene->loads.forces[i] + scene->particles.masses[i / 3] * scene->loads.gravity[i % 3];
    for (size_t i = 0; i < n && scene->particles.velocities; i++)
        s->load[i] += scene->particles.velocities[i]; /* it only has to move */
    for (size_t i = 0; i < 3 * scene->particles.fixed; i++)
        s->load[3 * scene->particles.fixed_particle[i / 3] + i % 3] = 0;
    *state = s;
    return pbd_ok();
}

static pbd_status step(void *state, double dt) {
    faulty *s = state;
    s->hidden++;
    if (s->fault == CRASH_IN_STEP && s->hidden == 3) crash();
    for (size_t i = 0; i < 3 * s->particles; i++) {
        if (s->fault != ASLEEP) s->x[i] += dt * s->load[i];
        if (s->fault == DRIFTS) s->x[i] += 1e-3 * dt;
        if (s->fault == BOUND_TO_AXES && i % 3 == 0) s->x[i] += dt * s->load[i];
        if (s->fault == BOUND_TO_PLACE) s->x[i] += 1e-3 * s->x[i] * s->load[i];
        if (s->fault == FORGETS) s->x[i] += 1e-6 * (double)s->hidden * s->load[i];
        if (s->fault == NOT_FINITE) s->x[i] = (double)NAN;
    }
    return pbd_ok();
}

static pbd_status solve(void *state) {
    faulty *s = state;
    if (s->fault == CRASH_IN_SOLVE) crash();
    if (s->fault == ABORT) abort();
    if (s->fault == EXIT) exit(7);
    if (s->fault == EXIT_0) exit(0);
    if (s->fault == KILL) raise(SIGKILL);
    if (s->fault == FAILS) return pbd_error(PBD_FAILED, "this one gives up");
    if (s->fault == RESTLESS) fclose(fopen(getenv("PBD_BEGAN"), "w"));
    while (s->fault == RESTLESS && !pbd_stop_requested(s->recorder)) usleep(1000);
    if (s->fault == RESTLESS) return pbd_error(PBD_INTERRUPTED, "asked to stop");
    return step(s, 0.01);
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const faulty *s = state;
    if (s->fault == CRASH_IN_READ) crash();
    if (field != PBD_POSITIONS) return pbd_error(PBD_NOT_SUPPORTED, "positions only");
    memcpy(out, s->x, 3 * s->particles * sizeof *out);
    return pbd_ok();
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const faulty *s = state;
    *bytes = 3 * s->particles * sizeof *s->x;
    if (blob) memcpy(blob, s->x, *bytes);
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    faulty *s = state;
    if (bytes != 3 * s->particles * sizeof *s->x) return pbd_error(PBD_BAD_INPUT, "faulty: not its state");
    memcpy(s->x, blob, bytes);
    return pbd_ok();
}

static pbd_method method = {
    .bytes = sizeof(pbd_method),
    .name = "faulty",
    .summary = "does wrong on purpose",
    .source = "",
    .needs = PBD_NEEDS_PARTICLES,
    .params = params,
    .create = create,
    .backends = PBD_CPU,
    .precisions = PBD_F64,
    .step = step,
    .solve = solve,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};

#define IS_DOUBLE (sizeof(REAL) == sizeof(double))

/* Two tables would clash: that of f32 has a name of its own. */
#define NAME_OF_TABLE PBD_NAME(table)
#define table_double pbd_plugin
#define table_float not_the_table
static pbd_struct_size sizes[] = {PBD_GROWING(PBD_SIZE_OF) PBD_FIXED(PBD_SIZE_OF){NULL, 0}};
static pbd_plugin_method methods[] = {{NULL, &method}};
__attribute__((visibility("default"))) extern pbd_plugin_table NAME_OF_TABLE;
pbd_plugin_table NAME_OF_TABLE = {.abi = PBD_PLUGIN_ABI,
                                  .method_abi = PBD_METHOD_ABI,
                                  .sizes = sizes,
                                  .take_host = pbd_plugin_take_host,
                                  .name = "faulty",
                                  .version = "0.1",
                                  .method = methods,
                                  .methods = 1};

/* As a plug-in that was built when a struct had another size. */
static void resize(const char *name, int by) {
    for (pbd_struct_size *s = sizes; s->name; s++)
        if (strcmp(s->name, name) == 0) s->bytes += (size_t)by;
}

/* When the library is opened. */
__attribute__((constructor)) static void choose_fault(void) {
    const char *wrong = getenv("PBD_FAULT");
    if (!wrong || !IS_DOUBLE) return;
    pbd_plugin_table *t = &NAME_OF_TABLE;
    if (strncmp(wrong, "default_", 8) == 0) params[0].preset = wrong + 8;
    if (strcmp(wrong, "condition") == 0) params[0].doc = "solvr=jacobi: of it";
    if (strcmp(wrong, "plugin_abi") == 0) t->abi = 99;
    if (strcmp(wrong, "method_abi") == 0) t->method_abi = 77;
    if (strcmp(wrong, "method_bytes") == 0) method.bytes = 55555;
    if (strcmp(wrong, "older_scene") == 0) resize("pbd_scene", -8);
    if (strcmp(wrong, "newer_scene") == 0) resize("pbd_scene", 8);
    if (strcmp(wrong, "collider") == 0) resize("pbd_collider", -8);
    if (strcmp(wrong, "no_sizes") == 0) t->sizes = NULL;
    if (strcmp(wrong, "no_methods") == 0) t->methods = 0;
    if (strcmp(wrong, "no_precision") == 0) methods[0].f64 = NULL;
    if (strcmp(wrong, "no_create") == 0) method.create = NULL;
    if (strcmp(wrong, "no_read") == 0) method.read = NULL;
    if (strcmp(wrong, "no_destroy") == 0) method.destroy = NULL;
    if (strcmp(wrong, "no_motion") == 0) method.step = NULL, method.solve = NULL;
    if (strcmp(wrong, "no_load") == 0) method.load = NULL;
    if (strcmp(wrong, "no_params") == 0) method.params = NULL;
    if (strcmp(wrong, "no_backend") == 0) method.backends = 0;
    if (strcmp(wrong, "cuda") == 0) method.backends = PBD_CPU | 64;
    if (strcmp(wrong, "precisions") == 0) method.precisions = PBD_F32 | PBD_F64;
    if (strcmp(wrong, "taken") == 0) method.name = "fem_linear";
    if (strcmp(wrong, "bad_name") == 0) method.name = "Not a name";
    if (strcmp(wrong, "no_summary") == 0) method.summary = NULL;
    if (strcmp(wrong, "default") == 0) params[1].preset = "7";
    if (strcmp(wrong, "range") == 0) params[1].min = (double)NAN;
    if (strcmp(wrong, "doubled") == 0) params[2].name = "dt";
    if (strcmp(wrong, "wild_pointer") == 0) method.name = (const char *)(uintptr_t)16;
    if (strcmp(wrong, "constructor") == 0) crash();
    if (strcmp(wrong, "leaves") == 0) exit(3);
}
