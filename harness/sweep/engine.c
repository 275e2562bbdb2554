#include "harness/sweep/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/files/paths.h"
#include "harness/process/child.h"
#include "harness/query/run_command.h"
#include "harness/store/rows.h"

enum { USUAL_ARRAY = 1001, MOST_WORDS = 64 }; /* Slurm's own default for MaxArraySize */

static pbd_status find_program(char program[PATH_MAX]) {
    const ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);
    if (length < 0) return pbd_error(PBD_FAILED, "/proc/self/exe cannot be read: %s", strerror(errno));
    program[length] = '\0';
    return pbd_ok();
}

/* ---- What was submitted ------------------------------------------------------------------------------------------ */

json_t *pbd_submitted(const pbd_manifest *m) {
    return json_load_file(pbd_sweep_file(m->folder, "submitted.json").text, 0, NULL);
}

static json_t *args_json(const pbd_texts *args) {
    json_t *list = json_array();
    for (size_t i = 0; i < args->count; i++) json_array_append_new(list, pbd_text_json(args->item[i]));
    return list;
}

/* jobs: the ids so far, kept even if a later part is refused. */
static pbd_status note_submission(const pbd_manifest *m, const pbd_submission *s, const json_t *jobs,
                                  const char *merge) {
    char program[PATH_MAX];
    PBD_TRY(find_program(program));
    json_auto_t *object =
        json_pack("{ss sI sb sI so so sO ss}", "engine", s->engine, "throttle", (json_int_t)s->throttle, "packed",
                  s->packed, "pause", (json_int_t)s->pause, "sbatch_args", args_json(&s->args), "db",
                  pbd_text_json(s->db), "jobs", jobs, "merge", merge);
    const char *text PBD_CLEANUP(pbd_free_memory) = json_dumps(object, JSON_COMPACT);
    if (!text) return pbd_no_memory();
    return pbd_write_whole(pbd_sweep_file(m->folder, "submitted.json").text, text, strlen(text));
}

pbd_status pbd_submission_recall(pbd_submission *s, const json_t *last) {
    const json_t *args = json_object_get(last, "sbatch_args");
    if (!s->engine) s->engine = json_string_value(json_object_get(last, "engine"));
    if (!s->db) s->db = json_string_value(json_object_get(last, "db"));
    if (!s->throttle) s->throttle = json_integer_value(json_object_get(last, "throttle"));
    if (!s->packed) s->packed = json_is_true(json_object_get(last, "packed"));
    if (!s->pause) s->pause = json_integer_value(json_object_get(last, "pause"));
    if (s->args.count > 0 || json_array_size(args) == 0) return pbd_ok();
    for (size_t i = 0; i < json_array_size(args); i++) {
        const char *word = json_string_value(json_array_get(args, i));
        if (word) PBD_TRY(pbd_texts_add(&s->args, word));
    }
    return pbd_ok();
}

/* ---- The commands of a shard and of the merge -------------------------------------------------------------------- */

/* Arguments, terminated by NULL. */
typedef struct command {
    const char *word[MOST_WORDS];
    size_t count;
} command;

static void add_word(command *c, const char *word) {
    if (c->count + 1 < MOST_WORDS) c->word[c->count++] = word;
}

/* pause: buffer for that number as text. */
static command shard_command(const pbd_manifest *m, const pbd_submission *s, const char *program, const char *number,
                             char pause[24]) {
    command c = {{program, "sweep", "run-shard", number, "--dir", m->folder}, 6};
    if (s->packed) add_word(&c, "--packed");
    if (s->pause == 0) return c;
    snprintf(pause, 24, "%lld", s->pause);
    add_word(&c, "--pause");
    add_word(&c, pause);
    return c;
}

static command merge_command(const pbd_manifest *m, const pbd_submission *s, const char *program) {
    return (command){{program, "sweep", "merge", "--dir", m->folder, "--db", s->db}, 7};
}

/* ---- This machine ------------------------------------------------------------------------------------------------ */

static pbd_status run_command(command *c, const pbd_submission *s, int *exit_code) {
    pbd_child child;
    if (s->json) add_word(c, "--json");
    if (s->quiet) add_word(c, "--quiet");
    PBD_TRY(pbd_child_run(c->word, NULL, -1, &child));
    fputs(child.out, stdout);
    fflush(stdout);
    fputs(child.err, stderr);
    *exit_code = child.code;
    pbd_child_free(&child);
    return pbd_ok();
}

pbd_status pbd_run_locally(const pbd_manifest *m, const bool *wanted, const pbd_submission *s, int *exit_code) {
    char program[PATH_MAX], number[24], pause[24];
    PBD_TRY(find_program(program));
    json_auto_t *none = json_array();
    PBD_TRY(note_submission(m, s, none, ""));
    for (size_t i = 0; i < m->shards; i++) {
        if (!wanted[i]) continue;
        snprintf(number, sizeof number, "%zu", i);
        command shard = shard_command(m, s, program, number, pause);
        PBD_TRY(run_command(&shard, s, exit_code));
        if (*exit_code < 0) fprintf(stderr, "pbdbench: shard %zu ended by signal %d\n", i, -*exit_code);
    }
    command merge = merge_command(m, s, program);
    return run_command(&merge, s, exit_code);
}

