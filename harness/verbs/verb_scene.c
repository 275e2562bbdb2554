/* scene: the contents of a scene file, the methods that fit it and how long they take; a picture of its start; a case
 * as a scene file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scene/scene.h"
#include "cases/scene/scene_export.h"
#include "harness/catalog/resolve.h"
#include "harness/machine/environment.h"
#include "harness/picture/start_picture.h"
#include "harness/run/run_apart.h"
#include "harness/verbs/cli.h"

typedef struct scene_options {
    const char *out, *method;
    pbd_texts sets;
} scene_options;

static const pbd_option table[] = {
    PBD_OPT_TEXT(scene_options, method, "method", 'm', "METHOD", PBD_WORDS_METHODS, "check: this method alone"),
    PBD_OPT_MANY(scene_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS,
                 "a parameter of the case `scene` or, with -m, of the method; export: of the case"),
    PBD_OPT_TEXT(scene_options, out, "out", 'o', "PATH", PBD_WORDS_FILES,
                 "show: the picture; default the file's name with .png. export: the folder"),
    {0}};

/* ---- The scene --------------------------------------------------------------------------------------------------- */

/* The settings of the command line, the file first, and the scene that they build. */
typedef struct opened {
    const pbd_case *c;
    pbd_settings given;
    pbd_setting *setting; /* the file and the given settings, with room for one more */
    size_t settings;
    pbd_values values;
    pbd_setup setup;
} opened;

static void close_scene(opened *o) {
    if (o->c) pbd_case_free(o->c, &o->setup);
    pbd_values_free(&o->values);
    pbd_settings_free(&o->given);
    free(o->setting);
}

static bool is_among(const pbd_param *p, const char *key) {
    while (p && p->name && strcmp(p->name, key) != 0) p++;
    return p && p->name;
}

/* Whether a setting is one of the case. Settings of a method are used only in its runs. */
static bool is_of_case(const pbd_case *c, const char *key) {
    return is_among(c->params, key) || (c->shared && is_among(c->shared(), key));
}

static pbd_status build_case(const pbd_setting *own, size_t owns, opened *o) {
    const pbd_method_entry *first = pbd_method_at(0);
    pbd_values unused = {0};
    for (size_t i = 0; pbd_has_choose(first->by_precision[PBD_PRECISION_F64]); i++) first = pbd_method_at(i);
    PBD_TRY(pbd_resolve(o->c, first->by_precision[PBD_PRECISION_F64], own, owns, &o->values, &unused));
    pbd_values_free(&unused);
    return pbd_case_build(o->c, &o->values, &o->setup);
}

static pbd_status open_scene(const char *file, const scene_options *options, opened *o) {
    pbd_arena arena PBD_ARENA;
    PBD_TRY(pbd_find_case("scene", &o->c));
    PBD_TRY(pbd_settings_parse((const char *const *)options->sets.item, options->sets.count, &o->given));
    PBD_TRY_NEW(o->setting, o->given.count + 2);
    o->setting[o->settings++] = (pbd_setting){"file", file};
    for (size_t i = 0; i < o->given.count; i++) o->setting[o->settings++] = o->given.item[i];
    pbd_setting *own = pbd_new(&arena, pbd_setting, o->settings);
    PBD_TRY(pbd_arena_check(&arena));
    size_t owns = 0;
    for (size_t i = 0; i < o->settings; i++)
        if (is_of_case(o->c, o->setting[i].key))
            own[owns++] = o->setting[i];
        else if (!options->method)
            return pbd_error(PBD_BAD_INPUT, "the case scene has no parameter '%.60s'; those of a method need -m METHOD",
                             o->setting[i].key);
    return build_case(own, owns, o);
}

/* ---- What it holds ----------------------------------------------------------------------------------------------- */

/* Bytes of the arrays of particles and cells only. */
static double scene_bytes(const pbd_scene *s) {
    return (double)s->particles.count * (12 * sizeof(double) + sizeof(uint32_t) + 1) +
           (double)(8 * s->hexes.count + 4 * s->tets.count + 3 * s->triangles.count) * sizeof(uint32_t);
}

