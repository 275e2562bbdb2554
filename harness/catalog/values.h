/* Parameters: from the words on a command line or in a YAML file to checked values. */
#ifndef PBD_VALUES_H
#define PBD_VALUES_H

#include "harness/catalog/registry.h"

/* One `key=value` as typed. Owned when it comes from pbd_setting_parse, else borrowed. */
typedef struct pbd_setting {
    const char *key, *value;
} pbd_setting;

/* Checks one value against its parameter: kind, range, NaN; that a file can be read, and what is in it. `where` names
 * the owner in the sentence (case or method). What *out held before is not freed. */
pbd_status pbd_parse_value(const pbd_param *param, const char *text, const char *where, pbd_value *out);
void pbd_value_free(pbd_value *value);              /* safe on a zeroed one */
const char *pbd_value_text(const pbd_value *value); /* its canonical spelling */

/* Whether `auto` is a value of it: a number or a choice whose default that is. The method chooses it for a scene
 * (pbd_method.choose); a real number is NAN until then, others are 0. */
bool pbd_param_is_auto(const pbd_param *param);

/* A parameter that has no default, but must be given; the first of a list, or NULL. */
bool pbd_param_is_asked(const pbd_param *param);
const pbd_param *pbd_param_asked(const pbd_param *params);

void pbd_values_free(pbd_values *values);
pbd_status pbd_values_copy(const pbd_values *from, pbd_values *to); /* freed likewise */

/* An axis `key=lo:hi:step` (both ends included when hi - lo is a multiple of step to 1e-9) or `key=a,b,c`.
 * `key` and `values` are owned by the axis; values are spelt with up to 12 significant digits. */
typedef struct pbd_axis {
    char *key;
    char **values;
    size_t count;
} pbd_axis;

pbd_status pbd_axis_parse(const char *text, pbd_axis *out);
void pbd_axis_free(pbd_axis *axis);

/* Splits a copy of `key=value`, which the setting then owns: words of a command line stay as they were typed, since
 * they are stored with the runs. PBD_BAD_INPUT when there is no '='. Free with pbd_setting_free, not the two strings.
 */
pbd_status pbd_setting_parse(const char *text, pbd_setting *out);
void pbd_setting_free(pbd_setting *setting);

/* Several of them. After a failure those before it, to be freed, too. */
typedef struct pbd_settings {
    pbd_setting *item;
    size_t count;
} pbd_settings;
pbd_status pbd_settings_parse(const char *const *texts, size_t count, pbd_settings *out);
void pbd_settings_free(pbd_settings *settings); /* safe on a zeroed one */

#endif
