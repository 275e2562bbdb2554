/* The problems, and where their expected results come from:
 *
 * free fall    one free tetrahedron, or a block of liquid or sand if the engine has only particles: g t^2/2, within
 *              g t dt/2 for any first-order integrator.
 * modulus      one tetrahedron with edges of 1 m and a fixed base. An apex displacement u gives the deformation
 *              gradient F = 1 + u (x) grad N, grad N = (0, 0, 1). Under a weight along z the apex oscillates about
 *              m g/K with K = V (lambda + 2 mu), under one along x with K = V mu; both means give E and nu. At small
 *              strains every law agrees with Hooke's.
 * cantilever   the mean tip deflection over a second after gravity sets in, and the time of its first turning point,
 *              against fem_implicit with lumped masses, the same law and the implicit midpoint rule at the same small
 *              step.
 * still water  for engines that take liquids: the height after a second in a tank, relative to that at the start. */
#include "harness/verbs/engine_gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/resolve.h"
#include "harness/catalog/scene_check.h"
#include "harness/exec/arena.h"
#include "harness/exec/exec.h"
#include "harness/plan/record.h"
#include "harness/process/interrupt.h"
#include "harness/run/run_apart.h"
#include "methods/physics/matter/flow_table.h"
#include "methods/physics/matter/law_table.h"

typedef struct gate {
    const pbd_method_entry *entry;
    const pbd_method *method;
    pbd_precision precision;
    const pbd_case *cantilever, *still_water;
    const pbd_settings *settings;
    pbd_check_observer observer;
    void *context;
    size_t *failed;
} gate;

static void report(const gate *g, const char *name, double measured, double wanted, double tolerance,
                   const char *unit) {
    pbd_check check = {g->method->name, "", name, PBD_CHECK_PASS, "", true, measured, wanted, tolerance};
    const double off = measured / wanted - 1;
    if (!(fabs(off) <= tolerance)) check.verdict = PBD_CHECK_FAIL;
    if (check.verdict == PBD_CHECK_FAIL) ++*g->failed;
    snprintf(check.says, sizeof check.says, "%.6g%s%s, wanted %.6g: %+.2g %%, at most %g %%", measured,
             *unit ? " " : "", unit, wanted, 100 * off, 100 * tolerance);
    g->observer(g->context, &check);
}

/* Reports a problem that could not be run: skipped if the method does not support it, else failed. */
static void report_status(const gate *g, const char *name, const pbd_status *status) {
    pbd_check check = {g->method->name, "", name, PBD_CHECK_SKIPPED, "", false, 0, 0, 0};
    if (status->code != PBD_NOT_SUPPORTED) check.verdict = PBD_CHECK_FAIL;
    if (check.verdict == PBD_CHECK_FAIL) ++*g->failed;
    snprintf(check.says, sizeof check.says, "%s", status->text);
    g->observer(g->context, &check);
}

/* ---- A block of liquid or sand ----------------------------------------------------------------------------------- */

enum { EDGE = 3, GRAINS = EDGE * EDGE * EDGE, MIDDLE = GRAINS / 2 };

typedef struct block {
    double position[3 * GRAINS], mass[GRAINS], volume[GRAINS], force[3 * GRAINS];
    pbd_scene scene;
} block;

/* Whether the method takes liquid or matter that flows as particles without cells. */
static bool has_blocks(const gate *g) {
    const unsigned cells = PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_TRIANGLES | PBD_NEEDS_TETS_OR_TRIANGLES;
    return !(g->method->needs & cells) && (g->method->takes & (PBD_TAKES_FLUID | PBD_TAKES_FLOW));
}

/* Dry sand without volume correction, which not every method has. */
static pbd_status make_sand(pbd_material *m) {
    static const char rule[] = "drucker_prager";
    *m = (pbd_material){.matter = PBD_CONTINUUM, .E = 1e5, .nu = 0.3, .density = 1600, .law = "hencky"};
    PBD_TRY(flow_preset(m, rule));
    m->flow_value[flow_place(rule, "cohesion")] = 0;
    m->flow_value[flow_place(rule, "volume_correction")] = 1; /* off, the second choice */
    return pbd_ok();
}

