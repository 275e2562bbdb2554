/* Compiled into every plug-in: the functions that method.h and exec.h declare, as calls through the table that the
 * program hands over on loading. */
#include <stdarg.h>
#include <stdio.h>

#include "harness/exec/emu.h"
#include "methods/physics/space/colouring.h"
#include "methods/plugin.h"

static const pbd_host *program;

void pbd_plugin_take_host(const pbd_host *given) { program = given; }

pbd_status pbd_error(pbd_code code, const char *format, ...) {
    pbd_status status = {.code = code};
    va_list args;
    va_start(args, format);
    vsnprintf(status.text, sizeof status.text, format, args);
    va_end(args);
    return status;
}

void pbd_warning(pbd_recorder *recorder, const char *name, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    program->warning(recorder, name, text);
}

#define FUNCTION(type, name, parameters, arguments) \
    type name parameters { return program->name arguments; }
#define PROCEDURE(name, parameters, arguments) \
    void name parameters { program->name arguments; }
PBD_HOST_FUNCTIONS(FUNCTION, PROCEDURE)
