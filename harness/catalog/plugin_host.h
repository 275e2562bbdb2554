/* The table of functions that is passed to plug-ins. */
#ifndef PBD_PLUGIN_HOST_H
#define PBD_PLUGIN_HOST_H

#include "methods/plugin.h"

const pbd_host *pbd_plugin_host(void);

#endif
