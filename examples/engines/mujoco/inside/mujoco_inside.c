/* mujoco_inside: the model of ../adapter.py by MuJoCo's C interface, as a plug-in in the program's own process.
 *
 * Both build the same model from the same numbers in the same order, so that their results are the same bits: what the
 * door of an engine costs is the difference of their times. README.md of examples/engines says how to build it. */
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/real.h"
#include "methods/plugin.h"

static const char *const integrators[] = {"discrete", "euler", NULL};
static const pbd_param params[] = {{"dt", "s", PBD_REAL, "1e-3", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
                                   {"integrator", "", PBD_CHOICE, "discrete", 0, 0, 0, integrators, "of the flex"},
                                   {"iterations", "", PBD_INTEGER, "100", 1, 100000, 0, NULL, "of its solver, at most"},
                                   {"tolerance", "", PBD_REAL, "1e-8", 0, 1, 0, NULL, "of its solver"},
                                   {"rayleigh", "s", PBD_REAL, "0", 0, 1e6, 0, NULL, "damping by stiffness"},
                                   {0}};

typedef struct body {
    mjModel *model;
    mjData *data;
    pbd_recorder *recorder;
    size_t particles;
    bool *held;       /* particles */
    double *origin;   /* particles x 3, m: rest, from which slides are counted */
    double *at_start; /* particles x 3, m: where held particles stay */
} body;

/* MuJoCo hands its warnings to a function without a context. */
static _Thread_local char said[290];
static void keep_warning(const char *text) {
    if (!said[0]) snprintf(said, sizeof said, "%s", text);
}

static void destroy(void *state) {
    body *b = state;
    if (!b) return;
    if (b->data) mj_deleteData(b->data);
    if (b->model) mj_deleteModel(b->model);
    free(b->held);
    free(b->origin);
    free(b->at_start);
    free(b);
}

/* A body of three slides, or one fixed to the world where it is held. */
static void add_particle(mjSpec *spec, const pbd_scene *scene, const body *b, size_t i) {
    char name[32];
    mjsBody *p = mjs_addBody(mjs_findBody(spec, "world"), NULL);
    snprintf(name, sizeof name, "p%zu", i);
    mjs_setName(p->element, name);
    memcpy(p->pos, b->origin + 3 * i, sizeof p->pos); /* at rest: the shape of the flex is taken from here */
    if (b->held[i]) return;
    for (int d = 0; d < 3; d++) {
        mjsJoint *slide = mjs_addJoint(p, NULL);
        slide->type = mjJNT_SLIDE;
        for (int k = 0; k < 3; k++) slide->axis[k] = k == d;
    }
    p->explicitinertial = 1;
    p->mass = scene->particles.masses[i];
    for (int d = 0; d < 3; d++) p->ipos[d] = 0, p->inertia[d] = p->mass * 1e-6;
}

static pbd_status add_flex(mjSpec *spec, const pbd_scene *scene, const pbd_values *values) {
    const size_t n = scene->particles.count, tets = scene->tets.count;
    mjsFlex *flex = mjs_addFlex(spec);
    char *names = calloc(n + 1, 24), *end = names;
    double *vertices = calloc(3 * n + 1, sizeof *vertices);
    int *corners = calloc(4 * tets + 1, sizeof *corners);
    if (names && vertices && corners) {
        for (size_t i = 0; i < n; i++) end += sprintf(end, "p%zu ", i);
        for (size_t k = 0; k < 4 * tets; k++) corners[k] = (int)scene->tets.corner[k];
        mjs_setName(flex->element, "body");
        mjs_setInt(flex->elem, corners, (int)(4 * tets));
        mjs_setStringVec(flex->vertbody, names);
        mjs_setDouble(flex->vert, vertices, (int)(3 * n));
    }
    const bool filled = names && vertices && corners;
    free(names);
    free(vertices);
    free(corners);
    if (!filled) return pbd_error(PBD_FAILED, "out of memory for a flex of %zu tetrahedra", tets);
    flex->dim = 3;
    flex->young = scene->material->E;
    flex->poisson = scene->material->nu;
    flex->damping = pbd_real(values, "rayleigh");
    flex->elastic3d = strcmp(scene->material->law, "macklin_neo_hookean") == 0;
    flex->radius = 1e-6;
    flex->contype = flex->conaffinity = 0;
    flex->selfcollide = mjFLEXSELF_NONE;
    return pbd_ok();
}

static void set_options(mjOption *option, const pbd_scene *scene, const pbd_values *values) {
    option->integrator = pbd_choice(values, "integrator") == 0 ? mjINT_DISCRETE : mjINT_EULER;
    option->timestep = pbd_real(values, "dt");
    option->iterations = (int)pbd_integer(values, "iterations");
    option->tolerance = pbd_real(values, "tolerance");
    memcpy(option->gravity, scene->loads.gravity, sizeof option->gravity);
    option->disableflags |= mjDSBL_AUTORESET | mjDSBL_CONTACT;
}

static pbd_status compile_model(body *b, const pbd_scene *scene, const pbd_values *values) {
    mjSpec *spec = mj_makeSpec();
    set_options(&spec->option, scene, values);
    for (size_t i = 0; i < b->particles; i++) add_particle(spec, scene, b, i);
    pbd_status status = add_flex(spec, scene, values);
    if (status.code == PBD_OK && !(b->model = mj_compile(spec, NULL)))
        status = pbd_error(PBD_FAILED, "MuJoCo refuses the model: %.250s", mjs_getError(spec));
    mj_deleteSpec(spec);
    if (status.code == PBD_OK && !(b->data = mj_makeData(b->model)))
        status = pbd_error(PBD_FAILED, "MuJoCo cannot make the state of its model");
    return status;
}

static void start(body *b, const pbd_scene *scene) {
    const double *v = scene->particles.velocities, *f = scene->loads.forces;
    size_t k = 0;
    for (size_t i = 0; i < 3 * b->particles; i++) {
        if (b->held[i / 3]) continue;
        b->data->qpos[k] = b->at_start[i] - b->origin[i];
        b->data->qvel[k] = v ? v[i] : 0;
        b->data->qfrc_applied[k++] = f ? f[i] : 0;
    }
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    (void)exec;
    const size_t n = scene->particles.count, bytes = 3 * n * sizeof(double);
    const char *law = scene->material->law;
    if (scene->materials > 1) return pbd_error(PBD_NOT_SUPPORTED, "mujoco_inside makes one flex of one material");
    if (!law || (strcmp(law, "stvk") != 0 && strcmp(law, "macklin_neo_hookean") != 0))
        return pbd_error(PBD_NOT_SUPPORTED,
                         "mujoco_inside has the laws stvk and macklin_neo_hookean: set material=stvk");
    body *b = *state = calloc(1, sizeof *b);
    if (!b) return pbd_error(PBD_FAILED, "out of memory");
    b->recorder = recorder;
    b->particles = n;
    b->held = calloc(n + 1, sizeof *b->held);
    b->origin = malloc(bytes + 1);
    b->at_start = malloc(bytes + 1);
    if (!b->held || !b->origin || !b->at_start) return pbd_error(PBD_FAILED, "out of memory");
    for (size_t k = 0; k < scene->particles.fixed; k++) b->held[scene->particles.fixed_particle[k]] = true;
    memcpy(b->origin, scene->particles.positions, bytes);
    memcpy(b->at_start, scene->particles.start ? scene->particles.start : scene->particles.positions, bytes);
    for (size_t i = 0; i < 3 * n; i++)
        if (b->held[i / 3] && b->at_start[i] != b->origin[i])
            return pbd_error(PBD_NOT_SUPPORTED, "mujoco_inside holds particles only where they are at rest");
    mju_user_warning = keep_warning;
    PBD_TRY(compile_model(b, scene, values));
    said[0] = '\0'; /* that a flex of slides alone has no constraints is meant so */
    start(b, scene);
    return pbd_ok();
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static pbd_status step(void *state, double dt) {
    static const struct {
        int index;
        const char *name;
    } lost[] = {{mjWARN_BADQPOS, "bad_qpos"}, {mjWARN_BADQVEL, "bad_qvel"}, {mjWARN_BADQACC, "bad_qacc"}};
    body *b = state;
    b->model->opt.timestep = dt;
    mj_step(b->model, b->data);
    for (size_t k = 0; k < sizeof lost / sizeof *lost; k++)
        if (b->data->warning[lost[k].index].number > 0)
            return pbd_error(PBD_DIVERGED, "MuJoCo warns of %s", lost[k].name);
    if (said[0]) pbd_warning(b->recorder, "mujoco", "%s", said);
    said[0] = '\0';
    return pbd_ok();
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const body *b = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "mujoco_inside has positions and velocities only");
    size_t k = 0;
    for (size_t i = 0; i < 3 * b->particles; i++) {
        if (b->held[i / 3])
            out[i] = field == PBD_POSITIONS ? b->at_start[i] : 0;
        else if (field == PBD_POSITIONS)
            out[i] = b->data->qpos[k++] + b->origin[i];
        else
            out[i] = b->data->qvel[k++];
    }
    return pbd_ok();
}

/* The state as ../adapter.py saves it: time, positions, velocities, the solver's first guess. */
static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const body *b = state;
    const size_t row = (size_t)b->model->nv * sizeof(double);
    char *at = blob;
    *bytes = sizeof(double) + 3 * row;
    if (!blob) return pbd_ok();
    memcpy(at, &b->data->time, sizeof(double));
    memcpy(at + sizeof(double), b->data->qpos, row);
    memcpy(at + sizeof(double) + row, b->data->qvel, row);
    memcpy(at + sizeof(double) + 2 * row, b->data->qacc_warmstart, row);
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    body *b = state;
    const size_t row = (size_t)b->model->nv * sizeof(double);
    const char *at = blob;
    if (bytes != sizeof(double) + 3 * row) return pbd_error(PBD_BAD_INPUT, "a state of another body");
    memcpy(&b->data->time, at, sizeof(double));
    memcpy(b->data->qpos, at + sizeof(double), row);
    memcpy(b->data->qvel, at + sizeof(double) + row, row);
    memcpy(b->data->qacc_warmstart, at + sizeof(double) + 2 * row, row);
    return pbd_ok();
}

const pbd_method PBD_NAME(mujoco_inside) = {
    .bytes = sizeof(pbd_method),
    .name = "mujoco_inside",
    .summary = "MuJoCo's flex in the program's own process",
    .source = "MuJoCo, Google DeepMind",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_TETS,
    .takes = PBD_TAKES_START | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU,
    .precisions = PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};
PBD_PLUGIN(mujoco_inside, "4.0.0")
