/* engine.yaml: how a method in a process of its own is started, and what it is. */
#ifndef PBD_ENGINE_FILE_H
#define PBD_ENGINE_FILE_H

#include <cyaml/cyaml.h>
#include <stdbool.h>

#include "methods/method.h"

/* Members are named as the keys of the file; name, command, what, source and licence are required. */
typedef struct pbd_engine_file {
    char *name;         /* of the method: lower-case letters, digits and underscores */
    char *what;         /* one line */
    char *source;       /* who made it, and where it is */
    char *licence;      /* of the engine, not of its adapter */
    char **command;     /* words, run in the file's folder without a shell */
    char **environment; /* NAME=VALUE */
    char *install;      /* command to run if it is missing; NULL: not given */
    unsigned command_count, environment_count;
} pbd_engine_file;

extern const cyaml_schema_value_t pbd_engine_schema; /* of the file */

/* PBD_BAD_INPUT: the file is missing or not of this form, or a name or word in it is invalid. Free with
 * pbd_engine_file_free. */
pbd_status pbd_engine_file_load(const char *path, pbd_engine_file **out);
void pbd_engine_file_free(pbd_engine_file *file); /* NULL-safe */

/* Finds the file of the engine with this name under ROOT/examples/engines (*.yaml, NAME/engine.yaml). path: PATH_MAX
 * bytes, relative to ROOT. False: none. */
bool pbd_engine_file_of(const char *name, char *path);

/* PBD_NOT_SUPPORTED, with what to do, if the program of the command does not exist. folder: of the file. */
pbd_status pbd_engine_file_installed(const pbd_engine_file *file, const char *folder);

#endif
