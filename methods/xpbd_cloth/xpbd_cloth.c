/* xpbd_cloth: cloth by XPBD, with compliant constraints on the strains of triangles and the angles between them. The
 * solver is methods/physics/parts/cloth.h; README.md has the equations. */
#include "methods/params.h"
#include "methods/physics/parts/cloth.h"
#include "methods/physics/parts/element_solver.h"

#define GRADIENTS(REAL, INTEGER, CHOICE)  \
    CHOICE(gradients, "end", (end, path), \
           "impulses act along gradients at the end of a step (implicit Euler), or where they were computed (XPBD)")
PBD_SETTINGS(gradients_settings, GRADIENTS)
static const pbd_param params[] = {PBD_ROWS(POSITION_PARAMS) PBD_ROWS(GRADIENTS) PBD_ROWS(CONTACT_PARAMS){0}};

/* Refuses matter other than cloth. */
static pbd_status check(const pbd_scene *scene) {
    for (size_t i = 0; scene->particles.material && i < scene->particles.count; i++)
        if (pbd_matter_of(scene, i) != PBD_CLOTH)
            return pbd_error(PBD_NOT_SUPPORTED, "xpbd_cloth supports cloth only: particle %zu of the scene is %s", i,
                             pbd_matter_of(scene, i) == PBD_FLUID ? "liquid" : "of a continuum");
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    PBD_TRY(check(scene));
    const position_settings set = position_settings_read(values);
    const cloth_settings settings = {.iterations = set.iterations,
                                     .substeps = set.substeps,
                                     .damping = set.damping,
                                     .turned = gradients_settings_read(values).gradients == gradients_end};
    pbd_scene own = *scene;
    if (scene->particles.material && scene->particles.count > 0) own.material[0] = *pbd_material_of(scene, 0);
    return cloth_create("xpbd_cloth", &own, settings, contact_settings_read(values), exec, recorder, (cloth **)state);
}

const pbd_method PBD_NAME(xpbd_cloth) = {
    .name = "xpbd_cloth",
    .summary = "cloth: strains of triangles and the angles between them, XPBD with a thin plate's compliances",
    .source = "Macklin et al. 2016; Bridson et al. 2003 (angles); yu2024 section 4.4",
    .needs = PBD_NEEDS_TRIANGLES,
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_CLOTH |
             PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .residual = "2-norm over all triangles and hinges of C + alpha~ lambda, strains and angles",
    .unconverged = STEPPER_SMALL_STEPS ": " STEPPER_UNCONVERGED,
    POSITION_SLOTS,
    .destroy = element_solver_destroy,
    .law = "stvk",
};
