/* Statuses: a code and a sentence. */
#include <stdarg.h>
#include <stdio.h>

#include "methods/method.h"

pbd_status pbd_error(pbd_code code, const char *format, ...) {
    pbd_status status;
    status.code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(status.text, sizeof status.text, format, arguments);
    va_end(arguments);
    return status;
}
