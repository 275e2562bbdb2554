#include "methods/xpbi/xpbi_cloth.h"

#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"
#include "methods/physics/device/phase.h"

static double xpbi_largest_radius(const pbd_scene *scene) {
    double most = 0;
    for (size_t i = 0; scene->contact.radius && i < scene->particles.count; i++)
        most = fmax(most, scene->contact.radius[i]);
    return most;
}

pbd_status xpbi_cloth_create(xpbi_cloth *c, const pbd_scene *scene, double damping, double time, pbd_exec *exec,
                             pbd_recorder *recorder) {
    const unsigned others = 1u << PBD_CONTINUUM | 1u << PBD_FLUID;
    *c = (xpbi_cloth){0};
    PBD_TRY(scene_part_of(scene, others, &c->rest));
    PBD_TRY(scene_part_of(scene, 1u << PBD_CLOTH, &c->part));
    if (c->rest.scene.particles.count == 0)
        return pbd_error(PBD_NOT_SUPPORTED, "xpbi: the scene is of cloth alone: xpbd_cloth is for that");
    const double sum = xpbi_largest_radius(&c->part.scene) + xpbi_largest_radius(&c->rest.scene);
    const cloth_contact_settings settings = {.particles = c->rest.scene.particles.count,
                                             .distance = sum > 0 ? sum : 0.5 * scene->particles.spacing,
                                             .friction = scene->contact.friction,
                                             .time = time};
    const contact_settings colliders = {.contact_margin = 0.5}; /* no pairs within the cloth */
    const cloth_settings own = {.iterations = 1, .substeps = 1, .damping = damping, .turned = true};
    PBD_TRY(cloth_create("xpbi", &c->part.scene, own, colliders, exec, recorder, &c->cloth));
    c->run = cloth_run(c->cloth);
    return cloth_contact_create(c->cloth, &settings, exec, recorder, &c->contact);
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static pbd_status begin(void *self, stepper *run) {
    xpbi_cloth *c = self;
    PBD_TRY(stepper_begin(c->run, run->dt));
    return PBD_PHASE(run->recorder, "cloth_search", cloth_contact_begin(c->contact, run->x, run->v, run->dt));
}

static pbd_status meet(void *self, stepper *run) {
    xpbi_cloth *c = self;
    return PBD_PHASE(run->recorder, "cloth_contact", cloth_contact_iterate(c->contact, run->v));
}

/* With colliders the contact solver begins phases of its own, and phases cannot be nested. */
static pbd_status iterate(void *self, stepper *run) {
    xpbi_cloth *c = self;
    if (run->colliders.count > 0)
        PBD_TRY(stepper_iterate(c->run));
    else
        PBD_TRY(PBD_PHASE(run->recorder, "cloth", stepper_iterate(c->run)));
    return meet(self, run);
}

static pbd_status move(void *self, stepper *run) {
    (void)run;
    xpbi_cloth *c = self;
    return stepper_end(c->run);
}

static pbd_status record(void *self, stepper *run) {
    (void)run;
    xpbi_cloth *c = self;
    PBD_TRY(stepper_record(c->run));
    return cloth_contact_record(c->contact);
}

static size_t arrays_of(const void *self, device_array *row) {
    const xpbi_cloth *c = self;
    const size_t count = stepper_arrays(c->run, row);
    return count + cloth_contact_arrays(c->contact, row + count);
}

static void free_cloth(void *self) {
    xpbi_cloth *c = self;
    cloth_contact_free(c->contact);
    cloth_free(c->cloth);
    scene_part_free(&c->part);
    scene_part_free(&c->rest);
    *c = (xpbi_cloth){0};
}

const step_part xpbi_cloth_part = {
    .begin = begin,
    .iterate = iterate,
    .end = meet,
    .move = move,
    .record = record,
    .arrays = arrays_of,
    .free = free_cloth,
};

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Copies rows of `width` numbers from a part's order to the scene's. */
static void xpbi_cloth_place(const scene_part *own, size_t width, const double *rows, double *out) {
    for (size_t i = 0; i < width * own->scene.particles.count; i++)
        out[width * own->number[i / width] + i % width] = rows[i];
}

pbd_status xpbi_cloth_read(const xpbi_cloth *c, pbd_field field, const double *rest, double *out) {
    const size_t width = field == PBD_DEFORMATION_GRADIENTS ? 9 : field == PBD_PRESSURES ? 1 : 3;
    const size_t n = c->part.scene.particles.count;
    pbd_arena a PBD_ARENA;
    double *rows = pbd_new(&a, double, width *n);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n && width == 9; i++) rows[9 * i] = rows[9 * i + 4] = rows[9 * i + 8] = 1;
    if (field == PBD_POSITIONS || field == PBD_VELOCITIES) PBD_TRY(cloth_read(c->cloth, field, rows));
    xpbi_cloth_place(&c->rest, width, rest, out);
    xpbi_cloth_place(&c->part, width, rows, out);
    return pbd_ok();
}
