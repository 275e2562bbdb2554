#include "harness/picture/drawn_matter.h"

#include <math.h>
#include <string.h>

#include "harness/picture/particle_surface.h"
#include "methods/physics/matter/flow_table.h"

/* CELL: grid cell of surfaces, in spacings. The filled share of the volume at which a surface lies: SOLID is that of a
 * plane surface, MELT a little less, to show drops, and INSIDE more, for a surface beneath another. Particles at which
 * the share is below DROP are drawn as drops; in torn bodies only isolated ones, below CRUMB. */
static const double CELL = 0.5, SOLID = 0.5, MELT = 0.38, INSIDE = 0.75, DROP = 0.55, CRUMB = 0.43;
enum { ROUNDS = 12 /* of smoothing */, REST_ROUNDS = 30, MOST_GROUPS = 20 };

/* ---- Which way each particle is drawn ---------------------------------------------------------------------------- */

typedef enum way { AS_SPHERE, AS_SURFACE, AS_MESH, AS_TRIANGLES } way;

static way way_of(const drawn_matter *m, size_t particle) {
    const pbd_material *material = pbd_material_of(m->scene, particle);
    const int rule = flow_number(material->flow);
    if (material->matter == PBD_FLUID) return AS_SURFACE;
    if (rule >= 0) return flow_table[rule].look == FLOW_GRAINS ? AS_SPHERE : AS_SURFACE;
    return AS_MESH;
}

static uint32_t body_of(const pbd_scene *scene, size_t particle) {
    return scene->particles.body ? scene->particles.body[particle] : 0;
}

/* Groups are by material or by body. */
static size_t keys_of(const pbd_scene *scene, bool by_body) {
    size_t most = PBD_MOST_MATERIALS;
    for (size_t i = 0; by_body && scene->particles.body && i < scene->particles.count; i++)
        if (scene->particles.body[i] >= most) most = (size_t)scene->particles.body[i] + 1;
    return most;
}

static size_t key_of(const pbd_scene *scene, size_t particle, bool by_body) {
    return by_body ? body_of(scene, particle) : scene->particles.material ? scene->particles.material[particle] : 0;
}

static pbd_status group_particles(drawn_matter *m, const way *ways, way wanted, bool by_body, drawn_group **out,
                                  size_t *groups) {
    const pbd_scene *scene = m->scene;
    const size_t keys = keys_of(scene, by_body);
    pbd_arena a PBD_ARENA;
    size_t *count = pbd_new(&a, size_t, keys);
    size_t *place = pbd_new(&a, size_t, keys);
    PBD_TRY(pbd_arena_check(&a));
    *groups = 0;
    for (size_t i = 0; i < scene->particles.count; i++)
        if (ways[i] == wanted) count[key_of(scene, i, by_body)]++;
    for (size_t k = 0; k < keys; k++) place[k] = count[k] > 0 ? (*groups)++ : 0;
    *out = pbd_new(&m->owned, drawn_group, *groups);
    PBD_TRY(pbd_arena_check(&m->owned));
    for (size_t k = 0; k < keys; k++)
        if (count[k] > 0) (*out)[place[k]].particle = pbd_new(&m->owned, uint32_t, count[k]);
    PBD_TRY(pbd_arena_check(&m->owned));
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (ways[i] != wanted) continue;
        drawn_group *g = &(*out)[place[key_of(scene, i, by_body)]];
        if (g->count == 0) g->material = pbd_material_of(scene, i), g->body = body_of(scene, i);
        g->particle[g->count++] = (uint32_t)i;
    }
    return pbd_ok();
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

double drawn_radius(const pbd_scene *scene) {
    double volume = 1, mass = 0;
    if (scene->particles.spacing > 0) return 0.5 * scene->particles.spacing;
    if (scene->material->density > 0) {
        for (size_t i = 0; i < scene->particles.count; i++) mass += scene->particles.masses[i];
        volume = mass / scene->material->density;
    } else {
        for (size_t d = 0; d < 3; d++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t i = 0; i < scene->particles.count; i++) {
                low = fmin(low, scene->particles.positions[3 * i + d]);
                high = fmax(high, scene->particles.positions[3 * i + d]);
            }
            volume *= fmax(high - low, 1e-3 * scene->extent);
        }
    }
    return 0.5 * cbrt(volume / (double)scene->particles.count);
}

