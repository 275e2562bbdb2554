/* compare: two variants, builds or revisions on one case: errors first, then paired times. */
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/catalog/conditions.h"
#include "harness/compare/pairing.h"
#include "harness/compare/revisions.h"
#include "harness/files/json.h"
#include "harness/files/numbers.h"
#include "harness/plan/plan.h"
#include "harness/verbs/cli.h"
#include "harness/verbs/run_print.h"

typedef struct compare_options {
    const char *case_name, *backend, *precision, *clock, *db, *max_pairs;
    const char *build[2], *revision[2], *plugin[2]; /* A, B */
    pbd_texts sets, tolerances, plugins, engines;
    long long threads, seed;
    double margin, seconds, max_load, max_steal;
    bool json, quiet, verbose, no_store;
} compare_options;

static const pbd_option table[] = {
    PBD_OPT_TEXT(compare_options, case_name, "case", 'c', "CASE", PBD_WORDS_CASES, "see `pbdbench list cases`"),
    PBD_OPT_MANY(compare_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS, "a parameter, for both arms"),
    PBD_OPT_TEXT(compare_options, backend, "backend", 'b', "BACKEND", PBD_WORDS_BACKENDS, "default cpu"),
    PBD_OPT_TEXT(compare_options, precision, "precision", 'p', "PRECISION", PBD_WORDS_PRECISIONS, "default f64"),
    PBD_OPT_INTEGER(compare_options, threads, "threads", 't', 1, 4096, "default 1: pinned, and compared by CPU time"),
    PBD_OPT_TEXT(compare_options, build[0], "build-a", 0, "PATH", PBD_WORDS_FILES,
                 "program or build folder of arm A; default: this program"),
    PBD_OPT_TEXT(compare_options, build[1], "build-b", 0, "PATH", PBD_WORDS_FILES, "the same for B"),
    PBD_OPT_TEXT(compare_options, revision[0], "rev-a", 0, "REV", PBD_WORDS_NONE,
                 "git revision of arm A: built under build/revisions, once"),
    PBD_OPT_TEXT(compare_options, revision[1], "rev-b", 0, "REV", PBD_WORDS_NONE, "the same for B"),
    PBD_OPT_PERCENT(compare_options, margin, "margin", 0, 1e-6, 0.5,
                    "differences up to this count as the same; default 2%"),
    PBD_OPT_CHOICE(compare_options, max_pairs, "max-pairs", 0, "N", "8|12|20|40",
                   "largest number of pairs of processes; default 40. It stops at 8, 12,\n"
                   "20 or 40 pairs, as soon as they decide"),
    PBD_OPT_REAL(compare_options, seconds, "time", 0, "SECONDS", 1e-6, 3600,
                 "of samples in each process, 3 samples at least; default 0.03"),
    PBD_OPT_REAL(compare_options, max_load, "max-load", 0, "N", 1e-6, 1e6,
                 "other processes that run, per processor, above which times decide\nnothing; default 1.5"),
    PBD_OPT_REAL(compare_options, max_steal, "max-steal", 0, "SHARE", 1e-6, 1,
                 "share of the processor time taken by the host of a virtual machine, above\nwhich times decide "
                 "nothing; default 0.1"),
    PBD_OPT_CHOICE(compare_options, clock, "clock", 0, "CLOCK", "auto|cpu|wall",
                   "auto: CPU time on one thread, else wall time"),
    PBD_OPT_MANY(compare_options, tolerances, "tolerance", 0, "METRIC=VALUE", PBD_WORDS_NONE,
                 "no time is claimed for an arm whose METRIC differs from its reference\n"
                 "in the store (an error: from 0) by more: exit 3"),
    PBD_OPT_INTEGER(compare_options, seed, "seed", 0, 0, 9e15,
                    "of the order and the bootstrap; default: from the clock"),
    PBD_OPT_MANY(compare_options, plugins, "plugin", 0, "FILE", PBD_WORDS_FILES,
                 "a method in a shared library, for both arms"),
    PBD_OPT_MANY(compare_options, engines, "engine", 0, "FILE", PBD_WORDS_FILES,
                 "a method in a process of its own (engine.yaml), for both arms"),
    PBD_OPT_TEXT(compare_options, plugin[0], "plugin-a", 0, "FILE", PBD_WORDS_FILES,
                 "the same for arm A alone: two builds of one plug-in"),
    PBD_OPT_TEXT(compare_options, plugin[1], "plugin-b", 0, "FILE", PBD_WORDS_FILES, "the same for B"),
    PBD_OPTION_DB(compare_options),
    PBD_OPT_FLAG(compare_options, no_store, "no-store", 0, "print only"),
    PBD_OPT_FLAG(compare_options, verbose, "verbose", 'v', "all errors and counts, and what the statistics rest on"),
    PBD_OPTION_JSON(compare_options, "one object: errors, pairs, intervals, verdict, run ids and the seed"),
    PBD_OPTION_QUIET(compare_options, "no progress"),
    {0}};

