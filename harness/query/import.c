/* Converts Google Benchmark's JSON to records (store/rows.h).
 *
 * A record's hash covers everything that belongs to the run. So that the same file always gives the same hashes, the
 * records contain nothing of this process: the row `invocation` is that of the tool's process, at the file's date.
 */
#include "harness/query/import.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/store/rows.h"

enum { LARGEST_FILE = 256 << 20 };

static const pbd_status out_of_memory = {PBD_FAILED, "out of memory for an import"};

struct pbd_import {
    json_t *content;   /* the file */
    const char *path;  /* not owned */
    char *file, *tool; /* file: without folders */
    const json_t *context;
    char started_at[32];
    json_t *build, *env, *invocation; /* rows */
    size_t measured;                  /* benchmarks that make a run */
    pbd_imported tally;
};

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static pbd_status read_all(const char *path, char **text, size_t *bytes) {
    struct stat about;
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "rb");
    if (!file) return pbd_error(PBD_BAD_INPUT, "'%s' cannot be read: %s", path, strerror(errno));
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode))
        return pbd_error(PBD_BAD_INPUT, "'%s' cannot be imported: it is not a regular file", path);
    if (about.st_size > LARGEST_FILE)
        return pbd_error(PBD_BAD_INPUT, "'%s' cannot be imported: it is larger than %d MiB", path, LARGEST_FILE >> 20);
    *text = malloc((size_t)about.st_size + 1);
    if (!*text) return out_of_memory;
    *bytes = fread(*text, 1, (size_t)about.st_size, file);
    if (ferror(file)) return pbd_error(PBD_BAD_INPUT, "'%s' cannot be read: %s", path, strerror(errno));
    return pbd_ok();
}

/* The length of the word if the text begins with it as a whole word; else 0. */
static size_t word_here(const char *text, const char *end, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(end - text) < length || memcmp(text, word, length) != 0) return 0;
    return text + length == end || !isalnum((unsigned char)text[length]) ? length : 0;
}

/* Google Benchmark writes NaN and Infinity bare, which JSON does not know. They are replaced by null and "inf", as
 * in records; strings are left as they are. NULL without memory. */
static char *mend_numbers(const char *text, size_t bytes, size_t *mended) {
    static const struct {
        const char *bare, *json;
    } words[] = {{"NaN", "null"},    {"-NaN", "null"},     {"nan", "null"},         {"-nan", "null"},
                 {"inf", "\"inf\""}, {"-inf", "\"-inf\""}, {"Infinity", "\"inf\""}, {"-Infinity", "\"-inf\""}};
    char *out = NULL;
    FILE *stream = open_memstream(&out, mended);
    if (!stream) return NULL;
    bool quoted = false;
    for (const char *p = text, *end = text + bytes; p < end;) {
        size_t used = 0;
        for (size_t w = 0; !quoted && used == 0 && w < sizeof words / sizeof *words; w++)
            if ((used = word_here(p, end, words[w].bare)) > 0) fputs(words[w].json, stream);
        if (used == 0) {
            used = quoted && *p == '\\' && p + 1 < end ? 2 : 1;
            if (*p == '"') quoted = !quoted;
            fwrite(p, 1, used, stream);
        }
        p += used;
    }
    if (fclose(stream) == 0) return out;
    free(out);
    return NULL;
}

static pbd_status load_file(const char *path, json_t **out) {
    char *text PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t bytes = 0, mended_bytes = 0;
    PBD_TRY(read_all(path, &text, &bytes));
    const char *mended PBD_CLEANUP(pbd_free_memory) = mend_numbers(text, bytes, &mended_bytes);
    if (!mended) return out_of_memory;
    json_error_t error;
    *out = json_loadb(mended, mended_bytes, 0, &error);
    if (*out) return pbd_ok();
    const bool cut = json_error_code(&error) == json_error_premature_end_of_input;
    return pbd_error(PBD_BAD_INPUT, "'%s', line %d: %s: %.100s; nothing was imported", path, error.line,
                     cut ? "the file is cut short" : "this is not JSON", error.text);
}