/* The scene points into *b, which must not be moved. */
static pbd_status build_block(const gate *g, block *b) {
    static const double spacing = 0.1;
    *b = (block){.scene = {.bytes = sizeof b->scene, .extent = EDGE * spacing, .materials = 1}};
    pbd_material *m = &b->scene.material[0];
    *m = (pbd_material){.matter = PBD_FLUID, .density = 1000};
    if (!(g->method->takes & PBD_TAKES_FLUID)) PBD_TRY(make_sand(m));
    for (int i = 0; i < GRAINS; i++) {
        const int at[3] = {i % EDGE, i / EDGE % EDGE, i / (EDGE * EDGE)};
        for (int d = 0; d < 3; d++) b->position[3 * i + d] = spacing * (at[d] + 0.5);
        b->volume[i] = spacing * spacing * spacing;
        b->mass[i] = m->density * b->volume[i];
    }
    b->scene.particles = (pbd_particles){.count = GRAINS,
                                         .positions = b->position,
                                         .masses = b->mass,
                                         .volumes = b->volume,
                                         .spacing = spacing,
                                         .bodies = 1};
    b->scene.loads.forces = b->force;
    return pbd_ok();
}

/* ---- One tetrahedron --------------------------------------------------------------------------------------------- */

static const double YOUNG = 1e5, POISSON = 0.3, DENSITY = 1000, VOLUME = 1.0 / 6;
enum { CORNERS = 4, APEX = 3, PERIODS = 5, STEPS_A_PERIOD = 400, STEPS_A_LOOK = 10 };

typedef struct tetrahedron {
    double position[3 * CORNERS], mass[CORNERS], force[3 * CORNERS];
    uint32_t corner[CORNERS], fixed[CORNERS - 1];
    pbd_scene scene;
} tetrahedron;

/* The scene points into *t, which must not be moved. */
static void build_tetrahedron(tetrahedron *t, bool held, const double gravity[3], double duration) {
    static const double position[3 * CORNERS] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const uint32_t corner[CORNERS] = {0, 2, 1, APEX};
    *t = (tetrahedron){0};
    memcpy(t->position, position, sizeof position);
    memcpy(t->corner, corner, sizeof corner);
    for (uint32_t i = 0; i < CORNERS; i++) t->mass[i] = DENSITY * VOLUME / CORNERS;
    for (uint32_t i = 0; i < APEX; i++) t->fixed[i] = i;
    t->scene = (pbd_scene){.bytes = sizeof t->scene, .extent = 1, .duration = duration, .materials = 1};
    t->scene.particles = (pbd_particles){.count = CORNERS, .positions = t->position, .masses = t->mass, .bodies = 1};
    if (held) t->scene.particles.fixed = APEX, t->scene.particles.fixed_particle = t->fixed;
    t->scene.tets = (pbd_cells){.count = 1, .corner = t->corner};
    t->scene.loads.forces = t->force;
    memcpy(t->scene.loads.gravity, gravity, 3 * sizeof *gravity);
    t->scene.material[0] = (pbd_material){.matter = PBD_CONTINUUM, .E = YOUNG, .nu = POISSON, .density = DENSITY};
}

typedef struct trial {
    pbd_values of_case, of_method;
    pbd_exec *exec;
    pbd_result reported;
    pbd_recorder *recorder;
    const pbd_method *method;
    void *state;
} trial;

static void close_trial(trial *t) {
    if (t->state) t->method->destroy(t->state);
    pbd_exec_destroy(t->exec);
    pbd_recorder_destroy(t->recorder);
    pbd_result_free(&t->reported);
    pbd_values_free(&t->of_case);
    pbd_values_free(&t->of_method);
    *t = (trial){0};
}

static pbd_status resolve(const gate *g, const pbd_scene *scene, double dt, trial *t) {
    pbd_arena a PBD_ARENA;
    char text[40];
    pbd_setting *all = pbd_new(&a, pbd_setting, g->settings->count + 1);
    PBD_TRY(pbd_arena_check(&a));
    snprintf(text, sizeof text, "%.9g", dt);
    memcpy(all, g->settings->item, g->settings->count * sizeof *all);
    all[g->settings->count] = (pbd_setting){"dt", text};
    return pbd_resolve_in(scene, g->cantilever, g->method, all, g->settings->count + 1, &t->of_case, &t->of_method);
}

