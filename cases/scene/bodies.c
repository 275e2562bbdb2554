#include "cases/scene/bodies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases/geometry/points_file.h"
#include "cases/geometry/shape_mesh.h"
#include "cases/geometry/triangle_file.h"
#include "cases/scenes/named_body.h"
#include "cases/scenes/sheet.h"
#include "harness/exec/arena.h"
#include "harness/files/content.h"

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

typedef enum made_of { BOX, SPHERE, ELLIPSOID, CAPSULE, CYLINDER, CONE, TORUS, SHEET, NAMED } made_of;

static const char *const shape_list[] = {"box",   "sphere", "ellipsoid", "capsule",   "cylinder", "cone", "torus",
                                         "sheet", "bunny",  "cow",       "armadillo", "ant",      NULL};
static const body_shape named[] = {BODY_BUNNY, BODY_COW, BODY_ARMADILLO, BODY_ANT};

typedef enum filling { FILL_LATTICE, FILL_JITTER, FILL_POISSON, FILL_TETRAHEDRA } filling;
static const char *const fillings[] = {"lattice", "jitter", "poisson", "tetrahedra", NULL};

typedef enum mesh_origin { ORIGIN_FILE, ORIGIN_BASE, ORIGIN_CENTRE } mesh_origin;
static const char *const origins[] = {"file", "base", "centre", NULL};

typedef struct body_keys {
    const char *name, *mesh, *points;
    const yaml_node_t *shape, *matter, *rotate;
    double size[3], radius, top_radius, tube, length, width, cells;
    double unit, extent, scale, origin;
    double place[3], velocity[3], angular_velocity[3], stretch[3];
    double spacing, particles, sampling, jitter, seed;
} body_keys;

#define AT(member) offsetof(body_keys, member)
static const scene_key table[] = {{"name", KEY_TEXT, AT(name), 0, 0, 0, NULL, NULL},
                                  {"shape", KEY_NODE, AT(shape), 0, 0, 0, NULL, NULL},
                                  {"mesh", KEY_TEXT, AT(mesh), 0, 0, 0, NULL, NULL},
                                  {"points", KEY_TEXT, AT(points), 0, 0, 0, NULL, NULL},
                                  {"matter", KEY_NODE, AT(matter), 0, 0, 0, NULL, NULL},
                                  {"size", KEY_VECTOR, AT(size), 0, 1e6, PBD_OPEN_MIN, "m", NULL},
                                  KEY_LENGTH(radius),
                                  KEY_LENGTH(top_radius),
                                  KEY_LENGTH(tube),
                                  KEY_LENGTH(length),
                                  KEY_LENGTH(width),
                                  {"cells", KEY_COUNT, AT(cells), 1, 2000, 0, "", NULL},
                                  KEY_LENGTH(unit),
                                  KEY_LENGTH(extent),
                                  {"scale", KEY_REAL, AT(scale), 0, 1e9, PBD_OPEN_MIN, "", NULL},
                                  {"origin", KEY_CHOICE, AT(origin), 0, 0, 0, NULL, origins},
                                  {"rotate", KEY_NODE, AT(rotate), 0, 0, 0, NULL, NULL},
                                  KEY_ANY_VECTOR(place, "m"),
                                  KEY_ANY_VECTOR(velocity, "m/s"),
                                  KEY_ANY_VECTOR(angular_velocity, "rad/s"),
                                  {"stretch", KEY_VECTOR, AT(stretch), 0, 1e3, PBD_OPEN_MIN, "", NULL},
                                  KEY_LENGTH(spacing),
                                  {"particles", KEY_COUNT, AT(particles), 1, SAMPLING_MOST, 0, "", NULL},
                                  {"sampling", KEY_CHOICE, AT(sampling), 0, 0, 0, NULL, fillings},
                                  {"jitter", KEY_REAL, AT(jitter), 0, 0.4, 0, "", NULL},
                                  {"seed", KEY_COUNT, AT(seed), 0, 1e9, 0, "", NULL},
                                  {0}};

/* The sizes that each shape has. */
static const char *const sizes_of[NAMED + 1][3] = {[BOX] = {"size"},
                                                   [SPHERE] = {"radius"},
                                                   [ELLIPSOID] = {"size"},
                                                   [CAPSULE] = {"radius", "length"},
                                                   [CYLINDER] = {"radius", "length"},
                                                   [CONE] = {"radius", "top_radius", "length"},
                                                   [TORUS] = {"radius", "tube"},
                                                   [SHEET] = {"length", "width", "cells"}};
