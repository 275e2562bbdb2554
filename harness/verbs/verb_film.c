/* film: stored runs, made again, side by side in one film. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "harness/catalog/plugin.h"
#include "harness/files/paths.h"
#include "harness/process/interrupt.h"
#include "harness/query/run_again.h"
#include "harness/query/run_command.h"
#include "harness/verbs/cli.h"

typedef struct film_options {
    const char *out, *db, *colour, *draw;
    double slow, strain_scale;
    pbd_texts plugins, engines;
    bool quiet;
} film_options;

static const pbd_option table[] = {
    PBD_OPT_TEXT(film_options, out, "out", 'o', "FILE", PBD_WORDS_FILES,
                 "output file, .mp4, .webm or .gif; default results/film-RUN.mp4, with\n"
                 "the first 8 digits of each run"),
    PBD_OPT_REAL(film_options, slow, "slow", 0, "N", 1e-6, 1e6, "seconds of film for one second of a run; default 1"),
    PBD_OPT_CHOICE(film_options, colour, "colour", 0, "WHAT", PBD_COLOUR_NAMES,
                   "meaning of colours, with one scale for all runs; default auto:\n"
                   "the matter where some flows, is liquid or cloth, else the strain"),
    PBD_OPT_CHOICE(film_options, draw, "draw", 0, "HOW", PBD_DRAW_NAMES,
                   "auto (surfaces, grains, meshes) or all particles as spheres"),
    PBD_OPT_REAL(film_options, strain_scale, "strain-scale", 0, "STRAIN", 1e-12, 1e12,
                 "strain of the darkest colour; default the largest, rounded up"),
    PBD_OPTION_PLUGIN(film_options),
    PBD_OPTION_ENGINE(film_options),
    PBD_OPTION_DB(film_options),
    PBD_OPTION_QUIET(film_options, "prints nothing"),
    {0}};

/* The runs of the film, and where their states are kept. */
typedef struct filmed_runs {
    size_t count;
    pbd_run_again again[FILM_MOST_SIDES];
    json_t *params[FILM_MOST_SIDES];
    char *caption[FILM_MOST_SIDES];
} filmed_runs;

static void free_runs(filmed_runs *runs) {
    for (size_t i = 0; i < runs->count; i++) {
        pbd_again_free(&runs->again[i]);
        json_decref(runs->params[i]);
        free(runs->caption[i]);
    }
}

static pbd_status find_runs(const film_options *o, const pbd_texts *words, filmed_runs *runs) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    if (words->count == 0)
        return pbd_error(PBD_BAD_INPUT,
                         "film needs a run: its id, or at least the first 4 digits of it; `pbdbench list runs` lists "
                         "the newest");
    if (words->count > FILM_MOST_SIDES)
        return pbd_error(PBD_BAD_INPUT, "film shows at most %d runs side by side, not %zu", FILM_MOST_SIDES,
                         words->count);
    PBD_TRY(pbd_open_store(o->db, PBD_STORE_READ, &store));
    for (size_t i = 0; i < words->count; i++) {
        pbd_run_again *again = &runs->again[runs->count++];
        PBD_TRY(pbd_again_find(store, words->item[i], again));
        runs->params[i] = json_loads(again->stored.params, 0, NULL);
    }
    return pbd_ok();
}

/* ---- What differs ------------------------------------------------------------------------------------------------ */

/* Whether another run has this parameter with another value. A parameter that one method lacks is not a difference. */
static bool param_differs(const filmed_runs *runs, size_t run, const char *key) {
    const json_t *own = json_object_get(runs->params[run], key);
    for (size_t i = 0; i < runs->count; i++) {
        const json_t *other = json_object_get(runs->params[i], key);
        if (other && !json_equal(own, other)) return true;
    }
    return false;
}

static bool text_differs(const filmed_runs *runs, size_t member) {
    bool differs = false;
    for (size_t i = 1; i < runs->count; i++)
        differs |= strcmp(*(char *const *)(const void *)((const char *)&runs->again[0].stored + member),
                          *(char *const *)(const void *)((const char *)&runs->again[i].stored + member)) != 0;
    return differs;
}

static void write_params(const filmed_runs *runs, size_t run, FILE *out) {
    const char *key;
    json_t *value;
    json_object_foreach(runs->params[run], key, value) {
        char number[40];
        if (param_differs(runs, run, key)) fprintf(out, " %s=%s", key, pbd_spell_param(value, number));
    }
}