/* ---- The context: machine, build and time ------------------------------------------------------------------------ */

/* A string from the context, which Google Benchmark or the tool itself wrote. */
static const char *context_text(const pbd_import *m, const char *key, const char *otherwise) {
    const char *text = json_string_value(json_object_get(m->context, key));
    return text && *text ? text : otherwise;
}

static long long context_integer(const pbd_import *m, const char *key) {
    const json_t *value = json_object_get(m->context, key);
    const double number = json_number_value(value);
    return number > 0 && number < 1e12 ? (long long)number : 0;
}

/* "2026-11-21T07:15:12+01:00", and "2017/03/14-09:12:31" of old versions, which name no zone: UTC is taken then. */
static bool read_date(const char *text, char out[32]) {
    struct tm at = {0};
    char sign[2] = "+";
    int zone_hours = 0, zone_minutes = 0, used = 0;
    const int parts = sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &at.tm_year, &at.tm_mon, &at.tm_mday, &at.tm_hour,
                             &at.tm_min, &at.tm_sec, &used);
    if (parts == 6) {
        const char *zone = text + used;
        if (strcmp(zone, "Z") != 0 && strcmp(zone, "") != 0 &&
            sscanf(zone, "%1[+-]%2d:%2d", sign, &zone_hours, &zone_minutes) != 3)
            return false;
    } else if (sscanf(text, "%4d/%2d/%2d-%2d:%2d:%2d", &at.tm_year, &at.tm_mon, &at.tm_mday, &at.tm_hour, &at.tm_min,
                      &at.tm_sec) != 6) {
        return false;
    }
    if (at.tm_mon < 1 || at.tm_mon > 12 || at.tm_mday < 1 || at.tm_mday > 31 || at.tm_hour > 23 || at.tm_min > 59 ||
        at.tm_sec > 60 || at.tm_year < 1970 || at.tm_hour < 0 || at.tm_min < 0 || at.tm_sec < 0)
        return false;
    at.tm_year -= 1900;
    at.tm_mon -= 1;
    const time_t utc = timegm(&at) - (*sign == '-' ? -60 : 60) * (60 * zone_hours + zone_minutes);
    if (!gmtime_r(&utc, &at)) return false;
    return strftime(out, 32, "%Y-%m-%dT%H:%M:%S.000Z", &at) > 0;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
    if (back && (!slash || back > slash)) slash = back;
    return slash ? slash + 1 : path;
}

/* Size of the first cache of this level that holds data, KiB; 0: none. */
static long long cache_kib(const pbd_import *m, int level) {
    const json_t *cache;
    size_t i;
    json_array_foreach(json_object_get(m->context, "caches"), i, cache) {
        const char *type = json_string_value(json_object_get(cache, "type"));
        if (json_integer_value(json_object_get(cache, "level")) == level && type && strcmp(type, "Instruction") != 0)
            return json_integer_value(json_object_get(cache, "size")) / 1024;
    }
    return 0;
}

/* The clock may differ from file to file on one machine, so it is not part of the fingerprint. */
static json_t *env_row(const pbd_import *m) {
    const char *host = context_text(m, "host_name", "unknown host");
    const long long threads = context_integer(m, "num_cpus"), mhz = context_integer(m, "mhz_per_cpu");
    json_auto_t *row = json_pack(
        "{ss so ss ss si si sI sI sI sI si ss}", "fingerprint", "", "cpu", json_string(host), "os", "unknown", "isa",
        "unknown", "packages", 0, "cores", 0, "threads", (json_int_t)threads, "l1d_kib", (json_int_t)cache_kib(m, 1),
        "l2_kib", (json_int_t)cache_kib(m, 2), "l3_kib", (json_int_t)cache_kib(m, 3), "memory_mib", 0, "gpu", "");
    bool good = row && pbd_row_identify("env", row);
    good = good && json_object_set(row, "fingerprint", json_object_get(row, "env_id")) == 0;
    if (good && mhz > 0) good = json_object_set_new(row, "cpu", json_sprintf("%s, %lld MHz", host, mhz)) == 0;
    return good ? pbd_row_identified("env", json_incref(row)) : NULL;
}