static const char *const all_sizes[] = {"size", "radius", "top_radius", "tube", "length", "width", "cells"};

static bool has_size(made_of of, const char *key) {
    for (int k = 0; k < 3; k++)
        if (sizes_of[of][k] && strcmp(sizes_of[of][k], key) == 0) return true;
    return false;
}

static pbd_status check_sizes(pbd_yaml *tree, const yaml_node_t *node, made_of of, const char *name) {
    for (size_t k = 0; k < sizeof all_sizes / sizeof *all_sizes; k++) {
        const yaml_node_t *given = keys_find(tree, node, all_sizes[k]);
        if (given && !has_size(of, all_sizes[k]))
            return pbd_yaml_error(tree, given, "a %.40s has no %s", name, all_sizes[k]);
        if (!given && has_size(of, all_sizes[k]))
            return pbd_yaml_error(tree, node, "a %.40s needs %s", name, all_sizes[k]);
    }
    return pbd_ok();
}

/* Refuses keys that have no effect in combination with others. */
static pbd_status check_together(pbd_yaml *tree, const yaml_node_t *node, const body_keys *keys, bool sheet,
                                 bool named_shape) {
    const bool mesh = keys->mesh != NULL, extent = mesh || named_shape, filled = !sheet && !keys->points;
    const struct {
        const char *key;
        bool allowed;
        const char *when;
    } rule[] = {
        {"unit", mesh, "a mesh"},
        {"origin", mesh, "a mesh"},
        {"extent", extent, "a mesh or an animal"},
        {"jitter", keys->sampling == FILL_JITTER, "sampling: jitter"},
        {"seed", keys->sampling == FILL_JITTER || keys->sampling == FILL_POISSON, "sampling: jitter or poisson"},
        {"scale", !keys->points, "a shape or a mesh"},
        {"spacing", !sheet, "a body that particles fill"},
        {"particles", filled, "a body that particles fill"},
        {"sampling", filled, "a body that particles fill"}};
    for (size_t k = 0; k < sizeof rule / sizeof *rule; k++) {
        const yaml_node_t *given = keys_find(tree, node, rule[k].key);
        if (given && !rule[k].allowed) return pbd_yaml_error(tree, given, "%s is for %s", rule[k].key, rule[k].when);
    }
    if (keys->particles > 0 && keys->spacing > 0)
        return pbd_yaml_error(tree, node, "a body has particles or spacing, not both");
    if (keys->particles > 0 && keys->sampling == FILL_TETRAHEDRA)
        return pbd_yaml_error(tree, keys_find(tree, node, "particles"),
                              "particles: sampling: tetrahedra takes spacing, which gives their number");
    if (keys->extent > 0 && keys_find(tree, node, "scale"))
        return pbd_yaml_error(tree, node, "a body has extent or scale, not both");
    return pbd_ok();
}

/* ---- Rotations --------------------------------------------------------------------------------------------------- */

static const scene_key turn_table[] = {
    {"axis", KEY_VECTOR, offsetof(scene_turn, axis), -1e9, 1e9, 0, "", NULL},
    {"degrees", KEY_REAL, offsetof(scene_turn, degrees), -1e6, 1e6, 0, "degrees", NULL},
    {0}};

pbd_status scene_turn_read(pbd_yaml *tree, const yaml_node_t *node, scene_turn *out) {
    *out = (scene_turn){.axis = {0, 0, 1}};
    if (!node) return pbd_ok();
    PBD_TRY(keys_read(tree, node, "rotate", turn_table, out));
    if (!(fabs(out->axis[0]) + fabs(out->axis[1]) + fabs(out->axis[2]) > 0))
        return pbd_yaml_error(tree, node, "rotate: axis must not be 0");
    return pbd_ok();
}

placement scene_turn_place(const scene_turn *turn, const double by[3]) {
    return turn->degrees == 0 ? placement_at(by[0], by[1], by[2])
                              : placement_turned(turn->axis, turn->degrees * acos(-1) / 180, by);
}

static void put(const placement *p, const double from[3], double out[3]) {
    const double x[3] = {from[0], from[1], from[2]};
    for (int i = 0; i < 3; i++) out[i] = p->turn[i][0] * x[0] + p->turn[i][1] * x[1] + p->turn[i][2] * x[2] + p->by[i];
}

