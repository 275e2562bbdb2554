/* Conditions under which a parameter is read, at the beginning of its description (pbd_param.doc, methods/method.h).
 *
 *     condition    alternative " or " alternative ...    one is enough
 *     alternative  term ", " term ...                    all are required
 *     term         KEY=VALUE|VALUE..., KEY!=VALUE, KEY>NUMBER
 */
#ifndef PBD_CONDITIONS_H
#define PBD_CONDITIONS_H

#include "harness/catalog/registry.h"

/* Length of the condition that a description begins with, before its ": "; 0: none, the parameter is always read. */
size_t pbd_condition_length(const char *doc);

/* Whether that condition holds with these values; true without one. A term whose key is in neither list fails. */
bool pbd_condition_holds(const char *doc, const pbd_values *a, const pbd_values *b);

/* PBD_BAD_INPUT when the condition of a parameter names a key that neither table has, or a value that it cannot have.
 * Both tables end with a NULL name; either may be NULL. */
pbd_status pbd_condition_check(const pbd_param *param, const pbd_param *of_case, const pbd_param *of_method);

/* Whether the case or the method reads this parameter with these values. A term whose key is in neither list fails. */
bool pbd_is_read(const char *key, const pbd_values *of_case, const pbd_values *of_method);

/* The reason why a parameter is not read: «yield_stress is not read with flow=snow, only with
 * flow=von_mises|herschel_bulkley». */
void pbd_unread_text(const char *key, const pbd_values *of_case, const pbd_values *of_method, char *out, size_t bytes);

#endif