static pbd_status create(const gate *g, const pbd_scene *scene, trial *t) {
    PBD_TRY(pbd_check_scene(scene, g->method));
    return pbd_method_create(g->method, scene, &t->of_method, t->exec, t->recorder, &t->state);
}

/* An elastic scene gets the first law that the method supports. Call close_trial also after an error. */
static pbd_status open_trial(const gate *g, pbd_scene *scene, double dt, trial *t) {
    *t = (trial){.method = g->method};
    PBD_TRY(resolve(g, scene, dt, t));
    PBD_TRY(pbd_exec_create(PBD_CPU, 1, &t->exec));
    t->recorder = pbd_recorder_create(&t->reported, pbd_interrupted);
    if (!t->recorder) return pbd_no_memory();
    if (scene->material[0].matter == PBD_FLUID || scene->material[0].flow) return create(g, scene, t);
    pbd_status status = pbd_error(PBD_NOT_SUPPORTED, "it supports none of the laws of this program");
    for (size_t i = 0; law_names[i]; i++) {
        scene->material[0].law = law_names[i];
        status = create(g, scene, t);
        if (status.code != PBD_NOT_SUPPORTED) return status;
    }
    return status;
}

/* Sets *mean to the displacement of a particle along an axis, averaged over `looks` equally spaced samples, and *last
 * to the last sample. */
static pbd_status swing(const gate *g, pbd_scene *scene, double dt, long looks, int particle, int axis, double *mean,
                        double *last) {
    trial t PBD_CLEANUP(close_trial) = {0};
    double x[3 * GRAINS];
    PBD_TRY(open_trial(g, scene, dt, &t));
    *mean = *last = 0;
    for (long i = 0; i < looks; i++) {
        for (int k = 0; k < STEPS_A_LOOK; k++) PBD_TRY(g->method->step(t.state, dt));
        PBD_TRY(g->method->read(t.state, PBD_POSITIONS, x));
        *last = x[3 * particle + axis] - scene->particles.positions[3 * particle + axis];
        *mean += *last / (double)looks;
        if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted");
    }
    if (isfinite(*mean)) return pbd_ok();
    return pbd_error(PBD_DIVERGED, "its positions are not finite");
}

static pbd_status free_fall(const gate *g) {
    static const double g_earth[3] = {0, 0, -9.81};
    const double dt = 1e-3;
    const long looks = 10;
    const double time = dt * STEPS_A_LOOK * (double)looks, wanted = -0.5 * g_earth[2] * time * time;
    tetrahedron t;
    block b;
    double mean = 0, fallen = 0;
    build_tetrahedron(&t, false, g_earth, 0);
    if (has_blocks(g)) {
        PBD_TRY(build_block(g, &b));
        memcpy(b.scene.loads.gravity, g_earth, sizeof g_earth);
        PBD_TRY(swing(g, &b.scene, dt, looks, MIDDLE, 2, &mean, &fallen));
    } else {
        PBD_TRY(swing(g, &t.scene, dt, looks, 0, 2, &mean, &fallen));
    }
    const double rounding =
        g->precision == PBD_PRECISION_F32 ? 0.01 : 0; /* of 100 small steps at 1 m from the origin */
    report(g, "free fall", -fallen, wanted, 1.001 * dt / time + rounding, "m");
    return pbd_ok();
}

/* Measures K of the apex along an axis, from its mean displacement under a weight that should move it by STRAIN. */
static pbd_status stiffness(const gate *g, int axis, double expected, double *out) {
    static const double STRAIN = 1e-3;
    const double mass = DENSITY * VOLUME / CORNERS, period = 8 * atan(1.0) * sqrt(mass / expected);
    const double dt = period / STEPS_A_PERIOD;
    double gravity[3] = {0}, mean = 0, last = 0;
    tetrahedron t;
    gravity[axis] = -STRAIN * expected / mass;
    build_tetrahedron(&t, true, gravity, 0);
    PBD_TRY(swing(g, &t.scene, dt, PERIODS * STEPS_A_PERIOD / STEPS_A_LOOK, APEX, axis, &mean, &last));
    *out = mass * gravity[axis] / mean;
    return pbd_ok();
}

