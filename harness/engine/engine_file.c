#include "harness/engine/engine_file.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/files/paths.h"
#include "harness/files/yaml_fields.h"
#include "harness/files/yaml_file.h"

static const cyaml_schema_field_t fields[] = {
    PBD_YAML_TEXT(pbd_engine_file, name, "name", "of the method: small letters, digits and underscores"),
    PBD_YAML_TEXT(pbd_engine_file, what, "what", "a line"),
    PBD_YAML_TEXT(pbd_engine_file, source, "source", "who made the engine, and where it is"),
    PBD_YAML_TEXT(pbd_engine_file, licence, "licence", "of the engine, not of its adapter"),
    PBD_YAML_LIST(pbd_engine_file, command, "command", &pbd_yaml_word,
                  "words, run in the file's folder without a shell"),
    PBD_YAML_MAYBE_LIST(pbd_engine_file, environment, "environment", &pbd_yaml_word, "`NAME=VALUE`"),
    PBD_YAML_MAYBE_TEXT(pbd_engine_file, install, "install", "what to run where it is missing"),
    CYAML_FIELD_END};
const cyaml_schema_value_t pbd_engine_schema = PBD_YAML_FILE(pbd_engine_file, fields);

void pbd_engine_file_free(pbd_engine_file *file) { pbd_yaml_free(&pbd_engine_schema, file); }

static pbd_status check_environment(const pbd_engine_file *file, const char *path) {
    for (unsigned i = 0; i < file->environment_count; i++) {
        const char *equals = strchr(file->environment[i], '=');
        if (!equals || equals == file->environment[i])
            return pbd_error(PBD_BAD_INPUT, "%.150s: '%.60s' in `environment` is not of the form NAME=VALUE", path,
                             file->environment[i]);
    }
    return pbd_ok();
}

pbd_status pbd_engine_file_load(const char *path, pbd_engine_file **out) {
    void *file = NULL;
    *out = NULL;
    PBD_TRY(pbd_yaml_load(path, path, &pbd_engine_schema, &file));
    const pbd_status status = check_environment(file, path);
    if (status.code == PBD_OK)
        *out = file;
    else
        pbd_engine_file_free(file);
    return status;
}

static bool is_named(const char *path, const char *name) {
    pbd_engine_file *file;
    if (pbd_engine_file_load(path, &file).code != PBD_OK) return false;
    const bool same = strcmp(file->name, name) == 0;
    pbd_engine_file_free(file);
    return same;
}

bool pbd_engine_file_of(const char *name, char *path) {
    static const char *const patterns[] = {"*/engine.yaml", "*.yaml"};
    pbd_arena a PBD_ARENA;
    bool found = false;
    for (size_t i = 0; i < 2 && !found; i++) {
        const char *pattern = pbd_new_format(&a, "%s/examples/engines/%s", pbd_root(), patterns[i]);
        glob_t files = {0};
        if (pattern && glob(pattern, 0, NULL, &files) == 0)
            for (size_t k = 0; k < files.gl_pathc && !found; k++)
                if ((found = is_named(files.gl_pathv[k], name)))
                    snprintf(path, PATH_MAX, "%s", files.gl_pathv[k] + strlen(pbd_root()) + 1);
        globfree(&files);
    }
    return found;
}

static bool runs(const char *path) { return access(path, X_OK) == 0; }

/* Whether execvp would find a program without a slash: looks in the folders of PATH. */
static bool in_path(const char *program) {
    pbd_arena a PBD_ARENA;
    const char *path = getenv("PATH");
    char *folders = pbd_new_text(&a, path ? path : "/usr/bin:/bin"), *rest = NULL;
    if (!folders) return false;
    for (char *folder = strtok_r(folders, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
        const char *whole = pbd_new_format(&a, "%s/%s", folder, program);
        if (whole && runs(whole)) return true;
    }
    return false;
}

pbd_status pbd_engine_file_installed(const pbd_engine_file *file, const char *folder) {
    pbd_arena a PBD_ARENA;
    const char *program = file->command[0];
    const char *whole = *program == '/' ? program : pbd_new_format(&a, "%s/%s", folder, program);
    PBD_TRY(pbd_arena_check(&a));
    if (strchr(program, '/') ? runs(whole) : in_path(program)) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED, "engine %.60s is not installed: there is no program '%.120s'%s%.120s",
                     file->name, program, file->install ? "; run " : "", file->install ? file->install : "");
}