static void write_caption(const filmed_runs *runs, size_t run, FILE *out) {
    const pbd_result *r = &runs->again[run].stored;
    bool threads = false;
    if (text_differs(runs, offsetof(pbd_result, case_name))) fprintf(out, " %s", r->case_name);
    if (text_differs(runs, offsetof(pbd_result, method_name))) fprintf(out, " %s", r->method_name);
    write_params(runs, run, out);
    if (text_differs(runs, offsetof(pbd_result, backend))) fprintf(out, " %s", r->backend);
    if (text_differs(runs, offsetof(pbd_result, precision))) fprintf(out, " %s", r->precision);
    for (size_t i = 0; i < runs->count; i++) threads |= runs->again[i].stored.threads != r->threads;
    if (threads) fprintf(out, " %d threads", r->threads);
}

/* Captions the runs with the settings in which they differ, or with the run id if they differ in none. */
static pbd_status caption_runs(filmed_runs *runs) {
    for (size_t i = 0; i < runs->count && runs->count > 1; i++) {
        size_t bytes;
        FILE *out = open_memstream(&runs->caption[i], &bytes);
        if (!out) return pbd_no_memory();
        write_caption(runs, i, out);
        if (ftell(out) == 0) fprintf(out, " run %.8s", runs->again[i].stored.run_id);
        if (fclose(out) != 0) return pbd_no_memory();
    }
    return pbd_ok();
}

/* ---- The film ---------------------------------------------------------------------------------------------------- */

static pbd_status make_runs(const film_options *o, const pbd_film_plan *plan, filmed_runs *runs) {
    for (size_t i = 0; i < runs->count; i++) {
        pbd_run_again *again = &runs->again[i];
        PBD_TRY(pbd_again_make(again, plan->path, pbd_film_spooling(plan, 0), !o->quiet));
        PBD_TRY(pbd_film_can_move(&again->kept.setup.scene));
    }
    return pbd_ok();
}

static pbd_status make_film(const film_options *o, const char *path, filmed_runs *runs) {
    pbd_take_of side[FILM_MOST_SIDES];
    const pbd_film_plan plan = {
        .path = path,
        .slow = o->slow,
        .album = {.colour = o->colour ? (pbd_colour)pbd_colour_named(o->colour) : PBD_COLOUR_AUTO,
                  .strain_scale = o->strain_scale,
                  .draw = o->draw && strcmp(o->draw, "particles") == 0 ? PBD_DRAW_PARTICLES : PBD_DRAW_AUTO},
        .quiet = o->quiet};
    PBD_TRY(pbd_film_check(path));
    PBD_TRY(caption_runs(runs));
    PBD_TRY(make_runs(o, &plan, runs));
    for (size_t i = 0; i < runs->count; i++) {
        const pbd_kept_run *kept = &runs->again[i].kept;
        side[i] = (pbd_take_of){&kept->setup.scene, pbd_cell_method(kept->cell), kept->spool,
                                runs->caption[i] ? runs->caption[i] + 1 : NULL};
    }
    PBD_TRY(pbd_film_draw(&plan, side, runs->count));
    if (!o->quiet) printf("%s\n", path);
    return pbd_ok();
}

static pbd_status act(void *options, pbd_call *call) {
    const film_options *o = options;
    filmed_runs runs PBD_CLEANUP(free_runs) = {0};
    char name[100] = "results/film";
    PBD_TRY(pbd_plugins_load(&o->plugins));
    PBD_TRY(pbd_engines_load(&o->engines));
    PBD_TRY(find_runs(o, call->words, &runs));
    for (size_t i = 0; i < runs.count; i++)
        snprintf(name + strlen(name), sizeof name - strlen(name), "-%.8s", runs.again[i].stored.run_id);
    strcat(name, ".mp4");
    char *folder PBD_CLEANUP(pbd_free_memory) = pbd_root_path("results");
    char *path PBD_CLEANUP(pbd_free_memory) = o->out ? strdup(o->out) : pbd_root_path(name);
    if (!path || !folder) return pbd_no_memory();
    if (!o->out) PBD_TRY(pbd_make_folders(folder));
    pbd_catch_interrupts();
    return make_film(o, path, &runs);
}

static int verb_main(int argc, char **argv) {
    film_options o = {0};
    return pbd_verb_call(&pbd_verb_film, argc, argv, &o, act);
}

const pbd_verb pbd_verb_film = {
    .name = "film",
    .summary = "stored runs side by side in one film",
    .usage = "film RUN [RUN...] [-o FILE.mp4] [--slow N] [--colour WHAT] [options]",
    .about =
        "Draws up to 4 stored runs side by side in step with each other: one clock, one camera, one scale of\n"
        "colours, and below each the settings in which they differ. 25 frames a second, by the program ffmpeg.\n"
        "RUN is a run's id, or at least the first 4 digits of it.",
    .more =
        "The store holds no positions, so each run is made again, which takes as long as it took; a warning says if\n"
        "a result differs from the stored one. `pbdbench run ... --film FILE` draws a new run.\n"
        "Exit 2 when there is no such run, when a run does not move, or when the film cannot be written.",
    .options = table,
    .main = verb_main,
};