static pbd_status modulus(const gate *g) {
    const double mu = YOUNG / (2 * (1 + POISSON)), lambda = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON));
    double along, across;
    PBD_TRY(stiffness(g, 2, VOLUME * (lambda + 2 * mu), &along));
    PBD_TRY(stiffness(g, 0, VOLUME * mu, &across));
    const double M = along / VOLUME, G = across / VOLUME;
    report(g, "modulus", G * (3 * M - 4 * G) / (M - G), YOUNG, 0.02, "Pa");
    report(g, "Poisson", (M - 2 * G) / (2 * (M - G)), POISSON, 0.04, ""); /* 2 % in each of M and G */
    return pbd_ok();
}

/* ---- A cantilever ------------------------------------------------------------------------------------------------ */

/* Reads the mean tip deflection, and the time of its first turning point. */
static pbd_status read_tip(const pbd_result *r, double *mean, double *turn) {
    const pbd_series_item *tip = NULL, *time = NULL;
    for (size_t i = 0; i < r->series_count; i++) {
        if (strcmp(r->series[i].name, "tip") == 0) tip = &r->series[i];
        if (strcmp(r->series[i].name, "time") == 0) time = &r->series[i];
    }
    if (!tip || !time || tip->count != time->count || tip->count < 3)
        return pbd_error(PBD_FAILED, "no series of the tip");
    const double *y = tip->values;
    size_t k = 1;
    *mean = 0;
    for (size_t i = 0; i < tip->count; i++) *mean += y[i] / (double)tip->count;
    while (k + 2 < tip->count && !(y[k] >= y[k - 1] && y[k] > y[k + 1])) k++;
    const double bend = y[k - 1] - 2 * y[k] + y[k + 1];
    *turn =
        time->values[k] + (bend < 0 ? 0.5 * (y[k - 1] - y[k + 1]) / bend : 0) * (time->values[k] - time->values[k - 1]);
    return pbd_ok();
}

/* Runs a case with `of_method`, then `of_case`, which sets a step of 1 ms. The caller frees the result. */
static pbd_status run_case(const pbd_case *c, const pbd_method_entry *entry, pbd_precision precision,
                           const pbd_settings *of_case, const pbd_settings *of_method, pbd_result *result) {
    pbd_arena a PBD_ARENA;
    const size_t count = of_method->count + of_case->count;
    pbd_setting *all = pbd_new(&a, pbd_setting, count);
    PBD_TRY(pbd_arena_check(&a));
    if (of_method->count > 0) memcpy(all, of_method->item, of_method->count * sizeof *all);
    memcpy(all + of_method->count, of_case->item, of_case->count * sizeof *all);
    pbd_plan_item item = {.seed = 1};
    item.cell = (pbd_cell){.c = c, .method = entry, .precision = precision, .threads = 1};
    item.cell.backend = PBD_BACKEND_CPU;
    PBD_TRY(
        pbd_resolve(c, entry->by_precision[precision], all, count, &item.cell.case_values, &item.cell.method_values));
    const pbd_status status = pbd_run_cell_apart(&item, result);
    pbd_values_free(&item.cell.case_values);
    pbd_values_free(&item.cell.method_values);
    PBD_TRY(status);
    if (strcmp(result->state, "ok") == 0) return pbd_ok();
    return pbd_error(PBD_FAILED, "its run ends as %s: %.300s", result->state, result->says);
}

static pbd_status run_bar(const gate *g, const pbd_method_entry *entry, pbd_precision precision, pbd_setting *own,
                          size_t count, double *mean, double *turn) {
    static pbd_setting bar[] = {{"mode", "dynamic"}, {"cells", "1"}, {"E", "1e5"},     {"density", "100"},
                                {"gravity", "2"},    {"dt", "1e-3"}, {"duration", "1"}};
    pbd_result result PBD_CLEANUP(pbd_result_free) = {0};
    PBD_TRY(run_case(g->cantilever, entry, precision, &(pbd_settings){.item = bar, .count = sizeof bar / sizeof *bar},
                     &(pbd_settings){.item = own, .count = count}, &result));
    return read_tip(&result, mean, turn);
}

