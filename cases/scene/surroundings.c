#include "cases/scene/surroundings.h"

#include <math.h>
#include <string.h>

#include "cases/geometry/triangle_file.h"
#include "harness/exec/arena.h"
#include "harness/files/content.h"

enum { MOST_COLLIDERS = 64, MOST_REGIONS = 64, MOST_BLADES = 16 };

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

const char *const collider_shapes[] = {
#define COLLIDER_SHAPE(NAME, name) #name,
#include "methods/physics/surface/shapes/shapes.def"
#undef COLLIDER_SHAPE
    NULL};

typedef enum mesh_origin { ORIGIN_BASE, ORIGIN_FILE } mesh_origin;
static const char *const origins[] = {"base", "file", NULL};

typedef struct collider_keys {
    const yaml_node_t *shape, *rotate;
    const char *mesh;
    double normal[3], size[3], radius, end_radius, length, tube, pitch, unit, extent, origin, thickness;
    double place[3], velocity[3], angular_velocity[3], begin, end, friction, container;
} collider_keys;

#define AT(member) offsetof(collider_keys, member)
static const scene_key collider_table[] = {{"shape", KEY_NODE, AT(shape), 0, 0, 0, NULL, NULL},
                                           {"mesh", KEY_TEXT, AT(mesh), 0, 0, 0, NULL, NULL},
                                           KEY_ANY_VECTOR(normal, ""),
                                           {"size", KEY_VECTOR, AT(size), 0, 1e6, PBD_OPEN_MIN, "m", NULL},
                                           KEY_LENGTH(radius),
                                           KEY_LENGTH(end_radius),
                                           KEY_LENGTH(length),
                                           KEY_LENGTH(tube),
                                           KEY_LENGTH(pitch),
                                           KEY_LENGTH(thickness),
                                           KEY_LENGTH(unit),
                                           KEY_LENGTH(extent),
                                           {"origin", KEY_CHOICE, AT(origin), 0, 0, 0, NULL, origins},
                                           {"rotate", KEY_NODE, AT(rotate), 0, 0, 0, NULL, NULL},
                                           KEY_ANY_VECTOR(place, "m"),
                                           KEY_ANY_VECTOR(velocity, "m/s"),
                                           KEY_ANY_VECTOR(angular_velocity, "rad/s"),
                                           {"begin", KEY_REAL, AT(begin), 0, 1e6, 0, "s", NULL},
                                           {"end", KEY_REAL, AT(end), 0, 1e6, PBD_OPEN_MIN, "s", NULL},
                                           {"friction", KEY_REAL, AT(friction), 0, 100, 0, "", NULL},
                                           {"container", KEY_FLAG, AT(container), 0, 0, 0, NULL, NULL},
                                           {0}};

static const struct {
    const char *shape;
    collider_size size[COLLIDER_SIZES + 1];
} sizes_of[] = {{"box", {{"size", 0, 0.5}}},
                {"sphere", {{"radius", 0, 1}}},
                {"capsule", {{"radius", 0, 1}, {"length", 2, 0.5}}},
                {"cylinder", {{"radius", 0, 1}, {"length", 2, 0.5}}},
                {"hourglass", {{"radius", 0, 1}, {"end_radius", 1, 1}, {"length", 2, 0.5}}},
                {"perforated_plate", {{"radius", 0, 1}, {"pitch", 1, 0.5}, {"thickness", 2, 0.5}}},
                {"torus", {{"radius", 0, 1}, {"tube", 1, 1}}}};
static const char *const all_sizes[] = {"size", "radius", "end_radius", "length", "tube", "pitch"};

const collider_size *collider_sizes(const char *name) {
    for (size_t k = 0; k < sizeof sizes_of / sizeof *sizes_of; k++)
        if (strcmp(sizes_of[k].shape, name) == 0) return sizes_of[k].size;
    return NULL;
}

static bool has_size(const collider_size *sizes, const char *key) {
    for (int k = 0; sizes && sizes[k].key; k++)
        if (strcmp(sizes[k].key, key) == 0) return true;
    return false;
}

static pbd_status take_sizes(pbd_yaml *tree, const yaml_node_t *node, const char *name, const collider_keys *keys,
                             pbd_collider *c) {
    const collider_size *sizes = collider_sizes(name);
    for (size_t k = 0; k < sizeof all_sizes / sizeof *all_sizes; k++) {
        const yaml_node_t *given = keys_find(tree, node, all_sizes[k]);
        if (given && !has_size(sizes, all_sizes[k]))
            return pbd_yaml_error(tree, given, "a %s has no %s", name, all_sizes[k]);
    }
    for (int k = 0; sizes && sizes[k].key; k++) {
        if (!keys_find(tree, node, sizes[k].key))
            return pbd_yaml_error(tree, node, "a %s needs %s", name, sizes[k].key);
        if (strcmp(sizes[k].key, "size") == 0) {
            for (int d = 0; d < 3; d++) c->half[d] = sizes[k].factor * keys->size[d];
            continue;
        }
        for (const scene_key *row = collider_table; row->name; row++)
            if (strcmp(row->name, sizes[k].key) == 0)
                c->half[sizes[k].entry] =
                    sizes[k].factor * *(const double *)(const void *)((const char *)keys + row->offset);
    }
    return pbd_ok();
}

