/* Plug-ins: methods from shared libraries (methods/plugin.h: what one exports), and engines: methods in processes of
 * their own (harness/engine), which are registered in the same way. */
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

/* Loads plug-ins and appends their methods to the registry, where they stay. Each is first loaded and checked in a
 * child, so that a crash becomes an error. PBD_BAD_INPUT says what is wrong with which file: it does not exist, is not
 * a shared library, has no `pbd_plugin`, was built for another contract (both numbers are given), or has a table that
 * pbd_plugin_load refuses. The variable PBDBENCH_PLUGINS names further files, which come before `files`; programs
 * started by this one inherit it. */
pbd_status pbd_plugins_load(const pbd_texts *files);

/* Loads one file, unless it is loaded already. PBD_BAD_INPUT: a missing slot, a parameter whose default is out of its
 * range, a name that is taken... */
pbd_status pbd_plugin_load(const char *path, const pbd_plugin **out);

/* Loads engines from `files`, each a file or a folder with an engine.yaml, in order; then those of the variable
 * PBDBENCH_ENGINES: files, and folders with *.yaml and NAME/engine.yaml. An engine of the variable that cannot be used
 * becomes a pbd_missing_method; one of `files` is an error: PBD_BAD_INPUT, or PBD_NOT_SUPPORTED if it is not installed.
 */
pbd_status pbd_engines_load(const pbd_texts *files);

size_t pbd_plugin_count(void);                                 /* engines too */
const pbd_engine *pbd_plugin_engine(const pbd_plugin *plugin); /* NULL: a shared library */
const char *pbd_plugin_path(const pbd_plugin *plugin);
const char *pbd_plugin_label(const pbd_plugin *plugin); /* "mass_spring 0.1" */
const char *pbd_plugin_hash(const pbd_plugin *plugin);  /* of the file: 32 hex digits */
size_t pbd_plugin_methods(const pbd_plugin *plugin);
const pbd_method_entry *pbd_plugin_method_at(const pbd_plugin *plugin, size_t index);

#endif