static pbd_status bend_with(const gate *g, const pbd_setting *law, size_t laws) {
    const pbd_method_entry *fem;
    double mean, turn, fem_mean, fem_turn;
    pbd_setting by_fem[] = {{"element", "tet4"}, {"mass", "lumped"}, {"integrator", "implicit_midpoint"}, {0}};
    enum { BY_FEM = sizeof by_fem / sizeof *by_fem - 1 };
    pbd_arena a PBD_ARENA;
    pbd_setting *own = pbd_new(&a, pbd_setting, g->settings->count + 1);
    PBD_TRY(pbd_arena_check(&a));
    if (g->settings->count > 0) memcpy(own, g->settings->item, g->settings->count * sizeof *own);
    if (laws > 0) own[g->settings->count] = by_fem[BY_FEM] = *law;
    PBD_TRY(run_bar(g, g->entry, g->precision, own, g->settings->count + laws, &mean, &turn));
    PBD_TRY(pbd_find_method("fem_implicit", &fem));
    PBD_TRY(run_bar(g, fem, PBD_PRECISION_F64, by_fem, BY_FEM + laws, &fem_mean, &fem_turn));
    report(g, "cantilever", mean, fem_mean, 0.03, "m");
    report(g, "frequency", 0.5 / turn, 0.5 / fem_turn, 0.02, "Hz");
    return pbd_ok();
}

/* Uses the law in the settings, or else the first one that the method supports. */
static pbd_status bend(const gate *g) {
    for (size_t i = 0; i < g->settings->count; i++)
        if (strcmp(g->settings->item[i].key, "material") == 0) return bend_with(g, &g->settings->item[i], 1);
    pbd_status status = bend_with(g, NULL, 0);
    for (size_t i = 0; law_names[i] && status.code == PBD_NOT_SUPPORTED; i++)
        status = bend_with(g, &(pbd_setting){"material", law_names[i]}, 1);
    return status;
}

/* ---- Still water ------------------------------------------------------------------------------------------------- */

static pbd_status rest_in_a_tank(const gate *g) {
    static pbd_setting water[] = {{"dt", "1e-3"}, {"duration", "1"}};
    pbd_result result PBD_CLEANUP(pbd_result_free) = {0};
    PBD_TRY(run_case(g->still_water, g->entry, g->precision,
                     &(pbd_settings){.item = water, .count = sizeof water / sizeof *water}, g->settings, &result));
    for (size_t i = 0; i < result.metrics; i++)
        if (strcmp(result.metric[i].name, "volume") == 0) {
            report(g, "still water", result.metric[i].value, 1, 0.1, "");
            return pbd_ok();
        }
    return pbd_error(PBD_FAILED, "its run has no volume");
}

/* ---- The gate ---------------------------------------------------------------------------------------------------- */

pbd_status pbd_engine_gate(const pbd_method_entry *entry, const pbd_settings *settings, pbd_check_observer observer,
                           void *context, size_t *failed) {
    static const struct {
        const char *name;
        pbd_status (*ask)(const gate *);
        enum { ANY, ELASTIC, LIQUID } of;
    } problems[] = {{"free fall", free_fall, ANY},
                    {"modulus", modulus, ELASTIC},
                    {"cantilever", bend, ELASTIC},
                    {"still water", rest_in_a_tank, LIQUID}};
    gate g = {.entry = entry, .settings = settings, .observer = observer, .context = context, .failed = failed};
    g.precision = entry->by_precision[PBD_PRECISION_F64]->precisions & PBD_F64 ? PBD_PRECISION_F64 : PBD_PRECISION_F32;
    g.method = entry->by_precision[g.precision];
    *failed = 0;
    PBD_TRY(pbd_find_case("cantilever", &g.cantilever));
    PBD_TRY(pbd_find_case("still_water", &g.still_water));
    const pbd_engine *engine = pbd_plugin_engine(entry->plugin);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (problems[i].of == LIQUID && !(g.method->takes & PBD_TAKES_FLUID)) continue;
        pbd_status status = problems[i].of == ELASTIC && engine && pbd_engine_has_no_law(engine)
                                ? pbd_error(PBD_NOT_SUPPORTED, "it says that it has no law: \"laws\": []")
                                : problems[i].ask(&g);
        if (status.code == PBD_INTERRUPTED) return status;
        if (status.code != PBD_OK) report_status(&g, problems[i].name, &status);
    }
    return pbd_ok();
}
