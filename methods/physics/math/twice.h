/* Compiles a body for reals and again for batches of them, so that physics is written once.
 *
 * A header names itself as PBD_BODY and includes this file; it is then read twice more, each time for its body alone:
 *
 *     #ifndef PBD_BODY
 *     #ifndef PBD_THING_H
 *     #define PBD_THING_H
 *     #include ...                                  what the body needs
 *     #define PBD_BODY "methods/physics/thing.h"
 *     #include "methods/physics/math/twice.h"
 *     #endif
 *     #else
 *     PBD_FN V(real) V(real_thing)(V(real) x) ...   real_thing for a real, vreal_thing for a batch
 *     #endif
 *
 * V(name) is `name` the first time and `vname` the second: V(real), V(vec3), V(mat3) are the types. A body has no
 * branches on what it computes: V(real_where)(mask, a, b) selects; only V(mask_any)(mask) may tell it that there is
 * nothing to do. On a GPU both forms are of one real. */
#define V(name) name
#include PBD_BODY
#undef V
#define V(name) v##name
#include PBD_BODY
#undef V
#undef PBD_BODY