/* ---- Solids ------------------------------------------------------------------------------------------------------ */

static void make_shape(const body_keys *k, size_t which, shapes *s) {
    const double half = 0.5 * k->length, low[3] = {0, 0, -half}, high[3] = {0, 0, half};
    const double corner[3] = {0.5 * k->size[0], 0.5 * k->size[1], 0.5 * k->size[2]};
    const double other[3] = {-corner[0], -corner[1], -corner[2]}, stay[3] = {0};
    switch (which < NAMED ? (made_of)which : NAMED) {
        case BOX:
            shapes_box(s, other, corner);
            break;
        case SPHERE:
            shapes_sphere(s, 0, 0, 0, k->radius);
            break;
        case ELLIPSOID:
            shapes_ellipsoid(s, 0, 0, 0, corner[0], corner[1], corner[2]);
            break;
        case CAPSULE:
            shapes_cone(s, low, k->radius, high, k->radius);
            break;
        case CYLINDER:
            shapes_cylinder(s, low, high, k->radius);
            break;
        case CONE:
            shapes_cone(s, low, k->radius, high, k->top_radius);
            break;
        case TORUS:
            shapes_torus(s, 0, 0, 0, k->radius, k->tube);
            break;
        case SHEET:
            break;
        case NAMED:
            body_shape_make(named[which - NAMED], s);
            break;
    }
    shapes_place(s, k->extent > 0 ? k->extent : k->scale, stay);
}

/* closed: the mesh bounds a solid; otherwise it may have borders. */
static pbd_status read_mesh(pbd_yaml *tree, const yaml_node_t *node, const body_keys *k, bool closed,
                            triangle_mesh *out) {
    pbd_content content PBD_CLEANUP(pbd_content_free) = {0};
    triangle_mesh raw PBD_CLEANUP(triangle_mesh_free) = {0};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0;
    PBD_TRY(pbd_content_beside(tree->shown_as, k->mesh, &content));
    pbd_status status = triangle_file_read(&content, &raw);
    for (size_t i = 0; i < 3 * raw.vertices; i++) {
        low[i % 3] = fmin(low[i % 3], raw.position[i]);
        high[i % 3] = fmax(high[i % 3], raw.position[i]);
    }
    for (int d = 0; d < 3; d++) longest = fmax(longest, high[d] - low[d]);
    const double factor = k->extent > 0 && longest > 0 ? k->extent / longest : k->unit * k->scale;
    for (size_t i = 0; i < 3 * raw.vertices; i++) {
        const size_t d = i % 3;
        const double middle = d == 2 && k->origin == ORIGIN_BASE ? low[d] : 0.5 * (low[d] + high[d]);
        raw.position[i] = factor * (raw.position[i] - (k->origin == ORIGIN_FILE ? 0 : middle));
    }
    if (status.code == PBD_OK)
        status = (closed ? triangle_mesh_make : triangle_mesh_make_open)(content.path, raw.vertices, raw.position,
                                                                         raw.triangles, raw.triangle, out);
    return status.code == PBD_OK || status.code == PBD_FAILED
               ? status
               : pbd_yaml_error(tree, keys_find(tree, node, "mesh"), "%.280s", status.text);
}

/* The solid grown by half a spacing: lattice sites on its surface are then inside. */
typedef struct grown {
    const solid *inner;
    double by;
} grown;

static double grown_distance(const solid *body, const double x[3]) {
    const grown *g = body->of;
    return g->inner->distance(g->inner, x) - g->by;
}

static solid grow_solid(const grown *g) {
    solid out = {.distance = grown_distance, .of = g};
    for (int d = 0; d < 3; d++) {
        out.low[d] = g->inner->low[d] - g->by;
        out.high[d] = g->inner->high[d] + g->by;
    }
    return out;
}

/* ---- Filling ----------------------------------------------------------------------------------------------------- */

static void jitter(const body_keys *k, sampling *s) {
    uint64_t seed = (uint64_t)k->seed;
    for (size_t i = 0; i < 3 * s->count; i++) s->position[i] += k->jitter * s->spacing * body_noise(&seed);
}

