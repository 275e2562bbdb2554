/* A user's body: a mesh from a file, held and loaded at faces of its bounding box or at named groups. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/mesh/mesh_file.h"
#include "cases/scenes/body.h"
#include "cases/scenes/loaded.h"
#include "harness/exec/arena.h"
#include "methods/physics/parts/hex8.h"
#include "methods/physics/parts/surface_load.h"

static const char *const faces[] = {"none", "x_min", "x_max", "y_min", "y_max", "z_min", "z_max", NULL};

static const pbd_param params[] = {
    {"file", "", PBD_FILE, "", 0, 0, 0, NULL, "a mesh: Gmsh MSH 4.1 (text) or Abaqus/CalculiX INP"},
    {"scale", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "one unit of the file's lengths: 0.001 for millimetres"},
    {"E", "Pa", PBD_REAL, "1e5", 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},
    {"nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"},
    {"density", "kg/m^3", PBD_REAL, "1000", 0, 1e9, PBD_OPEN_MIN, NULL, "mass density"},
    {"thickness", "m", PBD_REAL, "0.001", 0, 1e6, PBD_OPEN_MIN, NULL, "of triangles"},
    {"material", "", PBD_CHOICE, "neo_hookean", 0, 0, 0, law_names, "strain-energy density"},
    {"fixed", "", PBD_TEXT, "x_min", 0, 0, 0, faces,
     "fixed: a side of the bounding box, a group's name, or a comma-separated list"},
    {"loaded", "", PBD_TEXT, "x_max", 0, 0, 0, faces, "where the force acts: named like `fixed`"},
    {"force_x", "N", PBD_REAL, "0", -INFINITY, INFINITY, 0, NULL, "total, uniform over the surface there; constant"},
    {"force_y", "N", PBD_REAL, "0", -INFINITY, INFINITY, 0, NULL, "likewise"},
    {"force_z", "N", PBD_REAL, "0", -INFINITY, INFINITY, 0, NULL, "likewise"},
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"mode", "", PBD_CHOICE, "static", 0, 0, 0, body_modes,
     "static: the method solves for rest; dynamic: it moves, for `duration` or until the body is at rest"},
    {"duration", "s", PBD_REAL, "0", 0, 1e6, 0, NULL, "mode=dynamic: time to move; 0: until rest"},
    {"settle_tolerance", "", PBD_REAL, "1e-6", 0, 1, PBD_OPEN_MIN, NULL,
     "mode=dynamic, duration=0: at rest when the body's mean moves less than this, relative to its path, in 200 steps"},
    {"max_steps", "", PBD_INTEGER, "200000", 1, 1e9, 0, NULL,
     "mode=dynamic, duration=0: largest number of steps, then not_settled"},
    {0}};

enum { SETTLE_WINDOW = 200 };

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static uint32_t *take_elements(const mesh_file *mesh, mesh_shape shape, size_t *count) {
    const size_t numbers = mesh->of[shape].count * (size_t)mesh_corners[shape];
    uint32_t *node = malloc((numbers + 1) * sizeof *node);
    if (node && numbers > 0) memcpy(node, mesh->of[shape].node, numbers * sizeof *node);
    *count = node ? mesh->of[shape].count : 0;
    return node;
}

/* Files and method.h number a tetrahedron's corners in opposite orientations. */
static void turn_tets(pbd_scene *scene) {
    for (size_t t = 0; t < scene->tets.count; t++) {
        uint32_t *node = scene->tets.corner + 4 * t, first = node[0];
        node[0] = node[1];
        node[1] = first;
    }
}

static void measure_extent(pbd_scene *scene, double box[2][3]) {
    for (int d = 0; d < 3; d++) {
        box[0][d] = INFINITY;
        box[1][d] = -INFINITY;
        for (size_t i = 0; i < scene->particles.count; i++) {
            box[0][d] = fmin(box[0][d], scene->particles.positions[3 * i + (size_t)d]);
            box[1][d] = fmax(box[1][d], scene->particles.positions[3 * i + (size_t)d]);
        }
        scene->extent = fmax(scene->extent, box[1][d] - box[0][d]);
    }
}

