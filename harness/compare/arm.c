/* The words, the image and the answer of one process. */
#include "harness/compare/arm.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/renamed.h"
#include "harness/compare/program_image.h"
#include "harness/exec/arena.h"

/* ---- The output of a process --------------------------------------------------------------------------------------
 */

void pbd_arm_run_free(pbd_arm_run *run) {
    for (size_t i = 0; i < run->metrics; i++) {
        free(run->metric[i].name);
        free(run->metric[i].unit);
    }
    free(run->metric);
    free(run->cell_today);
    free(run->problem);
    free(run->state);
    free(run->says);
    *run = (pbd_arm_run){0};
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(const json_t *value) { return json_is_number(value) ? json_number_value(value) : (double)NAN; }

static bool read_metrics(const json_t *metrics, pbd_arm_run *out) {
    const char *name;
    const json_t *item;
    out->metric = calloc(json_object_size(metrics) + 1, sizeof *out->metric);
    if (!out->metric) return false;
    json_object_foreach((json_t *)(uintptr_t)metrics, name, item) {
        pbd_metric_item *m = &out->metric[out->metrics++];
        const json_t *value = json_object_get(item, "value");
        m->name = strdup(name);
        m->unit = strdup(text_of(item, "unit"));
        m->is_count = json_is_integer(value);
        m->count = m->is_count ? (uint64_t)json_integer_value(value) : 0;
        m->value = number_of(value);
        if (!m->name || !m->unit) return false;
        m->kind = pbd_kind_read(json_string_value(json_object_get(item, "kind")), m->name, m->unit,
                                text_of(item, "direction"), m->is_count);
    }
    return true;
}

/* The samples' median, or the time of the only solve. */
static double time_of(const json_t *run, const pbd_arm_run *out, const char *metric, const char *clock) {
    const pbd_metric_item *m = pbd_arm_metric(out, metric);
    if (m) return m->value;
    return number_of(json_object_get(json_object_get(json_object_get(run, "timing"), "solve"), clock));
}

/* Builds may give one cell two ids when a parameter was renamed between them. */
static bool spell_cell(const json_t *run, char **out) {
    const char *case_name = text_of(run, "case"), *method = text_of(run, "method");
    if (!pbd_has_renamed(case_name, method)) return true;
    char *params PBD_CLEANUP(pbd_free_memory) =
        json_dumps(json_object_get(run, "params"), JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    char *today PBD_CLEANUP(pbd_free_memory) = params ? pbd_params_today(case_name, method, params) : NULL;
    return today && asprintf(out, "%s %s %s %s %s %lld", case_name, method, today, text_of(run, "backend"),
                             text_of(run, "precision"), json_integer_value(json_object_get(run, "threads"))) >= 0;
}

static bool spell_problem(const json_t *run, char **out) {
    char *params PBD_CLEANUP(pbd_free_memory) =
        json_dumps(json_object_get(run, "params"), JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    return asprintf(out, "%s %s %s", text_of(run, "case"), text_of(run, "method"), params ? params : "") >= 0;
}

static bool read_run(const json_t *run, pbd_arm_run *out) {
    snprintf(out->run_id, sizeof out->run_id, "%s", text_of(run, "run_id"));
    snprintf(out->cell_id, sizeof out->cell_id, "%s", text_of(run, "cell_id"));
    snprintf(out->backend, sizeof out->backend, "%s", text_of(run, "backend"));
    snprintf(out->precision, sizeof out->precision, "%s", text_of(run, "precision"));
    out->threads = (int)json_integer_value(json_object_get(run, "threads"));
    out->state = strdup(text_of(run, "state"));
    out->says = strdup(text_of(run, "says"));
    if (!out->state || !out->says || !read_metrics(json_object_get(run, "metrics"), out)) return false;
    if (!spell_cell(run, &out->cell_today) || !spell_problem(run, &out->problem)) return false;
    out->wall_s = time_of(run, out, "solve_wall", "wall_s");
    out->cpu_s = time_of(run, out, "solve_cpu", "cpu_s");
    return true;
}

static bool is_run(const json_t *run) {
    return *text_of(run, "state") && json_is_string(json_object_get(run, "run_id")) &&
           json_is_object(json_object_get(run, "metrics"));
}

/* ---- One process ------------------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 256 };

static pbd_status read_answer(const pbd_arm *arm, const pbd_child *child, pbd_arm_run *out) {
    char words[200];
    pbd_last_words(child->err, words, sizeof words);
    if (child->code == -SIGINT || child->code == -SIGTERM)
        return pbd_error(PBD_INTERRUPTED, "a process of %.60s was interrupted", arm->name);
    if (child->code < 0)
        return pbd_error(PBD_FAILED, "a process of %.60s was ended by signal %d (%s)%s%s", arm->name, -child->code,
                         strsignal(-child->code), *words ? ": " : "", words);
    if (child->code == 2 && strstr(child->err, "unrecognized option '--time'"))
        return pbd_error(PBD_BAD_INPUT, "%.60s: '%.120s' is older than `run --time`, which comparisons need", arm->name,
                         arm->program);
    json_auto_t *run = json_loads(child->out, JSON_REJECT_DUPLICATES, NULL);
    if (is_run(run)) return read_run(run, out) ? pbd_ok() : pbd_no_memory();
    if (child->code == 2 && *words) return pbd_error(PBD_BAD_INPUT, "%.60s: %s", arm->name, words);
    char printed[80];
    pbd_last_words(child->out, printed, sizeof printed);
    return pbd_error(PBD_BAD_INPUT, "%.60s: '%.80s' prints no run (exit %d)%s%s%s%s", arm->name, arm->program,
                     child->code, *printed ? ", but: " : "", printed, *words ? "; " : "", words);
}

/* The words of one process; owned by `arm` and `out` itself. */
typedef struct arm_words {
    const char *word[MOST_WORDS + 16];
    char time[32], former[1000]; /* former: settings by the names that an older program knows */
    size_t former_bytes;
} arm_words;

static bool has_word(const char *text, const char *word) {
    const size_t bytes = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += bytes)
        if ((at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) && !isalnum((unsigned char)at[bytes]) &&
            at[bytes] != '_')
            return true;
    return false;
}

/* The name by which the arm's program lists the parameter, where it is a former one; else NULL. */
static pbd_status find_former(const pbd_arm *arm, const char *today, const char **out) {
    *out = pbd_name_before(arm->word[0], arm->word[2], today);
    if (!*out) return pbd_ok();
    const char *const word[] = {arm->program, "run", arm->word[0], arm->word[1], arm->word[2], "--help", NULL};
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    PBD_TRY(pbd_child_run(word, NULL, -1, &child));
    if (has_word(child.out, today)) *out = NULL;
    while (*out && !has_word(child.out, *out)) *out = pbd_name_before(arm->word[0], arm->word[2], *out);
    return pbd_ok();
}

/* A setting `key=value`, with the name that the arm's program has for the key. Words begin with CASE -m METHOD. */
static pbd_status spell_setting(const pbd_arm *arm, const char *setting, arm_words *out, const char **word) {
    char today[80];
    *word = setting;
    const char *equals = strchr(setting, '=');
    if (!equals || (size_t)(equals - setting) >= sizeof today) return pbd_ok();
    snprintf(today, sizeof today, "%.*s", (int)(equals - setting), setting);
    const char *former;
    PBD_TRY(find_former(arm, today, &former));
    if (!former) return pbd_ok();
    char *text = out->former + out->former_bytes;
    const size_t room = sizeof out->former - out->former_bytes;
    const int length = snprintf(text, room, "%s%s", former, equals);
    if ((size_t)length >= room)
        return pbd_error(PBD_BAD_INPUT, "%.60s: more than %zu characters of renamed parameters", arm->name,
                         sizeof out->former);
    out->former_bytes += (size_t)length + 1;
    *word = text;
    return pbd_ok();
}

static pbd_status spell_arm(const pbd_arm *arm, const pbd_arm_settings *s, arm_words *out) {
    size_t n = 0;
    out->former_bytes = 0;
    out->word[n++] = arm->program;
    out->word[n++] = "run";
    for (size_t i = 0; arm->word[i]; i++) {
        if (n == MOST_WORDS) return pbd_error(PBD_BAD_INPUT, "more than %d words for a run", MOST_WORDS);
        out->word[n] = arm->word[i];
        if (i > 2 && strcmp(arm->word[i - 1], "-s") == 0) PBD_TRY(spell_setting(arm, arm->word[i], out, &out->word[n]));
        n++;
    }
    if (arm->plugin) {
        out->word[n++] = "--plugin";
        out->word[n++] = arm->plugin;
    }
    if (arm->engine) {
        out->word[n++] = "--engine";
        out->word[n++] = arm->engine;
    }
    out->word[n++] = "--json";
    out->word[n++] = "--quiet";
    out->word[n++] = "--again";
    if (s->seconds > 0) {
        snprintf(out->time, sizeof out->time, "%.9g", s->seconds);
        out->word[n++] = "--time";
        out->word[n++] = out->time;
    }
    if (s->turns) out->word[n++] = "--turns";
    out->word[n++] = s->db ? "--db" : "--no-store";
    if (s->db) out->word[n++] = s->db;
    out->word[n] = NULL;
    return pbd_ok();
}

pbd_status pbd_arm_start(const pbd_arm *arm, const pbd_arm_settings *settings, pbd_child_process *out) {
    arm_words words;
    pbd_program_image image PBD_CLEANUP(pbd_program_image_free) = PBD_NO_PROGRAM_IMAGE;
    PBD_TRY(spell_arm(arm, settings, &words));
    PBD_TRY(pbd_program_image_make(arm->program, settings->pad, &image));
    if (image.path) words.word[0] = "pbdbench"; /* the same for all arms */
    const pbd_child_place place = {
        .core = settings->core, .talk = settings->turns, .program = image.path, .environment = image.environment};
    return pbd_child_start(words.word, &place, out);
}

pbd_status pbd_arm_finish(const pbd_arm *arm, pbd_child_process *process, pbd_arm_run *out) {
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    *out = (pbd_arm_run){0};
    PBD_TRY(pbd_child_finish(process, &child));
    const pbd_status status = read_answer(arm, &child, out);
    if (status.code != PBD_OK) pbd_arm_run_free(out);
    return status;
}

pbd_status pbd_arm_call(const pbd_arm *arm, const pbd_arm_settings *settings, pbd_arm_run *out) {
    pbd_child_process process;
    *out = (pbd_arm_run){0};
    PBD_TRY(pbd_arm_start(arm, settings, &process));
    return pbd_arm_finish(arm, &process, out);
}