static double tet_volume(const double *x, const uint32_t *t) {
    double e[3][3];
    for (size_t c = 0; c < 3; c++)
        for (size_t d = 0; d < 3; d++) e[c][d] = x[3 * (size_t)t[c] + d] - x[3 * (size_t)t[3] + d];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

static pbd_status take_tets(const sampling *s, pbd_arena *arena, scene_body *out) {
    uint32_t *tet PBD_CLEANUP(pbd_free_memory) = NULL;
    uint32_t *hex PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t loose;
    PBD_TRY(sampling_tets(s, &tet, &out->tets, &loose));
    PBD_TRY(sampling_cubes(s, &hex, &out->hexes));
    out->tet = pbd_new(arena, uint32_t, 4 * out->tets);
    out->hex = pbd_new(arena, uint32_t, 8 * out->hexes);
    PBD_TRY(pbd_arena_check(arena));
    memcpy(out->hex, hex, 8 * out->hexes * sizeof *hex);
    memcpy(out->tet, tet, 4 * out->tets * sizeof *tet);
    for (size_t i = 0; i < out->count; i++) out->volume[i] = 0;
    for (size_t t = 0; t < out->tets; t++)
        for (size_t c = 0; c < 4; c++) out->volume[tet[4 * t + c]] += 0.25 * tet_volume(s->position, tet + 4 * t);
    return pbd_ok();
}

static pbd_status open_body(size_t count, pbd_arena *arena, scene_body *out) {
    out->count = count;
    out->position = pbd_new(arena, double, 3 * count);
    out->velocity = pbd_new(arena, double, 3 * count);
    out->mass = pbd_new(arena, double, count);
    out->volume = pbd_new(arena, double, count);
    out->layer = pbd_new(arena, unsigned char, count);
    return pbd_arena_check(arena);
}

static pbd_status take_samples(const body_keys *k, sampling *s, pbd_arena *arena, scene_body *out) {
    PBD_TRY(open_body(s->count, arena, out));
    out->spacing = s->spacing;
    out->dropped = s->dropped;
    out->near = (k->sampling == FILL_POISSON ? 0.3 : 0.5) * s->spacing;
    memcpy(out->layer, s->layer, s->count);
    for (size_t i = 0; i < s->count; i++) out->volume[i] = s->volume;
    if (k->sampling == FILL_TETRAHEDRA) PBD_TRY(take_tets(s, arena, out));
    if (k->sampling == FILL_JITTER) jitter(k, s);
    memcpy(out->position, s->position, 3 * s->count * sizeof *s->position);
    return pbd_ok();
}

static pbd_status fill(pbd_yaml *tree, const yaml_node_t *node, const body_keys *k, const solid *body, pbd_arena *arena,
                       scene_body *out) {
    sampling s PBD_CLEANUP(sampling_free) = {0};
    sampling_plan plan = {.kind = k->sampling == FILL_POISSON ? SAMPLING_POISSON : SAMPLING_LATTICE,
                          .spacing = k->spacing,
                          .count = (size_t)k->particles,
                          .seed = (uint64_t)k->seed,
                          .cubes = k->sampling == FILL_TETRAHEDRA};
    const grown around = {body, 0.5 * k->spacing};
    const solid larger = grow_solid(&around);
    const pbd_status status = sampling_make(plan.cubes ? &larger : body, &plan, &s);
    if (status.code == PBD_BAD_INPUT) return pbd_yaml_error(tree, node, "%.280s", status.text);
    PBD_TRY(status);
    out->solid_volume = body->volume;
    PBD_TRY(take_samples(k, &s, arena, out));
    if (plan.cubes) out->near = 1e-3 * k->spacing; /* its particles are on its surface */
    return pbd_ok();
}

static pbd_status take_shape_skin(const shapes *s, pbd_arena *arena, scene_body *out) {
    shape_mesh mesh PBD_CLEANUP(shape_mesh_free) = {0};
    if (s->count != 1) return pbd_ok();
    PBD_TRY(shape_mesh_make(&s->item[0], &mesh));
    return shape_mesh_copy(&mesh, arena, &out->skin);
}

static pbd_status fill_solid(pbd_yaml *tree, const yaml_node_t *node, const body_keys *k, size_t which,
                             pbd_arena *arena, scene_body *out) {
    shapes s = {0};
    triangle_mesh mesh PBD_CLEANUP(triangle_mesh_free) = {0};
    if (k->mesh) {
        PBD_TRY(read_mesh(tree, node, k, true, &mesh));
        triangle_mesh_note(&mesh, k->mesh, out->note, sizeof out->note);
        PBD_TRY(triangle_mesh_index(&mesh));
        const solid body = triangle_mesh_solid(&mesh);
        PBD_TRY(fill(tree, node, k, &body, arena, out));
        const shape_mesh skin = {mesh.vertices, mesh.triangles, mesh.position, mesh.triangle};
        return shape_mesh_copy(&skin, arena, &out->skin);
    }
    make_shape(k, which, &s);
    const solid body = shapes_solid(&s);
    out->scan = which >= NAMED ? named_body_scan(named[which - NAMED]) : NULL;
    PBD_TRY(fill(tree, node, k, &body, arena, out));
    return take_shape_skin(&s, arena, out);
}

/* A rectangle in z = 0, centred at the origin. */
static pbd_status fill_sheet(pbd_yaml *tree, const yaml_node_t *node, const body_keys *k, const pbd_material *cloth,
                             pbd_arena *arena, scene_body *out) {
    const double length = k->scale * k->length, width = k->scale * k->width, area = length * width;
    const double along = fmax(1, round(length / width * k->cells));
    if (!(along * k->cells <= SAMPLING_MOST))
        return pbd_yaml_error(tree, node, "a sheet of %.3g x %g squares: %d at most; set fewer cells", along, k->cells,
                              SAMPLING_MOST);
    const sheet_size size = {length, width, (int)along, (int)k->cells};
    pbd_scene sheet PBD_CLEANUP(pbd_scene_free) = {0};
    PBD_TRY(sheet_mesh(&size, &sheet));
    PBD_TRY(open_body(sheet.particles.count, arena, out));
    out->near = 0.5 * cloth->thickness;
    out->solid_volume = area * cloth->thickness;
    out->triangles = sheet.triangles.count;
    out->triangle = pbd_new(arena, uint32_t, 3 * out->triangles);
    PBD_TRY(pbd_arena_check(arena));
    memcpy(out->triangle, sheet.triangles.corner, 3 * out->triangles * sizeof *out->triangle);
    for (int i = 0; i <= size.along; i++)
        for (int j = 0; j <= size.across; j++) {
            const size_t p = sheet_particle(&size, i, j);
            const double *from = sheet.particles.positions + 3 * p;
            out->position[3 * p] = from[0] - 0.5 * length;
            out->position[3 * p + 1] = from[1];
            out->layer[p] = 1;
            out->volume[p] = out->solid_volume * sheet_edge_share(i, size.along) * sheet_edge_share(j, size.across);
        }
    return pbd_ok();
}

static double triangle_area(const double *a, const double *b, const double *c) {
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    return 0.5 * hypot(hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2]), u[0] * v[1] - u[1] * v[0]);
}

