/* The actions of `sweep`. */
#include "harness/sweep/parts.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/files/json.h"
#include "harness/files/texts.h"
#include "harness/process/child.h"
#include "harness/process/exit_codes.h"
#include "harness/process/interrupt.h"
#include "harness/store/rows.h"
#include "harness/sweep/shard_merge.h"
#include "harness/sweep/shard_run.h"

enum {
    WANTED_SECONDS = 600, /* of a shard: long compared with the start of a job, and not much to lose */
    BLIND_CELLS = 25,     /* of a shard, if no times are known */
    SHOWN = 12            /* ranges of missing shards */
};

/* ---- Saying ------------------------------------------------------------------------------------------------------ */

static json_t *missing_json(const bool *is_there, size_t shards) {
    json_t *list = json_array();
    for (size_t i = 0; i < shards; i++)
        if (!is_there[i]) json_array_append_new(list, json_integer((json_int_t)i));
    return list;
}

/* « 3, 7-9, 12» */
static void print_missing(const bool *is_there, size_t shards) {
    size_t shown = 0;
    for (size_t i = 0, end; i < shards; i = end + 1) {
        for (end = i; end < shards && !is_there[end];) end++;
        if (end == i) continue;
        if (shown++ == SHOWN) {
            printf(", ...");
            return;
        }
        printf("%s%zu", shown > 1 ? ", " : " ", i);
        if (end > i + 1) printf("-%zu", end - 1);
    }
}

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

/* ---- status ------------------------------------------------------------------------------------------------------ */

/* Tasks of the last submission according to squeue. Only printed: no decision depends on it. */
typedef struct queue {
    bool is_known;
    size_t running, waiting;
} queue;

static queue count_tasks(char *lines) {
    queue q = {.is_known = true};
    for (char *rest = lines, *line; (line = strsep(&rest, "\n"));) {
        q.running += strcmp(line, "RUNNING") == 0 || strcmp(line, "COMPLETING") == 0;
        q.waiting += strcmp(line, "PENDING") == 0 || strcmp(line, "CONFIGURING") == 0;
    }
    return q;
}

/* squeue reports an error for a job that it no longer knows, unless it is one of several: then it prints nothing. */
static queue ask_queue(const json_t *last) {
    char jobs[400] = "--jobs=";
    size_t i, used = strlen(jobs);
    json_t *job;
    queue q = {0};
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    if (json_array_size(json_object_get(last, "jobs")) == 0) return q;
    json_array_foreach(json_object_get(last, "jobs"), i, job) {
        if (used + 40 < sizeof jobs)
            used += (size_t)snprintf(jobs + used, sizeof jobs - used, "%s%s", i ? "," : "", json_string_value(job));
    }
    const char *const words[] = {"squeue", "--noheader", "--array", "--format=%T", jobs, NULL};
    if (pbd_child_run(words, NULL, -1, &child).code == PBD_OK && child.code == 0) q = count_tasks(child.out);
    return q;
}

static void print_submission(const json_t *last) {
    size_t i;
    json_t *job;
    const char *engine = json_string_value(json_object_get(last, "engine"));
    if (!engine || strcmp(engine, "slurm") != 0) return;
    const queue q = ask_queue(last);
    printf("  submitted to Slurm as");
    json_array_foreach(json_object_get(last, "jobs"), i, job) {
        printf("%s %s", i ? "," : " job", json_string_value(job));
    }
    if (q.is_known) printf(": %zu running, %zu waiting", q.running, q.waiting);
    const char *merge = json_string_value(json_object_get(last, "merge"));
    printf("%s%s\n", merge && *merge ? "; merge " : "; no merge", merge ? merge : "");
}

static json_t *bad_json(const pbd_shards *shards) {
    json_t *list = json_array();
    for (size_t i = 0; i < shards->count; i++)
        if (shards->item[i].trouble.code != PBD_OK)
            json_array_append_new(list, json_pack("{so so}", "file", pbd_text_json(shards->item[i].name), "says",
                                                  pbd_text_json(shards->item[i].trouble.text)));
    return list;
}

