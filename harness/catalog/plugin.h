/* Plug-ins: methods from shared libraries (methods/plugin.h is what one exports), and engines: methods in processes of
 * their own (harness/engine), which the registry takes in the same way. */
#ifndef PBD_PLUGIN_LOAD_H
#define PBD_PLUGIN_LOAD_H

#include "harness/catalog/registry.h"
#include "harness/engine/engine.h"
#include "harness/files/texts.h"

/* The option of every verb that takes plug-ins; STRUCT has a member pbd_texts plugins. */
#define PBD_OPTION_PLUGIN(STRUCT)                                                  \
    PBD_OPT_MANY(STRUCT, plugins, "plugin", 0, "FILE", PBD_WORDS_FILES,            \
                 "a shared library with more methods (`pbdbench plugin --help`)\n" \
                 "once for each; also those of $PBDBENCH_PLUGINS, separated by ':'")

/* Likewise for engines; STRUCT has a member pbd_texts engines. */
#define PBD_OPTION_ENGINE(STRUCT)                                                           \
    PBD_OPT_MANY(STRUCT, engines, "engine", 0, "FILE", PBD_WORDS_FILES,                     \
                 "an engine.yaml, a method in a process of its own, in any language\n"      \
                 "(`pbdbench engine --help`); also those of $PBDBENCH_ENGINES, files and\n" \
                 "folders separated by ':'")

/* Loads plug-ins and appends their methods to the registry, where they stay. Each is loaded and checked in a child
 * first, so that what crashes there is a sentence. PBD_BAD_INPUT says what is wrong with which: no such file, no shared
 * library, no `pbd_plugin` in it, another contract (both numbers), and what pbd_plugin_load finds in its tables.
 * The variable PBDBENCH_PLUGINS names files too, before those of `files`: what a program starts has the same. */
pbd_status pbd_plugins_load(const pbd_texts *files);

/* One file; one that is loaded already is not loaded again. A slot that is missing, a parameter whose default is out of
 * its range, a name that is taken... */
pbd_status pbd_plugin_load(const char *path, const pbd_plugin **out);

/* Engines of the files, or folders with an engine.yaml, in order; then those of the variable PBDBENCH_ENGINES: files,
 * and folders with *.yaml and NAME/engine.yaml. Of the latter, one that cannot be used is left out, and is a
 * pbd_missing_method; of the former it is an error: PBD_BAD_INPUT, PBD_NOT_SUPPORTED where it is not installed. */
pbd_status pbd_engines_load(const pbd_texts *files);

size_t pbd_plugin_count(void);                                 /* engines too */
const pbd_engine *pbd_plugin_engine(const pbd_plugin *plugin); /* NULL: a shared library */
const char *pbd_plugin_path(const pbd_plugin *plugin);
const char *pbd_plugin_label(const pbd_plugin *plugin); /* "mass_spring 0.1" */
const char *pbd_plugin_hash(const pbd_plugin *plugin);  /* of the file: 32 hex digits */
size_t pbd_plugin_methods(const pbd_plugin *plugin);
const pbd_method_entry *pbd_plugin_method_at(const pbd_plugin *plugin, size_t index);

#endif