/* Triangles are cloth unless there are volume elements; in a solid's file they only name parts of its surface. */
static pbd_status take_mesh(const mesh_file *mesh, double scale, pbd_scene *scene) {
    const bool solid = mesh->of[MESH_TET].count + mesh->of[MESH_HEX].count > 0;
    scene->particles.count = mesh->nodes;
    PBD_TRY_NEW(scene->particles.positions, 3 * mesh->nodes);
    PBD_TRY_NEW(scene->loads.forces, 3 * mesh->nodes);
    PBD_TRY_NEW(scene->particles.masses, mesh->nodes);
    scene->tets.corner = take_elements(mesh, MESH_TET, &scene->tets.count);
    scene->hexes.corner = take_elements(mesh, MESH_HEX, &scene->hexes.count);
    if (!solid) scene->triangles.corner = take_elements(mesh, MESH_TRIANGLE, &scene->triangles.count);
    if (!scene->tets.corner || !scene->hexes.corner || (!solid && !scene->triangles.corner)) return pbd_no_memory();
    for (size_t i = 0; i < 3 * mesh->nodes; i++) scene->particles.positions[i] = scale * mesh->position[i];
    turn_tets(scene);
    return pbd_ok();
}

/* ---- Volumes and masses ------------------------------------------------------------------------------------------ */