/* The diagonal of a quadrilateral face, which is two triangles, is not drawn. */
static pbd_status find_edges(drawn_matter *m) {
    m->edges = pbd_new(&m->owned, unsigned char, m->outside.triangles);
    PBD_TRY(pbd_arena_check(&m->owned));
    for (size_t t = 0; t < m->outside.triangles; t++)
        m->edges[t] = m->body.corners == 8 ? (t % 2 ? 6 /* 1-2, 2-0 */ : 3 /* 0-1, 1-2 */) : 7;
    return pbd_ok();
}

/* The mean length of the outside's edges at rest. */
static void measure_edge(drawn_matter *m) {
    const double *rest = m->scene->particles.positions;
    double sum = 0;
    for (size_t i = 0; i < 3 * m->outside.triangles; i++) {
        const double *a = rest + 3 * (size_t)m->outside.triangle[i];
        const double *b = rest + 3 * (size_t)m->outside.triangle[i / 3 * 3 + (i + 1) % 3];
        const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        sum += sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    m->edge = m->outside.triangles > 0 ? sum / (3 * (double)m->outside.triangles) : 0;
}

/* The surface of a group's particles at rest. */
static pbd_status surface_at_rest(const drawn_matter *m, const drawn_group *g, iso_mesh *out) {
    float *none;
    const sampled_matter matter = {.count = g->count,
                                   .particle = g->particle,
                                   .x = m->scene->particles.positions,
                                   .size = 2 * m->radius,
                                   .low = {-INFINITY, -INFINITY, -INFINITY},
                                   .high = {INFINITY, INFINITY, INFINITY}};
    PBD_TRY(particle_surface_make(&matter, CELL, SOLID, out, &none, NULL));
    return iso_mesh_smooth(out, REST_ROUNDS);
}

static const pbd_skin *skin_of(const pbd_scene *scene, uint32_t body) {
    for (size_t k = 0; k < scene->skins; k++)
        if (scene->skin[k].body == body) return &scene->skin[k];
    return NULL;
}

static pbd_status make_mesh(drawn_matter *m, const drawn_group *g, carried_mesh *out) {
    const pbd_scene *scene = m->scene;
    const pbd_skin *skin = skin_of(scene, g->body);
    const double *rest = scene->particles.positions;
    if (skin) return carried_mesh_make(skin, rest, g->particle, g->count, 2 * m->radius, out);
    iso_mesh mesh PBD_CLEANUP(iso_mesh_free) = {0};
    PBD_TRY(surface_at_rest(m, g, &mesh));
    const pbd_skin made = {
        .vertices = mesh.vertices, .triangles = mesh.triangles, .vertex = mesh.vertex, .triangle = mesh.triangle};
    return carried_mesh_make(&made, rest, g->particle, g->count, 2 * m->radius, out);
}

static pbd_status make_meshes(drawn_matter *m) {
    m->mesh = pbd_new(&m->owned, carried_mesh, m->carried);
    PBD_TRY(pbd_arena_check(&m->owned));
    for (size_t b = 0; b < m->carried; b++) PBD_TRY(make_mesh(m, &m->solid[b], &m->mesh[b]));
    return pbd_ok();
}

/* Cloth beside bare particles is drawn as triangles, without spheres for its particles. */
static pbd_status open_cloth(drawn_matter *m, way *ways) {
    pbd_scene cloth = *m->scene;
    if (cloth.triangles.count == 0) return pbd_ok();
    cloth.hexes.count = cloth.tets.count = 0;
    for (size_t k = 0; k < 3 * cloth.triangles.count; k++) ways[cloth.triangles.corner[k]] = AS_TRIANGLES;
    PBD_TRY(surface_of(&cloth, &m->outside));
    measure_edge(m);
    return pbd_ok();
}

static pbd_status open_bare(drawn_matter *m, pbd_draw draw, bool by_body) {
    const size_t particles = m->scene->particles.count;
    pbd_arena a PBD_ARENA;
    way *ways = pbd_new(&a, way, particles);
    PBD_TRY(pbd_arena_check(&a));
    m->radius = drawn_radius(m->scene);
    const bool plain = draw == PBD_DRAW_PARTICLES || !(m->scene->particles.spacing > 0);
    for (size_t i = 0; i < particles; i++) ways[i] = plain ? AS_SPHERE : way_of(m, i);
    PBD_TRY(open_cloth(m, ways));
    PBD_TRY(group_particles(m, ways, AS_SURFACE, by_body, &m->melt, &m->surfaces));
    for (size_t i = 0; i < particles && m->surfaces > MOST_GROUPS; i++)
        if (ways[i] == AS_SURFACE) ways[i] = AS_SPHERE; /* more bodies than can be told apart in a picture */
    if (m->surfaces > MOST_GROUPS) m->surfaces = 0;
    PBD_TRY(group_particles(m, ways, AS_SPHERE, false, &m->grain, &m->grains));
    PBD_TRY(group_particles(m, ways, AS_MESH, true, &m->solid, &m->carried));
    return make_meshes(m);
}

/* Whether the scene has a mesh of every body. */
static bool all_have_skins(const pbd_scene *scene) {
    for (size_t i = 0; i < scene->particles.count; i++)
        if (scene->skins == 0 || !skin_of(scene, body_of(scene, i))) return false;
    return true;
}

static pbd_status open_elements(drawn_matter *m, pbd_draw draw) {
    const size_t particles = m->scene->particles.count;
    if (draw == PBD_DRAW_AUTO && m->body.corners != 3 && all_have_skins(m->scene)) {
        pbd_arena a PBD_ARENA;
        way *ways = pbd_new(&a, way, particles);
        PBD_TRY(pbd_arena_check(&a));
        for (size_t i = 0; i < particles; i++) ways[i] = AS_MESH;
        m->radius = drawn_radius(m->scene);
        PBD_TRY(group_particles(m, ways, AS_MESH, true, &m->solid, &m->carried));
        return make_meshes(m);
    }
    const pbd_scene only = pbd_body_scene(m->scene, &m->body);
    PBD_TRY(surface_of(&only, &m->outside));
    measure_edge(m);
    return find_edges(m);
}

pbd_status drawn_matter_open(const pbd_scene *scene, const pbd_body *body, pbd_draw draw, bool by_body,
                             drawn_matter *out) {
    *out = (drawn_matter){.scene = scene, .body = *body};
    return body->node ? open_elements(out, draw) : open_bare(out, draw, by_body);
}

void drawn_matter_close(drawn_matter *m) {
    for (size_t b = 0; m->mesh && b < m->carried; b++) carried_mesh_free(&m->mesh[b]);
    surface_free(&m->outside);
    pbd_arena_free(&m->frame);
    pbd_arena_free(&m->owned);
    *m = (drawn_matter){0};
}

/* ---- A state ----------------------------------------------------------------------------------------------------- */

typedef struct drawing {
    drawn_matter *m;
    const double *x;
    const float *value;
    render_palette palette;
    const double *low, *high;
    render_body *out;
    size_t *bodies;
} drawing;

static float gloss_of(const pbd_material *material) {
    const int rule = flow_number(material->flow);
    if (material->matter == PBD_FLUID) return 1;
    if (rule < 0) return 0.25f;
    return flow_table[rule].look == FLOW_GLOSSY ? 0.8f : flow_table[rule].look == FLOW_METAL ? 0.6f : 0;
}

static render_body *add(const drawing *d) {
    render_body *body = &d->out[(*d->bodies)++];
    *body = (render_body){.palette = d->palette};
    return body;
}

/* Adds cloth, or the outer faces of elements. */
static void draw_outside(const drawing *d) {
    const drawn_matter *m = d->m;
    if (m->outside.triangles == 0) return;
    const bool is_cloth = !m->body.node || m->body.corners == 3;
    render_body *body = add(d);
    body->points = m->scene->particles.count;
    body->position = d->x;
    body->value = d->value;
    body->triangles = m->outside.triangles;
    body->triangle = m->outside.triangle;
    body->edges = is_cloth ? NULL : m->edges;
    body->has_back = body->is_smooth = is_cloth;
    body->lift = is_cloth ? 0.2 * m->edge : 0;
}

/* Adds particles as spheres; *out is their body. */
static pbd_status draw_spheres(const drawing *d, size_t count, const uint32_t *particle, double radius,
                               render_body **out) {
    pbd_arena *frame = &d->m->frame;
    double *position = pbd_new(frame, double, 3 * count);
    float *value = pbd_new(frame, float, count);
    PBD_TRY(pbd_arena_check(frame));
    for (size_t i = 0; i < count; i++) {
        memcpy(position + 3 * i, d->x + 3 * (size_t)particle[i], 3 * sizeof *position);
        value[i] = d->value[particle[i]];
    }
    *out = add(d);
    (*out)->points = count;
    (*out)->position = position;
    (*out)->value = value;
    (*out)->radius = radius;
    return pbd_ok();
}

static pbd_status draw_grains(const drawing *d, const drawn_group *g) {
    const int rule = flow_number(g->material->flow);
    render_body *body;
    PBD_TRY(draw_spheres(d, g->count, g->particle, d->m->radius, &body));
    body->grains = rule >= 0 && flow_table[rule].look == FLOW_GRAINS && d->palette != RENDER_SCALE;
    return pbd_ok();
}

/* Copies a surface to the frame's memory. */
static pbd_status take_surface(const drawing *d, const iso_mesh *mesh, const float *value, float constant,
                               float gloss) {
    pbd_arena *frame = &d->m->frame;
    double *position = pbd_new(frame, double, 3 * mesh->vertices);
    float *normal = pbd_new(frame, float, 3 * mesh->vertices), *values = pbd_new(frame, float, mesh->vertices);
    uint32_t *triangle = pbd_new(frame, uint32_t, 3 * mesh->triangles);
    PBD_TRY(pbd_arena_check(frame));
    memcpy(position, mesh->vertex, 3 * mesh->vertices * sizeof *position);
    memcpy(normal, mesh->normal, 3 * mesh->vertices * sizeof *normal);
    memcpy(triangle, mesh->triangle, 3 * mesh->triangles * sizeof *triangle);
    for (size_t v = 0; v < mesh->vertices; v++) values[v] = value ? value[v] : constant;
    render_body *body = add(d);
    body->points = mesh->vertices;
    body->position = position;
    body->normal = normal;
    body->value = values;
    body->triangles = mesh->triangles;
    body->triangle = triangle;
    body->gloss = gloss;
    return pbd_ok();
}

/* Adds spheres for drops that are too small for a surface. */
static pbd_status draw_drops(const drawing *d, size_t count, const uint32_t *particle, const float *share, double most,
                             float gloss) {
    pbd_arena a PBD_ARENA;
    uint32_t *drop = pbd_new(&a, uint32_t, count);
    size_t drops = 0;
    render_body *body;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++)
        if (share[i] > 0 && (double)share[i] < most) drop[drops++] = particle[i];
    if (drops == 0) return pbd_ok();
    PBD_TRY(draw_spheres(d, drops, drop, 0.9 * d->m->radius, &body));
    body->gloss = gloss;
    return pbd_ok();
}

