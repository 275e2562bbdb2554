/* Methods out of tree: the interface between the program and plug-ins.
 *
 * A plug-in is a shared library with one or more methods (method.h), written like those in the tree: sources are
 * compiled twice, with `real` as float and as double, and each method defines one `const pbd_method PBD_NAME(NAME)`.
 * The program loads one symbol, `pbd_plugin`. For a single method it is defined by one line at the end of its source:
 *
 *     PBD_PLUGIN(mass_spring, "0.1")
 *
 * Several methods are listed in one source whose name ends in _once.c, which is compiled once:
 *
 *     PBD_DECLARE_METHOD(first);
 *     PBD_DECLARE_METHOD(second);
 *     static const pbd_plugin_method methods[] = {PBD_BOTH(first), PBD_BOTH(second)};
 *     PBD_PLUGIN_TABLE("mine", "0.1", methods);
 *
 * On loading, the program passes a table of its functions, pbd_host. methods/plugin_calls.c, which pbdbench_add_plugin
 * compiles into each plug-in, implements the functions of method.h, harness/exec/exec.h, harness/exec/emu.h and
 * methods/physics/space/colouring.h by calls through that table, so that a plug-in's source is written like one in the
 * tree. Of the rest of methods/physics it may use everything that is defined in headers. A plug-in runs on cpu, on emu,
 * and on cuda if nvcc was found when it was built. Example: `examples/plugin`. Check: `pbdbench plugin check FILE`.
 *
 * Structs are extended only at their ends. On loading, the sizes of all shared structs are compared. A struct that is
 * passed by pointer (PBD_GROWING) may be smaller in the plug-in, which then does not use the newer members; one in
 * arrays or within others (PBD_FIXED) must have the same size.
 */
#ifndef PBD_PLUGIN_H
#define PBD_PLUGIN_H

#include "harness/exec/exec.h"
#include "methods/method.h"

/* Version of the table below. */
#define PBD_PLUGIN_ABI 3u

/* ---- Functions that a plug-in may call ---------------------------------------------------------------------------
 * F(type, name, parameters, arguments) for functions, P(name, parameters, arguments) for those without a result. New
 * rows come last. pbd_error and pbd_warning, which take formats, are compiled into the plug-in, which passes warnings
 * as text. */

struct pbd_emu_index;

#define PBD_HOST_FUNCTIONS(F, P)                                                                             \
    F(double, pbd_real, (const pbd_values *v, const char *name), (v, name))                                  \
    F(long, pbd_integer, (const pbd_values *v, const char *name), (v, name))                                 \
    F(int, pbd_choice, (const pbd_values *v, const char *name), (v, name))                                   \
    F(const char *, pbd_text, (const pbd_values *v, const char *name), (v, name))                            \
    F(pbd_status, pbd_read_file, (const pbd_values *v, const char *name, pbd_content *out), (v, name, out))  \
    P(pbd_content_free, (pbd_content * content), (content))                                                  \
    P(pbd_metric, (pbd_recorder * r, const char *name, const char *unit, pbd_kind kind, double value),       \
      (r, name, unit, kind, value))                                                                          \
    P(pbd_count, (pbd_recorder * r, const char *name, uint64_t add), (r, name, add))                         \
    P(pbd_series,                                                                                            \
      (pbd_recorder * r, const char *name, const char *component, const char *unit, const double *values,    \
       size_t count, size_t stride),                                                                         \
      (r, name, component, unit, values, count, stride))                                                     \
    P(pbd_phase_begin, (pbd_recorder * r, const char *name), (r, name))                                      \
    P(pbd_phase_end, (pbd_recorder * r), (r))                                                                \
    F(bool, pbd_records, (const pbd_recorder *r), (r))                                                       \
    F(bool, pbd_stop_requested, (const pbd_recorder *r), (r))                                                \
    F(int, pbd_exec_threads, (const pbd_exec *exec), (exec))                                                 \
    F(pbd_status, pbd_exec_wait, (pbd_exec * exec), (exec))                                                  \
    F(pbd_status, pbd_alloc, (pbd_exec * exec, size_t bytes, void **out), (exec, bytes, out))                \
    P(pbd_free, (pbd_exec * exec, void *memory), (exec, memory))                                             \
    F(pbd_status, pbd_upload, (pbd_exec * exec, void *device, const void *host, size_t bytes),               \
      (exec, device, host, bytes))                                                                           \
    F(pbd_status, pbd_download, (pbd_exec * exec, void *host, const void *device, size_t bytes),             \
      (exec, host, device, bytes))                                                                           \
    F(pbd_status, pbd_run,                                                                                   \
      (pbd_exec * exec, const pbd_kernel *kernel, size_t n, size_t items, size_t entries, double more_flops, \
       const void *args),                                                                                    \
      (exec, kernel, n, items, entries, more_flops, args))                                                   \
    F(pbd_status, pbd_repeat_begin, (pbd_exec * exec, pbd_repeat * *repeat), (exec, repeat))                 \
    F(pbd_status, pbd_repeat_end, (pbd_exec * exec), (exec))                                                 \
    P(pbd_repeat_free, (pbd_exec * exec, pbd_repeat * repeat), (exec, repeat))                               \
    F(pbd_status, pbd_sort_pairs, (pbd_exec * exec, uint32_t * keys, uint32_t * values, size_t n, int bits), \
      (exec, keys, values, n, bits))                                                                         \
    F(pbd_status, pbd_scan, (pbd_exec * exec, uint32_t * values, size_t n, uint64_t * total),                \
      (exec, values, n, total))                                                                              \
    F(struct pbd_emu_index *, pbd_emu_thread_index, (void), ())                                              \
    F(struct pbd_emu_index *, pbd_emu_block_index, (void), ())                                               \
    P(pbd_emu_barrier, (void), ())                                                                           \
    F(void *, pbd_emu_shared, (size_t bytes), (bytes))                                                       \
    P(pbd_emu_tile_sums, (void *values, int count, bool is_double), (values, count, is_double))              \
    F(pbd_status, pbd_colour,                                                                                \
      (size_t count, int arity, const uint32_t *particle, size_t particles, uint32_t *order, size_t *first,  \
       int *colours),                                                                                        \
      (count, arity, particle, particles, order, first, colours))                                            \
    F(bool, pbd_wants_iterates, (const pbd_recorder *recorder), (recorder))                                  \
    P(pbd_iterate, (pbd_recorder * recorder, long iteration, const double *positions),                       \
      (recorder, iteration, positions))                                                                      \
    P(pbd_emu_fetch, (void *to, const void *from, size_t bytes), (to, from, bytes))                          \
    P(pbd_emu_fetch_wait, (void), ())                                                                        \
    P(pbd_emu_unordered, (const void *address), (address))