static void print_contents(const char *file, const opened *o) {
    const pbd_scene *scene = &o->setup.scene;
    const scene_detail *d = o->setup.detail;
    printf("%s\n\n  %-4s %-16s %-16s %10s %10s %12s %12s %10s\n", file, "body", "name", "matter", "particles",
           "spacing m", "volume m^3", "mass kg", "cells");
    for (size_t b = 0; b < d->parts; b++) {
        const scene_part *p = &d->part[b];
        printf("  %-4zu %-16.16s %-16.16s %10zu %10.4g %12.5g %12.5g %10zu\n", b, *p->name ? p->name : "-", p->matter,
               p->count, p->spacing, p->volume, p->mass, p->hexes + p->tets + p->triangles);
        if (p->solid_volume > 0 && fabs(p->volume / p->solid_volume - 1) > 0.05)
            printf("       its solid is %.5g m^3: the particles' volume is %.0f %% of that\n", p->solid_volume,
                   100 * p->volume / p->solid_volume);
    }
    printf(
        "\n  %zu particles, %zu hexahedra, %zu tetrahedra, %zu triangles, %zu held; %zu colliders, %zu blades; %.4g "
        "s\n",
        scene->particles.count, scene->hexes.count, scene->tets.count, scene->triangles.count, scene->particles.fixed,
        scene->colliders.count, scene->blades.count, scene->duration);
    printf("  %.3g MB for the scene itself\n\n", 1e-6 * scene_bytes(scene));
}

/* ---- Which methods fit ------------------------------------------------------------------------------------------- */

typedef struct trial {
    double dt, steps; /* time step, s; steps of the whole run */
    double seconds;   /* of a step, after the first; NaN: not measured */
    double begin;     /* s, to build the scene and create the solver */
    double bytes;     /* peak on the device */
    char state[24];
} trial;

enum { TRIAL_STEPS = 5 };

static double metric_of(const pbd_result *r, const char *name) {
    for (size_t i = 0; i < r->metrics; i++)
        if (strcmp(r->metric[i].name, name) == 0)
            return r->metric[i].is_count ? (double)r->metric[i].count : r->metric[i].value;
    return NAN;
}

/* Wall time of a phase and its subphases, s. */
static double phase_of(const pbd_result *r, const char *name) {
    double sum = 0;
    const size_t length = strlen(name);
    for (size_t i = 0; i < r->phases; i++)
        if (strncmp(r->phase[i].name, name, length) == 0 &&
            (r->phase[i].name[length] == '\0' || r->phase[i].name[length] == '/'))
            sum += r->phase[i].wall_s;
    return sum;
}

static pbd_status run_item(pbd_plan_item *item, pbd_result *result) {
    return pbd_runs_apart(item) ? pbd_run_cell_apart(item, result) : pbd_run_cell(item, result);
}

/* Runs a few steps, from which the time of the whole run is estimated. */
static pbd_status try_steps(const opened *o, pbd_request *request, double dt, trial *out) {
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {0};
    pbd_result result PBD_CLEANUP(pbd_result_free) = {0};
    char duration[40];
    snprintf(duration, sizeof duration, "%.17g", fmin(TRIAL_STEPS * dt, o->setup.scene.duration));
    o->setting[o->settings] = (pbd_setting){"duration", duration};
    request->settings = o->settings + 1;
    PBD_TRY(pbd_plan_add(&plan, request, 0));
    PBD_TRY(run_item(&plan.item[0], &result));
    const double steps = fmax(1, fmin(TRIAL_STEPS, round(o->setup.scene.duration / dt)));
    out->dt = isfinite(metric_of(&result, "dt")) ? metric_of(&result, "dt") : dt;
    out->steps = round(o->setup.scene.duration / out->dt);
    out->seconds = phase_of(&result, "solve") / steps;
    out->begin = phase_of(&result, "build") + phase_of(&result, "create");
    out->bytes = metric_of(&result, "device_bytes_peak");
    snprintf(out->state, sizeof out->state, "%s", result.state);
    return pbd_ok();
}

