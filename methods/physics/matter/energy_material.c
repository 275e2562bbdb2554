#include "methods/physics/matter/energy_material.h"

#include <math.h>

/* lambda of plane stress: a membrane has no normal stress across its thickness. */
static double energy_membrane_lambda(const pbd_material *m) { return m->E * m->nu / (1 - m->nu * m->nu); }

pbd_status energy_material_make(const pbd_material *m, energy_settings set, int form, bool membrane,
                                energy_material *out) {
    int law;
    PBD_TRY(law_find(m->law, &law));
    if (m->yield_strain > 0 && law != LAW_stvk)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "plastic flow splits Green's strain, which is for material=stvk only (cao2023 section 4.3)");
    if (!(m->E > 0 && isfinite(m->E)))
        return pbd_error(PBD_NOT_SUPPORTED, "a strain energy needs elastic matter, but this scene has E=%g Pa", m->E);
    if (m->nu >= 0.5) return pbd_error(PBD_BAD_INPUT, "nu=%g must be below 0.5", m->nu);
    const pbd_join join = (pbd_join)set.join;
    out->E = m->E;
    out->unit = ldexp(1, ilogb(m->E));
    out->law = hyperelastic_make(law, join, m->E / out->unit, m->nu,
                                 set.threshold > 0 ? set.threshold : hyperelastic_threshold(law, join));
    if (membrane) out->law.lambda = (real)(energy_membrane_lambda(m) / out->unit);
    out->form = form;
    out->deviatoric = set.plastic_flow == plastic_flow_von_mises;
    out->yield = m->yield_strain;
    out->creep = m->creep;
    out->thickness = membrane && m->thickness > 0 ? m->thickness : 1;
    return fibres_make(m, out->unit, &out->fibre);
}

void energy_sample(energy_samples *all, const energy_material *m, double idle, double undefined, size_t n,
                   uint64_t steps, pbd_recorder *recorder) {
    all->idle += idle;
    all->seen += (double)n;
    if (undefined > 0)
        pbd_warning(recorder, "undefined_energy", "%.0f of %zu constraints have no value after step %llu%s", undefined,
                    n, (unsigned long long)steps,
                    law_domain_of(m->law.law) == LAW_UPRIGHT && m->law.join == PBD_JOIN_NONE
                        ? ": this material has no energy where it is inverted: use join=shifted"
                        : ": positions are not finite");
    pbd_metric(recorder, "applied_fraction", "1", PBD_QUALITY, 1 - all->idle / all->seen);
}

real energy_compliance(const energy_material *m, double dt) {
    const double inverse_square = 1 / (dt * dt * m->unit);
    return (real)(m->form == ENERGY_XPBD ? inverse_square / m->unit : inverse_square / m->thickness);
}

double energy_rounding(const energy_material *m, double strain) {
    const double twice = (2 * (double)m->law.mu + (double)m->law.lambda) * strain * strain;
    return m->form == ENERGY_XPBD_ROOT ? sqrt(twice) : 0.5 * twice;
}