static json_t *build_row(const pbd_import *m) {
    return pbd_row_identified(
        "build",
        json_pack("{ss si ss ss ss ss ss ss}", "git_sha", context_text(m, "git_sha", "unknown"), "dirty", 0, "source",
                  "unknown", "compiler", context_text(m, "compiler", "unknown"), "flags",
                  context_text(m, "flags", "unknown"), "preset", context_text(m, "library_build_type", "unknown"),
                  "licence", "unknown", "version", "unknown"));
}

static json_t *invocation_row(const pbd_import *m) {
    json_auto_t *argv = json_pack("[ssss s]", "db", "import", m->file, "--tool", m->tool);
    const char *text PBD_CLEANUP(pbd_free_memory) = json_dumps(argv, JSON_COMPACT);
    if (!text) return NULL;
    return pbd_row_identified("invocation",
                              json_pack("{ss ss si}", "argv", text, "started_at", m->started_at, "pid", 0));
}

/* A copy of `text`, or of `otherwise` if it is not UTF-8: JSON is UTF-8, and file names need not be. */
static char *utf8_or(const char *text, const char *otherwise) {
    json_auto_t *string = json_string(text);
    return strdup(string ? text : otherwise);
}

static pbd_status read_context(pbd_import *m, const char *path, const char *tool) {
    m->context = json_object_get(m->content, "context");
    if (!json_is_object(m->context) || !json_is_array(json_object_get(m->content, "benchmarks")))
        return pbd_error(PBD_BAD_INPUT,
                         "'%s' is JSON, but not from Google Benchmark: it lacks \"context\" or \"benchmarks\"; nothing "
                         "was imported",
                         path);
    const char *date = context_text(m, "date", "");
    if (!read_date(date, m->started_at))
        return pbd_error(PBD_BAD_INPUT, "'%s': context.date is '%.40s', not a date; nothing was imported", path, date);
    m->tool = utf8_or(tool ? tool : base_name(context_text(m, "executable", "google_benchmark")), "google_benchmark");
    m->file = utf8_or(base_name(path), "a file");
    if (!m->tool || !m->file) return out_of_memory;
    m->env = env_row(m);
    m->build = build_row(m);
    m->invocation = invocation_row(m);
    return m->env && m->build && m->invocation ? pbd_ok() : out_of_memory;
}

/* ---- A benchmark's name ------------------------------------------------------------------------------------------ */

static json_t *number_or_text(const char *text) {
    char *end;
    errno = 0;
    const long long whole = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0) return json_integer(whole);
    const double real = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(real) && isdigit((unsigned char)end[-1])) return json_real(real);
    return json_string(text);
}

static size_t identifier_length(const char *text) {
    if (!isalpha((unsigned char)*text) && *text != '_') return 0;
    size_t n = 1;
    while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
    return n;
}

/* "key:value", but not "std::sort". */
static bool is_pair(const char *part) {
    const size_t key = identifier_length(part);
    return key > 0 && part[key] == ':' && part[key + 1] != ':' && part[key + 1] != '\0';
}

/* Whether a part is a measurement setting of the tool, which is not part of the result; threads have their own column.
 */
static bool is_about_measuring(const char *part) {
    static const char *const words[] = {"real_time", "manual_time", "process_time"};
    static const char *const keys[] = {"threads:", "repeats:", "iterations:", "min_time:", "min_warmup_time:"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(part, words[i]) == 0) return true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strncmp(part, keys[i], strlen(keys[i])) == 0) return true;
    return false;
}

