#include "harness/catalog/scene_check.h"

#include "methods/physics/matter/flow_table.h"
#include "methods/physics/matter/law_table.h"

static const struct {
    unsigned what;
    const char *says;
} asked[] = {{PBD_TAKES_START, "bodies that start away from rest, or are fixed so"},
             {PBD_TAKES_FIBRES, "fibres: set fibre_stiffness=0 to run without"},
             {PBD_TAKES_PLASTICITY, "plastic flow: set yield_strain=0 to run without"},
             {PBD_TAKES_FORCES_END, "forces with an end time"},
             {PBD_TAKES_COLLIDERS, "colliders: floors, walls and tools"},
             {PBD_TAKES_CONTACT, "contact between particles"},
             {PBD_TAKES_CUTS, "cutting"},
             {PBD_TAKES_FLOW, "flow rules: set flow=none to run without"},
             {PBD_TAKES_FLUID, "liquids among a scene's particles"},
             {PBD_TAKES_CLOTH, "cloth: particles connected by triangles, or bending"}};

static unsigned asks_by_matter(const pbd_scene *scene) {
    static const unsigned of[PBD_MATTERS] = {[PBD_FLUID] = PBD_TAKES_FLUID, [PBD_CLOTH] = PBD_TAKES_CLOTH};
    unsigned mask = 0;
    for (size_t i = 0; scene->matter && i < scene->particles; i++)
        if (scene->matter[i] < PBD_MATTERS) mask |= of[scene->matter[i]];
    return mask;
}

static unsigned asks(const pbd_scene *scene) {
    unsigned mask = asks_by_matter(scene);
    if (scene->start) mask |= PBD_TAKES_START;
    if (pbd_has_fibres(&scene->material)) mask |= PBD_TAKES_FIBRES;
    if (scene->material.yield_strain > 0) mask |= PBD_TAKES_PLASTICITY;
    if (scene->forces_end > 0) mask |= PBD_TAKES_FORCES_END;
    if (scene->colliders > 0) mask |= PBD_TAKES_COLLIDERS;
    if (scene->contact.radius && (scene->contact.between_bodies || scene->contact.self_distance > 0))
        mask |= PBD_TAKES_CONTACT;
    if (scene->blades > 0) mask |= PBD_TAKES_CUTS;
    if (scene->material.flow) mask |= PBD_TAKES_FLOW;
    if (scene->cloth_bending > 0) mask |= PBD_TAKES_CLOTH;
    return mask;
}

static pbd_status check_material(const pbd_material *m) {
    int law;
    PBD_TRY(law_find(m->law, &law));
    if (m->flow && flow_number(m->flow) < 0) return pbd_error(PBD_BAD_INPUT, "no flow rule is named '%.60s'", m->flow);
    return pbd_ok();
}

pbd_status pbd_check_scene(const pbd_scene *scene, const pbd_method *method) {
    PBD_TRY(check_material(&scene->material));
    PBD_TRY(check_material(&scene->cloth));
    for (size_t i = 0; scene->matter && i < scene->particles; i++)
        if (scene->matter[i] >= PBD_MATTERS)
            return pbd_error(PBD_BAD_INPUT,
                             "particle %zu is of matter %u: it must be continuum (0), fluid (1) or cloth (2)", i,
                             scene->matter[i]);
    const unsigned beyond = asks(scene) & ~method->takes;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (beyond & asked[i].what)
            return pbd_error(PBD_NOT_SUPPORTED, "method %s does not support %s", method->name, asked[i].says);
    return pbd_ok();
}
