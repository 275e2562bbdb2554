/* A stored run as a command line. */
#include "harness/query/run_command.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/registry.h"
#include "harness/engine/engine_file.h"
#include "harness/files/numbers.h"

void pbd_write_word(FILE *out, const char *word) {
    bool plain = *word != '\0';
    for (const char *c = word; *c != '\0'; c++) plain = plain && (isalnum((unsigned char)*c) || strchr("_-+=.,:/", *c));
    if (plain) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*c, out);
        }
    }
    fputc('\'', out);
}

const char *pbd_spell_param(const json_t *value, char number[40]) {
    if (json_is_string(value)) return json_string_value(value);
    if (json_is_integer(value))
        snprintf(number, 40, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        pbd_spell_number(json_number_value(value), number);
    return number;
}

void pbd_write_argv(FILE *out, const char *argv) {
    json_t *words = json_loads(argv, 0, NULL), *word;
    size_t i;
    fputs("pbdbench", out);
    json_array_foreach(words, i, word) {
        fputc(' ', out);
        pbd_write_word(out, json_is_string(word) ? json_string_value(word) : "");
    }
    json_decref(words);
}

/* The command that imported a run of another tool. */
static char *import_command(const char *argv) {
    char *command = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&command, &bytes);
    if (out == NULL) return NULL;
    pbd_write_argv(out, argv);
    if (fclose(out) == 0) return command;
    free(command);
    return NULL;
}

/* Writes the libraries or engines of methods out of tree that were named when the run was made: "--plugin FILE" or
 * "--plugin=FILE". Returns whether there are any. */
static bool write_files(FILE *out, const char *argv, const char *option) {
    const size_t length = strlen(option);
    bool any = false;
    json_t *words = json_loads(argv ? argv : "[]", 0, NULL), *item;
    size_t i;
    json_array_foreach(words, i, item) {
        const char *word = json_string_value(item), *file = NULL;
        if (word == NULL) continue;
        if (strcmp(word, option) == 0) file = json_string_value(json_array_get(words, i + 1));
        if (strncmp(word, option, length) == 0 && word[length] == '=') file = word + length + 1;
        if (file == NULL) continue;
        fprintf(out, " %s ", option);
        pbd_write_word(out, file);
        any = true;
    }
    json_decref(words);
    return any;
}

/* Writes an engine that the command line did not name, since figures name their own. It is found by the method's name.
 */
static void write_engine(FILE *out, const char *method) {
    const pbd_method_entry *known;
    char path[PATH_MAX];
    if (pbd_find_method(method, &known).code == PBD_OK && !known->plugin) return;
    if (!pbd_engine_file_of(method, path)) return;
    fputs(" --engine ", out);
    pbd_write_word(out, path);
}

char *pbd_run_command(const pbd_result *r, const char *argv) {
    const char *kind = r->kind ? r->kind : "run";
    if (strcmp(kind, "limit") == 0) return strdup("pbdbench env --measure");
    if (strcmp(kind, "external") == 0) return import_command(argv);
    char *command = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&command, &bytes);
    if (out == NULL) return NULL;
    const bool bench = strcmp(kind, "bench") == 0;
    const bool kernel = bench && r->says && strncmp(r->says, "kernel:", 7) == 0; /* bench_kernel.c */
    if (kernel)
        fprintf(out, "pbdbench bench --kernel %.*s -c %s -m %s", (int)strcspn(r->says + 7, "/"), r->says + 7,
                r->case_name, r->method_name);
    else if (bench)
        fprintf(out, "pbdbench bench -c %s -m %s", r->case_name, r->method_name);
    else
        fprintf(out, "pbdbench run %s -m %s", r->case_name, r->method_name);
    json_t *params = json_loads(r->params, 0, NULL), *value;
    const char *key;
    json_object_foreach(params, key, value) {
        char number[40], *word = NULL;
        if (asprintf(&word, "%s=%s", key, pbd_spell_param(value, number)) < 0) word = NULL;
        fputs(" -s ", out);
        pbd_write_word(out, word ? word : key);
        free(word);
    }
    json_decref(params);
    fprintf(out, " -b %s -p %s -t %d", r->backend, r->precision, r->threads);
    if (!bench) fprintf(out, " --seed %" PRIu64, r->seed);
    if (!bench && r->warmups > 0) fprintf(out, " -w %d", r->warmups);
    if (!bench && r->repeat > 0) fprintf(out, " -r %d", r->repeat + 1);
    const bool library = write_files(out, argv, "--plugin"), engine = write_files(out, argv, "--engine");
    if (!library && !engine) write_engine(out, r->method_name);
    if (!bench) fputs(" --again", out);
    if (fclose(out) == 0) return command;
    free(command);
    return NULL;
}
