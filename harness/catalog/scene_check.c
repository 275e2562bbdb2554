#include "harness/catalog/scene_check.h"

#include <math.h>

#include "cases/geometry/near_pairs.h"
#include "cases/scenes/clearance.h"
#include "harness/catalog/registry.h"
#include "harness/exec/arena.h"
#include "methods/physics/matter/flow_table.h"
#include "methods/physics/matter/law_table.h"

/* ---- What the rows of takes.def ask ------------------------------------------------------------------------------ */

static size_t materials_of(const pbd_scene *scene) { return scene->materials > 0 ? scene->materials : 1; }

static bool any_material(const pbd_scene *scene, bool (*is)(const pbd_material *)) {
    for (size_t k = 0; k < materials_of(scene); k++)
        if (is(&scene->material[k])) return true;
    return false;
}

static bool yields(const pbd_material *m) { return m->yield_strain > 0; }
static bool flows(const pbd_material *m) { return m->flow != NULL; }
static bool bends(const pbd_material *m) { return m->bending > 0; }

/* Without a flow rule only the law holds a body together. */
static bool is_elastic(const pbd_material *m) { return m->matter == PBD_CONTINUUM && m->law && m->E > 0 && !m->flow; }

static bool particles_meet(const pbd_scene *scene) {
    return scene->contact.radius && (scene->contact.between_bodies || scene->contact.self_distance > 0);
}

/* Whether two materials are of one matter. Methods for several matters support one material of each. */
static bool several_solids(const pbd_scene *scene) {
    for (size_t k = 0; k < materials_of(scene); k++)
        for (size_t l = 0; l < k; l++)
            if (scene->material[k].matter == scene->material[l].matter) return true;
    return false;
}

