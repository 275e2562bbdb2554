/* The table of functions that is passed to plug-ins. */
#include "harness/catalog/plugin_host.h"

#include "harness/exec/emu.h"
#include "methods/physics/space/colouring.h"

static void warning(pbd_recorder *recorder, const char *name, const char *text) {
    pbd_warning(recorder, name, "%s", text);
}

const pbd_host *pbd_plugin_host(void) {
#define FUNCTION(type, name, parameters, arguments) .name = name,
#define PROCEDURE(name, parameters, arguments) .name = name,
    static const pbd_host host = {
        .bytes = sizeof(pbd_host), .warning = warning, PBD_HOST_FUNCTIONS(FUNCTION, PROCEDURE)};
    return &host;
}
