/* A method outside this repository: a shared library with one symbol, `pbd_plugin`.
 *
 * The method is the struct of method.h, its source compiled twice as in the tree (-DREAL=float and double). What a
 * plug-in calls (pbd_error, pbd_real, pbd_metric, pbd_run...) is the program's, found when it is loaded. The CMake
 * package does all of that: find_package(pbdbench), then pbdbench_add_plugin(NAME NAME.c) makes NAME.so. See
 * examples/plugin.
 */
#ifndef PBD_PLUGIN_H
#define PBD_PLUGIN_H

#include "methods/method.h"

#define PBD_PLUGIN_ABI 1u

typedef struct pbd_plugin_library {
    uint32_t abi; /* PBD_PLUGIN_ABI; each method has its own besides */
    const char *name, *version;
    const pbd_method *f32, *f64; /* the two compilations; the method's `precisions` says which may run */
} pbd_plugin_library;

/* The one definition of a plug-in; NAME is the method's. */
#define PBD_PLUGIN(NAME, VERSION)                                                      \
    extern const pbd_method NAME##_float, NAME##_double;                               \
    __attribute__((visibility("default"))) extern const pbd_plugin_library pbd_plugin; \
    const pbd_plugin_library pbd_plugin = {PBD_PLUGIN_ABI, #NAME, VERSION, &NAME##_float, &NAME##_double}

#endif
