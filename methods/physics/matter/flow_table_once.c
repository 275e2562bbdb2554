#include "methods/physics/matter/flow_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAL double
#include "methods/physics/matter/flow.h"

#define PARAMETER(role, name, unit, kind, preset, min, max, open, choices, doc) \
    {FLOW_##role, {#name, unit, kind, preset, min, max, open, choices, doc}},
#define FLOW(name, hardening, form)                                                           \
    static const flow_parameter name##_parameters[] = {FLOW_PARAMETERS_##name(PARAMETER){0}}; \
    _Static_assert(sizeof(name##_values) <= PBD_MOST_FLOW_VALUES * sizeof(double),            \
                   "a material has no room for the parameters of " #name ": PBD_MOST_FLOW_VALUES");
#include "methods/physics/matter/flow.def"
#undef FLOW

#define HARDENS_plain false
#define HARDENS_hardens true
const flow_entry flow_table[] = {
#define FLOW(name, hardening, form) \
    {#name, name##_parameters, FLOW_COLOUR_##name, FLOW_LOOK_##name, HARDENS_##hardening},
#include "methods/physics/matter/flow.def"
#undef FLOW
    {0}};

static const char *const choices[] = {"none",
#define FLOW(name, hardening, form) #name,
#include "methods/physics/matter/flow.def"
#undef FLOW
                                      NULL};

/* ---- Rows of a case ---------------------------------------------------------------------------------------------- */

#define COUNT(...) +1
enum {
    MOST_ROWS = 1
#define FLOW(name, hardening, form) FLOW_PARAMETERS_##name(COUNT)
#include "methods/physics/matter/flow.def"
#undef FLOW
};

typedef struct flow_row {
    char rules[120], doc[320]; /* "flow=von_mises|mohr_coulomb", and the description that begins with it */
} flow_row;

static void add_row(const flow_entry *rule, const flow_parameter *p, pbd_param *row, flow_row *text) {
    size_t k = 1;
    if (p->role == FLOW_STATE || p->role == FLOW_STEP) return; /* not parameters of a case */
    while (row[k].name && strcmp(row[k].name, p->param.name) != 0) k++;
    const char *said = row[k].name ? row[k].doc + strlen(text[k].rules) + 2 : p->param.doc;
    char doc[sizeof text->doc];
    snprintf(doc, sizeof doc, "%s", said);
    if (!row[k].name) row[k] = p->param;
    const size_t used = strlen(text[k].rules);
    snprintf(text[k].rules + used, sizeof text->rules - used, "%s%s", used ? "|" : "flow=", rule->name);
    snprintf(text[k].doc, sizeof text->doc, "%s: %.190s", text[k].rules, doc);
    row[k].doc = text[k].doc;
}

const pbd_param *flow_params(void) {
    static pbd_param row[MOST_ROWS + 1];
    static flow_row text[MOST_ROWS];
    if (row[0].name) return row;
    row[0] = (pbd_param){"flow", "", PBD_CHOICE, "none", 0, 0, 0, choices, "flow rule"};
    for (const flow_entry *rule = flow_table; rule->name; rule++)
        for (const flow_parameter *p = rule->parameter; p->param.name; p++) add_row(rule, p, row, text);
    return row;
}

/* ---- Materials --------------------------------------------------------------------------------------------------- */

int flow_number(const char *rule) {
    for (int k = 0; rule && flow_table[k].name; k++)
        if (strcmp(flow_table[k].name, rule) == 0) return k;
    return -1;
}

int flow_place(const char *rule, const char *parameter) {
    const int kind = flow_number(rule);
    for (int k = 0; kind >= 0 && flow_table[kind].parameter[k].param.name; k++)
        if (strcmp(flow_table[kind].parameter[k].param.name, parameter) == 0) return k;
    return -1;
}

pbd_status flow_preset(pbd_material *material, const char *rule) {
    const int kind = flow_number(rule);
    if (kind < 0) return pbd_error(PBD_BAD_INPUT, "no flow rule is named '%.60s'", rule ? rule : "");
    material->flow = flow_table[kind].name;
    for (int k = 0; flow_table[kind].parameter[k].param.name; k++) {
        const pbd_param *p = &flow_table[kind].parameter[k].param;
        int choice = 0;
        while (p->kind == PBD_CHOICE && strcmp(p->choices[choice], p->preset) != 0) choice++;
        material->flow_value[k] = p->kind == PBD_CHOICE ? choice : strtod(p->preset, NULL);
    }
    return pbd_ok();
}

void flow_read(const pbd_values *values, pbd_material *material) {
    const int kind = pbd_choice(values, "flow") - 1;
    if (kind < 0 || flow_preset(material, flow_table[kind].name).code != PBD_OK) return; /* none */
    for (int k = 0; flow_table[kind].parameter[k].param.name; k++) {
        const flow_parameter *p = &flow_table[kind].parameter[k];
        if (p->role == FLOW_STATE || p->role == FLOW_STEP) continue;
        material->flow_value[k] =
            p->param.kind == PBD_CHOICE ? pbd_choice(values, p->param.name) : pbd_real(values, p->param.name);
    }
}

static int state_place(int rule) {
    for (int k = 0; rule >= 0 && flow_table[rule].parameter[k].param.name; k++) {
        const flow_role role = flow_table[rule].parameter[k].role;
        if (role == FLOW_STATE || role == FLOW_START) return k;
    }
    return -1;
}

bool flow_has_state(int rule) { return state_place(rule) >= 0; }

double flow_first_state(const pbd_material *material) {
    const int place = state_place(flow_number(material->flow));
    return place < 0 ? 0 : material->flow_value[place];
}