/* ---- Meshes ------------------------------------------------------------------------------------------------------ */

/* By default its lowest point is moved to z = 0 and its centre to x = y = 0, as for a mesh filled with particles. */
static pbd_status read_surface(pbd_yaml *tree, const collider_keys *k, pbd_collider_mesh *out) {
    pbd_content content PBD_CLEANUP(pbd_content_free) = {0};
    triangle_mesh raw PBD_CLEANUP(triangle_mesh_free) = {0};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0;
    PBD_TRY(pbd_content_beside(tree->shown_as, k->mesh, &content));
    PBD_TRY(triangle_file_read(&content, &raw));
    if (raw.triangles == 0) return pbd_error(PBD_BAD_INPUT, "%.110s holds no triangles", content.path);
    for (size_t i = 0; i < 3 * raw.vertices; i++) {
        low[i % 3] = fmin(low[i % 3], raw.position[i]);
        high[i % 3] = fmax(high[i % 3], raw.position[i]);
    }
    for (int d = 0; d < 3; d++) longest = fmax(longest, high[d] - low[d]);
    const double factor = k->extent > 0 && longest > 0 ? k->extent / longest : k->unit;
    for (size_t i = 0; i < 3 * raw.vertices; i++) {
        const size_t d = i % 3;
        const double middle = d == 2 ? low[d] : 0.5 * (low[d] + high[d]);
        raw.position[i] = factor * (raw.position[i] - (k->origin == ORIGIN_FILE ? 0 : middle));
    }
    *out = (pbd_collider_mesh){raw.vertices, raw.triangles, raw.position, raw.triangle, k->thickness};
    raw.position = NULL;
    raw.triangle = NULL;
    return pbd_ok();
}

static pbd_status add_surface(pbd_yaml *tree, const yaml_node_t *node, const collider_keys *k, pbd_scene *scene,
                              pbd_collider *c) {
    pbd_collider_mesh *mesh = &scene->colliders.mesh[scene->colliders.meshes];
    const pbd_status status = read_surface(tree, k, mesh);
    if (status.code != PBD_OK)
        return status.code == PBD_FAILED ? status
                                         : pbd_yaml_error(tree, keys_find(tree, node, "mesh"), "%.280s", status.text);
    c->mesh = scene->colliders.meshes++;
    return pbd_ok();
}

/* ---- Placing ----------------------------------------------------------------------------------------------------- */

/* Rows of a frame are its axes: columns of the rotation. */
static void set_frame(const placement *p, pbd_collider *c) {
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) c->axis[k][d] = p->turn[d][k];
}

static pbd_status set_normal(pbd_yaml *tree, const yaml_node_t *node, const collider_keys *k, pbd_collider *c) {
    pbd_collider plane = {0};
    pbd_scene one = {.colliders.item = &plane};
    if (k->rotate) return pbd_yaml_error(tree, k->rotate, "a plane has normal in place of rotate");
    if (!(fabs(k->normal[0]) + fabs(k->normal[1]) + fabs(k->normal[2]) > 0))
        return pbd_yaml_error(tree, keys_find(tree, node, "normal"), "normal must not be 0");
    particle_add_plane(&one, k->place, k->normal, 0);
    for (int d = 0; d < 9; d++) c->axis[d / 3][d % 3] = plane.axis[d / 3][d % 3];
    return pbd_ok();
}

static pbd_status collider_read(pbd_yaml *tree, const yaml_node_t *node, double friction, pbd_scene *scene) {
    collider_keys k = {.normal = {0, 0, 1}, .unit = 1, .friction = friction};
    size_t which = PBD_MESH;
    scene_turn turn;
    PBD_TRY(keys_read(tree, node, "a collider", collider_table, &k));
    if (!k.shape == !k.mesh) return pbd_yaml_error(tree, node, "a collider needs either shape or mesh");
    if (k.shape) PBD_TRY(keys_choose(tree, k.shape, "shape", collider_shapes, &which));
    if (k.shape && which == PBD_MESH) return pbd_yaml_error(tree, k.shape, "a mesh is given by mesh: FILE alone");
    if (which != PBD_PLANE && keys_find(tree, node, "normal"))
        return pbd_yaml_error(tree, keys_find(tree, node, "normal"), "only a plane has a normal");
    pbd_collider *c = &scene->colliders.item[scene->colliders.count];
    *c = (pbd_collider){.shape = (pbd_collider_shape)which,
                        .container = k.container > 0,
                        .begin = k.begin,
                        .end = k.end,
                        .friction = k.friction};
    memcpy(c->centre, k.place, sizeof c->centre);
    memcpy(c->velocity, k.velocity, sizeof c->velocity);
    memcpy(c->spin, k.angular_velocity, sizeof c->spin);
    PBD_TRY(scene_turn_read(tree, k.rotate, &turn));
    const placement here = scene_turn_place(&turn, k.place);
    set_frame(&here, c);
    if (which == PBD_PLANE) PBD_TRY(set_normal(tree, node, &k, c));
    PBD_TRY(take_sizes(tree, node, collider_shapes[which], &k, c));
    if (which == PBD_MESH) PBD_TRY(add_surface(tree, node, &k, scene, c));
    scene->colliders.count++;
    return pbd_ok();
}