/* Begins a run as `run` would, and tries a few steps if the scene moves. */
static pbd_status try_method(const opened *o, const pbd_method *m, pbd_built_scene *built, pbd_status *reason,
                             trial *out) {
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {.built = built};
    pbd_result result PBD_CLEANUP(pbd_result_free) = {0};
    pbd_request request = {.case_name = "scene",
                           .method_name = m->name,
                           .precision = m->precisions & PBD_F64 ? "f64" : "f32",
                           .seed = 1,
                           .setting = o->setting,
                           .settings = o->settings};
    *reason = pbd_plan_add(&plan, &request, 0);
    if (reason->code != PBD_OK) return pbd_ok();
    plan.item[0].begin_only = true;
    plan.item[0].built = built;
    *reason = run_item(&plan.item[0], &result);
    if (reason->code != PBD_OK || !(o->setup.scene.duration > 0)) return pbd_ok();
    const pbd_value *dt = pbd_value_named(&plan.item[0].cell.method_values, "dt");
    const double chosen = metric_of(&result, "dt"), step = isfinite(chosen) ? chosen : dt ? dt->number : 0;
    return step > 0 ? try_steps(o, &request, step, out) : pbd_ok();
}

static void print_method(const char *name, const pbd_status *reason, const trial *t) {
    if (reason->code != PBD_OK)
        printf("  %-15s no: %s\n", name, reason->text);
    else if (!(t->dt > 0))
        printf("  %-15s fits; solved for rest\n", name);
    else
        printf("  %-15s fits; dt=%.4g s, %.0f steps, about %.3g s in f64 by default, %.3g MB%s%s\n", name, t->dt,
               t->steps, t->begin + t->steps * t->seconds, 1e-6 * t->bytes,
               strcmp(t->state, "ok") != 0 ? "; after 5 steps: " : "", strcmp(t->state, "ok") != 0 ? t->state : "");
    fflush(stdout);
}

static pbd_status check(const char *file, const scene_options *options, pbd_call *call) {
    opened o PBD_CLEANUP(close_scene) = {0};
    pbd_built_scene built PBD_CLEANUP(pbd_built_scene_free) = {0};
    size_t fits = 0;
    const pbd_method_entry *only = NULL;
    if (options->method) PBD_TRY(pbd_find_method(options->method, &only));
    PBD_TRY(open_scene(file, options, &o));
    print_contents(file, &o);
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_method_entry *entry = pbd_method_at(i);
        const pbd_method *m = entry->by_precision[PBD_PRECISION_F64];
        pbd_status reason;
        trial t = {0};
        if (only && entry != only) continue;
        if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "stopped");
        PBD_TRY(try_method(&o, m, &built, &reason, &t));
        print_method(m->name, &reason, &t);
        fits += reason.code == PBD_OK;
    }
    if (fits == 0) call->exit_code = PBD_EXIT_VALIDATION;
    return pbd_ok();
}

/* ---- Its start --------------------------------------------------------------------------------------------------- */

static pbd_status show(const char *file, const scene_options *options) {
    opened o PBD_CLEANUP(close_scene) = {0};
    pbd_arena arena PBD_ARENA;
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    const int stem = dot && (!slash || dot > slash) ? (int)(dot - file) : (int)strlen(file);
    const char *path = options->out ? options->out : pbd_new_format(&arena, "%.*s.png", stem, file);
    PBD_TRY(pbd_arena_check(&arena));
    PBD_TRY(open_scene(file, options, &o));
    PBD_TRY(pbd_draw_start(&o.setup.scene, path));
    printf("%s\n", path);
    return pbd_ok();
}

/* ---- A case as a file -------------------------------------------------------------------------------------------- */

/* The origin of the scene, as comments for its file. Characters other than printable ASCII are replaced, so that each
 * setting is one line. */
static char *origin_of(const opened *o, pbd_arena *arena) {
    const pbd_build *b = pbd_this_build();
    char *text = pbd_new_format(arena, "# The case %s, written by pbdbench %s, commit %.12s%s\n", o->c->name,
                                b->version, b->git_sha, b->dirty ? " with changes" : "");
    for (size_t i = 0; text && i < o->given.count; i++) {
        char *value = pbd_new_text(arena, o->given.item[i].value);
        for (char *c = value; c && *c; c++)
            if (*c < ' ' || *c > '~') *c = '?';
        text = pbd_new_format(arena, "%s#   %s=%s\n", text, o->given.item[i].key, value ? value : "");
    }
    return text ? pbd_new_format(arena, "%s# Left out: what the case measures, its reference%s\n", text,
                                 o->setup.scene.skins > 0 ? ", and the surfaces by which its bodies are drawn" : "")
                : NULL;
}

