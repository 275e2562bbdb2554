/* engine.yaml: how a method in a process of its own is started, and what it is. */
#ifndef PBD_ENGINE_FILE_H
#define PBD_ENGINE_FILE_H

#include <cyaml/cyaml.h>
#include <stdbool.h>

#include "methods/method.h"

/* Keys of the same names; name, command, what, source and licence must be given. */
typedef struct pbd_engine_file {
    char *name;         /* of the method: small letters, digits and underscores */
    char *what;         /* one line */
    char *source;       /* who made it, and where it is */
    char *licence;      /* of the engine, not of its adapter */
    char **command;     /* words, run in the file's folder without a shell */
    char **environment; /* NAME=VALUE */
    char *install;      /* what to run where it is missing; NULL: not said */
    unsigned command_count, environment_count;
} pbd_engine_file;

extern const cyaml_schema_value_t pbd_engine_schema; /* of the file */

/* PBD_BAD_INPUT: no such file, not of this form, a name or a word that cannot be used. Free with pbd_engine_file_free.
 */
pbd_status pbd_engine_file_load(const char *path, pbd_engine_file **out);
void pbd_engine_file_free(pbd_engine_file *file); /* NULL-safe */

/* The file under ROOT/examples/engines (*.yaml, NAME/engine.yaml) of the engine with this name, from ROOT on, in
 * PATH_MAX bytes; false: none. */
bool pbd_engine_file_of(const char *name, char *path);

/* PBD_NOT_SUPPORTED, with what to do, where the program of the command is not there. folder: of the file. */
pbd_status pbd_engine_file_installed(const pbd_engine_file *file, const char *folder);

#endif
