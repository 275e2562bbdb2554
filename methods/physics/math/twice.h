/* Compiles a body once for reals and once for batches, so that the physics is written once.
 *
 * A header defines PBD_BODY as its own path and includes this file, which includes the header twice more, for its body
 * only:
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
 * V(name) is `name` the first time and `vname` the second; the types are V(real), V(vec3), V(mat3). A body does not
 * branch on computed values: V(real_where)(mask, a, b) selects. The exception is V(mask_any)(mask), to skip work that
 * no lane needs. On a GPU both forms hold one real. */
#define V(name) name
#include PBD_BODY
#undef V
#define V(name) v##name
#include PBD_BODY
#undef V
#undef PBD_BODY