/* Takes a part after the first: a parameter, a numbered argument, or more of the name. */
static bool take_part(char *part, FILE *name, json_t *params, int *arguments) {
    if (is_about_measuring(part)) return true;
    char numbered[24];
    char *key = numbered, *value = part;
    json_t *number = number_or_text(part);
    const bool is_argument = json_is_number(number);
    json_decref(number);
    if (is_argument) {
        snprintf(numbered, sizeof numbered, "arg%d", (*arguments)++);
    } else if (is_pair(part)) {
        key = part;
        value = strchr(part, ':');
        *value++ = '\0';
    } else {
        return fprintf(name, "/%s", part) >= 0;
    }
    if (!json_object_get(params, key)) return json_object_set_new(params, key, number_or_text(value)) == 0;
    return fprintf(name, is_argument ? "/%s" : "/%s:%s", is_argument ? value : key, value) >= 0; /* a name twice */
}

/* Splits "BM_Sort<int>/8/solver:gs" into a case's name and its parameters. False without memory. */
static bool split_name(const char *full, char **name, json_t *params) {
    size_t bytes;
    char *copy = strdup(full), *rest = copy, *part;
    FILE *out = copy ? open_memstream(name, &bytes) : NULL;
    bool good = out != NULL;
    int arguments = 0;
    for (bool first = true; good && (part = strsep(&rest, "/")) != NULL; first = false)
        good = first ? fputs(part, out) >= 0 : *part == '\0' || take_part(part, out, params, &arguments);
    if (out && fclose(out) != 0) good = false;
    free(copy);
    return good;
}

/* ---- One benchmark ----------------------------------------------------------------------------------------------- */

/* Whether a key is not one of Google Benchmark's own fields of a benchmark. */
static bool is_counter(const char *key) {
    static const char *const known[] = {
        "name",        "run_name",         "run_type", "family_index",   "per_family_instance_index",
        "repetitions", "repetition_index", "threads",  "iterations",     "real_time",
        "cpu_time",    "time_unit",        "label",    "error_occurred", "error_message"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(key, known[i]) == 0) return false;
    return true;
}

static bool is_real(const json_t *value) {
    return json_is_number(value) || json_is_null(value) || (json_is_string(value) && isinf(pbd_json_real(value)));
}

/* Units per second: dividing by it rounds once, so that 100 ns give 1e-7 s. 0: not a unit of time. */
static double units_per_second(const char *unit) {
    static const struct {
        const char *unit;
        double count;
    } units[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0) return units[i].count;
    return 0;
}

static bool append_metric(json_t *rows, const char *name, const char *unit, const char *direction, double value) {
    return json_array_append_new(rows, json_pack("{ss ss ss so so}", "name", name, "unit", unit, "direction", direction,
                                                 "value", pbd_real_json(value), "count", json_null())) == 0;
}

static bool append_count(json_t *rows, const char *name, uint64_t count) {
    return json_array_append_new(rows, json_pack("{ss ss ss so so}", "name", name, "unit", "1", "direction", "neutral",
                                                 "value", json_null(), "count", pbd_count_json(count))) == 0;
}

static bool append_counter(json_t *rows, const char *name, double value) {
    const bool bytes = strcmp(name, "bytes_per_second") == 0, items = strcmp(name, "items_per_second") == 0;
    return append_metric(rows, name, bytes ? "B/s" : items ? "1/s" : "1", bytes || items ? "higher" : "neutral", value);
}

/* Reads a number of a benchmark; null and "inf" are from mend_numbers. */
static pbd_status get_real(const json_t *b, const char *key, const char *where, double *out) {
    const json_t *value = json_object_get(b, key);
    if (!value || !is_real(value))
        return pbd_error(PBD_BAD_INPUT, "%s: '%s' is %s; nothing was imported", where, key,
                         value ? "no number" : "missing");
    *out = pbd_json_real(value);
    return pbd_ok();
}

static pbd_status get_count(const json_t *b, const char *key, long long otherwise, long long min, long long max,
                            const char *where, long long *out) {
    const json_t *value = json_object_get(b, key);
    *out = otherwise;
    if (!value) return pbd_ok();
    const double real = json_number_value(value); /* large ones are written as 1e6 */
    if (!json_is_number(value) || !(real >= (double)min && real <= (double)max) || real != floor(real))
        return pbd_error(PBD_BAD_INPUT, "%s: '%s' must be a whole number in [%lld, %lld]; nothing was imported", where,
                         key, min, max);
    *out = json_is_integer(value) ? (long long)json_integer_value(value) : (long long)real;
    return pbd_ok();
}