/* The program and the command line of one arm. */
typedef struct arm_text {
    char *variant; /* "method:key=value,key=value", cut into words in place */
    const char *name;
    char program[PATH_MAX];
    const char **word; /* arguments of `run`, ending with NULL; they point into the variant and the options */
} arm_text;

typedef struct comparing {
    compare_options o;
    pbd_arena memory;
    arm_text arm[2];
    pbd_tolerance *tolerance;
    size_t tolerances;
    pbd_pairing_request request;
    pbd_pairing out;
    pbd_progress progress;
    char threads[24];
} comparing;

static void free_all(comparing *c) {
    pbd_arena_free(&c->memory);
    pbd_pairing_free(&c->out);
}

/* ---- Arms -------------------------------------------------------------------------------------------------------- */

/* «xpbi:solver=jacobi,iterations=4» */
static pbd_status split_variant(comparing *c, const char *text, arm_text *arm) {
    const compare_options *o = &c->o;
    size_t parts = 1;
    for (const char *p = text; *p; p++) parts += *p == ':' || *p == ',';
    arm->variant = pbd_new_text(&c->memory, text);
    arm->word =
        pbd_new(&c->memory, const char *, 2 * (parts + o->sets.count + o->plugins.count + o->engines.count) + 16);
    PBD_TRY(pbd_arena_check(&c->memory));
    size_t n = 0;
    char *rest = NULL, *settings = strchr(arm->variant, ':');
    if (settings) *settings++ = '\0';
    if (!*arm->variant) return pbd_error(PBD_BAD_INPUT, "'%.60s' is not of the form METHOD:key=value,...", text);
    arm->word[n++] = o->case_name;
    arm->word[n++] = "-m";
    arm->word[n++] = arm->variant;
    for (size_t i = 0; i < o->plugins.count; i++) {
        arm->word[n++] = "--plugin";
        arm->word[n++] = o->plugins.item[i];
    }
    for (size_t i = 0; i < o->engines.count; i++) {
        arm->word[n++] = "--engine";
        arm->word[n++] = o->engines.item[i];
    }
    for (size_t i = 0; i < o->sets.count; i++) {
        arm->word[n++] = "-s";
        arm->word[n++] = o->sets.item[i];
    }
    for (char *s = settings ? strtok_r(settings, ",", &rest) : NULL; s; s = strtok_r(NULL, ",", &rest)) {
        arm->word[n++] = "-s";
        arm->word[n++] = s;
    }
    return pbd_ok();
}

/* ---- Settings for both arms that only one of them reads ---- */

/* Plans the arm's cell with all its settings. The plan stays empty if this program cannot plan it, such as a method of
 * another build. */
static void plan_arm(const arm_text *arm, pbd_plan *plan) {
    pbd_arena a PBD_ARENA;
    pbd_setting *setting = NULL;
    size_t words = 0, count = 0;
    while (arm->word[words]) words++;
    setting = pbd_new(&a, pbd_setting, words);
    if (!setting) return;
    bool fine = true;
    for (size_t i = 3; i + 1 < words && fine; i++)
        if (strcmp(arm->word[i], "-s") == 0 && strchr(arm->word[i + 1], '='))
            fine = pbd_setting_parse(arm->word[i + 1], &setting[count]).code == PBD_OK && ++count > 0;
    const pbd_request request = {
        .case_name = arm->word[0], .method_name = arm->word[2], .threads = 1, .setting = setting, .settings = count};
    if (fine) (void)pbd_plan_add(plan, &request, 0);
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
}

