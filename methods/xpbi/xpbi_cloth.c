#include "methods/xpbi/xpbi_cloth.h"

#include <math.h>
#include <stdlib.h>

#include "methods/physics/parts/contact.h"

void xpbi_cloth_free(xpbi_cloth *c) {
    cloth_contact_free(c->contact);
    cloth_free(c->cloth);
    scene_part_free(&c->part);
    scene_part_free(&c->rest);
    *c = (xpbi_cloth){0};
}

static double xpbi_largest_radius(const pbd_scene *scene) {
    double most = 0;
    for (size_t i = 0; scene->contact.radius && i < scene->particles.count; i++)
        most = fmax(most, scene->contact.radius[i]);
    return most;
}

/* The presets of contact's parameters: pairs are not looked for, colliders need none of them. */
static pbd_status xpbi_cloth_solver(xpbi_cloth *c, pbd_exec *exec) {
    static const pbd_param params[] = {CONTACT_PARAMS, {0}};
    const pbd_value presets[] = {
        {.param = &params[0], .number = 0}, {.param = &params[1], .number = 1.9}, {.param = &params[2], .number = 0.5}};
    const pbd_values values = {presets, 3};
    return cloth_create(&c->part.scene, true, &values, exec, c->recorder, &c->cloth);
}

pbd_status xpbi_cloth_create(xpbi_cloth *c, const pbd_scene *scene, double damping, double time, pbd_exec *exec,
                             pbd_recorder *recorder) {
    const unsigned others = 1u << PBD_CONTINUUM | 1u << PBD_FLUID;
    *c = (xpbi_cloth){.recorder = recorder, .damping = damping, .walled = scene->colliders.count > 0};
    PBD_TRY(scene_part_of(scene, others, &c->rest));
    PBD_TRY(scene_part_of(scene, 1u << PBD_CLOTH, &c->part));
    if (c->rest.scene.particles.count == 0)
        return pbd_error(PBD_NOT_SUPPORTED, "xpbi: the scene is of cloth alone: xpbd_cloth is for that");
    const double sum = xpbi_largest_radius(&c->part.scene) + xpbi_largest_radius(&c->rest.scene);
    const cloth_contact_settings settings = {.particles = c->rest.scene.particles.count,
                                             .distance = sum > 0 ? sum : 0.5 * scene->particles.spacing,
                                             .friction = scene->contact.friction,
                                             .time = time};
    PBD_TRY(xpbi_cloth_solver(c, exec));
    return cloth_contact_create(c->cloth, &settings, exec, recorder, &c->contact);
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

pbd_status xpbi_cloth_begin(xpbi_cloth *c, const real *x, const real *v, double dt) {
    if (!c->cloth) return pbd_ok();
    PBD_TRY(cloth_begin(c->cloth, dt));
    pbd_phase_begin(c->recorder, "cloth_search");
    const pbd_status status = cloth_contact_begin(c->contact, x, v, dt);
    pbd_phase_end(c->recorder);
    return status;
}

pbd_status xpbi_cloth_meet(xpbi_cloth *c, real *v) {
    if (!c->cloth) return pbd_ok();
    pbd_phase_begin(c->recorder, "cloth_contact");
    const pbd_status status = cloth_contact_iterate(c->contact, v);
    pbd_phase_end(c->recorder);
    return status;
}

pbd_status xpbi_cloth_iterate(xpbi_cloth *c, real *v) {
    if (!c->cloth) return pbd_ok();
    if (!c->walled) pbd_phase_begin(c->recorder, "cloth");
    const pbd_status status = cloth_iterate(c->cloth);
    if (!c->walled) pbd_phase_end(c->recorder);
    PBD_TRY(status);
    return xpbi_cloth_meet(c, v);
}

pbd_status xpbi_cloth_end(xpbi_cloth *c) {
    if (!c->cloth) return pbd_ok();
    PBD_TRY(cloth_end(c->cloth, c->damping));
    PBD_TRY(cloth_record(c->cloth));
    return cloth_contact_record(c->contact);
}

/* ---- Saving ------------------------------------------------------------------------------------------------------ */

size_t xpbi_cloth_bytes(const xpbi_cloth *c) { return c->cloth ? cloth_bytes(c->cloth) : 0; }

pbd_status xpbi_cloth_save(const xpbi_cloth *c, void *blob) { return c->cloth ? cloth_save(c->cloth, blob) : pbd_ok(); }

pbd_status xpbi_cloth_load(xpbi_cloth *c, const void *blob) { return c->cloth ? cloth_load(c->cloth, blob) : pbd_ok(); }

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Rows of `width` numbers, from one part's order to the scene's. */
static void xpbi_cloth_place(const scene_part *part, size_t width, const double *rows, double *out) {
    for (size_t i = 0; i < width * part->scene.particles.count; i++)
        out[width * part->number[i / width] + i % width] = rows[i];
}

pbd_status xpbi_cloth_read(const xpbi_cloth *c, pbd_field field, const double *rest, double *out) {
    const size_t width = field == PBD_DEFORMATION_GRADIENTS ? 9 : field == PBD_PRESSURES ? 1 : 3;
    const size_t n = c->part.scene.particles.count;
    double *rows = calloc(width * n + 1, sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles of cloth", n);
    pbd_status status = pbd_ok();
    for (size_t i = 0; i < n && width == 9; i++) rows[9 * i] = rows[9 * i + 4] = rows[9 * i + 8] = 1;
    if (field == PBD_POSITIONS || field == PBD_VELOCITIES) status = cloth_read(c->cloth, "xpbi", field, rows);
    if (status.code == PBD_OK) {
        xpbi_cloth_place(&c->rest, width, rest, out);
        xpbi_cloth_place(&c->part, width, rows, out);
    }
    free(rows);
    return status;
}