static void edge_between(const double *x, uint32_t from, uint32_t to, double out[3]) {
    for (uint32_t d = 0; d < 3; d++) out[d] = x[3 * to + d] - x[3 * from + d];
}
static void cross(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* Signed: positive for corners in method.h's order. */
static double tet_volume(const double *x, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    double p[3], q[3], r[3], n[3];
    edge_between(x, d, a, p);
    edge_between(x, d, b, q);
    edge_between(x, d, c, r);
    cross(q, r, n);
    return (p[0] * n[0] + p[1] * n[1] + p[2] * n[2]) / 6;
}

/* Sum over six tetrahedra around the diagonal from corner 0 to 6. */
static double hex_volume(const double *x, const uint32_t *h) {
    static const int ring[7] = {1, 2, 3, 7, 4, 5, 1};
    double volume = 0;
    for (int i = 0; i < 6; i++) volume += tet_volume(x, h[0], h[ring[i + 1]], h[ring[i]], h[6]);
    return volume;
}

static double triangle_area(const double *x, const uint32_t *t) {
    double a[3], b[3], n[3];
    edge_between(x, t[0], t[1], a);
    edge_between(x, t[0], t[2], b);
    cross(a, b, n);
    return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

/* The elements of a scene, of whichever kind it has. content_of: their volumes (areas). */
typedef struct body {
    size_t elements;
    const uint32_t *node;
    int corners;
} body;

static body body_of(const pbd_scene *scene) {
    if (scene->tets.count > 0) return (body){scene->tets.count, scene->tets.corner, 4};
    if (scene->hexes.count > 0) return (body){scene->hexes.count, scene->hexes.corner, 8};
    return (body){scene->triangles.count, scene->triangles.corner, 3};
}

static double content_of(const body *b, const double *x, size_t element) {
    const uint32_t *n = b->node + element * (size_t)b->corners;
    if (b->corners == 4) return tet_volume(x, n[0], n[1], n[2], n[3]);
    return b->corners == 8 ? hex_volume(x, n) : triangle_area(x, n);
}

/* To rounding. All its corners have the same share, as in a tetrahedron and a triangle. */
static bool is_parallelepiped(const double x[HEX8_NODES][3]) {
    double off = 0, size = 0;
    for (int a = 0; a < HEX8_NODES; a++)
        for (int d = 0; d < 3; d++) {
            double at = x[0][d];
            if (hex8_corner[a][0] > 0) at += x[1][d] - x[0][d];
            if (hex8_corner[a][1] > 0) at += x[3][d] - x[0][d];
            if (hex8_corner[a][2] > 0) at += x[4][d] - x[0][d];
            off += fabs(x[a][d] - at);
            size += fabs(x[a][d] - x[0][d]);
        }
    return off <= 1e-12 * size;
}

/* The integral of each corner's shape function, times the number of corners: so weight is a consistent load too. */
static void corner_shares(const body *b, const double *x, size_t element, double share[HEX8_NODES]) {
    double corner[HEX8_NODES][3];
    const uint32_t *n = b->node + element * (size_t)b->corners;
    for (int c = 0; c < b->corners; c++) memcpy(corner[c], x + 3 * (size_t)n[c], sizeof corner[c]);
    if (b->corners == HEX8_NODES && !is_parallelepiped(corner)) {
        hex8_shares(corner, share);
        for (int c = 0; c < HEX8_NODES; c++) share[c] *= HEX8_NODES; /* in eighths, like the others */
        return;
    }
    const double content = content_of(b, x, element);
    for (int c = 0; c < b->corners; c++) share[c] = content;
}

static void lump_mass(pbd_scene *scene) {
    const body b = body_of(scene);
    const double density = scene->material->density * (b.corners == 3 ? scene->material->thickness : 1);
    for (size_t e = 0; e < b.elements; e++) {
        double share[HEX8_NODES];
        corner_shares(&b, scene->particles.positions, e, share);
        for (int c = 0; c < b.corners; c++)
            scene->particles.masses[b.node[e * (size_t)b.corners + (size_t)c]] += density * share[c] / b.corners;
    }
}

/* ---- What is held and loaded ------------------------------------------------------------------------------------- */

/* How far from a side of the bounding box a node may lie and still be on it, relative to the box's largest edge. */
static const double ON_SIDE = 1e-6;

/* Marks the nodes of one name; false if there is no such name. */
static bool mark_named(const mesh_file *mesh, const pbd_scene *scene, const double box[2][3], const char *name,
                       bool *marked) {
    const mesh_group *group = mesh_find_group(mesh, name);
    for (size_t i = 0; group && i < group->nodes; i++) marked[group->node[i]] = true;
    if (group || strcmp(name, "none") == 0) return true;
    for (size_t f = 1; faces[f]; f++) {
        if (strcmp(name, faces[f]) != 0) continue;
        const size_t d = (f - 1) / 2, high = (f - 1) % 2;
        for (size_t i = 0; i < scene->particles.count; i++)
            if (fabs(scene->particles.positions[3 * i + d] - box[high][d]) <= ON_SIDE * scene->extent) marked[i] = true;
        return true;
    }
    return false;
}

static pbd_status unknown_name(const mesh_file *mesh, const char *param, const char *name) {
    char known[200] = "";
    size_t g = 0;
    for (; g < mesh->groups && strlen(known) < 150; g++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s'%.40s'", g ? ", " : "", mesh->group[g].name);
    return pbd_error(PBD_BAD_INPUT, "%s=%.60s: the mesh has no such group; there are x_min to z_max, none, %s%s%s",
                     param, name, mesh->groups ? "and its groups " : "and no groups in the file", known,
                     g < mesh->groups ? ", ..." : "");
}

static pbd_status mark_all(const mesh_file *mesh, const pbd_values *values, const char *param, const pbd_scene *scene,
                           const double box[2][3], bool *marked) {
    pbd_arena a PBD_ARENA;
    char *rest = pbd_new_text(&a, pbd_text(values, param)), *name;
    PBD_TRY(pbd_arena_check(&a));
    memset(marked, 0, scene->particles.count * sizeof *marked);
    while ((name = strsep(&rest, ",")) != NULL)
        if (!mark_named(mesh, scene, box, name, marked)) return unknown_name(mesh, param, name);
    return pbd_ok();
}

static pbd_status hold(const bool *marked, pbd_scene *scene) {
    PBD_TRY_NEW(scene->particles.fixed_particle, scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++)
        if (marked[i]) scene->particles.fixed_particle[scene->particles.fixed++] = (uint32_t)i;
    if (scene->particles.fixed < scene->particles.count) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "fixed contains all %zu nodes: nothing can move", scene->particles.count);
}

/* Returns the length or area that bears the load; adds each corner's share of it. */
static double share_pieces(const pbd_scene *scene, int corners, double *share) {
    const pbd_loaded *pieces = surface_load_pieces(scene, corners);
    double total = 0, x[SURFACE_MOST_CORNERS][3], part[SURFACE_MOST_CORNERS];
    for (size_t p = 0; p < pieces->count; p++) {
        surface_load_corners(scene, corners, p, x);
        total += surface_load_shares(corners, x, part);
        for (int c = 0; c < corners; c++) share[pieces->corner[p * (size_t)corners + (size_t)c]] += part[c];
    }
    return total;
}

/* A uniform load on the marked faces; without faces, on the marked edges; without both (points, inner nodes), equal
 * forces on the nodes. */
static pbd_status load(const bool *marked, const double force[3], pbd_scene *scene) {
    pbd_arena a PBD_ARENA;
    double *share = pbd_new(&a, double, scene->particles.count), total = 0, density[3];
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(loaded_list(scene, marked));
    const double size = share_pieces(scene, surface_load_faces(scene), share) + share_pieces(scene, 2, share);
    for (size_t i = 0; !(size > 0) && i < scene->particles.count; i++) share[i] = marked[i];
    for (size_t i = 0; i < scene->particles.count; i++) total += share[i];
    if (!(total > 0)) return pbd_error(PBD_BAD_INPUT, "there is a force, but `loaded` contains no node");
    for (size_t i = 0; i < 3 * scene->particles.count; i++)
        scene->loads.forces[i] = force[i % 3] * share[i / 3] / total;
    for (int d = 0; d < 3; d++) density[d] = force[d] / total;
    loaded_uniform(scene, density);
    return pbd_ok();
}

static pbd_status hold_and_load(const mesh_file *mesh, const pbd_values *values, pbd_scene *scene, bool *marked) {
    double box[2][3];
    const double force[3] = {pbd_real(values, "force_x"), pbd_real(values, "force_y"), pbd_real(values, "force_z")};
    measure_extent(scene, box);
    PBD_TRY(mark_all(mesh, values, "fixed", scene, (const double(*)[3])box, marked));
    PBD_TRY(hold(marked, scene));
    PBD_TRY(mark_all(mesh, values, "loaded", scene, (const double(*)[3])box, marked));
    return force[0] != 0 || force[1] != 0 || force[2] != 0 ? load(marked, force, scene) : pbd_ok();
}

/* The body is at rest when the mean of all free nodes is. */
static pbd_status watch_body(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    size_t held = 0;
    setup->settle = (pbd_settle){.tolerance = pbd_real(values, "settle_tolerance"),
                                 .window = SETTLE_WINDOW,
                                 .most_steps = pbd_integer(values, "max_steps")};
    PBD_TRY_NEW(setup->settle.watch, scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (held < scene->particles.fixed && scene->particles.fixed_particle[held] == i)
            held++;
        else
            setup->settle.watch[setup->settle.watched++] = (uint32_t)i;
    }
    return pbd_ok();
}

/* ---- The case ---------------------------------------------------------------------------------------------------- */

static pbd_status fill(const mesh_file *mesh, const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    scene->material[0] = (pbd_material){.E = pbd_real(values, "E"),
                                        .nu = pbd_real(values, "nu"),
                                        .density = pbd_real(values, "density"),
                                        .convention = PBD_D_STANDARD,
                                        .law = law_names[pbd_choice(values, "material")],
                                        .thickness = pbd_real(values, "thickness")};
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    PBD_TRY(take_mesh(mesh, pbd_real(values, "scale"), scene));
    lump_mass(scene);
    pbd_arena a PBD_ARENA;
    bool *marked = pbd_new(&a, bool, scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = hold_and_load(mesh, values, scene, marked);
    PBD_TRY(status);
    if (pbd_choice(values, "mode") == 0) return pbd_ok();
    scene->duration = pbd_real(values, "duration");
    return scene->duration > 0 ? pbd_ok() : watch_body(values, setup);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_content content PBD_CLEANUP(pbd_content_free) = {0};
    mesh_file mesh PBD_CLEANUP(mesh_file_free) = {0};
    PBD_TRY(pbd_read_file(values, "file", &content));
    PBD_TRY(mesh_file_read(&content, &mesh));
    return fill(&mesh, values, setup);
}

/* Displacements weighted by mass, so that they do not depend on where the mesh is fine. */
static void record_displacements(const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    double largest = 0, sum = 0, mass = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        double square = 0;
        for (size_t d = 0; d < 3; d++) {
            const double u = x[3 * i + d] - scene->particles.positions[3 * i + d];
            square += u * u;
        }
        largest = square > largest || isnan(square) ? square : largest;
        sum += scene->particles.masses[i] * sqrt(square);
        mass += scene->particles.masses[i];
    }
    pbd_metric(recorder, "largest_displacement", "m", PBD_STATE, sqrt(largest));
    pbd_metric(recorder, "mean_displacement", "m", PBD_STATE, sum / mass);
}

static void record_contents(const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    const body b = body_of(scene);
    double rest = 0, now = 0, least = INFINITY;
    uint64_t inverted = 0;
    for (size_t e = 0; e < b.elements; e++) {
        const double before = content_of(&b, scene->particles.positions, e), after = content_of(&b, x, e);
        rest += before;
        now += after;
        least = fmin(least, after / before);
        inverted += !(after > 0);
    }
    const bool solid = b.corners > 3;
    pbd_metric(recorder, solid ? "volume_ratio" : "area_ratio", "1", PBD_STATE, now / rest);
    pbd_metric(recorder, solid ? "least_volume_ratio" : "least_area_ratio", "1", PBD_STATE, least);
    if (solid) pbd_count(recorder, "inverted_elements", inverted);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    record_displacements(scene, x, recorder);
    record_contents(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_mesh = {
    .name = "mesh",
    .summary = "a mesh of your own (Gmsh MSH 4.1, Abaqus INP), with your supports and loads",
    .source = "",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_TRIANGLES,
    .params = params,
    .build = build,
    .measure = measure,
};
