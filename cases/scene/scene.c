/* A user's scene, from a YAML file: README.md lists its keys.
 *
 *   file -> yaml tree -> matters, bodies (bodies.h) -> one scene -> colliders, held regions, loads, blades */
#include "cases/scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scene/surroundings.h"
#include "cases/scenes/clearance.h"
#include "cases/scenes/granular.h"
#include "cases/scenes/particle_scene.h"

enum { MOST_BODIES = 1000 };

static const pbd_param params[] = {
    {"file", "", PBD_FILE, "", 0, 0, 0, NULL, "a scene (.yaml): cases/scene/README.md lists its keys"},
    {"spacing", "m", PBD_REAL, "0", 0, 1e6, 0, NULL, "of the particles of all bodies; 0: as in the file"},
    {"contact_radius", "m", PBD_REAL, "0", 0, 1e6, 0, NULL, "of particles; 0: by matter and sampling"},
    {"duration", "s", PBD_REAL, "-1", -1, 1e6, 0, NULL, "simulated time; 0: static equilibrium; -1: as in the file"},
    {0}};

/* ---- The top of the file ----------------------------------------------------------------------------------------- */

typedef struct scene_keys {
    double gravity[3], duration, spacing, seed, friction, forces_end;
    const yaml_node_t *matters, *bodies, *colliders, *held, *loads, *blades, *contact;
} scene_keys;

