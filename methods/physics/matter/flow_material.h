/* Converts a scene's material to the flow rule for kernels. Host code, in the caller's `real`. */
#ifndef PBD_FLOW_MATERIAL_H
#define PBD_FLOW_MATERIAL_H

#include "methods/physics/matter/flow.h"
#include "methods/physics/matter/flow_table.h"

/* dt, s, is the value of the rule's parameter of role STEP. A material without a flow rule gives a rule that changes
 * nothing. */
static inline __attribute__((unused)) flow_rule flow_rule_of(const pbd_material *material, double dt) {
    const int kind = flow_number(material->flow);
    double value[PBD_MOST_FLOW_VALUES];
    memcpy(value, material->flow_value, sizeof value);
    for (int k = 0; kind >= 0 && flow_table[kind].parameter[k].param.name; k++)
        if (flow_table[kind].parameter[k].role == FLOW_STEP) value[k] = dt;
    return flow_rule_make(kind, material->E, material->nu, value);
}

/* Whether flow_hardening differs from 1. */
static inline __attribute__((unused)) bool flow_hardens(const pbd_material *material) {
    const int kind = flow_number(material->flow);
    return kind >= 0 && flow_table[kind].hardens;
}

#endif
