/* Methods out of tree: what a plug-in exports.
 *
 * A plug-in is a shared library with one or more methods (method.h), written like those in the tree: sources are
 * compiled twice, with `real` as float and as double, and each method defines one `const pbd_method PBD_NAME(NAME)`.
 * The program looks up one symbol, `pbd_plugin`. For a plug-in of one method one line at the end of its source makes
 * it:
 *
 *     PBD_PLUGIN(mass_spring, "0.1")
 *
 * For several methods, one source (compiled once) lists them:
 *
 *     PBD_DECLARE_METHOD(first);
 *     PBD_DECLARE_METHOD(second);
 *     static const pbd_plugin_method methods[] = {PBD_BOTH(first), PBD_BOTH(second)};
 *     PBD_PLUGIN_TABLE("mine", "0.1", methods);
 *
 * A plug-in may call what method.h, harness/exec/exec.h, harness/exec/emu.h and methods/physics/space/colouring.h
 * declare: the program exports these functions (cmake/plugin.exports) and no others. The rest of methods/physics is
 * headers. It runs on cpu, and on emu where its kernels were compiled for it (pbdbench_add_plugin does); CUDA is for
 * methods in the tree. `examples/plugin` is a whole one; `pbdbench plugin check FILE` says what is wrong with one.
 */
#ifndef PBD_PLUGIN_H
#define PBD_PLUGIN_H

#include "harness/exec/exec.h"
#include "methods/method.h"

/* Of this table. What method.h and exec.h say is counted by PBD_METHOD_ABI; the sizes below catch who forgot to. */
#define PBD_PLUGIN_ABI 1u

typedef struct pbd_plugin_method {
    const pbd_method *f32, *f64; /* NULL: not compiled in that precision */
} pbd_plugin_method;

typedef struct pbd_plugin_table {
    uint32_t abi; /* stays the first, whatever else changes */
    uint32_t method_abi;
    uint32_t method_bytes, scene_bytes, kernel_bytes; /* of the structs as the plug-in knows them */
    const char *name, *version;
    const pbd_plugin_method *method;
    size_t methods;
} pbd_plugin_table;

/* Weak, so that a plug-in of one precision links: the other is NULL then. */
#define PBD_DECLARE_METHOD(NAME) \
    extern const pbd_method NAME##_float __attribute__((weak)), NAME##_double __attribute__((weak))
#define PBD_BOTH(NAME) \
    { &NAME##_float, &NAME##_double }

#define PBD_PLUGIN_TABLE(NAME, VERSION, METHODS)                                     \
    __attribute__((visibility("default"))) extern const pbd_plugin_table pbd_plugin; \
    const pbd_plugin_table pbd_plugin = {.abi = PBD_PLUGIN_ABI,                      \
                                         .method_abi = PBD_METHOD_ABI,               \
                                         .method_bytes = sizeof(pbd_method),         \
                                         .scene_bytes = sizeof(pbd_scene),           \
                                         .kernel_bytes = sizeof(pbd_kernel),         \
                                         .name = NAME,                               \
                                         .version = VERSION,                         \
                                         .method = METHODS,                          \
                                         .methods = sizeof(METHODS) / sizeof *(METHODS)}

/* The table of a plug-in of one method. Its source is compiled twice, and the table belongs to one of the two. */
#define PBD_PLUGIN(NAME, VERSION) PBD_PLUGIN_OF(REAL, NAME, VERSION)
#define PBD_PLUGIN_OF(REAL_, NAME, VERSION) PBD_PLUGIN_OF_(REAL_, NAME, VERSION)
#define PBD_PLUGIN_OF_(REAL_, NAME, VERSION) PBD_PLUGIN_IN_##REAL_(NAME, VERSION)
#define PBD_PLUGIN_IN_float(NAME, VERSION) extern const pbd_method NAME##_float;
#define PBD_PLUGIN_IN_double(NAME, VERSION)                             \
    PBD_DECLARE_METHOD(NAME);                                           \
    static const pbd_plugin_method NAME##_methods[] = {PBD_BOTH(NAME)}; \
    PBD_PLUGIN_TABLE(#NAME, VERSION, NAME##_methods);

#endif