static void say_status(const pbd_manifest *m, const pbd_shards *shards, const pbd_report_style *style) {
    json_auto_t *last = pbd_submitted(m);
    if (style->json) {
        pbd_print_json(json_pack("{so ss so sI sI sI sI sI so so so}", "folder", pbd_text_json(m->folder), "manifest",
                                 m->hash, "name", pbd_text_json(m->name), "cells", (json_int_t)m->cells, "runs",
                                 (json_int_t)m->runs, "shard_cells", (json_int_t)m->shard_cells, "shards",
                                 (json_int_t)m->shards, "published", (json_int_t)shards->there, "missing",
                                 missing_json(shards->is_there, m->shards), "bad", bad_json(shards), "submitted",
                                 last ? json_incref(last) : json_null()));
    } else {
        printf("%s (%s): %zu run%s in %zu shard%s of %zu cell%s; %zu published", m->folder, m->name, m->runs,
               plural(m->runs), m->shards, plural(m->shards), m->shard_cells, plural(m->shard_cells), shards->there);
        if (shards->there < m->shards) printf(", missing:");
        print_missing(shards->is_there, m->shards);
        putchar('\n');
        for (size_t i = 0; i < shards->count; i++)
            if (shards->item[i].trouble.code != PBD_OK)
                printf("  not a shard: %s: %s\n", shards->item[i].name, shards->item[i].trouble.text);
        if (last) print_submission(last);
    }
}

static pbd_status tell_status(const pbd_manifest *m, const pbd_parts *parts, int *exit_code) {
    pbd_shards shards PBD_CLEANUP(pbd_shards_free) = {0};
    PBD_TRY(pbd_shards_look(m, &shards));
    say_status(m, &shards, &parts->style);
    *exit_code = shards.there < m->shards ? PBD_EXIT_INCONCLUSIVE : PBD_EXIT_OK;
    return pbd_ok();
}

pbd_status pbd_parts_status(const pbd_parts *parts, int *exit_code) {
    pbd_manifest *m PBD_CLEANUP(pbd_manifest_release) = NULL;
    PBD_TRY(pbd_manifest_open(parts->dir, &m));
    return tell_status(m, parts, exit_code);
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

/* Seconds of the mean run, from stored runs of the same cases and methods; NAN when there are none. */
static double seconds_each(const pbd_figure_file *file, const pbd_plan *plan, const char *db) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    pbd_forecast forecast = {.seconds = NAN};
    if (access(db, F_OK) != 0 || pbd_store_open(db, PBD_STORE_READ, &store).code != PBD_OK) return NAN;
    const pbd_status status = pbd_forecast_figure(file, plan, 0, false, store, NULL, &forecast);
    return status.code == PBD_OK && forecast.runs.missing > 0 ? forecast.seconds / (double)forecast.runs.missing : NAN;
}

/* The number of cells that take about WANTED_SECONDS. */
static size_t choose_length(double seconds, const pbd_plan *plan) {
    if (!(seconds > 0)) return BLIND_CELLS;
    const double cells = WANTED_SECONDS / seconds;
    if (cells < 1) return 1;
    return cells > (double)plan->count ? plan->count : (size_t)cells;
}

/* Planning and running usually happen on different machines. */
static void warn_of_threads(const pbd_figure_file *file, const pbd_plan *plan) {
    for (unsigned i = 0; i < file->runs_count; i++) {
        if (file->runs[i].threads > 0) continue;
        fprintf(stderr,
                "pbdbench: %s: runs[%u] '%s' does not set threads: frozen to the %d of this machine; set `threads: N` "
                "to change it\n",
                file->shown_as, i, file->runs[i].name, plan->count ? plan->item[0].cell.threads : 0);
        return;
    }
}

static pbd_status freeze(const pbd_parts *parts, const pbd_figure_file *file, const pbd_plan *plan) {
    const double seconds = seconds_each(file, plan, parts->db);
    const size_t cells = parts->shard_cells > 0 ? (size_t)parts->shard_cells : choose_length(seconds, plan);
    PBD_TRY(pbd_manifest_freeze(plan, parts->path, cells, parts->dir));
    if (parts->style.quiet || parts->style.json) return pbd_ok();
    warn_of_threads(file, plan);
    if (seconds > 0)
        printf("about %.2g s a run, as stored runs took: %.2g s a shard\n", seconds, seconds * (double)cells);
    else if (parts->shard_cells == 0)
        printf("no similar run is stored, so its time is unknown: --shard-cells N makes shards of 5 to 30 minutes\n");
    return pbd_ok();
}

static void release_figure(pbd_figure_file **file) { pbd_figure_file_free(*file); }

pbd_status pbd_parts_plan(const pbd_parts *parts, int *exit_code) {
    pbd_figure_file *file PBD_CLEANUP(release_figure) = NULL;
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {0};
    PBD_TRY(pbd_sweep_load(parts->path, &file));
    PBD_TRY(pbd_figure_plan(file, false, 0, &plan));
    PBD_TRY(freeze(parts, file, &plan));
    PBD_TRY(pbd_parts_status(parts, exit_code));
    *exit_code = PBD_EXIT_OK; /* missing shards are no failure of `plan` */
    return pbd_ok();
}

