/* From settings to the values of a case and of a method. */
#ifndef PBD_RESOLVE_H
#define PBD_RESOLVE_H

#include "harness/catalog/built_scene.h"
#include "harness/catalog/values.h"

/* Resolves settings against the parameters of a case and of a method: defaults, then settings in order. A key known to
 * both goes to both, as does the case's default; a key known to neither is PBD_BAD_INPUT with the nearest one. A number
 * of the method may be given as the name of a number of the case in the same unit, whose value it takes: `dt=step`. If
 * the method supports only one law, that is the default `material`. `auto` is replaced by what the method chooses. On
 * success *case_values and *method_values own arrays freed with pbd_values_free. */
pbd_status pbd_resolve(const pbd_case *c, const pbd_method *m, const pbd_setting *settings, size_t count,
                       pbd_values *case_values, pbd_values *method_values);
/* As pbd_resolve; the scene, which is built only if the method has to choose, is kept for the next call. */
pbd_status pbd_resolve_built(pbd_built_scene *built, const pbd_case *c, const pbd_method *m,
                             const pbd_setting *settings, size_t count, pbd_values *case_values,
                             pbd_values *method_values);
/* As pbd_resolve, with a scene that the case did not build. */
pbd_status pbd_resolve_in(const pbd_scene *scene, const pbd_case *c, const pbd_method *m, const pbd_setting *settings,
                          size_t count, pbd_values *case_values, pbd_values *method_values);

#endif
