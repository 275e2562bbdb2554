/* Methods from shared libraries (methods/plugin.h). */
#ifndef PBD_HARNESS_PLUGIN_H
#define PBD_HARNESS_PLUGIN_H

#include "harness/options.h"
#include "methods/plugin.h"

/* Loads a plug-in, checks its table, and adds its method to the registry for the rest of the process. PBD_BAD_INPUT or
 * PBD_NOT_SUPPORTED names the file and what is wrong: no such file, no shared library, no `pbd_plugin` in it, built for
 * another contract (both numbers), a slot that is missing, a name that is taken, a parameter that contradicts itself.
 */
pbd_status pbd_plugin_load(const char *path);
/* All of a verb's --plugin. */
pbd_status pbd_plugins_load(const pbd_texts *paths);
/* Runs are made in processes of their own from the first plug-in on (apart.h). */
bool pbd_plugins_loaded(void);

/* The checks alone, for tests and for the registry: of one compilation. */
pbd_status pbd_method_check(const pbd_method *method);

#endif