/* A mesh as cloth: its vertices are the particles, each with a third of the adjacent triangles. */
static pbd_status fill_cloth(pbd_yaml *tree, const yaml_node_t *node, const body_keys *k, const pbd_material *cloth,
                             pbd_arena *arena, scene_body *out) {
    triangle_mesh mesh PBD_CLEANUP(triangle_mesh_free) = {0};
    PBD_TRY(read_mesh(tree, node, k, false, &mesh));
    PBD_TRY(open_body(mesh.vertices, arena, out));
    out->near = 0.5 * cloth->thickness;
    out->triangles = mesh.triangles;
    out->triangle = pbd_new(arena, uint32_t, 3 * out->triangles);
    PBD_TRY(pbd_arena_check(arena));
    memcpy(out->triangle, mesh.triangle, 3 * out->triangles * sizeof *out->triangle);
    memcpy(out->position, mesh.position, 3 * out->count * sizeof *out->position);
    memset(out->layer, 1, out->count);
    for (size_t t = 0; t < out->triangles; t++) {
        const uint32_t *c = out->triangle + 3 * t;
        const double *x = out->position;
        const double volume =
            cloth->thickness * triangle_area(x + 3 * (size_t)c[0], x + 3 * (size_t)c[1], x + 3 * (size_t)c[2]);
        for (int i = 0; i < 3; i++) out->volume[c[i]] += volume / 3;
        out->solid_volume += volume;
    }
    return pbd_ok();
}

/* ---- Spacing ----------------------------------------------------------------------------------------------------- */

