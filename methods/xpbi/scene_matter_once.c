#include "methods/xpbi/scene_matter.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t ABSENT = UINT32_MAX;

void scene_part_free(scene_part *part) {
    pbd_scene *s = &part->scene;
    void *owned[] = {s->particles.positions, s->particles.velocities,     s->particles.start,  s->loads.forces,
                     s->particles.masses,    s->particles.volumes,        s->triangles.corner, s->particles.material,
                     s->particles.body,      s->particles.fixed_particle, s->contact.radius,   part->number};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    *part = (scene_part){0};
}

static unsigned kind_of(const pbd_scene *whole, size_t i) { return 1u << pbd_matter_of(whole, i); }

/* Copies rows of `size` bytes of the part's particles; NULL gives NULL. */
static pbd_status take(const scene_part *part, const void *from, size_t size, void *out) {
    void **rows = out;
    *rows = NULL;
    if (!from) return pbd_ok();
    char *to = malloc(part->scene.particles.count * size + 1);
    if (!to) return pbd_error(PBD_FAILED, "out of memory for %zu particles", part->scene.particles.count);
    for (size_t i = 0; i < part->scene.particles.count; i++)
        memcpy(to + i * size, (const char *)from + part->number[i] * size, size);
    *rows = to;
    return pbd_ok();
}

static pbd_status take_rows(const pbd_scene *whole, scene_part *part) {
    pbd_scene *s = &part->scene;
    const size_t one = sizeof(double), three = 3 * one;
    PBD_TRY(take(part, whole->particles.positions, three, &s->particles.positions));
    PBD_TRY(take(part, whole->particles.velocities, three, &s->particles.velocities));
    PBD_TRY(take(part, whole->particles.start, three, &s->particles.start));
    PBD_TRY(take(part, whole->loads.forces, three, &s->loads.forces));
    PBD_TRY(take(part, whole->particles.masses, one, &s->particles.masses));
    PBD_TRY(take(part, whole->particles.volumes, one, &s->particles.volumes));
    PBD_TRY(take(part, whole->particles.material, sizeof *whole->particles.material, &s->particles.material));
    PBD_TRY(take(part, whole->contact.radius, one, &s->contact.radius));
    return pbd_ok();
}

static pbd_status take_fixed(const pbd_scene *whole, const uint32_t *place, scene_part *part) {
    pbd_scene *s = &part->scene;
    s->particles.fixed_particle = malloc((whole->particles.fixed + 1) * sizeof *s->particles.fixed_particle);
    if (!s->particles.fixed_particle)
        return pbd_error(PBD_FAILED, "out of memory for %zu held particles", whole->particles.fixed);
    for (size_t k = 0; k < whole->particles.fixed; k++) {
        const uint32_t to = place[whole->particles.fixed_particle[k]];
        if (to != ABSENT) s->particles.fixed_particle[s->particles.fixed++] = to;
    }
    return pbd_ok();
}

/* Copies the materials of these kinds, in the order of the whole scene, and renumbers those of particles. */
static void take_materials(const pbd_scene *whole, unsigned kinds, scene_part *part) {
    pbd_scene *s = &part->scene;
    uint8_t number[PBD_MOST_MATERIALS] = {0};
    s->materials = 0;
    for (size_t k = 0; k < (whole->materials > 0 ? whole->materials : 1); k++) {
        if (!(kinds >> whole->material[k].matter & 1)) continue;
        number[k] = (uint8_t)s->materials;
        s->material[s->materials++] = whole->material[k];
    }
    for (size_t i = 0; s->particles.material && i < s->particles.count; i++)
        s->particles.material[i] = number[s->particles.material[i]];
}

static pbd_status take_triangles(const pbd_scene *whole, const uint32_t *place, scene_part *part) {
    pbd_scene *s = &part->scene;
    s->triangles.corner = malloc((3 * whole->triangles.count + 1) * sizeof *s->triangles.corner);
    if (!s->triangles.corner) return pbd_error(PBD_FAILED, "out of memory for %zu triangles", whole->triangles.count);
    for (size_t k = 0; k < 3 * whole->triangles.count; k++) {
        s->triangles.corner[k] = place[whole->triangles.corner[k]];
        if (s->triangles.corner[k] == ABSENT)
            return pbd_error(PBD_BAD_INPUT, "triangle %zu has the corner %u, which is not cloth", k / 3,
                             whole->triangles.corner[k]);
    }
    s->triangles.count = whole->triangles.count;
    return pbd_ok();
}

static pbd_status fill(const pbd_scene *whole, unsigned kinds, uint32_t *place, scene_part *part) {
    pbd_scene *s = &part->scene;
    for (size_t i = 0; i < whole->particles.count; i++) {
        place[i] = kind_of(whole, i) & kinds ? (uint32_t)s->particles.count : ABSENT;
        if (place[i] != ABSENT) part->number[s->particles.count++] = (uint32_t)i;
    }
    PBD_TRY(take_rows(whole, part));
    take_materials(whole, kinds, part);
    PBD_TRY(take_fixed(whole, place, part));
    return kinds & 1u << PBD_CLOTH ? take_triangles(whole, place, part) : pbd_ok();
}

/* The scene without particles and cells; members by particle are NULL, so that nothing is owned twice. */
static pbd_scene without_rows(const pbd_scene *whole) {
    pbd_scene s = *whole;
    s.particles.count = s.hexes.count = s.tets.count = s.triangles.count = s.particles.fixed = s.particles.bodies =
        s.blades.count = 0;
    s.particles.positions = s.particles.velocities = s.particles.masses = s.loads.forces = s.particles.volumes =
        s.particles.start = NULL;
    s.hexes.corner = s.tets.corner = s.triangles.corner = s.particles.body = s.particles.fixed_particle = NULL;
    s.particles.material = s.hexes.material = s.tets.material = s.triangles.material = NULL;
    s.contact.radius = NULL;
    s.blades.item = NULL;
    return s;
}

pbd_status scene_part_of(const pbd_scene *whole, unsigned kinds, scene_part *part) {
    *part = (scene_part){.scene = without_rows(whole)};
    uint32_t *place = malloc((whole->particles.count + 1) * sizeof *place);
    part->number = malloc((whole->particles.count + 1) * sizeof *part->number);
    pbd_status status = place && part->number
                            ? fill(whole, kinds, place, part)
                            : pbd_error(PBD_FAILED, "out of memory for %zu particles", whole->particles.count);
    free(place);
    return status;
}
