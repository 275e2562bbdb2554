#include "methods/xpbi/scene_matter.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t ABSENT = UINT32_MAX;

void scene_part_free(scene_part *part) {
    pbd_scene *s = &part->scene;
    void *owned[] = {s->positions, s->velocities, s->start, s->forces,         s->masses,         s->volumes,
                     s->triangle,  s->matter,     s->body,  s->fixed_particle, s->contact.radius, part->number};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    *part = (scene_part){0};
}

static unsigned kind_of(const pbd_scene *whole, size_t i) {
    return 1u << (whole->matter ? whole->matter[i] : PBD_CONTINUUM);
}

/* Rows of `size` bytes of the particles that are in the part; NULL stays NULL. */
static pbd_status take(const scene_part *part, const void *from, size_t size, void *out) {
    void **rows = out;
    *rows = NULL;
    if (!from) return pbd_ok();
    char *to = malloc(part->scene.particles * size + 1);
    if (!to) return pbd_error(PBD_FAILED, "out of memory for %zu particles", part->scene.particles);
    for (size_t i = 0; i < part->scene.particles; i++)
        memcpy(to + i * size, (const char *)from + part->number[i] * size, size);
    *rows = to;
    return pbd_ok();
}

static pbd_status take_rows(const pbd_scene *whole, scene_part *part) {
    pbd_scene *s = &part->scene;
    const size_t one = sizeof(double), three = 3 * one;
    PBD_TRY(take(part, whole->positions, three, &s->positions));
    PBD_TRY(take(part, whole->velocities, three, &s->velocities));
    PBD_TRY(take(part, whole->start, three, &s->start));
    PBD_TRY(take(part, whole->forces, three, &s->forces));
    PBD_TRY(take(part, whole->masses, one, &s->masses));
    PBD_TRY(take(part, whole->volumes, one, &s->volumes));
    PBD_TRY(take(part, whole->matter, sizeof *whole->matter, &s->matter));
    PBD_TRY(take(part, whole->contact.radius, one, &s->contact.radius));
    return pbd_ok();
}

static pbd_status take_fixed(const pbd_scene *whole, const uint32_t *place, scene_part *part) {
    pbd_scene *s = &part->scene;
    s->fixed_particle = malloc((whole->fixed + 1) * sizeof *s->fixed_particle);
    if (!s->fixed_particle) return pbd_error(PBD_FAILED, "out of memory for %zu held particles", whole->fixed);
    for (size_t k = 0; k < whole->fixed; k++) {
        const uint32_t to = place[whole->fixed_particle[k]];
        if (to != ABSENT) s->fixed_particle[s->fixed++] = to;
    }
    return pbd_ok();
}

static pbd_status take_triangles(const pbd_scene *whole, const uint32_t *place, scene_part *part) {
    pbd_scene *s = &part->scene;
    s->triangle = malloc((3 * whole->triangles + 1) * sizeof *s->triangle);
    if (!s->triangle) return pbd_error(PBD_FAILED, "out of memory for %zu triangles", whole->triangles);
    for (size_t k = 0; k < 3 * whole->triangles; k++) {
        s->triangle[k] = place[whole->triangle[k]];
        if (s->triangle[k] == ABSENT)
            return pbd_error(PBD_BAD_INPUT, "triangle %zu has the corner %u, which is not cloth", k / 3,
                             whole->triangle[k]);
    }
    s->triangles = whole->triangles;
    return pbd_ok();
}

static pbd_status fill(const pbd_scene *whole, unsigned kinds, uint32_t *place, scene_part *part) {
    pbd_scene *s = &part->scene;
    for (size_t i = 0; i < whole->particles; i++) {
        place[i] = kind_of(whole, i) & kinds ? (uint32_t)s->particles : ABSENT;
        if (place[i] != ABSENT) part->number[s->particles++] = (uint32_t)i;
    }
    PBD_TRY(take_rows(whole, part));
    PBD_TRY(take_fixed(whole, place, part));
    if (!(kinds & 1u << PBD_CLOTH) || !whole->matter) return pbd_ok();
    s->material = whole->cloth;
    return take_triangles(whole, place, part);
}

/* What particles do not come in by themselves is as it was; what of it is owned is the whole scene's no longer. */
static pbd_scene without_rows(const pbd_scene *whole) {
    pbd_scene s = *whole;
    s.particles = s.hexes = s.tets = s.triangles = s.fixed = s.bodies = s.blades = 0;
    s.positions = s.velocities = s.masses = s.forces = s.volumes = s.start = NULL;
    s.hex = s.tet = s.triangle = s.body = s.fixed_particle = NULL;
    s.matter = NULL;
    s.contact.radius = NULL;
    s.blade = NULL;
    s.settle = (pbd_settle){0};
    s.detail = NULL;
    return s;
}

pbd_status scene_part_of(const pbd_scene *whole, unsigned kinds, scene_part *part) {
    *part = (scene_part){.scene = without_rows(whole)};
    uint32_t *place = malloc((whole->particles + 1) * sizeof *place);
    part->number = malloc((whole->particles + 1) * sizeof *part->number);
    pbd_status status = place && part->number
                            ? fill(whole, kinds, place, part)
                            : pbd_error(PBD_FAILED, "out of memory for %zu particles", whole->particles);
    free(place);
    return status;
}