static void remove_setting(arm_text *arm, const char *word) {
    size_t i = 0;
    while (arm->word[i + 1] != word) i++; /* compares pointers, and stops at the `-s` before it */
    while ((arm->word[i] = arm->word[i + 2]) != NULL) i++;
}

/* Removes a common setting from the arm that does not read it. If neither reads it, it stays and `run` refuses it. */
static void share_settings(comparing *c) {
    pbd_plan a PBD_CLEANUP(pbd_plan_free) = {0}, b PBD_CLEANUP(pbd_plan_free) = {0};
    const pbd_plan *const plan[] = {&a, &b};
    plan_arm(&c->arm[0], &a);
    plan_arm(&c->arm[1], &b);
    for (size_t i = 0; i < c->o.sets.count && a.count == 1 && b.count == 1; i++) {
        const char *word = c->o.sets.item[i], *key = pbd_new_format(&c->memory, "%.*s", (int)strcspn(word, "="), word);
        bool read[2];
        for (int k = 0; k < 2; k++)
            read[k] = pbd_is_read(key, &plan[k]->item[0].cell.case_values, &plan[k]->item[0].cell.method_values);
        for (int k = 0; k < 2; k++)
            if (!read[k] && read[!k]) remove_setting(&c->arm[k], word);
    }
}

static void add_common_words(const comparing *c, arm_text *arm) {
    size_t n = 0;
    while (arm->word[n]) n++;
    const char *const common[] = {"-t", c->threads, "-b", c->o.backend, "-p", c->o.precision};
    for (size_t i = 0; i < sizeof common / sizeof *common; i += 2) {
        if (!common[i + 1]) continue;
        arm->word[n++] = common[i];
        arm->word[n++] = common[i + 1];
    }
}

/* A folder stands for the pbdbench in it. */
static pbd_status use_build(const char *path, char program[PATH_MAX]) {
    struct stat found;
    const bool folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    const int length =
        snprintf(program, PATH_MAX, "%s%s%s", strchr(path, '/') ? "" : "./", path, folder ? "/pbdbench" : "");
    if (length >= PATH_MAX) return pbd_error(PBD_BAD_INPUT, "the path is too long: '%.200s...'", path);
    if (access(program, X_OK) == 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "'%.200s' is not a program: give a pbdbench, or its build folder", program);
}

static pbd_status use_this_program(char program[PATH_MAX]) {
    const ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);
    if (length <= 0) return pbd_error(PBD_FAILED, "this program's own path cannot be read from /proc/self/exe");
    program[length] = '\0';
    return pbd_ok();
}

static pbd_status use_revision(const comparing *c, const char *name, char program[PATH_MAX]) {
    pbd_revision revision PBD_CLEANUP(pbd_revision_free) = {0};
    PBD_TRY(pbd_revision_find(pbd_root(), name, &revision));
    if (!revision.built && !c->o.quiet)
        fprintf(stderr, "building %s (%.12s) under build/revisions\n", name, revision.sha);
    const bool cuda = c->o.backend && strcmp(c->o.backend, "cuda") == 0;
    PBD_TRY(pbd_revision_build(pbd_root(), cuda, &revision));
    snprintf(program, PATH_MAX, "%s", revision.program);
    return pbd_ok();
}

static bool is_of_builds(const compare_options *o) {
    return o->build[0] || o->build[1] || o->revision[0] || o->revision[1] || o->plugin[0] || o->plugin[1];
}

/* Arms are named by their difference: variants, or builds, or both. */
static pbd_status name_arm(comparing *c, int i, const char *variant, bool same_variant, arm_text *arm) {
    const char *build = c->o.plugin[i]     ? c->o.plugin[i]
                        : c->o.build[i]    ? c->o.build[i]
                        : c->o.revision[i] ? c->o.revision[i]
                                           : "this build";
    if (!is_of_builds(&c->o))
        arm->name = variant;
    else
        arm->name = same_variant ? build : pbd_new_format(&c->memory, "%s of %s", variant, build);
    return pbd_arena_check(&c->memory);
}

