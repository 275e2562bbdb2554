/* From a scene's material to the flow rule of kernels. Host code, in the caller's `real`. */
#ifndef PBD_FLOW_MATERIAL_H
#define PBD_FLOW_MATERIAL_H

#include "methods/physics/matter/flow_parameters.h"
#include "methods/physics/matter/flow_rules.h"

_Static_assert((int)FLOW_VON_MISES + 1 == (int)PBD_FLOW_VON_MISES && (int)FLOW_SNOW + 1 == (int)PBD_FLOW_SNOW,
               "flow rules of kernels and of scenes are in one order");

/* Of a material that flows (flow != PBD_FLOW_NONE); dt, s, matters to herschel_bulkley only. */
FLOW_HOST flow_rule flow_rule_of(const pbd_material *material, double dt) {
    const double *value = material->flow_value;
    const flow_material m = {
        .E = material->E,
        .nu = material->nu,
        .yield_stress = value[PBD_FLOW_YIELD_STRESS],
        .frobenius = value[PBD_FLOW_YIELD_NORM] > 0,
        .friction_angle = value[PBD_FLOW_FRICTION_ANGLE],
        .cohesion = value[PBD_FLOW_COHESION],
        .keep_gain = value[PBD_FLOW_VOLUME_CORRECTION] > 0,
        .viscosity = value[PBD_FLOW_VISCOSITY],
        .power = value[PBD_FLOW_POWER],
        .dt = dt,
        .beta = value[PBD_FLOW_BETA],
        .M = value[PBD_FLOW_M],
        .xi = value[PBD_FLOW_XI],
        .printed = value[PBD_FLOW_NACC_FORM] > 0,
        .compression = value[PBD_FLOW_COMPRESSION],
        .stretch = value[PBD_FLOW_STRETCH],
    };
    return flow_rule_make((flow_kind)(material->flow - 1), &m);
}

#endif