/* ---- Scripts for Slurm ------------------------------------------------------------------------------------------- */

/* jobs/NUMBER.sh and jobs/NUMBER.shards; numbers continue from one submission to the next. */
typedef struct job_files {
    pbd_sweep_path script, list;
} job_files;

static job_files new_files(const pbd_manifest *m) {
    job_files files;
    for (unsigned number = 1;; number++) {
        char name[40];
        snprintf(name, sizeof name, "jobs/%u.sh", number);
        files.script = pbd_sweep_file(m->folder, name);
        snprintf(name, sizeof name, "jobs/%u.shards", number);
        files.list = pbd_sweep_file(m->folder, name);
        if (access(files.script.text, F_OK) != 0) return files;
    }
}

static void write_command(FILE *out, const command *c) {
    fputs("exec", out);
    for (size_t i = 0; i < c->count; i++) {
        fputc(' ', out);
        if (strcmp(c->word[i], "\"$shard\"") == 0)
            fputs(c->word[i], out);
        else
            pbd_write_word(out, c->word[i]);
    }
    fputc('\n', out);
}

/* In double quotes, as sbatch parses them in a script. `id` is sbatch's pattern for the job id. */
static void write_head(FILE *out, const pbd_manifest *m, const char *what, const char *id) {
    fprintf(out,
            "#!/bin/sh\n"
            "# Written by `pbdbench sweep`; may be submitted again with sbatch.\n"
            "#SBATCH --job-name=\"%s-%s\"\n"
            "#SBATCH --output=\"%s/jobs/%s.txt\"\n"
            "#SBATCH --nodes=1\n"
            "#SBATCH --ntasks=1\n"
            "#SBATCH --requeue\n",
            what, m->name, m->folder, id);
}

static void write_root(FILE *out) {
    fputs("export PBDBENCH_ROOT=", out);
    pbd_write_word(out, pbd_root());
    fputc('\n', out);
}

static void write_array(FILE *out, const pbd_manifest *m, const pbd_submission *s, const char *program, size_t tasks,
                        const char *list) {
    char pause[24];
    write_head(out, m, "shards", "%A_%a");
    fprintf(out, "#SBATCH --array=0-%zu", tasks - 1);
    if (s->throttle > 0) fprintf(out, "%%%lld", s->throttle);
    fprintf(out, "\n#SBATCH --cpus-per-task=%d\n", m->threads);
    if (!s->packed) fputs("#SBATCH --exclusive\n", out);
    write_root(out);
    fputs("shard=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" ", out);
    pbd_write_word(out, list);
    fputs(")\n", out);
    const command c = shard_command(m, s, program, "\"$shard\"", pause);
    write_command(out, &c);
}

static void write_merge(FILE *out, const pbd_manifest *m, const pbd_submission *s, const char *program) {
    write_head(out, m, "merge", "%j");
    write_root(out);
    const command c = merge_command(m, s, program);
    write_command(out, &c);
}

/* Closes a memory stream and writes its text to a file. */
static pbd_status save(FILE *out, char **text, const size_t *bytes, const char *path) {
    pbd_status status = out && fclose(out) == 0 ? pbd_write_whole(path, *text, *bytes) : pbd_no_memory();
    free(*text);
    *text = NULL;
    return status;
}

static pbd_status save_list(const size_t *shard, size_t tasks, const char *path) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    for (size_t i = 0; out && i < tasks; i++) fprintf(out, "%zu\n", shard[i]);
    return save(out, &text, &bytes, path);
}

/* ---- sbatch ------------------------------------------------------------------------------------------------------ */

/* Splits each text at its blanks; the words point into *copy. */
static pbd_status add_args(command *c, const pbd_texts *args, char **copy) {
    size_t bytes = 0;
    FILE *out = open_memstream(copy, &bytes);
    for (size_t i = 0; out && i < args->count; i++) fprintf(out, "%s ", args->item[i]);
    if (!out || fclose(out) != 0) return pbd_no_memory();
    for (char *rest = *copy, *word; (word = strsep(&rest, " \t\n"));) {
        if (c->count + 2 >= MOST_WORDS)
            return pbd_error(PBD_BAD_INPUT, "--sbatch-args has more than %d words", MOST_WORDS - 8);
        if (*word) add_word(c, word);
    }
    return pbd_ok();
}

/* «123» or «123;cluster» */
static pbd_status read_job(const char *said, char job[32]) {
    const size_t digits = strspn(said, "0123456789");
    if (digits == 0 || digits > 31)
        return pbd_error(PBD_BAD_INPUT, "sbatch printed '%.100s', which is not a job number", said);
    snprintf(job, 32, "%.*s", (int)digits, said);
    return pbd_ok();
}

/* All of its output on one line. */
static pbd_status refusal(const char *script, char *said) {
    for (char *end = said + strlen(said); end > said && end[-1] == '\n';) *--end = '\0';
    for (char *c = said; *c; c++)
        if (*c == '\n') *c = ' ';
    return pbd_error(PBD_BAD_INPUT, "sbatch refuses '%.100s': %.240s", script, *said ? said : "without a word");
}

