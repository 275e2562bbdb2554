/* The flow rule of a scene's material, for tests that build scenes themselves. */
#ifndef PBD_TESTS_FLOW_VALUES_H
#define PBD_TESTS_FLOW_VALUES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/matter/flow_table.h"

/* Sets the rule (NULL: none) with its presets, then its values from key=value words separated by blanks. Words of other
 * rules are ignored. */
static inline __attribute__((unused)) void set_flow_values(pbd_material *m, const char *rule, const char *words) {
    char text[300], *save = NULL;
    m->flow = NULL;
    if (!rule) return;
    if (flow_preset(m, rule).code != PBD_OK) abort();
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        const int place = flow_place(rule, word);
        if (place >= 0) m->flow_value[place] = strtod(value, NULL);
    }
}

static inline __attribute__((unused)) double flow_value_of(const pbd_material *m, const char *parameter) {
    const int place = flow_place(m->flow, parameter);
    if (place < 0) abort();
    return m->flow_value[place];
}

#endif