static pbd_status check_taken(const pbd_scene *scene, const pbd_method *method) {
    const unsigned takes = pbd_method_takes(method);
#define TAKES(NAME, sentence, asked)            \
    if (!(takes & PBD_TAKES_##NAME) && (asked)) \
        return pbd_error(PBD_NOT_SUPPORTED, "method %s does not support " sentence, method->name);
#include "methods/takes.def"
#undef TAKES
    return pbd_ok();
}

/* ---- Indices and names ------------------------------------------------------------------------------------------- */

static pbd_status check_material(const pbd_material *m) {
    int law;
    PBD_TRY(law_find(m->law, &law));
    if (m->matter >= PBD_MATTERS)
        return pbd_error(PBD_BAD_INPUT, "a material is of matter %u: it must be continuum (0), fluid (1) or cloth (2)",
                         m->matter);
    if (m->flow && flow_number(m->flow) < 0) return pbd_error(PBD_BAD_INPUT, "no flow rule is named '%.60s'", m->flow);
    return pbd_ok();
}

static pbd_status check_indices(const pbd_scene *scene, const char *what, const uint8_t *material, size_t count) {
    for (size_t i = 0; material && i < count; i++)
        if (material[i] >= materials_of(scene))
            return pbd_error(PBD_BAD_INPUT, "%s %zu is of material %u, but the scene has %zu: 0 to %zu", what, i,
                             material[i], materials_of(scene), materials_of(scene) - 1);
    return pbd_ok();
}

/* ---- Overlaps at the start --------------------------------------------------------------------------------------- */

/* A particle that starts in a wall or in another body is pushed out in one step, at a speed of its depth over the time
 * step. Not checked are held particles, which contact does not move; pairs within a body, which do not overlap at rest
 * (contact.h) and may overlap if the start is deformed on purpose (recovery); and pairs of a body and cloth, whose
 * contact is with triangles. */

/* m: depths below this come from rounding. */
static double depth_of_rounding(const pbd_scene *scene) { return 1e-6 * scene->extent; }

static const char *const shape_names[] = {
#define COLLIDER_SHAPE(NAME, name) #name,
#include "methods/physics/surface/shapes/shapes.def"
#undef COLLIDER_SHAPE
};

static pbd_status check_walls(const pbd_scene *scene) {
    start_overlap worst;
    if (scene->colliders.count == 0 || scene->particles.count == 0) return pbd_ok();
    PBD_TRY(clearance_deepest(scene, &worst));
    if (!(worst.depth > depth_of_rounding(scene))) return pbd_ok();
    const double *x = clearance_start(scene) + 3 * worst.particle;
    const pbd_collider *c = &scene->colliders.item[worst.collider];
    return pbd_error(PBD_BAD_INPUT,
                     "particle %zu starts %.3g m too deep in collider %zu, a %s at (%.4g, %.4g, %.4g): at (%.4g, %.4g, "
                     "%.4g) it is %.3g m from its surface and has a contact radius of %.3g m. It would be pushed out "
                     "in one step: set a smaller contact radius, or start farther away",
                     worst.particle, worst.depth, worst.collider, shape_names[c->shape], c->centre[0], c->centre[1],
                     c->centre[2], x[0], x[1], x[2], worst.gap, worst.depth + worst.gap);
}

typedef struct body_overlap {
    const pbd_scene *scene;
    const bool *held;
    double depth; /* m: the deepest so far */
    size_t pair[2];
} body_overlap;

static bool is_cloth(const pbd_scene *scene, size_t i) { return pbd_matter_of(scene, i) == PBD_CLOTH; }

static void check_pair(void *to, size_t i, size_t j, double square) {
    body_overlap *o = to;
    const pbd_scene *scene = o->scene;
    const double *radius = scene->contact.radius, depth = radius[i] + radius[j] - sqrt(square);
    if (!(depth > o->depth) || !(radius[i] > 0) || !(radius[j] > 0)) return;
    if (scene->particles.body[i] == scene->particles.body[j] || (o->held[i] && o->held[j])) return;
    if (is_cloth(scene, i) != is_cloth(scene, j)) return;
    *o = (body_overlap){scene, o->held, depth, {i, j}};
}

static pbd_status check_bodies(const pbd_scene *scene) {
    const size_t n = scene->particles.count;
    const double *radius = scene->contact.radius, *x = clearance_start(scene);
    double largest = 0;
    if (!radius || !scene->contact.between_bodies || !scene->particles.body || scene->particles.bodies < 2)
        return pbd_ok();
    pbd_arena a PBD_ARENA;
    const bool *held = clearance_held(scene, 0, &a);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n; i++) largest = fmax(largest, radius[i]);
    body_overlap worst = {.scene = scene, .held = held, .depth = depth_of_rounding(scene)};
    PBD_TRY(near_pairs_visit(x, n, 2 * largest, check_pair, &worst));
    if (worst.pair[0] == worst.pair[1]) return pbd_ok();
    const size_t i = worst.pair[0], j = worst.pair[1];
    return pbd_error(PBD_BAD_INPUT,
                     "particles %zu and %zu of bodies %u and %u start %.3g m too deep in each other: at (%.4g, %.4g, "
                     "%.4g) and (%.4g, %.4g, %.4g), with contact radii of %.3g and %.3g m. They would be pushed apart "
                     "in one step: set a smaller contact radius, or start the bodies farther apart",
                     j, i, scene->particles.body[j], scene->particles.body[i], worst.depth, x[3 * j], x[3 * j + 1],
                     x[3 * j + 2], x[3 * i], x[3 * i + 1], x[3 * i + 2], radius[j], radius[i]);
}

/* A scene from a file may lack what its case declares to provide. */
static pbd_status check_needs(const pbd_scene *scene, const pbd_method *method) {
    const struct {
        unsigned bit;
        size_t count;
        const char *name;
    } needs[] = {{PBD_NEEDS_HEXES, scene->hexes.count, "hexahedra"},
                 {PBD_NEEDS_TETS, scene->tets.count, "tetrahedra"},
                 {PBD_NEEDS_TRIANGLES, scene->triangles.count, "triangles"},
                 {PBD_NEEDS_SAMPLES, scene->particles.spacing > 0, "particles that fill a body"},
                 {PBD_NEEDS_TETS_OR_TRIANGLES, scene->tets.count + scene->triangles.count, "tetrahedra or triangles"}};
    for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
        if (method->needs & needs[k].bit && needs[k].count == 0)
            return pbd_error(PBD_NOT_SUPPORTED, "method %s needs %s, and the scene has none: choose another method",
                             method->name, needs[k].name);
    return pbd_ok();
}

pbd_status pbd_check_scene(const pbd_scene *scene, const pbd_method *method) {
    PBD_TRY(check_needs(scene, method));
    if (scene->materials > PBD_MOST_MATERIALS)
        return pbd_error(PBD_BAD_INPUT, "the scene has %zu materials: at most %d are possible", scene->materials,
                         PBD_MOST_MATERIALS);
    for (size_t k = 0; k < materials_of(scene); k++) PBD_TRY(check_material(&scene->material[k]));
    PBD_TRY(check_indices(scene, "particle", scene->particles.material, scene->particles.count));
    PBD_TRY(check_indices(scene, "hexahedron", scene->hexes.material, scene->hexes.count));
    PBD_TRY(check_indices(scene, "tetrahedron", scene->tets.material, scene->tets.count));
    PBD_TRY(check_indices(scene, "triangle", scene->triangles.material, scene->triangles.count));
    PBD_TRY(check_taken(scene, method));
    PBD_TRY(check_walls(scene));
    return check_bodies(scene);
}

/* ---- Lengths from files ------------------------------------------------------------------------------------------ */

/* The largest edge of the box around a collider's mesh, m. */
static double mesh_extent(const pbd_collider_mesh *mesh) {
    double extent = 0;
    for (size_t d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t v = 0; v < mesh->vertices; v++) {
            low = fmin(low, mesh->vertex[3 * v + d]);
            high = fmax(high, mesh->vertex[3 * v + d]);
        }
        extent = fmax(extent, high - low);
    }
    return extent;
}

static bool takes_scaled_file(const pbd_case *c) {
    bool file = false, scale = false;
    for (const pbd_param *p = c->params; p->name; p++) {
        file = file || p->kind == PBD_FILE;
        scale = scale || strcmp(p->name, "scale") == 0;
    }
    return file && scale;
}

/* Without a scale the limit is lower: a part of 271 mm would be 271 m long. */
static const double SHORTEST = 1e-4, LONGEST = 1e3, LONGEST_UNSCALED = 100; /* m */

void pbd_warn_of_lengths(const pbd_case *c, const pbd_values *values, const pbd_scene *scene, pbd_recorder *recorder) {
    if (!takes_scaled_file(c)) return;
    double length = scene->colliders.meshes > 0 ? 0 : scene->extent;
    for (size_t i = 0; i < scene->colliders.meshes; i++) length = fmax(length, mesh_extent(&scene->colliders.mesh[i]));
    const double scale = pbd_real(values, "scale"), longest = scale == 1 ? LONGEST_UNSCALED : LONGEST;
    if (length >= SHORTEST && length <= longest) return;
    pbd_warning(recorder, "lengths",
                "the file's body is %.4g m long with scale=%g: scale is the length of the file's unit in m, 0.001 for "
                "millimetres",
                length, scale);
}