static pbd_status choose_spacing(pbd_yaml *tree, const yaml_node_t *node, const scene_defaults *defaults,
                                 body_keys *keys) {
    if (defaults->forced || (keys->spacing == 0 && keys->particles == 0)) {
        keys->spacing = defaults->spacing;
        keys->particles = 0;
    }
    if (keys->spacing > 0 || keys->particles > 0) return pbd_ok();
    return pbd_yaml_error(tree, node, "a body needs spacing or particles; or set spacing for the whole scene");
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* Other programs may number corners in the opposite orientation. */
static void orient_tets(points_file *p) {
    for (uint32_t *t = p->corner[POINTS_TET], *end = t + 4 * p->cells[POINTS_TET]; t < end; t += 4)
        if (tet_volume(p->field[POINTS_POSITION], t) < 0) {
            const uint32_t first = t[0];
            t[0] = t[1];
            t[1] = first;
        }
}

/* Faces belong to cloth, or to a solid that is a membrane: as in sheets, their corners are not samples of a volume. */
static pbd_status fill_points(pbd_yaml *tree, const yaml_node_t *node, const scene_defaults *defaults, body_keys *k,
                              const pbd_material *material, pbd_arena *arena, scene_body *out) {
    const yaml_node_t *at = keys_find(tree, node, "points");
    pbd_content content PBD_CLEANUP(pbd_content_free) = {0};
    points_file p;
    PBD_TRY(pbd_content_beside(tree->shown_as, k->points, &content));
    const pbd_status status = points_file_read(&content, arena, &p);
    if (status.code == PBD_BAD_INPUT) return pbd_yaml_error(tree, at, "%.280s", status.text);
    PBD_TRY(status);
    if (material->matter == PBD_CLOTH && p.cells[POINTS_FACE] == 0)
        return pbd_yaml_error(tree, at, "points of cloth need elements `face`");
    if (p.field[POINTS_START] && keys_find(tree, node, "stretch"))
        return pbd_yaml_error(tree, keys_find(tree, node, "stretch"), "these points have their own start_x");
    if (p.cells[POINTS_FACE] > 0 && k->spacing > 0)
        return pbd_yaml_error(tree, keys_find(tree, node, "spacing"), "points with faces are no samples of a solid");
    if (defaults->forced) return pbd_yaml_error(tree, at, "spacing cannot be set for points: they are where they are");
    if (p.cells[POINTS_HEX] + p.cells[POINTS_TET] + p.cells[POINTS_FACE] == 0 || defaults->spacing > 0)
        PBD_TRY(choose_spacing(tree, node, defaults, k));
    if (p.cells[POINTS_TET] > 0) orient_tets(&p);
    PBD_TRY(open_body(p.count, arena, out));
    out->position = p.field[POINTS_POSITION];
    out->start = p.field[POINTS_START];
    out->volume = p.field[POINTS_VOLUME];
    if (p.field[POINTS_MASS]) out->mass = p.field[POINTS_MASS];
    if (p.field[POINTS_VELOCITY]) out->velocity = p.field[POINTS_VELOCITY];
    out->force = p.field[POINTS_FORCE];
    out->radius = p.field[POINTS_RADIUS];
    out->held = p.field[POINTS_HELD];
    out->hexes = p.cells[POINTS_HEX], out->hex = p.corner[POINTS_HEX];
    out->tets = p.cells[POINTS_TET], out->tet = p.corner[POINTS_TET];
    out->triangles = p.cells[POINTS_FACE], out->triangle = p.corner[POINTS_FACE];
    out->spacing = out->triangles > 0 ? 0 : k->spacing;
    out->near = 0.5 * out->spacing;
    memset(out->layer, 1, out->count);
    return pbd_ok();
}

/* ---- Where it starts --------------------------------------------------------------------------------------------- */

static pbd_status put_in_place(const body_keys *k, const scene_turn *turn, pbd_arena *arena, scene_body *out) {
    const placement here = out->place = scene_turn_place(turn, k->place);
    placement turned = here; /* for vectors */
    const bool strained = k->stretch[0] != 1 || k->stretch[1] != 1 || k->stretch[2] != 1;
    memset(turned.by, 0, sizeof turned.by);
    if (strained) {
        out->start = pbd_new(arena, double, 3 * out->count);
        PBD_TRY(pbd_arena_check(arena));
    }
    for (size_t i = 0; i < out->count; i++) {
        double *x = out->position + 3 * i, *v = out->velocity + 3 * i;
        double *start = out->start ? out->start + 3 * i : NULL, *force = out->force ? out->force + 3 * i : NULL;
        const double moved[3] = {k->stretch[0] * x[0], k->stretch[1] * x[1], k->stretch[2] * x[2]};
        if (start) put(&here, strained ? moved : start, start);
        if (force) put(&turned, force, force);
        put(&turned, v, v);
        put(&here, x, x);
    }
    return pbd_ok();
}

/* Adds v + w x r, r from the centre of mass. */
static void add_velocities(const body_keys *k, scene_body *out) {
    const double *x = out->start ? out->start : out->position, *w = k->angular_velocity;
    double centre[3] = {0}, mass = 0;
    for (size_t i = 0; i < out->count; i++) {
        mass += out->mass[i];
        for (size_t d = 0; d < 3; d++) centre[d] += out->mass[i] * x[3 * i + d];
    }
    for (size_t i = 0; i < out->count; i++) {
        const double r[3] = {x[3 * i] - centre[0] / mass, x[3 * i + 1] - centre[1] / mass,
                             x[3 * i + 2] - centre[2] / mass};
        for (size_t d = 0; d < 3; d++)
            out->velocity[3 * i + d] +=
                k->velocity[d] + w[(d + 1) % 3] * r[(d + 2) % 3] - w[(d + 2) % 3] * r[(d + 1) % 3];
    }
}

/* ---- A body ------------------------------------------------------------------------------------------------------ */

static pbd_status choose_matter(pbd_yaml *tree, const yaml_node_t *node, const body_keys *keys,
                                const scene_matters *matters, bool sheet, size_t *out) {
    if (!keys->matter) return pbd_yaml_error(tree, node, "a body needs matter: the name of one of `matters`");
    PBD_TRY(keys_choose(tree, keys->matter, "matter", matters->name, out));
    const bool cloth = matters->material[*out].matter == PBD_CLOTH;
    if (cloth == sheet || keys->points || keys->mesh) return pbd_ok();
    return pbd_yaml_error(
        tree, keys->matter,
        cloth ? "cloth needs shape: sheet, a mesh, or points with faces" : "a sheet needs a matter of kind: cloth");
}

pbd_status body_read(pbd_yaml *tree, const yaml_node_t *node, const scene_matters *matters,
                     const scene_defaults *defaults, pbd_arena *arena, scene_body *out) {
    body_keys keys = {.name = "",
                      .unit = 1,
                      .scale = 1,
                      .origin = ORIGIN_BASE,
                      .stretch = {1, 1, 1},
                      .jitter = 0.1,
                      .seed = defaults->seed};
    scene_turn turn;
    size_t which = NAMED;
    PBD_TRY(keys_read(tree, node, "a body", table, &keys));
    if (!keys.shape + !keys.mesh + !keys.points != 2)
        return pbd_yaml_error(tree, node, "a body needs one of shape, mesh and points");
    if (keys.shape) PBD_TRY(keys_choose(tree, keys.shape, "shape", shape_list, &which));
    const made_of of = which < NAMED ? (made_of)which : NAMED;
    PBD_TRY(check_sizes(tree, node, of, keys.mesh ? "mesh" : keys.points ? "body of points" : shape_list[which]));
    *out = (scene_body){.node = node, .name = keys.name};
    PBD_TRY(choose_matter(tree, node, &keys, matters, of == SHEET, &out->matter));
    const pbd_material *material = &matters->material[out->matter];
    const bool cloth_mesh = keys.mesh && material->matter == PBD_CLOTH;
    PBD_TRY(check_together(tree, node, &keys, of == SHEET || cloth_mesh, keys.shape && of == NAMED));
    PBD_TRY(scene_turn_read(tree, keys.rotate, &turn));
    if (of == SHEET) {
        PBD_TRY(fill_sheet(tree, node, &keys, material, arena, out));
    } else if (cloth_mesh) {
        PBD_TRY(fill_cloth(tree, node, &keys, material, arena, out));
    } else if (keys.points) {
        PBD_TRY(fill_points(tree, node, defaults, &keys, material, arena, out));
    } else {
        PBD_TRY(choose_spacing(tree, node, defaults, &keys));
        PBD_TRY(fill_solid(tree, node, &keys, which, arena, out));
    }
    for (size_t i = 0; i < out->count; i++)
        if (out->mass[i] == 0) out->mass[i] = material->density * out->volume[i];
    PBD_TRY(put_in_place(&keys, &turn, arena, out));
    add_velocities(&keys, out);
    return pbd_ok();
}

void bodies_schema_write(FILE *out) {
    keys_write(table, "bodies.", out);
    keys_write(turn_table, "bodies.rotate.", out);
}
