/* view: stored runs, made again, as one HTML page to look at in motion. */
#include <string.h>

#include "harness/catalog/plugin.h"
#include "harness/query/run_again.h"
#include "harness/query/run_command.h"
#include "harness/store/rows.h"
#include "harness/verbs/cli.h"
#include "harness/verbs/page_file.h"
#include "harness/view/view.h"

typedef struct view_options {
    const char *out, *db, *colour;
    long long frames;
    double most_mb;
    pbd_texts plugins, engines;
    bool quiet;
} view_options;

static const pbd_option table[] = {
    PBD_OPT_TEXT(view_options, out, "out", 'o', "FILE", PBD_WORDS_FILES,
                 "output file; - is standard output; default\n"
                 "results/view-RUN.html, with the first 8 digits of each run"),
    PBD_OPT_INTEGER(view_options, frames, "frames", 0, 2, VIEW_MOST_FRAMES,
                    "states of each run, evenly spaced over it; default 100"),
    PBD_OPT_CHOICE(view_options, colour, "colour", 0, "WHAT", PBD_COLOUR_NAMES,
                   "meaning of colours when the page is opened; it has strain, speed,\n"
                   "pressure of liquid, matter and body in any case, the others if asked\n"
                   "for; default auto: the matter where some flows, is liquid or cloth,\n"
                   "else the strain"),
    PBD_OPT_REAL(view_options, most_mb, "max-mb", 0, "MB", 1, 2000, "largest page; default 200"),
    PBD_OPTION_PLUGIN(view_options),
    PBD_OPTION_ENGINE(view_options),
    PBD_OPTION_DB(view_options),
    PBD_OPTION_QUIET(view_options, "prints nothing"),
    {0}};

static pbd_colour colour_of(const view_options *o) {
    return o->colour ? (pbd_colour)pbd_colour_named(o->colour) : PBD_COLOUR_AUTO;
}

/* The runs of the page, and where their states are kept. */
typedef struct viewed_runs {
    size_t count;
    pbd_run_again again[VIEW_MOST_RUNS];
    const char *command[VIEW_MOST_RUNS];
    pbd_arena memory;
} viewed_runs;

static void free_runs(viewed_runs *runs) {
    for (size_t i = 0; i < VIEW_MOST_RUNS; i++) {
        pbd_again_free(&runs->again[i]);
    }
    pbd_arena_free(&runs->memory);
}

/* ---- Which runs -------------------------------------------------------------------------------------------------- */

static pbd_status find_run(pbd_store *store, const char *word, viewed_runs *runs) {
    json_auto_t *record = NULL;
    const size_t i = runs->count++;
    pbd_run_again *again = &runs->again[i];
    PBD_TRY(pbd_again_find(store, word, again));
    PBD_TRY(pbd_record_load(store, again->stored.run_id, &record));
    const char *argv = json_string_value(json_object_get(json_object_get(record, "invocation"), "argv"));
    const char *command PBD_CLEANUP(pbd_free_memory) = pbd_run_command(&again->stored, argv);
    if (!command) return pbd_no_memory();
    runs->command[i] = pbd_new_text(&runs->memory, command);
    return pbd_arena_check(&runs->memory);
}

static pbd_status find_runs(const view_options *o, const pbd_texts *words, viewed_runs *runs) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    if (words->count == 0)
        return pbd_error(PBD_BAD_INPUT,
                         "view needs a run: its id, or at least the first 4 digits of it; "
                         "`pbdbench list runs` lists the newest");
    if (words->count > VIEW_MOST_RUNS)
        return pbd_error(PBD_BAD_INPUT, "view shows at most %d runs beside each other, not %zu", VIEW_MOST_RUNS,
                         words->count);
    PBD_TRY(pbd_open_store(o->db, PBD_STORE_READ, &store));
    for (size_t i = 0; i < words->count; i++) PBD_TRY(find_run(store, words->item[i], runs));
    return pbd_ok();
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static pbd_status make_runs(const view_options *o, const pbd_page_file *page, viewed_runs *runs) {
    const char *beside PBD_CLEANUP(pbd_free_memory) = page->fresh ? strdup(page->path) : pbd_root_path("results/view");
    if (!beside) return pbd_no_memory();
    const pbd_spool_plan plan = pbd_view_plan(0, (int)o->frames, o->most_mb, runs->count, colour_of(o));
    for (size_t i = 0; i < runs->count; i++) PBD_TRY(pbd_again_make(&runs->again[i], beside, plan, !o->quiet));
    return pbd_ok();
}

static pbd_status write_page(const view_options *o, viewed_runs *runs, pbd_page_file *page) {
    pbd_view_run shown[VIEW_MOST_RUNS];
    char name[80] = "view";
    for (size_t i = 0; i < runs->count; i++)
        snprintf(name + strlen(name), sizeof name - strlen(name), "-%.8s", runs->again[i].stored.run_id);
    strcat(name, ".html");
    PBD_TRY(pbd_page_open("page", o->out, name, page));
    PBD_TRY(make_runs(o, page, runs));
    for (size_t i = 0; i < runs->count; i++) {
        pbd_run_again *again = &runs->again[i];
        shown[i] = (pbd_view_run){&again->stored, runs->command[i], &again->kept.setup.scene,
                                  pbd_cell_method(again->kept.cell), again->kept.spool};
    }
    PBD_TRY(pbd_view_write(shown, runs->count, colour_of(o), page->file));
    if (ferror(page->file)) return pbd_page_cannot(page, "the disk is full");
    if (!o->quiet && page->fresh) printf("%s (%.1f MB)\n", page->path, 1e-6 * (double)ftello(page->file));
    return pbd_ok();
}

static pbd_status act(void *options, pbd_call *call) {
    view_options *o = options;
    viewed_runs runs PBD_CLEANUP(free_runs) = {0};
    pbd_page_file page = {0};
    PBD_TRY(pbd_plugins_load(&o->plugins));
    PBD_TRY(pbd_engines_load(&o->engines));
    PBD_TRY(find_runs(o, call->words, &runs));
    pbd_catch_interrupts();
    return pbd_page_close(&page, write_page(o, &runs, &page));
}

static int verb_main(int argc, char **argv) {
    view_options o = {.frames = 100, .most_mb = 200};
    return pbd_verb_call(&pbd_verb_view, argc, argv, &o, act);
}

const pbd_verb pbd_verb_view = {
    .name = "view",
    .summary = "stored runs in motion, as one HTML page",
    .usage = "view RUN [RUN...] [-o FILE.html] [--frames N] [--colour WHAT] [options]",
    .about =
        "Writes one self-contained HTML page that opens from disk in a browser with WebGL 2: particles and\n"
        "triangles to turn, move and zoom, a time slider, colours by fields, a section plane; of up to 4 runs\n"
        "beside each other with one camera and one clock. RUN is a run's id, or at least the first 4 digits of it.",
    .more =
        "The store holds no positions, so each run is made again, which takes as long as it took; a warning says if\n"
        "a result differs from the stored one. `pbdbench run ... --view FILE` writes the page of a new run.\n"
        "Exit 2 when there is no such run, when the page would be too large or cannot be written.",
    .options = table,
    .main = verb_main,
};
