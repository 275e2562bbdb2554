#include "harness/engine/engine_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/files/yaml_file.h"

#define TEXT(key, member) CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, pbd_engine_file, member, 1, CYAML_UNLIMITED)

static const cyaml_schema_value_t word = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED)};
static const cyaml_schema_field_t fields[] = {
    TEXT("name", name),
    TEXT("what", what),
    TEXT("source", source),
    TEXT("licence", licence),
    CYAML_FIELD_SEQUENCE("command", CYAML_FLAG_POINTER, pbd_engine_file, command, &word, 1, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("environment", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, pbd_engine_file, environment, &word,
                         0, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("install", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, pbd_engine_file, install, 0,
                           CYAML_UNLIMITED),
    CYAML_FIELD_END};
static const cyaml_schema_value_t schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, pbd_engine_file, fields)};

void pbd_engine_file_free(pbd_engine_file *file) { pbd_yaml_free(&schema, file); }

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
    PBD_TRY(pbd_yaml_load(path, path, &schema, &file));
    const pbd_status status = check_environment(file, path);
    if (status.code == PBD_OK)
        *out = file;
    else
        pbd_engine_file_free(file);
    return status;
}

static bool runs(const char *path) { return access(path, X_OK) == 0; }

/* As execvp looks: words without a slash in the folders of PATH. */
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
