/* Checks of a plug-in's tables, made before anything in them is used. */
#ifndef PBD_PLUGIN_TABLE_H
#define PBD_PLUGIN_TABLE_H

#include "methods/plugin.h"

/* PBD_BAD_INPUT with a sentence for the first fault. */
pbd_status pbd_check_plugin_table(const pbd_plugin_table *table);

/* Checks one method of the plug-in or engine `from`: names, parameters, slots, masks. */
pbd_status pbd_check_plugin_method(const pbd_plugin_method *both, const char *from);

#endif
