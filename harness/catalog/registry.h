/* The registry of methods, cases and backends, and look-up by name.
 *
 * methods.def and cases.def are expanded into static lists here; this is the only place that names them all. Plug-ins
 * append their methods in the order in which they were loaded (plugin.h). An entry of a method holds its two
 * compilations, f32 and f64. A look-up returns an entry, or PBD_BAD_INPUT with the nearest known name. Parameter values
 * are read against the tables of an entry by values.h. */
#ifndef PBD_REGISTRY_H
#define PBD_REGISTRY_H

#include "cases/case.h"
#include "methods/method.h"

typedef enum pbd_precision { PBD_PRECISION_F32, PBD_PRECISION_F64 } pbd_precision;
typedef enum pbd_backend { PBD_BACKEND_CPU, PBD_BACKEND_EMU, PBD_BACKEND_CUDA, PBD_BACKEND_COUNT } pbd_backend;

typedef struct pbd_plugin pbd_plugin; /* plugin.h */

/* The two compilations of one method, with the same name and parameters. Only those named by `precisions` may be
 * run. */
typedef struct pbd_method_entry {
    const pbd_method *by_precision[2];
    const pbd_plugin *plugin; /* where it came from; NULL: compiled in */
} pbd_method_entry;

typedef struct pbd_backend_entry {
    const char *name, *summary;
    bool available;
    const char *reason; /* why not, when it is not; "" otherwise */
} pbd_backend_entry;

/* Appends the methods of a plug-in that was checked. The entries are not copied and must remain until the program ends.
 * The list is global to the process, like loaded libraries. */
pbd_status pbd_add_methods(const pbd_method_entry *entry, size_t count);

/* Methods that are known by name and cannot be used, such as engines that are not installed. Texts are copied. */
typedef struct pbd_missing_method {
    char *name, *path, *reason;
} pbd_missing_method;
pbd_status pbd_add_missing_method(const char *name, const char *path, const char *reason);
size_t pbd_missing_methods(const pbd_missing_method **out);

size_t pbd_method_count(void);
const pbd_method_entry *pbd_method_at(size_t index);
size_t pbd_case_count(void);
const pbd_case *pbd_case_at(size_t index);
pbd_backend_entry pbd_backend_at(pbd_backend backend);
const char *pbd_precision_name(pbd_precision precision); /* "f32", "f64" */

/* Find by exact name; PBD_BAD_INPUT with the nearest known name otherwise, PBD_NOT_SUPPORTED for a missing method. */
pbd_status pbd_find_method(const char *name, const pbd_method_entry **out);
pbd_status pbd_find_case(const char *name, const pbd_case **out);
pbd_status pbd_name_backend(const char *name, pbd_backend *out); /* also one that is not available */
pbd_status pbd_find_backend(const char *name, pbd_backend *out); /* refuses one that is not available, with why */
pbd_status pbd_find_precision(const char *name, pbd_precision *out);

/* PBD_NOT_SUPPORTED, with why, unless the backend is in this build and its device in this machine. */
pbd_status pbd_check_backend(pbd_backend backend);

/* The only elastic law that a method supports. NULL: not restricted, or a plug-in built before there was `law`. */
const char *pbd_method_law(const pbd_method *method);

/* Whether the method chooses values for `auto`. */
bool pbd_has_choose(const pbd_method *method);

/* PBD_TAKES_* of the method. A plug-in built before there was PBD_TAKES_ELASTICITY takes it. */
unsigned pbd_method_takes(const pbd_method *method);

/* PBD_NEEDS_* of the method that the case does not provide; 0: they fit together. */
unsigned pbd_missing_needs(const pbd_method *method, const pbd_case *c);

#endif