/* ---- submit and resume ------------------------------------------------------------------------------------------- */

static pbd_status start(const pbd_manifest *m, const pbd_parts *parts, const pbd_submission *submission,
                        const bool *wanted, int *exit_code) {
    PBD_TRY(pbd_manifest_prepare(m));
    if (strcmp(submission->engine, "local") == 0) return pbd_run_locally(m, wanted, submission, exit_code);
    PBD_TRY(pbd_submit_to_slurm(m, wanted, submission));
    const pbd_status status = tell_status(m, parts, exit_code);
    *exit_code = PBD_EXIT_OK;
    return status;
}

/* Even if no shard is missing, there may be shards to merge. */
static pbd_status start_missing(const pbd_manifest *m, const pbd_parts *parts, const pbd_submission *submission,
                                int *exit_code) {
    pbd_shards shards PBD_CLEANUP(pbd_shards_free) = {0};
    PBD_TRY(pbd_shards_look(m, &shards));
    bool *wanted = shards.is_there;
    for (size_t i = 0; i < m->shards; i++) wanted[i] = !wanted[i];
    if (shards.there < m->shards) return start(m, parts, submission, wanted, exit_code);
    if (!parts->style.quiet && !parts->style.json) printf("every shard is published: nothing to submit; merging\n");
    pbd_parts merge = *parts;
    merge.db = submission->db;
    return pbd_parts_merge(&merge, exit_code);
}

static pbd_status begin(pbd_manifest **m, const pbd_parts *parts, int *exit_code) {
    json_auto_t *last = pbd_submitted(*m);
    const char *engine = json_string_value(json_object_get(last, "engine"));
    const bool twice = engine && strcmp(engine, "slurm") == 0;
    if (!parts->submission.engine)
        return pbd_error(PBD_BAD_INPUT, "submit needs --engine slurm, or --engine local for this machine");
    if (twice)
        return pbd_error(PBD_BAD_INPUT,
                         "the sweep in '%.140s' was submitted already: `pbdbench sweep status` shows its progress; "
                         "when its jobs have ended, `pbdbench sweep resume` submits missing shards",
                         (*m)->folder);
    if (parts->shard_cells > 0) PBD_TRY(pbd_manifest_regroup(m, (size_t)parts->shard_cells));
    return start_missing(*m, parts, &parts->submission, exit_code);
}

pbd_status pbd_parts_submit(const pbd_parts *parts, int *exit_code) {
    pbd_manifest *m PBD_CLEANUP(pbd_manifest_release) = NULL;
    PBD_TRY(pbd_manifest_open(parts->dir, &m));
    return begin(&m, parts, exit_code);
}

static pbd_status go_on(const pbd_manifest *m, const pbd_parts *parts, pbd_submission *s, const json_t *last,
                        int *exit_code) {
    if (!parts->db_given) s->db = NULL;
    PBD_TRY(pbd_submission_recall(s, last));
    if (!s->db) s->db = parts->db;
    if (!s->engine)
        return pbd_error(PBD_BAD_INPUT,
                         "nothing was submitted of the sweep in '%.140s' yet: `pbdbench sweep submit --engine slurm`, "
                         "or give the engine here",
                         m->folder);
    const queue q = strcmp(s->engine, "slurm") == 0 ? ask_queue(last) : (queue){0};
    if (q.running + q.waiting > 0)
        fprintf(stderr,
                "pbdbench: of the last submission %zu tasks are running and %zu waiting: their shards will run twice, "
                "which is harmless but takes time\n",
                q.running, q.waiting);
    return start_missing(m, parts, s, exit_code);
}

pbd_status pbd_parts_resume(const pbd_parts *parts, int *exit_code) {
    pbd_manifest *m PBD_CLEANUP(pbd_manifest_release) = NULL;
    PBD_TRY(pbd_manifest_open(parts->dir, &m));
    json_auto_t *last = pbd_submitted(m);
    pbd_submission s = parts->submission;
    const pbd_status status = go_on(m, parts, &s, last, exit_code);
    if (parts->submission.args.count == 0) pbd_texts_free(&s.args); /* they came from the last submission */
    return status;
}

/* ---- run-shard --------------------------------------------------------------------------------------------------- */

