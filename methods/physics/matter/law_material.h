/* Converts a scene's material to the law and fibres of laws.h. Host code, in the caller's `real`. */
#ifndef PBD_LAW_MATERIAL_H
#define PBD_LAW_MATERIAL_H

#include "methods/physics/matter/law_table.h"
#include "methods/physics/matter/laws.h"

/* The law without a join. An unknown name gives NaN; harness/catalog/scene_check.c rejects it earlier. */
static inline __attribute__((unused)) hyperelastic law_plain(const pbd_material *m) {
    int law;
    const pbd_status status = law_find(m->law, &law);
    return hyperelastic_make(law, PBD_JOIN_NONE, status.code == PBD_OK ? m->E : (double)NAN, m->nu, 0);
}

/* Writes the fibres with a stiffness, in order: normalised directions, and stiffnesses in units of `unit`, Pa. */
static inline __attribute__((unused)) pbd_status fibres_make(const pbd_material *material, double unit,
                                                             fibre_set *out) {
    out->count = 0;
    for (int k = 0; k < PBD_MOST_FIBRES; k++) {
        const double *b = material->fibre[k], length = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
        if (!(material->fibre_stiffness[k] > 0)) continue;
        if (!(length > 0 && isfinite(length)))
            return pbd_error(PBD_BAD_INPUT, "the fibre (%g, %g, %g) has no direction", b[0], b[1], b[2]);
        out->direction[out->count] = vec3_make((real)(b[0] / length), (real)(b[1] / length), (real)(b[2] / length));
        out->stiffness[out->count++] = (real)(material->fibre_stiffness[k] / unit);
    }
    return pbd_ok();
}

#endif