static pbd_status call_sbatch(const command *c, char job[32]) {
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    const pbd_status status = pbd_child_run(c->word, NULL, -1, &child);
    if (status.code == PBD_INTERRUPTED) return status;
    if (status.code != PBD_OK)
        return pbd_error(PBD_BAD_INPUT,
                         "%.200s: submit where Slurm's sbatch is, or run the shards here with --engine local",
                         status.text);
    return child.code != 0 ? refusal(c->word[c->count - 1], child.err) : read_job(child.out, job);
}

/* «afterany:12:13», or NULL if there is nothing to wait for. */
static char *dependency_on(const json_t *jobs, size_t first) {
    char *text = NULL;
    size_t bytes = 0, i;
    json_t *job;
    FILE *out = json_array_size(jobs) > first ? open_memstream(&text, &bytes) : NULL;
    if (!out) return NULL;
    fputs("--dependency=afterany", out);
    json_array_foreach((json_t *)(uintptr_t)jobs, i, job) {
        if (i >= first) fprintf(out, ":%s", json_string_value(job));
    }
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

/* Submits a script that starts when the jobs from `first` on have ended. */
static pbd_status submit(const char *script, const pbd_submission *s, const json_t *jobs, size_t first, char job[32]) {
    command c = {{"sbatch", "--parsable"}, 2};
    char *args PBD_CLEANUP(pbd_free_memory) = NULL;
    const char *dependency PBD_CLEANUP(pbd_free_memory) = dependency_on(jobs, first);
    if (dependency) add_word(&c, dependency);
    PBD_TRY(add_args(&c, &s->args, &args));
    add_word(&c, script);
    return call_sbatch(&c, job);
}

/* The largest number of tasks in one array: indices are below MaxArraySize. */
static size_t largest_array(void) {
    const char *const words[] = {"scontrol", "show", "config", NULL};
    unsigned long size = 0;
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    if (pbd_child_run(words, NULL, -1, &child).code == PBD_OK && child.code == 0) {
        const char *line = strstr(child.out, "MaxArraySize");
        if (!line || sscanf(line, "MaxArraySize = %lu", &size) != 1) size = 0;
    }
    return size > 0 ? size : USUAL_ARRAY;
}

/* One part of the array. A throttle applies to each part, so with a throttle the parts run one after another. */
static pbd_status submit_part(const pbd_manifest *m, const pbd_submission *s, const char *program, const size_t *shard,
                              size_t tasks, json_t *jobs) {
    char *text = NULL, job[32];
    size_t bytes = 0;
    const job_files files = new_files(m);
    PBD_TRY(save_list(shard, tasks, files.list.text));
    FILE *out = open_memstream(&text, &bytes);
    if (out) write_array(out, m, s, program, tasks, files.list.text);
    PBD_TRY(save(out, &text, &bytes, files.script.text));
    const size_t before = json_array_size(jobs);
    PBD_TRY(submit(files.script.text, s, jobs, s->throttle > 0 && before > 0 ? before - 1 : before, job));
    if (json_array_append_new(jobs, json_string(job)) != 0) return pbd_no_memory();
    return note_submission(m, s, jobs, "");
}

static pbd_status submit_merge(const pbd_manifest *m, const pbd_submission *s, const char *program,
                               const json_t *jobs) {
    char *text = NULL, job[32];
    size_t bytes = 0;
    const job_files files = new_files(m);
    FILE *out = open_memstream(&text, &bytes);
    if (out) write_merge(out, m, s, program);
    PBD_TRY(save(out, &text, &bytes, files.script.text));
    PBD_TRY(submit(files.script.text, s, jobs, 0, job));
    return note_submission(m, s, jobs, job);
}

static pbd_status submit_all(const pbd_manifest *m, const pbd_submission *s, const size_t *shard, size_t count,
                             json_t *jobs) {
    char program[PATH_MAX];
    const size_t most = largest_array();
    PBD_TRY(find_program(program));
    for (size_t first = 0; first < count; first += most) {
        const size_t tasks = count - first < most ? count - first : most;
        const pbd_status status = submit_part(m, s, program, shard + first, tasks, jobs);
        if (status.code != PBD_OK && first > 0)
            return pbd_error(status.code,
                             "%.240s (%zu of %zu shards are submitted; `pbdbench sweep status` names the "
                             "jobs)",
                             status.text, first, count);
        PBD_TRY(status);
    }
    return submit_merge(m, s, program, jobs);
}

pbd_status pbd_submit_to_slurm(const pbd_manifest *m, const bool *wanted, const pbd_submission *s) {
    pbd_arena a PBD_ARENA;
    size_t *shard = pbd_new(&a, size_t, m->shards), count = 0;
    json_auto_t *jobs = json_array();
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_manifest_check_words(m->name, m->folder));
    for (size_t i = 0; i < m->shards; i++)
        if (wanted[i]) shard[count++] = i;
    return submit_all(m, s, shard, count, jobs);
}
