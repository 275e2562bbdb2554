/* When a parameter is read: said by the head of its description (pbd_param.doc, methods/method.h).
 *
 *     condition    alternative " or " alternative ...    one is enough
 *     alternative  term ", " term ...                    all are required
 *     term         KEY=VALUE|VALUE..., KEY!=VALUE, KEY>NUMBER
 */
#ifndef PBD_CONDITIONS_H
#define PBD_CONDITIONS_H

#include "harness/catalog/registry.h"

/* Letters of the condition that a description begins with, before its ": "; 0: it has none, and is always read. */
size_t pbd_condition_length(const char *doc);

/* Whether that condition holds with these values; without one it does. A term whose key is in neither list fails. */
bool pbd_condition_holds(const char *doc, const pbd_values *a, const pbd_values *b);

/* PBD_BAD_INPUT when the condition of a parameter names a key that neither table has, or a word that is no choice of
 * it. Both tables end with a NULL name; either may be NULL. */
pbd_status pbd_condition_check(const pbd_param *param, const pbd_param *of_case, const pbd_param *of_method);

/* Whether case or method reads this parameter, with these values. A term whose key is in neither list fails. */
bool pbd_is_read(const char *key, const pbd_values *of_case, const pbd_values *of_method);

/* «yield_stress is not read with flow=snow, only with flow=von_mises|herschel_bulkley», for one that is not read. */
void pbd_unread_text(const char *key, const pbd_values *of_case, const pbd_values *of_method, char *out, size_t bytes);

#endif