typedef struct measured {
    const char *name, *label;
    const char *error; /* NULL: none */
    long long threads, repeat, iterations;
    double real_s, cpu_s; /* of one iteration */
} measured;

static const char *text_or(const json_t *b, const char *key, const char *otherwise) {
    const char *text = json_string_value(json_object_get(b, key));
    return text ? text : otherwise;
}

static pbd_status read_measured(const json_t *b, const char *where, measured *out) {
    *out = (measured){.name = text_or(b, "run_name", text_or(b, "name", "")), .label = text_or(b, "label", "")};
    if (*out->name == '\0') return pbd_error(PBD_BAD_INPUT, "%s: it has no name; nothing was imported", where);
    if (json_is_true(json_object_get(b, "error_occurred")))
        out->error = text_or(b, "error_message", "it gives no reason");
    PBD_TRY(get_count(b, "threads", 1, 1, 1 << 20, where, &out->threads));
    PBD_TRY(get_count(b, "repetition_index", 0, 0, 1 << 30, where, &out->repeat));
    PBD_TRY(get_count(b, "iterations", 0, 0, 1LL << 53, where, &out->iterations));
    if (out->error) return pbd_ok(); /* its times are 0 or missing, without meaning */
    const char *unit = text_or(b, "time_unit", "ns");
    const double per_second = units_per_second(unit);
    if (per_second == 0)
        return pbd_error(PBD_BAD_INPUT, "%s: time_unit '%.20s' is not one of ns, us, ms, s; nothing was imported",
                         where, unit);
    PBD_TRY(get_real(b, "real_time", where, &out->real_s));
    PBD_TRY(get_real(b, "cpu_time", where, &out->cpu_s));
    out->real_s /= per_second;
    out->cpu_s /= per_second;
    return pbd_ok();
}

static pbd_status metrics_of(const json_t *b, const measured *m, json_t *rows) {
    bool good = true;
    if (!m->error)
        good = append_metric(rows, "real_time", "s", "lower", m->real_s) &&
               append_metric(rows, "cpu_time", "s", "lower", m->cpu_s) &&
               append_count(rows, "iterations", (uint64_t)m->iterations);
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)b, key, value) {
        if (!is_counter(key) || !is_real(value) || !good) continue;
        good = append_counter(rows, key, pbd_json_real(value));
    }
    return good ? pbd_ok() : out_of_memory;
}

static json_t *cell_row(const char *case_name, const char *tool, const char *params, long long threads) {
    return pbd_row_identified(
        "cell", json_pack("{ss ss ss ss ss sI}", "case_name", case_name, "method", tool, "params", params, "backend",
                          "external", "precision", "unknown", "threads", (json_int_t)threads));
}

static const char *id_of(const json_t *row, const char *column) {
    return json_string_value(json_object_get(row, column));
}

static json_t *run_row(const pbd_import *m, const json_t *cell, const measured *b) {
    const char *more = b->error ? b->error : b->label;
    return json_pack("{ss ss ss ss ss ss sI si si ss ss so}", "run_id", "", "cell_id", id_of(cell, "cell_id"),
                     "build_id", id_of(m->build, "build_id"), "env_id", id_of(m->env, "env_id"), "invocation_id",
                     id_of(m->invocation, "invocation_id"), "kind", "external", "repeat", (json_int_t)b->repeat,
                     "warmups", 0, "seed", 0, "started_at", m->started_at, "state", b->error ? "failed" : "ok", "says",
                     json_sprintf("%s%s%s", b->name, *more ? ": " : "", more));
}