static pbd_status draw_surface(const drawing *d, size_t count, const uint32_t *particle, double level, float gloss) {
    pbd_arena a PBD_ARENA;
    iso_mesh mesh PBD_CLEANUP(iso_mesh_free) = {0};
    float *value PBD_CLEANUP(pbd_free_memory) = NULL;
    float *share = pbd_new(&a, float, count);
    sampled_matter matter = {.count = count,
                             .particle = particle,
                             .x = d->x,
                             .value = d->palette == RENDER_SCALE ? d->value : NULL,
                             .size = 2 * d->m->radius};
    PBD_TRY(pbd_arena_check(&a));
    for (int k = 0; k < 3; k++) {
        matter.low[k] = d->low[k] - 4 * d->m->radius;
        matter.high[k] = d->high[k] + 4 * d->m->radius;
    }
    PBD_TRY(particle_surface_make(&matter, CELL, level, &mesh, &value, share));
    PBD_TRY(draw_drops(d, count, particle, share, level == INSIDE ? CRUMB : DROP, gloss));
    if (mesh.triangles == 0) return pbd_ok();
    PBD_TRY(iso_mesh_smooth(&mesh, ROUNDS));
    return take_surface(d, &mesh, value, d->value[particle[0]], gloss);
}

/* All carried meshes are one body of the picture. */
static pbd_status draw_meshes(const drawing *d) {
    drawn_matter *m = d->m;
    pbd_arena *frame = &m->frame;
    size_t vertices = 0, triangles = 0, first = 0, next = 0;
    for (size_t b = 0; b < m->carried; b++) {
        carried_mesh_move(&m->mesh[b], d->x);
        vertices += m->mesh[b].vertices;
        triangles += m->mesh[b].shown_triangles;
    }
    double *position = pbd_new(frame, double, 3 * vertices);
    float *value = pbd_new(frame, float, vertices);
    uint32_t *triangle = pbd_new(frame, uint32_t, 3 * triangles);
    PBD_TRY(pbd_arena_check(frame));
    for (size_t b = 0; b < m->carried; b++) {
        const carried_mesh *mesh = &m->mesh[b];
        if (mesh->triangles == 0) continue;
        memcpy(position + 3 * first, mesh->position, 3 * mesh->vertices * sizeof *position);
        for (size_t v = 0; v < mesh->vertices; v++)
            value[first + v] =
                d->palette == RENDER_SCALE ? carried_value(mesh, v, d->value) : d->value[mesh->carrier[v * CARRIERS]];
        for (size_t k = 0; k < 3 * mesh->shown_triangles; k++) triangle[next++] = (uint32_t)first + mesh->shown[k];
        first += mesh->vertices;
    }
    render_body *body = add(d);
    body->points = first;
    body->position = position;
    body->value = value;
    body->triangles = triangles;
    body->triangle = triangle;
    body->gloss = 0.25f;
    body->has_back = true;
    return pbd_ok();
}