/* Reads the written file again, to find its errors here and to print its contents. */
static pbd_status export_case(const char *name, const scene_options *options) {
    opened o PBD_CLEANUP(close_scene) = {0}, again PBD_CLEANUP(close_scene) = {0};
    pbd_arena arena PBD_ARENA;
    if (!options->out) return pbd_error(PBD_BAD_INPUT, "scene export needs a folder: -o FOLDER");
    PBD_TRY(pbd_find_case(name, &o.c));
    PBD_TRY(pbd_settings_parse((const char *const *)options->sets.item, options->sets.count, &o.given));
    for (size_t i = 0; i < o.given.count; i++)
        if (!is_of_case(o.c, o.given.item[i].key))
            return pbd_error(PBD_BAD_INPUT, "the case %s has no parameter '%.60s'", name, o.given.item[i].key);
    PBD_TRY(build_case(o.given.item, o.given.count, &o));
    const pbd_status said = scene_export_check(&o.setup);
    if (said.code != PBD_OK) return pbd_error(said.code, "%s cannot be exported: %.300s", name, said.text);
    const char *about = origin_of(&o, &arena), *file = pbd_new_format(&arena, "%s/scene.yaml", options->out);
    PBD_TRY(pbd_arena_check(&arena));
    PBD_TRY(pbd_make_folders(options->out));
    PBD_TRY(scene_export(&o.setup, options->out, about));
    PBD_TRY(open_scene(file, &(scene_options){0}, &again));
    print_contents(file, &again);
    return pbd_ok();
}

static pbd_status act(void *options, pbd_call *call) {
    static const char *const actions[] = {"check", "show", "export"};
    const scene_options *o = options;
    const pbd_texts *words = call->words;
    if (words->count == 0)
        return pbd_error(PBD_BAD_INPUT,
                         "scene needs an action: `pbdbench scene check|show FILE` or `scene export CASE`");
    const bool checks = strcmp(words->item[0], "check") == 0, exports = strcmp(words->item[0], "export") == 0;
    if (!checks && !exports && strcmp(words->item[0], "show") != 0)
        return pbd_unknown("action of scene", words->item[0], actions, 3, "pbdbench scene --help");
    if (words->count != 2)
        return pbd_error(PBD_BAD_INPUT, "scene %s needs one %s", words->item[0], exports ? "case" : "file");
    if (checks && o->out) return pbd_error(PBD_BAD_INPUT, "--out is an option of scene show and scene export");
    if (!checks && o->method) return pbd_error(PBD_BAD_INPUT, "--method is an option of scene check");
    pbd_catch_interrupts();
    if (exports) return export_case(words->item[1], o);
    return checks ? check(words->item[1], o, call) : show(words->item[1], o);
}

static int verb_main(int argc, char **argv) {
    scene_options o = {0};
    return pbd_verb_call(&pbd_verb_scene, argc, argv, &o, act);
}

const pbd_verb pbd_verb_scene = {
    .name = "scene",
    .summary = "check or draw a scene of your own; a case as a scene",
    .usage =
        "scene check FILE [-m METHOD] [-s key=value]...\n"
        "scene show FILE [-s key=value]... [-o PNG]\n"
        "scene export CASE [-s key=value]... -o FOLDER",
    .about =
        "A scene is a YAML file with bodies, matters, colliders, held regions and loads; cases/scene/README.md lists\n"
        "its keys, examples/scenes has examples. `pbdbench run scene -m METHOD -s file=FILE` runs it.\n"
        "\n"
        "  check   reads it and prints particles, volume and mass by body; then each method that fits, with its time\n"
        "          step, memory and the time a run takes by five steps of it, or why it does not\n"
        "  show    draws its start as a PNG, coloured by matter\n"
        "  export  writes a case with its settings as FOLDER/scene.yaml, the particles of each body as\n"
        "          FOLDER/body0.ply...: the same scene, which a method moves in the same way",
    .more =
        "Exit 2 where the file is wrong, with line and column, or where a scene file cannot say what the case holds; "
        "3\n"
        "where check finds no method that fits.",
    .options = table,
    .words = PBD_WORDS_FILES,
    .choices = "check|show|export",
    .main = verb_main,
};
