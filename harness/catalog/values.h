/* Parameters: parsing the text of a command line or YAML file into checked values. */
#ifndef PBD_VALUES_H
#define PBD_VALUES_H

#include "harness/catalog/registry.h"

/* One `key=value` as typed. Owned when it comes from pbd_setting_parse, else borrowed. */
typedef struct pbd_setting {
    const char *key, *value;
} pbd_setting;

/* Parses one value and checks it against its parameter: kind, range, NaN; for a file, that it can be read and matches
 * its hash, if one is given. `where` names the owner (case or method) in the error. *out is overwritten, not freed. */
pbd_status pbd_parse_value(const pbd_param *param, const char *text, const char *where, pbd_value *out);
void pbd_value_free(pbd_value *value);              /* safe on a zeroed one */
const char *pbd_value_text(const pbd_value *value); /* its canonical spelling */

/* Whether a parameter may be `auto`: a number or a choice whose default is `auto`. The method chooses the value for a
 * scene (pbd_method.choose); until then a real number is NAN, others are 0. */
bool pbd_param_is_auto(const pbd_param *param);

/* Whether a parameter has no default and must be given; and the first such one of a list, or NULL. */
bool pbd_param_is_asked(const pbd_param *param);
const pbd_param *pbd_param_asked(const pbd_param *params);

void pbd_values_free(pbd_values *values);
pbd_status pbd_values_copy(const pbd_values *from, pbd_values *to); /* free *to likewise */

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

/* Several settings. After an error *out holds those before the invalid one, and is to be freed too. */
typedef struct pbd_settings {
    pbd_setting *item;
    size_t count;
} pbd_settings;
pbd_status pbd_settings_parse(const char *const *texts, size_t count, pbd_settings *out);
void pbd_settings_free(pbd_settings *settings); /* safe on a zeroed one */

#endif