/* One phase for all iterations together, as in benches. */
static json_t *phases_of(const measured *m) {
    if (m->error) return json_array();
    return json_pack("[{ss so so sI}]", "name", "solve", "wall_s", pbd_real_json(m->real_s * (double)m->iterations),
                     "cpu_s", pbd_real_json(m->cpu_s * (double)m->iterations), "calls", (json_int_t)m->iterations);
}

static pbd_status make_record(const pbd_import *m, const json_t *b, const measured *what, json_t **out) {
    char *name PBD_CLEANUP(pbd_free_memory) = NULL, run_id[33];
    json_auto_t *params = json_object(), *metrics = json_array();
    if (!params || !metrics || !split_name(what->name, &name, params)) return out_of_memory;
    const char *text PBD_CLEANUP(pbd_free_memory) = json_dumps(params, JSON_COMPACT | JSON_SORT_KEYS);
    json_auto_t *cell = text ? cell_row(name, m->tool, text, what->threads) : NULL;
    if (!cell) return out_of_memory;
    PBD_TRY(metrics_of(b, what, metrics));
    *out = json_pack("{sO sO sO s{ss ss ss} s{ss ss ss} sO so s[] sO s[] so s[]}", "build", m->build, "env", m->env,
                     "invocation", m->invocation, "case", "name", name, "summary", "", "source", "", "method", "name",
                     m->tool, "summary", "", "source", "", "cell", cell, "run", run_row(m, cell, what), "env_sample",
                     "metric", metrics, "series", "phase", phases_of(what), "warning");
    return *out ? pbd_record_identify(*out, run_id) : out_of_memory;
}

/* Versions before 1.5 distinguish runs and aggregates only by their names. */
static bool is_aggregate(const json_t *b) {
    const char *type = json_string_value(json_object_get(b, "run_type"));
    if (type) return strcmp(type, "aggregate") == 0;
    static const char *const ends[] = {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"};
    const char *name = text_or(b, "name", "");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t all = strlen(name), end = strlen(ends[i]);
        if (all > end && strcmp(name + all - end, ends[i]) == 0) return true;
    }
    return false;
}

/* *is_run: whether it is a measurement. */
static pbd_status read_benchmark(const json_t *b, const char *where, pbd_imported *tally, measured *out, bool *is_run) {
    *is_run = false;
    if (!json_is_object(b)) return pbd_error(PBD_BAD_INPUT, "%s: it is not an object; nothing was imported", where);
    if (is_aggregate(b)) {
        tally->aggregates++;
        return pbd_ok();
    }
    if (json_is_true(json_object_get(b, "skipped"))) {
        tally->skipped++;
        return pbd_ok();
    }
    *is_run = true;
    return read_measured(b, where, out);
}

typedef pbd_status (*run_taker)(void *context, const json_t *benchmark, const measured *what);

/* Records are made one at a time: all at once they would take ten times the file's memory. */
static pbd_status each_run(const pbd_import *m, pbd_imported *tally, run_taker take, void *context) {
    const json_t *b;
    size_t i;
    json_array_foreach(json_object_get(m->content, "benchmarks"), i, b) {
        char where[400];
        measured what;
        bool is_run;
        snprintf(where, sizeof where, "'%.200s', benchmark %zu (%.100s)", m->path, i + 1, text_or(b, "name", ""));
        PBD_TRY(read_benchmark(b, where, tally, &what, &is_run));
        if (is_run) PBD_TRY(take(context, b, &what));
    }
    return pbd_ok();
}

static pbd_status count_run(void *context, const json_t *b, const measured *what) {
    pbd_import *m = context;
    (void)b, (void)what;
    m->measured++;
    return pbd_ok();
}

/* ---- Storing ----------------------------------------------------------------------------------------------------- */

/* A copy of the record with the invocation of a stored run; NULL without memory. */
static json_t *with_origin_of(const json_t *record, const json_t *stored, char run_id[33]) {
    json_auto_t *copy = json_deep_copy(record);
    json_t *run = json_object_get(copy, "run");
    const json_t *id = json_object_get(json_object_get(stored, "run"), "invocation_id");
    if (copy && json_object_set(copy, "invocation", json_object_get(stored, "invocation")) == 0 &&
        json_object_set(run, "invocation_id", (json_t *)(uintptr_t)id) == 0 &&
        pbd_record_identify(copy, run_id).code == PBD_OK)
        return json_incref(copy);
    return NULL;
}