static pbd_status make_arm(comparing *c, int i, const char *variant, bool same_variant) {
    const compare_options *o = &c->o;
    arm_text *arm = &c->arm[i];
    if (o->build[i] && o->revision[i])
        return pbd_error(PBD_BAD_INPUT, "--build-%c and --rev-%c both set arm %c: give one", 'a' + i, 'a' + i, 'A' + i);
    PBD_TRY(split_variant(c, variant, arm));
    add_common_words(c, arm);
    PBD_TRY(name_arm(c, i, variant, same_variant, arm));
    if (o->build[i]) return use_build(o->build[i], arm->program);
    if (o->revision[i]) return use_revision(c, o->revision[i], arm->program);
    return use_this_program(arm->program);
}

static pbd_status make_arms(comparing *c, const pbd_texts *words) {
    if (!c->o.case_name)
        return pbd_error(PBD_BAD_INPUT, "compare needs a case: --case NAME; see `pbdbench list cases`");
    if (words->count > 2)
        return pbd_error(PBD_BAD_INPUT, "compare takes two variants; '%.60s' is an extra argument", words->item[2]);
    if (words->count == 0) return pbd_error(PBD_BAD_INPUT, "compare needs two variants: METHOD:key=value,... twice");
    if (words->count == 1 && !is_of_builds(&c->o))
        return pbd_error(PBD_BAD_INPUT,
                         "compare needs a second variant beside '%.60s', or two builds: --build-a, --build-b, --rev-a, "
                         "--rev-b, --plugin-a, --plugin-b",
                         words->item[0]);
    const char *a = words->item[0], *b = words->item[words->count - 1];
    snprintf(c->threads, sizeof c->threads, "%lld", c->o.threads ? c->o.threads : 1);
    PBD_TRY(make_arm(c, 0, a, strcmp(a, b) == 0));
    PBD_TRY(make_arm(c, 1, b, strcmp(a, b) == 0));
    share_settings(c);
    return pbd_arena_check(&c->memory);
}

/* ---- The request ------------------------------------------------------------------------------------------------- */

static pbd_status take_tolerance(comparing *c, const char *text) {
    char *copy = pbd_new_text(&c->memory, text), *end = NULL;
    PBD_TRY(pbd_arena_check(&c->memory));
    char *equals = strchr(copy, '=');
    pbd_tolerance *t = &c->tolerance[c->tolerances++];
    *t = (pbd_tolerance){copy, equals ? pbd_decimal(equals + 1, &end) : (double)NAN};
    if (!equals || equals == copy || end == equals + 1 || *end || !(t->value >= 0))
        return pbd_error(PBD_BAD_INPUT, "--tolerance '%.60s' must be METRIC=VALUE, with a value from 0 on", text);
    *equals = '\0';
    return pbd_ok();
}

static uint64_t seed_by_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)(now.tv_nsec + now.tv_sec * 1000) % 1000000000;
}