/* Adds the inside of torn bodies, which is visible through the tears of their meshes. */
static pbd_status draw_insides(const drawing *d) {
    const drawn_matter *m = d->m;
    pbd_arena a PBD_ARENA;
    uint32_t *torn = pbd_new(&a, uint32_t, m->scene->particles.count);
    size_t count = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t b = 0; b < m->carried; b++) {
        if (m->mesh[b].shown_triangles == m->mesh[b].triangles) continue;
        memcpy(torn + count, m->solid[b].particle, m->solid[b].count * sizeof *torn);
        count += m->solid[b].count;
    }
    return count > 0 ? draw_surface(d, count, torn, INSIDE, 0.1f) : pbd_ok();
}

pbd_status drawn_matter_at(drawn_matter *m, const double *x, const float *value, render_palette palette,
                           const double low[3], const double high[3], render_body *out, size_t *bodies) {
    const drawing d = {m, x, value, palette, low, high, out, bodies};
    pbd_arena_free(&m->frame);
    draw_outside(&d);
    for (size_t g = 0; g < m->grains; g++) PBD_TRY(draw_grains(&d, &m->grain[g]));
    for (size_t g = 0; g < m->surfaces; g++)
        PBD_TRY(draw_surface(&d, m->melt[g].count, m->melt[g].particle, MELT, gloss_of(m->melt[g].material)));
    if (m->carried == 0) return pbd_ok();
    PBD_TRY(draw_meshes(&d));
    return draw_insides(&d);
}