/* If `record` differs from the stored run `run_id` only in the name of its file, replaces it by that run. */
static pbd_status become_if_equal(const pbd_store *store, const char *run_id, json_t **record) {
    json_auto_t *stored = NULL;
    char copy_id[33];
    PBD_TRY(pbd_record_load(store, run_id, &stored));
    json_auto_t *copy = with_origin_of(*record, stored, copy_id);
    if (!copy) return out_of_memory;
    if (strcmp(copy_id, run_id) != 0) return pbd_ok();
    json_decref(*record);
    *record = json_incref(copy);
    return pbd_ok();
}

/* Looks for the record among runs of the same cell, machine and second, which may be from a file of another name. */
static pbd_status look_for_known(const pbd_store *store, json_t **record) {
    json_auto_t *ours = json_incref(*record), *ids = json_array();
    const json_t *run = json_object_get(ours, "run"), *id;
    const char *const text[] = {id_of(run, "cell_id"), id_of(run, "env_id"), id_of(run, "started_at")};
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    size_t i;
    PBD_TRY(pbd_store_row(store,
                          "SELECT run_id FROM run WHERE cell_id = ?1 AND env_id = ?2 AND started_at = ?3"
                          " AND kind = 'external' ORDER BY run_id",
                          text, 3, "looking for imported runs", &row, &stmt));
    while (row) {
        if (json_array_append_new(ids, json_string(pbd_column_text(stmt, 0))) != 0) return out_of_memory;
        PBD_TRY(pbd_store_step(store, stmt, &row, "looking for imported runs"));
    }
    json_array_foreach(ids, i, id) PBD_TRY(become_if_equal(store, json_string_value(id), record));
    return pbd_ok();
}

typedef struct storing {
    const pbd_store *store;
    const pbd_import *import;
    pbd_imported tally;
} storing;

static pbd_status insert_run(void *context, const json_t *b, const measured *what) {
    storing *s = context;
    json_auto_t *record = NULL;
    bool added = false;
    PBD_TRY(make_record(s->import, b, what, &record));
    PBD_TRY(look_for_known(s->store, &record));
    PBD_TRY(pbd_record_verify(record, NULL));
    PBD_TRY(pbd_record_insert(s->store, record, &added));
    added ? s->tally.added++ : s->tally.known++;
    return pbd_ok();
}

pbd_status pbd_import_put(pbd_store *store, pbd_import *m, pbd_imported *out) {
    storing s = {.store = store, .import = m};
    *out = (pbd_imported){0};
    PBD_TRY(pbd_store_start(store, "importing"));
    PBD_TRY(pbd_store_end(store, each_run(m, &s.tally, insert_run, &s), "importing"));
    *out = s.tally;
    return pbd_ok();
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

void pbd_import_free(pbd_import *m) {
    if (!m) return;
    json_decref(m->content);
    json_decref(m->build);
    json_decref(m->env);
    json_decref(m->invocation);
    free(m->file);
    free(m->tool);
    free(m);
}

static void release(pbd_import **m) { pbd_import_free(*m); }

pbd_status pbd_import_load(const char *path, const char *tool, pbd_import **out) {
    *out = NULL;
    pbd_import *m PBD_CLEANUP(release) = calloc(1, sizeof *m);
    if (!m) return out_of_memory;
    m->path = path;
    PBD_TRY(load_file(path, &m->content));
    PBD_TRY(read_context(m, path, tool));
    PBD_TRY(each_run(m, &m->tally, count_run, m));
    if (m->measured == 0)
        return pbd_error(PBD_BAD_INPUT, "'%s' holds no measured benchmark (%zu aggregates, %zu skipped)", path,
                         m->tally.aggregates, m->tally.skipped);
    *out = m;
    m = NULL;
    return pbd_ok();
}