#define AT(member) offsetof(scene_keys, member)
#define NODE(name) \
    { #name, KEY_NODE, AT(name), 0, 0, 0, NULL, NULL }
static const scene_key table[] = {{"gravity", KEY_VECTOR, AT(gravity), -1e6, 1e6, 0, "m/s^2", NULL},
                                  {"duration", KEY_REAL, AT(duration), 0, 1e6, 0, "s", NULL},
                                  {"spacing", KEY_REAL, AT(spacing), 0, 1e6, PBD_OPEN_MIN, "m", NULL},
                                  {"seed", KEY_COUNT, AT(seed), 0, 1e9, 0, "", NULL},
                                  {"friction", KEY_REAL, AT(friction), 0, 100, 0, "", NULL},
                                  {"forces_end", KEY_REAL, AT(forces_end), 0, 1e6, PBD_OPEN_MIN, "s", NULL},
                                  NODE(matters),
                                  NODE(bodies),
                                  NODE(colliders),
                                  NODE(held),
                                  NODE(loads),
                                  NODE(blades),
                                  NODE(contact),
                                  {0}};

static pbd_status check_given(pbd_yaml *tree) {
    const yaml_node_t *root = pbd_yaml_node(tree, 1);
    for (const char *const *key = (const char *const[]){"duration", "matters", "bodies", NULL}; *key; key++)
        if (!keys_find(tree, root, *key)) return pbd_yaml_error(tree, root, "a scene needs %s", *key);
    return pbd_ok();
}

static pbd_status check_forces_end(pbd_yaml *tree, const scene_keys *keys, const scene_bodies *bodies) {
    bool loaded = keys->loads != NULL;
    for (size_t b = 0; b < bodies->count; b++) loaded |= bodies->item[b].force != NULL;
    if (!(keys->forces_end > 0) || loaded) return pbd_ok();
    return pbd_yaml_error(tree, keys_find(tree, pbd_yaml_node(tree, 1), "forces_end"),
                          "forces_end is for loads, and there are none");
}

/* ---- Bodies into one scene --------------------------------------------------------------------------------------- */

static pbd_status read_bodies(pbd_yaml *tree, const yaml_node_t *list, const scene_matters *matters,
                              const scene_defaults *defaults, pbd_arena *arena, scene_bodies *out) {
    PBD_TRY(keys_list(tree, list, "bodies", MOST_BODIES, &out->count));
    if (out->count == 0) return pbd_yaml_error(tree, list, "bodies: expected at least one");
    out->item = pbd_new(arena, scene_body, out->count);
    PBD_TRY(pbd_arena_check(arena));
    for (size_t b = 0; b < out->count; b++) {
        const yaml_node_t *node = keys_item(tree, list, b);
        PBD_TRY(body_read(tree, node, matters, defaults, arena, &out->item[b]));
        for (size_t before = 0; before < b && *out->item[b].name; before++)
            if (strcmp(out->item[before].name, out->item[b].name) == 0)
                return pbd_yaml_error(tree, node, "two bodies are named '%.40s'", out->item[b].name);
    }
    return pbd_ok();
}

/* Methods take one spacing for a scene, which sets their kernel radius. Exact particle counts give slightly different
 * ones. */
static const double MOST_SPACING_RATIO = 1.1;

static pbd_status find_spacing(pbd_yaml *tree, const scene_bodies *bodies, pbd_scene *scene) {
    double least = INFINITY;
    const scene_body *finest = NULL, *first = NULL;
    for (size_t b = 0; b < bodies->count; b++) {
        const scene_body *body = &bodies->item[b];
        if (!(body->spacing > 0)) continue;
        if (first && (first->tets > 0) != (body->tets > 0))
            return pbd_yaml_error(tree, body->node,
                                  "all bodies but cloth have sampling: tetrahedra, or none: a method solves for one");
        first = body;
        scene->particles.spacing = fmax(scene->particles.spacing, body->spacing);
        if (body->spacing < least) least = body->spacing, finest = body;
    }
    if (!finest || scene->particles.spacing <= MOST_SPACING_RATIO * least) return pbd_ok();
    return pbd_yaml_error(
        tree, finest->node,
        "the spacing of this body is %.4g m, that of another %.4g m: methods take one for a scene, so "
        "all must be within 10 %%",
        least, scene->particles.spacing);
}

static pbd_status open_scene(const scene_bodies *bodies, pbd_scene *scene) {
    bool strained = false;
    for (size_t b = 0; b < bodies->count; b++) {
        scene->particles.count += bodies->item[b].count;
        scene->hexes.count += bodies->item[b].hexes;
        scene->tets.count += bodies->item[b].tets;
        scene->triangles.count += bodies->item[b].triangles;
        strained |= bodies->item[b].start != NULL;
    }
    const size_t n = scene->particles.count;
    if (n > SAMPLING_MOST) return pbd_error(PBD_BAD_INPUT, "the scene has %zu particles: %d at most", n, SAMPLING_MOST);
    scene->particles.bodies = bodies->count;
    PBD_TRY_NEW(scene->particles.positions, 3 * n);
    PBD_TRY_NEW(scene->particles.velocities, 3 * n);
    PBD_TRY_NEW(scene->loads.forces, 3 * n);
    PBD_TRY_NEW(scene->particles.masses, n);
    PBD_TRY_NEW(scene->particles.volumes, n);
    PBD_TRY_NEW(scene->particles.body, n);
    PBD_TRY_NEW(scene->particles.material, n);
    if (strained) PBD_TRY_NEW(scene->particles.start, 3 * n);
    if (scene->tets.count > 0) {
        PBD_TRY_NEW(scene->tets.corner, 4 * scene->tets.count);
        PBD_TRY_NEW(scene->tets.material, scene->tets.count);
    }
    if (scene->hexes.count > 0) {
        PBD_TRY_NEW(scene->hexes.corner, 8 * scene->hexes.count);
        PBD_TRY_NEW(scene->hexes.material, scene->hexes.count);
    }
    if (scene->triangles.count > 0) {
        PBD_TRY_NEW(scene->triangles.corner, 3 * scene->triangles.count);
        PBD_TRY_NEW(scene->triangles.material, scene->triangles.count);
    }
    return pbd_ok();
}

typedef struct filled {
    size_t particles, hexes, tets, triangles;
} filled;

static void copy_cells(const uint32_t *from, size_t cells, size_t corners, size_t first, size_t matter, size_t *at,
                       pbd_cells *out) {
    for (size_t k = 0; k < corners * cells; k++) out->corner[corners * *at + k] = from[k] + (uint32_t)first;
    for (size_t k = 0; k < cells; k++) out->material[*at + k] = (uint8_t)matter;
    *at += cells;
}

static void copy_body(const scene_body *body, size_t number, filled *at, pbd_scene *scene) {
    const size_t first = at->particles, bytes = body->count * sizeof(double);
    memcpy(scene->particles.positions + 3 * first, body->position, 3 * bytes);
    memcpy(scene->particles.velocities + 3 * first, body->velocity, 3 * bytes);
    memcpy(scene->particles.masses + first, body->mass, bytes);
    memcpy(scene->particles.volumes + first, body->volume, bytes);
    if (body->force) memcpy(scene->loads.forces + 3 * first, body->force, 3 * bytes);
    if (scene->particles.start)
        memcpy(scene->particles.start + 3 * first, body->start ? body->start : body->position, 3 * bytes);
    for (size_t i = first; i < first + body->count; i++) {
        scene->particles.body[i] = (uint32_t)number;
        scene->particles.material[i] = (uint8_t)body->matter;
    }
    copy_cells(body->hex, body->hexes, 8, first, body->matter, &at->hexes, &scene->hexes);
    copy_cells(body->tet, body->tets, 4, first, body->matter, &at->tets, &scene->tets);
    copy_cells(body->triangle, body->triangles, 3, first, body->matter, &at->triangles, &scene->triangles);
    at->particles += body->count;
}

/* Takes only matters that a body is made of: scene checks would count the others too. */
static void take_matters(const scene_matters *matters, scene_bodies *bodies, pbd_scene *scene) {
    size_t place[PBD_MOST_MATERIALS];
    for (size_t k = 0; k < matters->count; k++) {
        bool used = false;
        for (size_t b = 0; b < bodies->count; b++) used |= bodies->item[b].matter == k;
        place[k] = scene->materials;
        if (used) scene->material[scene->materials++] = matters->material[k];
    }
    for (size_t b = 0; b < bodies->count; b++) bodies->item[b].matter = place[bodies->item[b].matter];
}

static void take_part(const scene_body *body, const scene_matters *matters, size_t first, scene_part *out) {
    snprintf(out->name, sizeof out->name, "%s", body->name);
    snprintf(out->matter, sizeof out->matter, "%s", matters->name[body->matter]);
    out->first = first;
    out->count = body->count;
    out->spacing = body->spacing;
    out->solid_volume = body->solid_volume;
    out->dropped = body->dropped;
    out->hexes = body->hexes;
    out->tets = body->tets;
    out->triangles = body->triangles;
    for (size_t i = 0; i < body->count; i++) {
        out->volume += body->volume[i];
        out->mass += body->mass[i];
    }
}

static pbd_status take_bodies(pbd_yaml *tree, const scene_matters *matters, scene_bodies *bodies, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    scene_detail *detail = setup->detail;
    for (size_t b = 0; b < bodies->count; b++) {
        const scene_body *body = &bodies->item[b];
        pbd_setup_warn(setup, "mesh", "%s", body->note);
        if (body->scan)
            pbd_setup_warn(setup, "stand_in", "body %zu is a blend of ellipsoids; mesh: \"%s\" is a scan", b,
                           body->scan);
    }
    filled at = {0};
    PBD_TRY(find_spacing(tree, bodies, scene));
    PBD_TRY(open_scene(bodies, scene));
    PBD_TRY_NEW(detail->part, bodies->count);
    for (size_t b = 0, first = 0; b < bodies->count; first += bodies->item[b++].count)
        take_part(&bodies->item[b], matters, first, &detail->part[detail->parts++]);
    take_matters(matters, bodies, scene);
    for (size_t b = 0; b < bodies->count; b++) {
        const scene_body *body = &bodies->item[b];
        copy_body(body, b, &at, scene);
        if (body->skin.triangles > 0) PBD_TRY(particle_add_skin(scene, (uint32_t)b, &body->skin, &body->place));
    }
    particle_scene_measure(scene);
    return pbd_ok();
}

/* ---- Contact ----------------------------------------------------------------------------------------------------- */

typedef struct contact_keys {
    double between_bodies, self_distance, friction, layers;
} contact_keys;

static const scene_key contact_table[] = {
    {"between_bodies", KEY_FLAG, offsetof(contact_keys, between_bodies), 0, 0, 0, NULL, NULL},
    {"self_distance", KEY_REAL, offsetof(contact_keys, self_distance), 0, 1e6, 0, "m", NULL},
    {"friction", KEY_REAL, offsetof(contact_keys, friction), 0, 100, 0, "", NULL},
    {"layers", KEY_COUNT, offsetof(contact_keys, layers), 1, 3, 0, "", NULL},
    {0}};

/* Elastic bodies are in contact by pairs of particles. Matter that flows, liquid, and cloth with anything else interact
 * by the kernels of their methods. */
static bool meet_by_pairs(const pbd_scene *scene) {
    size_t cloths = 0;
    for (size_t k = 0; k < scene->materials; k++) {
        if (scene->material[k].flow || scene->material[k].matter == PBD_FLUID) return false;
        cloths += scene->material[k].matter == PBD_CLOTH;
    }
    return scene->particles.bodies > 1 && (cloths == 0 || cloths == scene->materials);
}

static pbd_status set_contact(pbd_yaml *tree, const yaml_node_t *node, const scene_bodies *bodies, double friction,
                              double given, pbd_scene *scene) {
    contact_keys k = {.between_bodies = meet_by_pairs(scene), .friction = friction, .layers = 2};
    if (node) PBD_TRY(keys_read(tree, node, "contact", contact_table, &k));
    const bool pairs = k.between_bodies > 0 || k.self_distance > 0;
    scene->contact.between_bodies = k.between_bodies > 0;
    scene->contact.self_distance = k.self_distance;
    scene->contact.friction = k.friction;
    PBD_TRY_NEW(scene->contact.radius, scene->particles.count);
    for (size_t b = 0, i = 0; b < bodies->count; b++) {
        const scene_body *body = &bodies->item[b];
        const pbd_material *m = &scene->material[body->matter];
        const double none = m->matter == PBD_FLUID ? fmin(body->near, 0.25 * body->spacing) : body->near;
        /* 0.7 spacings leave no hole between the sites of a lattice (particle_radius). */
        const double wide = given > 0 ? given : body->spacing > 0 ? 0.7 * body->spacing : body->near;
        for (size_t p = 0; p < body->count; p++, i++) {
            const bool meets = k.layers >= 3 || (body->layer[p] >= 1 && body->layer[p] <= k.layers);
            scene->contact.radius[i] = body->radius && given == 0 ? body->radius[p]
                                       : !pairs                   ? (given > 0 ? given : none)
                                       : meets                    ? wide
                                                                  : 0;
        }
    }
    return pbd_ok();
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

enum { LOOKS = 100 };

static pbd_status build_from(pbd_yaml *tree, const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    pbd_arena arena PBD_ARENA;
    scene_keys keys = {.gravity = {0, 0, -9.81}, .seed = 1, .friction = 0.3};
    scene_matters matters;
    scene_bodies bodies = {0};
    const double spacing = pbd_real(values, "spacing"), duration = pbd_real(values, "duration");
    PBD_TRY(keys_read(tree, pbd_yaml_node(tree, 1), "a scene", table, &keys));
    PBD_TRY(check_given(tree));
    const scene_defaults defaults = {spacing > 0 ? spacing : keys.spacing, spacing > 0, keys.seed};
    PBD_TRY(matters_read(tree, keys.matters, &matters));
    PBD_TRY(read_bodies(tree, keys.bodies, &matters, &defaults, &arena, &bodies));
    PBD_TRY(take_bodies(tree, &matters, &bodies, setup));
    memcpy(scene->loads.gravity, keys.gravity, sizeof keys.gravity);
    scene->loads.forces_end = keys.forces_end;
    scene->duration = duration >= 0 ? duration : keys.duration;
    setup->observe_every = scene->duration / LOOKS;
    PBD_TRY(set_contact(tree, keys.contact, &bodies, keys.friction, pbd_real(values, "contact_radius"), scene));
    PBD_TRY(colliders_read(tree, keys.colliders, keys.friction, scene));
    PBD_TRY(held_read(tree, keys.held, &bodies, scene));
    PBD_TRY(loads_read(tree, keys.loads, &bodies, scene));
    PBD_TRY(check_forces_end(tree, &keys, &bodies));
    return blades_read(tree, keys.blades, scene);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_content content PBD_CLEANUP(pbd_content_free) = {0};
    pbd_yaml tree PBD_CLEANUP(pbd_yaml_close) = {0};
    PBD_TRY(pbd_read_file(values, "file", &content));
    PBD_TRY(pbd_yaml_open(content.path, content.text, content.bytes, &tree));
    return build_from(&tree, values, setup);
}

static void free_detail(void *detail) { free(((scene_detail *)detail)->part); }

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

typedef struct outline {
    double centre[3], lowest, highest, spread; /* m; spread: 99 % of the mass is nearer to the centre horizontally */
} outline;

typedef struct distance {
    double at, mass;
} distance;

static int nearer(const void *a, const void *b) {
    const distance *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static pbd_status outline_at(const pbd_scene *scene, const double *x, outline *out) {
    const size_t n = scene->particles.count;
    pbd_arena arena PBD_ARENA;
    distance *far = pbd_new(&arena, distance, n);
    PBD_TRY(pbd_arena_check(&arena));
    *out = (outline){.lowest = INFINITY, .highest = -INFINITY};
    particle_centre_of_mass(scene, x, out->centre);
    double mass = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        far[i] =
            (distance){hypot(x[3 * i] - out->centre[0], x[3 * i + 1] - out->centre[1]), scene->particles.masses[i]};
        mass += far[i].mass;
        out->lowest = fmin(out->lowest, x[3 * i + 2]);
        out->highest = fmax(out->highest, x[3 * i + 2]);
    }
    qsort(far, n, sizeof *far, nearer);
    for (size_t i = 0; i < n && sum < 0.99 * mass; i++) {
        out->spread = far[i].at;
        sum += far[i].mass;
    }
    return pbd_ok();
}

static pbd_status look_at_density(scene_detail *d, const pbd_scene *scene, const double *x) {
    double density;
    if (!(scene->particles.spacing > 0)) return pbd_ok();
    PBD_TRY(granular_density(scene, x, 2 * scene->particles.spacing, &density));
    if (!d->looked) d->density_start = density;
    d->density_most = fmax(d->density_most, density);
    return pbd_ok();
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    scene_detail *d = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double fastest;
    outline o;
    beyond_walls walls;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(outline_at(scene, x, &o));
    PBD_TRY(look_at_density(d, scene, x));
    PBD_TRY(clearance_beyond(scene, x, time, &walls));
    d->deepest = fmax(d->deepest, walls.deepest.depth);
    d->looked = true;
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "centre_of_mass", "x", "m", &o.centre[0], 1, 1);
    pbd_series(recorder, "centre_of_mass", "y", "m", &o.centre[1], 1, 1);
    pbd_series(recorder, "centre_of_mass", "z", "m", &o.centre[2], 1, 1);
    pbd_series(recorder, "highest", "value", "m", &o.highest, 1, 1);
    pbd_series(recorder, "spread", "value", "m", &o.spread, 1, 1);
    const pbd_status status = particle_kinetic_energy(scene, method, state, &d->energy, &fastest);
    d->tells_velocities = status.code != PBD_NOT_SUPPORTED;
    if (!d->tells_velocities) return pbd_ok();
    d->peak = fmax(d->peak, d->energy);
    d->fastest = fmax(d->fastest, fastest);
    pbd_series(recorder, "kinetic_energy", "value", "J", &d->energy, 1, 1);
    return status;
}

static void record_contents(const scene_detail *d, const pbd_scene *scene, pbd_recorder *recorder) {
    size_t dropped = 0;
    double mass = 0;
    for (size_t b = 0; b < d->parts; b++) dropped += d->part[b].dropped, mass += d->part[b].mass;
    pbd_metric(recorder, "particles", "1", PBD_STATE, (double)scene->particles.count);
    pbd_metric(recorder, "bodies", "1", PBD_STATE, (double)d->parts);
    pbd_metric(recorder, "mass", "kg", PBD_STATE, mass);
    if (scene->particles.spacing > 0) pbd_metric(recorder, "spacing", "m", PBD_STATE, scene->particles.spacing);
    pbd_metric(recorder, "dropped_sites", "1", PBD_STATE, (double)dropped);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const scene_detail *d = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    outline o;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(outline_at(scene, x, &o));
    record_contents(d, scene, recorder);
    pbd_metric(recorder, "centre_x", "m", PBD_STATE, o.centre[0]);
    pbd_metric(recorder, "centre_y", "m", PBD_STATE, o.centre[1]);
    pbd_metric(recorder, "centre_z", "m", PBD_STATE, o.centre[2]);
    pbd_metric(recorder, "lowest", "m", PBD_STATE, o.lowest);
    pbd_metric(recorder, "height", "m", PBD_STATE, o.highest - o.lowest);
    pbd_metric(recorder, "spread", "m", PBD_STATE, o.spread);
    if (d->density_start > 0)
        pbd_metric(recorder, "most_density_ratio", "1", PBD_STATE, d->density_most / d->density_start);
    if (scene->colliders.count > 0 && d->looked) pbd_metric(recorder, "penetration", "m", PBD_FLAW, d->deepest);
    body_record_shape(scene, x, recorder);
    if (!d->tells_velocities) return pbd_ok();
    pbd_metric(recorder, "largest_speed", "m/s", PBD_STATE, d->fastest);
    if (d->peak > 0) pbd_metric(recorder, "kinetic_energy_left", "1", PBD_STATE, d->energy / d->peak);
    return pbd_ok();
}

const pbd_case pbd_case_scene = {
    .name = "scene",
    .summary = "a scene of your own from a YAML file: bodies, matters, colliders, loads; see `pbdbench scene`",
    .source = "",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_TRIANGLES,
    .params = params,
    .detail_bytes = sizeof(scene_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
    .free_detail = free_detail,
};

void scene_schema_write(FILE *out) {
    fputs("| key | value | range or choices | unit |\n| --- | --- | --- | --- |\n", out);
    keys_write(table, "", out);
    keys_write(contact_table, "contact.", out);
    matters_schema_write(out);
    bodies_schema_write(out);
    surroundings_schema_write(out);
}