typedef struct pbd_host {
    uint32_t bytes; /* size of this table in the program: rows beyond it do not exist */
    void (*warning)(pbd_recorder *, const char *name, const char *text);
#define PBD_HOST_FUNCTION(type, name, parameters, arguments) type(*name) parameters;
#define PBD_HOST_PROCEDURE(name, parameters, arguments) void(*name) parameters;
    PBD_HOST_FUNCTIONS(PBD_HOST_FUNCTION, PBD_HOST_PROCEDURE)
#undef PBD_HOST_FUNCTION
#undef PBD_HOST_PROCEDURE
} pbd_host;

/* ---- What a plug-in exports -------------------------------------------------------------------------------------- */

#define PBD_GROWING(S) S(pbd_method) S(pbd_scene) S(pbd_host)
#define PBD_FIXED(S) \
    S(pbd_kernel)    \
    S(pbd_work)      \
    S(pbd_status)    \
    S(pbd_param)     \
    S(pbd_value)     \
    S(pbd_values)    \
    S(pbd_content)   \
    S(pbd_particles) \
    S(pbd_cells)     \
    S(pbd_material)  \
    S(pbd_colliders) \
    S(pbd_collider) S(pbd_collider_mesh) S(pbd_contact) S(pbd_blades) S(pbd_blade) S(pbd_loads) S(pbd_hints)

typedef struct pbd_struct_size {
    const char *name; /* NULL ends a list */
    size_t bytes;
} pbd_struct_size;

#define PBD_SIZE_OF(type) {#type, sizeof(type)},

typedef struct pbd_plugin_method {
    const pbd_method *f32, *f64; /* NULL: not compiled in that precision */
} pbd_plugin_method;

typedef struct pbd_plugin_table {
    uint32_t abi; /* must remain the first member */
    uint32_t method_abi;
    const pbd_struct_size *sizes; /* of the shared structs, as compiled in the plug-in */
    void (*take_host)(const pbd_host *);
    const char *name, *version;
    const pbd_plugin_method *method;
    size_t methods;
} pbd_plugin_table;

void pbd_plugin_take_host(const pbd_host *host); /* methods/plugin_calls.c, within the plug-in */

/* Weak, so that a plug-in with a single precision links: the address of the other method is then NULL. */
#define PBD_DECLARE_METHOD(NAME) \
    extern const pbd_method NAME##_float __attribute__((weak)), NAME##_double __attribute__((weak))
#define PBD_BOTH(NAME) \
    { &NAME##_float, &NAME##_double }

#define PBD_PLUGIN_TABLE(NAME, VERSION, METHODS)                                                                  \
    static const pbd_struct_size pbd_plugin_sizes[] = {PBD_GROWING(PBD_SIZE_OF) PBD_FIXED(PBD_SIZE_OF){NULL, 0}}; \
    __attribute__((visibility("default"))) extern const pbd_plugin_table pbd_plugin;                              \
    const pbd_plugin_table pbd_plugin = {.abi = PBD_PLUGIN_ABI,                                                   \
                                         .method_abi = PBD_METHOD_ABI,                                            \
                                         .sizes = pbd_plugin_sizes,                                               \
                                         .take_host = pbd_plugin_take_host,                                       \
                                         .name = NAME,                                                            \
                                         .version = VERSION,                                                      \
                                         .method = METHODS,                                                       \
                                         .methods = sizeof(METHODS) / sizeof *(METHODS)}

/* The table of a plug-in with one method. Its source is compiled twice; only the f64 object contains the table. */
#define PBD_PLUGIN(NAME, VERSION) PBD_PLUGIN_OF(REAL, NAME, VERSION)
#define PBD_PLUGIN_OF(REAL_, NAME, VERSION) PBD_PLUGIN_OF_(REAL_, NAME, VERSION)
#define PBD_PLUGIN_OF_(REAL_, NAME, VERSION) PBD_PLUGIN_IN_##REAL_(NAME, VERSION)
#define PBD_PLUGIN_IN_float(NAME, VERSION) extern const pbd_method NAME##_float;
#define PBD_PLUGIN_IN_double(NAME, VERSION)                             \
    PBD_DECLARE_METHOD(NAME);                                           \
    static const pbd_plugin_method NAME##_methods[] = {PBD_BOTH(NAME)}; \
    PBD_PLUGIN_TABLE(#NAME, VERSION, NAME##_methods);

#endif