pbd_status colliders_read(pbd_yaml *tree, const yaml_node_t *list, double friction, pbd_scene *scene) {
    size_t count;
    PBD_TRY(keys_list(tree, list, "colliders", MOST_COLLIDERS, &count));
    if (count == 0) return pbd_ok();
    PBD_TRY_NEW(scene->colliders.item, count);
    PBD_TRY_NEW(scene->colliders.mesh, count);
    for (size_t i = 0; i < count; i++) PBD_TRY(collider_read(tree, keys_item(tree, list, i), friction, scene));
    return pbd_ok();
}

/* ---- Blades ------------------------------------------------------------------------------------------------------ */

static const scene_key blade_table[] = {
    {"corner", KEY_VECTOR, offsetof(pbd_blade, corner), -1e9, 1e9, 0, "m", NULL},
    {"edge_a", KEY_VECTOR, offsetof(pbd_blade, edge[0]), -1e9, 1e9, 0, "m", NULL},
    {"edge_b", KEY_VECTOR, offsetof(pbd_blade, edge[1]), -1e9, 1e9, 0, "m", NULL},
    {"velocity", KEY_VECTOR, offsetof(pbd_blade, velocity), -1e9, 1e9, 0, "m/s", NULL},
    {"begin", KEY_REAL, offsetof(pbd_blade, begin), 0, 1e6, 0, "s", NULL},
    {"end", KEY_REAL, offsetof(pbd_blade, end), 0, 1e6, PBD_OPEN_MIN, "s", NULL},
    {0}};

pbd_status blades_read(pbd_yaml *tree, const yaml_node_t *list, pbd_scene *scene) {
    size_t count;
    PBD_TRY(keys_list(tree, list, "blades", MOST_BLADES, &count));
    if (count == 0) return pbd_ok();
    PBD_TRY_NEW(scene->blades.item, count);
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *node = keys_item(tree, list, i);
        pbd_blade *blade = &scene->blades.item[i];
        *blade = (pbd_blade){.end = scene->duration};
        PBD_TRY(keys_read(tree, node, "a blade", blade_table, blade));
        for (const char *const *key = (const char *const[]){"corner", "edge_a", "edge_b", NULL}; *key; key++)
            if (!keys_find(tree, node, *key)) return pbd_yaml_error(tree, node, "a blade needs %s", *key);
        if (!(blade->begin < blade->end))
            return pbd_yaml_error(tree, node, "begin=%g s must be before end=%g s", blade->begin, blade->end);
    }
    scene->blades.count = count;
    return pbd_ok();
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/* Selects particles by their position at rest, in a box or a sphere, or by their body. */
typedef struct region {
    double low[3], high[3], centre[3], radius, force[3];
    const yaml_node_t *body;
} region;

#define REGION_KEYS                                                                        \
    {"low", KEY_VECTOR, offsetof(region, low), -1e9, 1e9, 0, "m", NULL},                   \
        {"high", KEY_VECTOR, offsetof(region, high), -1e9, 1e9, 0, "m", NULL},             \
        {"centre", KEY_VECTOR, offsetof(region, centre), -1e9, 1e9, 0, "m", NULL},         \
        {"radius", KEY_REAL, offsetof(region, radius), 0, 1e9, PBD_OPEN_MIN, "m", NULL}, { \
        "body", KEY_NODE, offsetof(region, body), 0, 0, 0, NULL, NULL                      \
    }
static const scene_key held_table[] = {REGION_KEYS, {0}};
static const scene_key load_table[] = {
    REGION_KEYS, {"force", KEY_VECTOR, offsetof(region, force), -1e15, 1e15, 0, "N", NULL}, {0}};

