/* Parameters of a method or part, each declared once: this makes its row for --help and checks, its struct member and
 * its reader.
 *
 *     #define PARAMS(REAL, INTEGER, CHOICE)                                                     \
 *         REAL(dt, "s", "1e-4", 0, 1e3, PBD_OPEN_MIN, "time step")                              \
 *         INTEGER(iterations, "10", 1, 100000, "projections of every constraint in a step")     \
 *         CHOICE(solver, "coloured_gs", (coloured_gs, jacobi), "order of the constraints")
 *     PBD_SETTINGS(xpbi_settings, PARAMS)
 *     static const pbd_param params[] = {PBD_ROWS(PARAMS) PBD_ROWS(CONTACT_PARAMS){0}};
 *
 * PBD_SETTINGS declares the enumerators solver_coloured_gs and solver_jacobi,
 * struct xpbi_settings { double dt; long iterations; int solver; } and
 * xpbi_settings xpbi_settings_read(const pbd_values *). Parts declare theirs in their headers; a method joins the
 * rows. */
#ifndef PBD_PARAMS_H
#define PBD_PARAMS_H

#include "methods/each.h"
#include "methods/method.h"

#define PBD_ROWS(PARAMS) PARAMS(PBD_ROW_REAL, PBD_ROW_INTEGER, PBD_ROW_CHOICE)
#define PBD_ROW_REAL(name, unit, preset, min, max, open, doc) \
    {#name, unit, PBD_REAL, preset, min, max, open, NULL, doc},
#define PBD_ROW_INTEGER(name, preset, min, max, doc) {#name, "", PBD_INTEGER, preset, min, max, 0, NULL, doc},
#define PBD_ROW_CHOICE(name, preset, names, doc) \
    {#name, "", PBD_CHOICE, preset, 0, 0, 0, (const char *const[]){PBD_STRINGS names NULL}, doc},
#define PBD_STRINGS(...) PBD_EACH(PBD_STRING, __VA_ARGS__)
#define PBD_STRING(name) #name,

#define PBD_SETTINGS(type, PARAMS)                                               \
    PARAMS(PBD_NO_ENUM, PBD_NO_ENUM, PBD_ENUM_CHOICE)                            \
    typedef struct type {                                                        \
        PARAMS(PBD_MEMBER_REAL, PBD_MEMBER_INTEGER, PBD_MEMBER_CHOICE)           \
    } type;                                                                      \
    static inline type type##_read(const pbd_values *values) {                   \
        return (type){PARAMS(PBD_READ_REAL, PBD_READ_INTEGER, PBD_READ_CHOICE)}; \
    }
#define PBD_NO_ENUM(...)
#define PBD_ENUM_CHOICE(name, preset, names, doc) enum { PBD_ENUMERATORS(name, PBD_UNWRAP names) };
#define PBD_UNWRAP(...) __VA_ARGS__
#define PBD_ENUMERATORS(...) PBD_EACH_WITH(PBD_ENUMERATOR, __VA_ARGS__)
#define PBD_ENUMERATOR(name, choice) name##_##choice,
#define PBD_MEMBER_REAL(name, unit, preset, min, max, open, doc) double name;
#define PBD_MEMBER_INTEGER(name, preset, min, max, doc) long name;
#define PBD_MEMBER_CHOICE(name, preset, names, doc) int name;
#define PBD_READ_REAL(name, unit, preset, min, max, open, doc) .name = pbd_real(values, #name),
#define PBD_READ_INTEGER(name, preset, min, max, doc) .name = pbd_integer(values, #name),
#define PBD_READ_CHOICE(name, preset, names, doc) .name = pbd_choice(values, #name),

#endif