/* A paused run is no failure: *paused, and the shard is missing. */
static pbd_status run_shard(const pbd_manifest *m, const pbd_parts *parts, pbd_making *making, bool *paused) {
    bool known;
    char of[40];
    PBD_TRY(pbd_manifest_check_shard(m, parts->shard));
    PBD_TRY(pbd_manifest_prepare(m));
    snprintf(of, sizeof of, "shard %lld", parts->shard);
    const pbd_status status = pbd_shard_run(m, (size_t)parts->shard, (double)parts->submission.pause, making,
                                            parts->argc, parts->argv, &known);
    *paused = status.code == PBD_INTERRUPTED && !pbd_interrupted();
    if (*paused) fprintf(stderr, "pbdbench: shard %lld is not published: %s\n", parts->shard, status.text);
    if (*paused) return pbd_ok();
    PBD_TRY(status);
    if (!known)
        pbd_print_made(making, of);
    else if (!parts->style.json)
        printf("%s: already published\n", of);
    return pbd_ok();
}

pbd_status pbd_parts_run_shard(const pbd_parts *parts, int *exit_code) {
    pbd_manifest *m PBD_CLEANUP(pbd_manifest_release) = NULL;
    pbd_making making = {.style = parts->style};
    bool paused = false;
    PBD_TRY(pbd_manifest_open(parts->dir, &m));
    const pbd_status status = run_shard(m, parts, &making, &paused);
    *exit_code = paused ? PBD_EXIT_INCONCLUSIVE : pbd_made_exit(&making);
    free(making.refusals);
    return status;
}

/* ---- merge ------------------------------------------------------------------------------------------------------- */

typedef struct merge_story {
    json_t *aside, *refusals;
} merge_story;

static void hear(void *context, const char *name, const char *says) {
    const merge_story *story = context;
    if (name)
        json_array_append_new(story->aside,
                              json_pack("{so so}", "file", pbd_text_json(name), "says", pbd_text_json(says)));
    else
        json_array_append_new(story->refusals, pbd_text_json(says));
    if (name)
        fprintf(stderr, "pbdbench: moved to aside: %s: %s\n", name, says);
    else
        fprintf(stderr, "pbdbench: run refused: %s\n", says);
}

static void say_merged(const pbd_manifest *m, const pbd_parts *parts, const pbd_shards_merged *merged,
                       const merge_story *story) {
    if (parts->style.json) {
        pbd_print_json(json_pack("{sI sI so sI sI sI sI sO sO}", "shards", (json_int_t)m->shards, "merged",
                                 (json_int_t)merged->shards, "missing", missing_json(merged->is_merged, m->shards),
                                 "added", (json_int_t)merged->added, "known", (json_int_t)merged->known, "unwell",
                                 (json_int_t)merged->unwell, "made_twice", (json_int_t)merged->twice, "aside",
                                 story->aside, "refusals", story->refusals));
        return;
    }
    printf("%s: %zu of %zu shards merged: %zu run%s added, %zu already present, %zu failed, diverged or unphysical",
           parts->db, merged->shards, m->shards, merged->added, plural(merged->added), merged->known, merged->unwell);
    if (merged->refused > 0) printf(", %zu refused", merged->refused);
    if (merged->twice > 0) printf("; %zu made twice and ignored", merged->twice);
    putchar('\n');
    if (merged->aside > 0) printf("  %zu moved to %s/aside\n", merged->aside, m->folder);
    if (merged->shards == m->shards) return;
    printf("  missing:");
    print_missing(merged->is_merged, m->shards);
    printf("; `pbdbench sweep resume` submits them\n");
}

static int merged_exit(const pbd_manifest *m, const pbd_shards_merged *merged) {
    if (merged->aside > 0 || merged->refused > 0) return PBD_EXIT_USAGE;
    if (merged->shards < m->shards) return PBD_EXIT_INCONCLUSIVE;
    return merged->unwell > 0 ? PBD_EXIT_RUN_FAILED : PBD_EXIT_OK;
}

static pbd_status merge_into(const pbd_manifest *m, const pbd_parts *parts, pbd_store *store, int *exit_code) {
    json_auto_t *aside = json_array(), *refusals = json_array();
    merge_story story = {aside, refusals};
    pbd_shards_merged merged = {0};
    const pbd_status status = pbd_shards_merge(m, store, hear, &story, &merged);
    if (status.code == PBD_OK) {
        say_merged(m, parts, &merged, &story);
        *exit_code = merged_exit(m, &merged);
    }
    free(merged.is_merged);
    return status;
}

pbd_status pbd_parts_merge(const pbd_parts *parts, int *exit_code) {
    pbd_manifest *m PBD_CLEANUP(pbd_manifest_release) = NULL;
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    /* Records are allocated and freed for each of a hundred thousand runs: lets malloc keep that memory. */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 16 << 20);
    PBD_TRY(pbd_manifest_open(parts->dir, &m));
    PBD_TRY(pbd_store_open(parts->db, PBD_STORE_WRITE, &store));
    return merge_into(m, parts, store, exit_code);
}