static pbd_status make_request(comparing *c, const char *db, const pbd_call *call) {
    const compare_options *o = &c->o;
    const size_t n = o->tolerances.count;
    c->tolerance = pbd_new(&c->memory, pbd_tolerance, n);
    PBD_TRY(pbd_arena_check(&c->memory));
    pbd_pairing_request *r = &c->request;
    *r = (pbd_pairing_request){.db = db,
                               .margin = o->margin > 0 ? o->margin : 0.02,
                               .seconds = o->seconds > 0 ? o->seconds : 0.03,
                               .most_pairs = o->max_pairs ? (size_t)atoi(o->max_pairs) : 40,
                               .seed = o->seed >= 0 ? (uint64_t)o->seed : seed_by_clock(),
                               .max_load = o->max_load > 0 ? o->max_load : PBD_MAX_LOAD,
                               .max_steal = o->max_steal > 0 ? o->max_steal : PBD_MAX_STEAL,
                               .purpose = "compare",
                               .tolerance = c->tolerance,
                               .argc = call->argc,
                               .argv = call->argv};
    for (size_t i = 0; i < n; i++) PBD_TRY(take_tolerance(c, o->tolerances.item[i]));
    r->tolerances = n;
    if (o->clock && strcmp(o->clock, "cpu") == 0) r->clock = PBD_CLOCK_CPU;
    if (o->clock && strcmp(o->clock, "wall") == 0) r->clock = PBD_CLOCK_WALL;
    r->a = (pbd_arm){c->arm[0].name, c->arm[0].program, o->plugin[0], c->arm[0].word, NULL};
    r->b = (pbd_arm){c->arm[1].name, c->arm[1].program, o->plugin[1], c->arm[1].word, NULL};
    return pbd_ok();
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

static const char *clock_name(pbd_clock clock) { return clock == PBD_CLOCK_CPU ? "cpu" : "wall"; }
static const char *unit_text(const char *unit) { return strcmp(unit, "1") == 0 ? "" : unit; }

/* Whether a metric is compared before any time: errors, metrics with a tolerance, and counts that are not costs. */
static bool is_shown(const comparing *c, const pbd_metric_item *m) {
    for (size_t i = 0; i < c->tolerances; i++)
        if (strcmp(c->tolerance[i].metric, m->name) == 0) return true;
    return pbd_is_error(m->kind) || m->kind == PBD_COUNT;
}

/* The columns leave room for a unit within 60 characters. */
static void print_value(const pbd_metric_item *m) {
    if (!m)
        printf(" %11s", "-");
    else if (m->is_count)
        printf(" %11" PRIu64, m->count);
    else
        printf(" %11.5g", m->value);
}

static void print_metric(const pbd_metric_item *a, const pbd_metric_item *b) {
    const pbd_metric_item *named = a ? a : b;
    printf("  %-28s", named->name);
    print_value(a);
    print_value(b);
    printf(" %s\n", unit_text(named->unit));
}

static void print_errors(const comparing *c) {
    const pbd_arm_run *a = &c->out.a, *b = &c->out.b;
    printf("\n%-30s %11s %11s\n", "errors and counts", "A", "B");
    for (size_t i = 0; i < a->metrics; i++)
        if (is_shown(c, &a->metric[i])) print_metric(&a->metric[i], pbd_arm_metric(b, a->metric[i].name));
    for (size_t i = 0; i < b->metrics; i++)
        if (is_shown(c, &b->metric[i]) && !pbd_arm_metric(a, b->metric[i].name)) print_metric(NULL, &b->metric[i]);
}

/* The first error metric of A, or NULL. */
static const pbd_metric_item *first_error(const comparing *c) {
    for (size_t i = 0; i < c->out.a.metrics; i++)
        if (pbd_is_error(c->out.a.metric[i].kind)) return &c->out.a.metric[i];
    return NULL;
}

static void print_error(const comparing *c, size_t columns) {
    const pbd_metric_item *a = first_error(c), *b = a ? pbd_arm_metric(&c->out.b, a->name) : NULL;
    if (a && b)
        pbd_print_named("error", columns, "%s: A %.4g, B %.4g %s", a->name, a->value, b->value, unit_text(a->unit));
    else
        pbd_print_named("error", columns, "none that both arms measure");
}

static double median(const double *x, size_t n) {
    double sorted[PBD_MOST_PAIRS];
    memcpy(sorted, x, n * sizeof *x);
    return pbd_median(sorted, n);
}

/* Converts a log-ratio to the extra time of B in percent of A's time. */
static double percent(double log_ratio) { return 100 * expm1(log_ratio); }

/* A percentage rounded to the digits that a reader needs. The struct is the buffer. */
typedef struct spelt {
    char text[32];
} spelt;
static spelt spell(double value) {
    spelt s;
    snprintf(s.text, sizeof s.text, "%.*f", fabs(value) >= 9.95 ? 0 : fabs(value) >= 0.995 ? 1 : 2, value);
    return s;
}

/* «B is 5.0 % faster than A, 98 % interval 4.1 to 5.6 %, 12 pairs» */
static void print_verdict(const comparing *c, size_t columns) {
    const pbd_pairing *p = &c->out;
    const pbd_judgement *j = &p->of_b.judgement;
    const double by = percent(j->log_ratio.estimate), low = percent(j->log_ratio.low),
                 high = percent(j->log_ratio.high);
    const bool faster = p->verdict == PBD_FASTER; /* then signs are reversed and bounds exchanged */
    char what[120];
    switch (p->verdict) {
        case PBD_FASTER:
        case PBD_SLOWER:
            snprintf(what, sizeof what, "B is %s %% %s than A", spell(faster ? -by : by).text,
                     faster ? "faster" : "slower");
            break;
        case PBD_SAME:
            snprintf(what, sizeof what, "B is the same as A within %g %%: the difference is %s %%",
                     100 * c->request.margin, spell(by).text);
            break;
        case PBD_INCONCLUSIVE:
            snprintf(what, sizeof what, "inconclusive: the difference of B to A is %s %%", spell(by).text);
            break;
    }
    pbd_print_named("verdict", columns, "%s, %g %% interval %s to %s %%, %zu pairs", what, 100 * (1 - PBD_ERROR_RATE),
                    spell(faster ? -high : low).text, spell(faster ? -low : high).text, j->pairs);
    if (*p->doubt) pbd_print_named("", columns, "%s", p->doubt);
    if (j->verdict == PBD_INCONCLUSIVE && j->more_pairs == SIZE_MAX)
        pbd_print_named("", columns, "more pairs would not decide: the difference is too close to the margin");
    else if (j->verdict == PBD_INCONCLUSIVE)
        pbd_print_named("", columns, "about %zu more pairs would decide", j->more_pairs);
}

static void print_control(const pbd_pairing *p, size_t columns) {
    const pbd_interval *i = &p->of_control.judgement.log_ratio;
    char stolen[80] = "";
    if (p->load.steal >= 0.005)
        snprintf(stolen, sizeof stolen, ", %.0f %% of the time taken by the host", 100 * p->load.steal);
    pbd_print_named("control", columns,
                    "A differs from another process of A by %s %% (%s to %s); %.1f other processes on each processor%s",
                    spell(percent(i->estimate)).text, spell(percent(i->low)).text, spell(percent(i->high)).text,
                    p->load.others, stolen);
}

static void print_instructions(const pbd_pairing *p, size_t columns) {
    double ratio[PBD_MOST_PAIRS];
    for (size_t i = 0; i < p->pairs; i++) {
        if (!isfinite(p->log_instructions[i])) return;
        ratio[i] = p->log_instructions[i];
    }
    pbd_print_named("instrs", columns, "of a solve: %s %% (median of B to A)",
                    spell(percent(pbd_median(ratio, p->pairs))).text);
}

static void print_statistics(const comparing *c, size_t columns) {
    const pbd_pairing *p = &c->out;
    const pbd_judgement *j = &p->of_b.judgement;
    pbd_print_named("pairs", columns, "%zu, from %s on, seed %" PRIu64, p->pairs,
                    pbd_pair_is_b_first(p, 0) ? "B A" : "A B", c->request.seed);
    pbd_print_named("bootstrap", columns, "as a cross-check: %s to %s %% of A's time",
                    spell(percent(j->bootstrap.low)).text, spell(percent(j->bootstrap.high)).text);
    pbd_print_named("resolved", columns, "the smallest difference that %zu such pairs would detect: %s %%", j->pairs,
                    spell(percent(j->detectable)).text);
    print_instructions(p, columns);
}

/* Notes different compilers or flags, since times of such builds compare those too. */
static void print_builds(const comparing *c, size_t columns) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    if (!*c->out.of_b.comparison_id || pbd_store_open(c->request.db, PBD_STORE_READ, &store).code != PBD_OK) return;
    if (sqlite3_prepare_v2(pbd_store_sql(store),
                           "SELECT a.compiler, a.flags, b.compiler, b.flags FROM comparison"
                           " JOIN build AS a ON a.build_id = build_a JOIN build AS b ON b.build_id = build_b"
                           " WHERE comparison_id = ?1 AND (a.compiler, a.flags) IS NOT (b.compiler, b.flags)",
                           -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, c->out.of_b.comparison_id, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        pbd_print_named("note", columns, "compilers or flags differ: A %s, %s; B %s, %s", sqlite3_column_text(stmt, 0),
                        sqlite3_column_text(stmt, 1), sqlite3_column_text(stmt, 2), sqlite3_column_text(stmt, 3));
}

static void print_text(const comparing *c) {
    const pbd_pairing *p = &c->out;
    const size_t columns = pbd_output_columns();
    const bool claimed = p->differs.code == PBD_OK;
    print_error(c, columns);
    if (claimed)
        print_verdict(c, columns);
    else
        pbd_print_named("verdict", columns, "no time is claimed: %s", p->differs.text);
    if (claimed)
        pbd_print_named("time", columns, "%s of a solve: A %.6g s, B %.6g s (medians)",
                        p->clock == PBD_CLOCK_CPU ? "CPU" : "wall", median(p->s[PBD_ARM_A], p->pairs),
                        median(p->s[PBD_ARM_B], p->pairs));
    if (claimed) print_control(p, columns);
    print_builds(c, columns);
    pbd_print_named("A", columns, "%s", c->request.a.name);
    pbd_print_named("B", columns, "%s", c->request.b.name);
    pbd_print_named("on", columns, "%s, %s %s, %s thread%s", c->o.case_name, p->a.backend, p->a.precision, c->threads,
                    strcmp(c->threads, "1") == 0 ? "" : "s");
    if (*p->of_b.comparison_id) pbd_print_named("stored", columns, "as comparison %s", p->of_b.comparison_id);
    if (c->o.verbose && claimed) print_statistics(c, columns);
    if (c->o.verbose || !claimed) print_errors(c);
}

/* ---- For machines ------------------------------------------------------------------------------------------------ */

static json_t *arm_json(const pbd_arm *arm, const pbd_arm_run *run) {
    json_t *metrics = pbd_metrics_json(run->metric, run->metrics);
    json_t *name = json_string(arm->name);
    return json_pack("{so ss ss ss ss so}", "name", name ? name : json_string("?"), "run_id", run->run_id, "cell_id",
                     run->cell_id, "state", run->state, "says", run->says, "metrics", metrics);
}

/* If no time is claimed, the pairs have run ids and no times. */
static json_t *pairs_json(const pbd_pairing *p) {
    const bool claimed = p->differs.code == PBD_OK;
    json_t *pairs = json_array();
    for (size_t i = 0; i < p->pairs; i++)
        json_array_append_new(
            pairs, json_pack("{ss ss ss so so so so sI}", "first", pbd_pair_is_b_first(p, i) ? "b" : "a", "run_a",
                             p->run[PBD_ARM_A][i], "run_b", p->run[PBD_ARM_B][i], "a_s",
                             claimed ? pbd_finite_json(p->s[PBD_ARM_A][i]) : json_null(), "b_s",
                             claimed ? pbd_finite_json(p->s[PBD_ARM_B][i]) : json_null(), "log_ratio",
                             claimed ? pbd_finite_json(p->of_b.log_ratio[i]) : json_null(), "control_log_ratio",
                             claimed ? pbd_finite_json(p->of_control.log_ratio[i]) : json_null(), "rounds",
                             (json_int_t)p->rounds[i]));
    return pairs;
}

static json_t *interval_json(const pbd_interval *i) {
    return json_pack("{so so so}", "estimate", pbd_finite_json(i->estimate), "low", pbd_finite_json(i->low), "high",
                     pbd_finite_json(i->high));
}

static json_t *judgement_json(const pbd_judgement *j) {
    const bool unknown = j->more_pairs == SIZE_MAX;
    return json_pack("{sf sf so so sf so}", "confidence", 1 - PBD_ERROR_RATE, "alpha", j->alpha, "log_ratio",
                     interval_json(&j->log_ratio), "bootstrap", interval_json(&j->bootstrap), "detectable",
                     j->detectable, "more_pairs", unknown ? json_null() : json_integer((json_int_t)j->more_pairs));
}

static pbd_status print_json(const comparing *c) {
    const pbd_pairing *p = &c->out;
    const bool claimed = p->differs.code == PBD_OK;
    json_auto_t *object = json_pack(
        "{ss ss ss so so ss sf sI ss ss so so so so}", "comparison_id", p->of_b.comparison_id, "purpose",
        c->request.purpose, "case", c->o.case_name, "a", arm_json(&c->request.a, &p->a), "b",
        arm_json(&c->request.b, &p->b), "clock", clock_name(p->clock), "margin", c->request.margin, "seed",
        (json_int_t)c->request.seed, "verdict", claimed ? pbd_verdict_name(p->verdict) : "errors_differ", "says",
        claimed ? p->doubt : p->differs.text, "times", claimed ? judgement_json(&p->of_b.judgement) : json_null(),
        "control", claimed ? judgement_json(&p->of_control.judgement) : json_null(), "machine",
        json_pack("{sf sf}", "load", p->load.others, "steal", p->load.steal), "pairs", pairs_json(p));
    const char *text PBD_CLEANUP(pbd_free_memory) = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!text) return pbd_no_memory();
    puts(text);
    return pbd_ok();
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static void observe(void *context, size_t pairs, size_t most_pairs) {
    comparing *c = context;
    pbd_progress_show(&c->progress, pairs, most_pairs, true, "pairs at most");
}

static int exit_code(const pbd_pairing *p) {
    if (p->differs.code != PBD_OK) return p->unwell ? PBD_EXIT_RUN_FAILED : PBD_EXIT_VALIDATION;
    return p->verdict == PBD_INCONCLUSIVE ? PBD_EXIT_INCONCLUSIVE : PBD_EXIT_OK;
}

static pbd_status act(void *options, pbd_call *call) {
    comparing c PBD_CLEANUP(free_all) = {.o = *(const compare_options *)options};
    pbd_catch_interrupts();
    PBD_TRY(make_arms(&c, call->words));
    const char *db PBD_CLEANUP(pbd_free_memory) = c.o.no_store ? NULL : pbd_db_path(c.o.db);
    if (!db && !c.o.no_store) return pbd_no_memory();
    PBD_TRY(make_request(&c, db, call));
    pbd_progress_begin(&c.progress, c.o.quiet);
    const pbd_status status = pbd_pair(&c.request, observe, &c, &c.out);
    pbd_progress_end(&c.progress);
    PBD_TRY(status);
    call->exit_code = exit_code(&c.out);
    if (c.o.json) return print_json(&c);
    print_text(&c);
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    compare_options o = {.seed = -1};
    return pbd_verb_call(&pbd_verb_compare, argc, argv, &o, act);
}

const pbd_verb pbd_verb_compare = {
    .name = "compare",
    .summary = "two variants, builds or commits: errors, then time",
    .usage =
        "compare A B --case CASE [-s key=value]... [options]\n"
        "compare A --case CASE --build-a PATH --build-b PATH [options]\n"
        "compare A --case CASE --rev-a REV --rev-b REV [options]",
    .about =
        "A and B are variants: METHOD or METHOD:key=value,key=value; or one variant of two builds or git revisions.\n"
        "Errors come first: if an arm diverged or is outside its tolerance, no time is claimed. Two builds of one\n"
        "variant must give the same results: equal counts, and errors of B no larger than A's (by more than 1e-9 of\n"
        "them in f64, 1e-4 in f32). Then processes of the two are timed in alternation (ABBA), and the verdict on B\n"
        "is `faster`, `slower`, `same` (the whole interval within the margin) or `inconclusive`. It is inconclusive,\n"
        "too, where A differs from another process of A beside it, or the machine is too busy. Error, verdict and\n"
        "time come first; -v adds all errors and counts, and what the statistics rest on.",
    .more =
        "Exit 0 for faster, slower and same, 4 when inconclusive, 3 when errors differ, 5 when an arm diverged or\n"
        "failed, 2 for bad input, 130 after Ctrl-C.",
    .options = table,
    .words = PBD_WORDS_METHODS,
    .main = verb_main,
};
