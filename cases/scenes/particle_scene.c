#include "cases/scenes/particle_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/geometry/shape_mesh.h"
#include "harness/exec/arena.h"

const char *const particle_on_off[] = {"off", "on", NULL};
const char *const particle_layers[] = {"1", "2", "all", NULL};

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

pbd_material particle_material(const pbd_values *values) {
    return (pbd_material){.E = pbd_real(values, "E"),
                          .nu = pbd_real(values, "nu"),
                          .density = pbd_real(values, "density"),
                          .convention = PBD_D_STANDARD,
                          .law = law_names[pbd_choice(values, "material")]};
}

sampling_plan particle_plan(const pbd_values *values) {
    const double spacing = pbd_real(values, "spacing");
    return (sampling_plan){.kind = (sampling_kind)pbd_choice(values, "sampling"),
                           .spacing = spacing,
                           .count = spacing > 0 ? 0 : (size_t)pbd_integer(values, "particles"),
                           .seed = (uint64_t)pbd_integer(values, "seed")};
}

/* ---- Placing ----------------------------------------------------------------------------------------------------- */

placement placement_at(double x, double y, double z) {
    return (placement){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {x, y, z}};
}

/* Rodrigues' formula. */
placement placement_turned(const double axis[3], double angle, const double by[3]) {
    const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    const double k[3] = {axis[0] / length, axis[1] / length, axis[2] / length}, c = cos(angle), s = sin(angle);
    const double skew[3][3] = {{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}};
    placement out = placement_at(by[0], by[1], by[2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out.turn[i][j] = c * (i == j) + (1 - c) * k[i] * k[j] + s * skew[i][j];
    return out;
}

static void put(const placement *p, const double from[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = p->turn[i][0] * from[0] + p->turn[i][1] * from[1] + p->turn[i][2] * from[2] + p->by[i];
}

void particle_scene_measure(pbd_scene *scene) {
    scene->extent = 0;
    for (size_t d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < scene->particles.count; i++) {
            low = fmin(low, scene->particles.positions[3 * i + d]);
            high = fmax(high, scene->particles.positions[3 * i + d]);
        }
        scene->extent = fmax(scene->extent, high - low);
    }
    scene->extent = fmax(scene->extent, scene->particles.spacing);
}

pbd_status particle_scene_make(const sampling *s, size_t bodies, const placement *place, pbd_scene *scene) {
    const size_t n = s->count * bodies;
    if (n > SAMPLING_MOST)
        return pbd_error(PBD_BAD_INPUT, "%zu bodies of %zu particles are too many: %d particles at most", bodies,
                         s->count, SAMPLING_MOST);
    scene->particles.count = n;
    scene->particles.spacing = s->spacing;
    scene->particles.bodies = bodies;
    PBD_TRY_NEW(scene->particles.positions, 3 * n);
    PBD_TRY_NEW(scene->loads.forces, 3 * n);
    PBD_TRY_NEW(scene->particles.masses, n);
    PBD_TRY_NEW(scene->particles.volumes, n);
    PBD_TRY_NEW(scene->particles.body, n);
    for (size_t i = 0; i < n; i++) {
        put(&place[i / s->count], s->position + 3 * (i % s->count), scene->particles.positions + 3 * i);
        scene->particles.body[i] = (uint32_t)(i / s->count);
        scene->particles.volumes[i] = s->volume;
        scene->particles.masses[i] = scene->material->density * s->volume;
    }
    particle_scene_measure(scene);
    return pbd_ok();
}

pbd_status particle_add_skin(pbd_scene *scene, uint32_t body, const shape_mesh *from, const placement *place) {
    pbd_skin *grown = realloc(scene->skin, (scene->skins + 1) * sizeof *grown);
    if (!grown) return pbd_no_memory();
    scene->skin = grown;
    pbd_skin *skin = &scene->skin[scene->skins++];
    *skin = (pbd_skin){.body = body, .vertices = from->vertices, .triangles = from->triangles};
    PBD_TRY_NEW(skin->vertex, 3 * skin->vertices);
    PBD_TRY_NEW(skin->triangle, 3 * skin->triangles);
    for (size_t i = 0; i < skin->vertices; i++) put(place, from->vertex + 3 * i, skin->vertex + 3 * i);
    memcpy(skin->triangle, from->triangle, 3 * skin->triangles * sizeof *skin->triangle);
    return pbd_ok();
}

void particle_free_detail(void *detail) { sampling_free(detail); }

/* ---- Contact ----------------------------------------------------------------------------------------------------- */

double particle_radius(const pbd_values *values, const sampling *s) {
    const double given = pbd_real(values, "contact_radius");
    return given > 0 ? given : 0.7 * s->spacing;
}

pbd_status particle_set_radii(const pbd_values *values, const sampling *s, pbd_scene *scene) {
    const double radius = particle_radius(values, s);
    const int layers = pbd_choice(values, "contact_layers") + 1; /* 3: all */
    scene->contact.friction = pbd_real(values, "friction");
    PBD_TRY_NEW(scene->contact.radius, scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++) {
        const int layer = s->layer[i % s->count];
        scene->contact.radius[i] = layers == 3 || (layer >= 1 && layer <= layers) ? radius : 0;
    }
    return pbd_ok();
}

pbd_status particle_open_colliders(pbd_scene *scene, size_t most) {
    PBD_TRY_NEW(scene->colliders.item, most);
    return pbd_ok();
}

pbd_collider *particle_add_plane(pbd_scene *scene, const double at[3], const double normal[3], double friction) {
    pbd_collider *c = &scene->colliders.item[scene->colliders.count++];
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    double *x = c->axis[0], *y = c->axis[1], *z = c->axis[2];
    c->shape = PBD_PLANE;
    c->friction = friction;
    memcpy(c->centre, at, sizeof c->centre);
    for (int d = 0; d < 3; d++) z[d] = normal[d] / length;
    const int off = fabs(z[0]) < 0.9 ? 0 : 1; /* world axis that becomes the frame's x axis, orthogonalised */
    double size = 0;
    for (int d = 0; d < 3; d++) {
        x[d] = (d == off) - z[off] * z[d];
        size += x[d] * x[d];
    }
    for (int d = 0; d < 3; d++) x[d] /= sqrt(size);
    for (int d = 0; d < 3; d++) y[d] = z[(d + 1) % 3] * x[(d + 2) % 3] - z[(d + 2) % 3] * x[(d + 1) % 3];
    return c;
}

pbd_collider *particle_add_capsule(pbd_scene *scene, const double a[3], const double b[3], double radius,
                                   double friction) {
    pbd_collider c = {.shape = PBD_CAPSULE, .friction = friction};
    double along[3], length = 0;
    for (int d = 0; d < 3; d++) length += (b[d] - a[d]) * (b[d] - a[d]);
    length = sqrt(length);
    for (int d = 0; d < 3; d++) {
        along[d] = (b[d] - a[d]) / length;
        c.centre[d] = 0.5 * (a[d] + b[d]);
    }
    /* Two unit vectors perpendicular to it; the first from the world axis of its smallest component. */
    int least = 0;
    for (int d = 1; d < 3; d++)
        if (fabs(along[d]) < fabs(along[least])) least = d;
    double norm = sqrt(1 - along[least] * along[least]);
    for (int d = 0; d < 3; d++) c.axis[0][d] = ((d == least) - along[least] * along[d]) / norm;
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        c.axis[1][d] = along[e] * c.axis[0][f] - along[f] * c.axis[0][e];
        c.axis[2][d] = along[d];
    }
    c.half[0] = radius;
    c.half[2] = 0.5 * length;
    pbd_collider *out = &scene->colliders.item[scene->colliders.count++];
    *out = c;
    return out;
}