static pbd_status find_body(pbd_yaml *tree, const yaml_node_t *node, const scene_bodies *bodies, size_t *out) {
    const char *names[1001] = {0};
    size_t count = 0;
    for (size_t b = 0; b < bodies->count && count < 1000; b++)
        if (*bodies->item[b].name) names[count++] = bodies->item[b].name;
    size_t which;
    PBD_TRY(keys_choose(tree, node, "body", names, &which));
    for (*out = 0; strcmp(bodies->item[*out].name, names[which]) != 0;) ++*out;
    return pbd_ok();
}

static bool is_within(const region *r, const double x[3]) {
    double square = 0;
    for (int d = 0; d < 3; d++) {
        if (x[d] < r->low[d] || x[d] > r->high[d]) return false;
        square += (x[d] - r->centre[d]) * (x[d] - r->centre[d]);
    }
    return !(r->radius > 0) || square <= r->radius * r->radius;
}

static pbd_status region_read(pbd_yaml *tree, const yaml_node_t *node, const char *what, const scene_key *table,
                              region *out) {
    *out = (region){.low = {-INFINITY, -INFINITY, -INFINITY}, .high = {INFINITY, INFINITY, INFINITY}};
    PBD_TRY(keys_read(tree, node, what, table, out));
    const bool ball = keys_find(tree, node, "centre") != NULL;
    if (ball != (out->radius > 0)) return pbd_yaml_error(tree, node, "a region has centre and radius, or neither");
    if (!ball && !out->body && !keys_find(tree, node, "low") && !keys_find(tree, node, "high"))
        return pbd_yaml_error(tree, node, "%s needs a region: low and high, centre and radius, or body", what);
    return pbd_ok();
}

/* Sets mark[i] for the particles in the region; an error if there are none. */
static pbd_status mark_region(pbd_yaml *tree, const yaml_node_t *node, const scene_bodies *bodies,
                              const pbd_scene *scene, const region *r, unsigned char *mark) {
    size_t only = 0, count = 0;
    if (r->body) PBD_TRY(find_body(tree, r->body, bodies, &only));
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (r->body && scene->particles.body[i] != only) continue;
        if (!is_within(r, scene->particles.positions + 3 * i)) continue;
        mark[i] = 1;
        count++;
    }
    return count > 0 ? pbd_ok() : pbd_yaml_error(tree, node, "no particle is in this region");
}

pbd_status held_read(pbd_yaml *tree, const yaml_node_t *list, const scene_bodies *bodies, pbd_scene *scene) {
    size_t count;
    bool any = false;
    pbd_arena arena PBD_ARENA;
    PBD_TRY(keys_list(tree, list, "held", MOST_REGIONS, &count));
    unsigned char *mark = pbd_new(&arena, unsigned char, scene->particles.count);
    PBD_TRY(pbd_arena_check(&arena));
    for (size_t b = 0, i = 0; b < bodies->count; b++)
        for (size_t p = 0; p < bodies->item[b].count; p++, i++)
            any |= mark[i] = bodies->item[b].held && bodies->item[b].held[p] == 1;
    if (!any && count == 0) return pbd_ok();
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *node = keys_item(tree, list, i);
        region r;
        PBD_TRY(region_read(tree, node, "a held region", held_table, &r));
        PBD_TRY(mark_region(tree, node, bodies, scene, &r, mark));
    }
    return body_hold(scene, mark);
}

/* The force is the total on the region, distributed by volume. */
static void add_load(const region *r, const unsigned char *mark, pbd_scene *scene) {
    double volume = 0;
    for (size_t i = 0; i < scene->particles.count; i++) volume += mark[i] ? scene->particles.volumes[i] : 0;
    for (size_t i = 0; i < scene->particles.count; i++)
        for (size_t d = 0; d < 3 && mark[i]; d++)
            scene->loads.forces[3 * i + d] += r->force[d] * scene->particles.volumes[i] / volume;
}

pbd_status loads_read(pbd_yaml *tree, const yaml_node_t *list, const scene_bodies *bodies, pbd_scene *scene) {
    size_t count;
    pbd_arena arena PBD_ARENA;
    PBD_TRY(keys_list(tree, list, "loads", MOST_REGIONS, &count));
    unsigned char *mark = pbd_new(&arena, unsigned char, scene->particles.count);
    PBD_TRY(pbd_arena_check(&arena));
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *node = keys_item(tree, list, i);
        region r;
        PBD_TRY(region_read(tree, node, "a load", load_table, &r));
        if (!keys_find(tree, node, "force")) return pbd_yaml_error(tree, node, "a load needs force, in N");
        memset(mark, 0, scene->particles.count);
        PBD_TRY(mark_region(tree, node, bodies, scene, &r, mark));
        add_load(&r, mark, scene);
    }
    return pbd_ok();
}

void surroundings_schema_write(FILE *out) {
    keys_write(collider_table, "colliders.", out);
    keys_write(held_table, "held.", out);
    keys_write(load_table, "loads.", out);
    keys_write(blade_table, "blades.", out);
}
