/* Many tori fall between walls onto the ground and come to lie in a heap. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/particle_watch.h"

static const char *const contacts[] = {"on", "walls", "off", NULL};
enum { CONTACT_ON, CONTACT_WALLS, CONTACT_OFF };

static const pbd_param params[] = {
    {"tori", "", PBD_INTEGER, "8", 1, 100000, 0, NULL, "how many; 324 in the paper"},
    {"across", "", PBD_INTEGER, "2", 1, 300, 0, NULL, "of a layer, each way; 6 makes nine layers of the paper's"},
    {"particles_each", "", PBD_INTEGER, "156", 1, 1000000, 0, NULL, "of a torus"},
    {"size", "m", PBD_REAL, "0.3", 0, 1e6, PBD_OPEN_MIN, NULL,
     "outer diameter of a torus; its tube is 0.32 of it thick"},
    PBD_PARTICLE_MATERIAL_PARAMS("3000", "0.4", "100", "neo_hookean"),
    {"tilt", "", PBD_CHOICE, "on", 0, 0, 0, particle_on_off, "each turned at random, or all flat"},
    {"seed", "", PBD_INTEGER, "1", 0, 1e9, 0, NULL, "tilt=on: of the turns"},
    {"room", "", PBD_REAL, "1.1", 0.5, 100, 0, NULL, "between walls, over the width that the tori start on"},
    {"drop", "m", PBD_REAL, "0.3", 0, 1e6, 0, NULL, "from the lowest layer to the ground"},
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"contact", "", PBD_CHOICE, "on", 0, 0, 0, contacts, "between tori, with ground and walls; these alone; none"},
    PBD_CONTACT_PARAMS("0.3", "contact!=off: "),
    {"duration", "s", PBD_REAL, "1.5", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct tori_detail {
    sampling particles;
    size_t tori;
    particle_watch watch;
} tori_detail;

/* Initial pitch of the tori, in diameters: none touches another however they are rotated. */
static const double APART = 1.1;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status sample_torus(const pbd_values *values, double size, sampling *out) {
    const sampling_plan plan = {.kind = SAMPLING_LATTICE, .count = (size_t)pbd_integer(values, "particles_each")};
    const double stay[3] = {0, 0, 0};
    shapes s;
    body_shape_make(BODY_TORUS, &s);
    shapes_place(&s, size, stay);
    for (int d = 0; d < 3; d++) s.item[0].at[d] = 0; /* turns are about its middle */
    const solid body = shapes_solid(&s);
    return sampling_make(&body, &plan, out);
}

/* Uniform over all directions; libm's last digit does not matter here. */
static void random_turn(uint64_t *seed, double axis[3], double *angle) {
    double square;
    do {
        square = 0;
        for (int d = 0; d < 3; d++) axis[d] = body_noise(seed), square += axis[d] * axis[d];
    } while (square > 1 || square < 1e-4);
    *angle = 3.14159265358979323846 * body_noise(seed);
}

/* Layer on layer, row by row, centred on the z axis. */
static void place_tori(const pbd_values *values, double size, size_t tori, placement *place) {
    const size_t across = (size_t)pbd_integer(values, "across");
    const double pitch = APART * size, lowest = pbd_real(values, "drop") + 0.5 * size;
    uint64_t seed = (uint64_t)pbd_integer(values, "seed");
    for (size_t t = 0; t < tori; t++) {
        const double by[3] = {pitch * ((double)(t % across) - 0.5 * (double)(across - 1)),
                              pitch * ((double)(t / across % across) - 0.5 * (double)(across - 1)),
                              lowest + pitch * (double)(t / across / across)};
        double axis[3], angle;
        random_turn(&seed, axis, &angle);
        place[t] = pbd_choice(values, "tilt") ? placement_turned(axis, angle, by) : placement_at(by[0], by[1], by[2]);
    }
}

static pbd_status add_walls(const pbd_values *values, double size, pbd_scene *scene) {
    const double half = 0.5 * pbd_real(values, "room") * APART * size * (double)pbd_integer(values, "across");
    const double friction = pbd_real(values, "friction");
    const double ground[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    PBD_TRY(particle_open_colliders(scene, 5));
    particle_add_plane(scene, ground, up, friction);
    for (int side = 0; side < 4; side++) {
        double at[3] = {0, 0, 0}, inward[3] = {0, 0, 0};
        inward[side / 2] = side % 2 ? -1 : 1;
        at[side / 2] = -half * inward[side / 2];
        particle_add_plane(scene, at, inward, friction);
    }
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    tori_detail *detail = setup->detail;
    const double size = pbd_real(values, "size");
    const int contact = pbd_choice(values, "contact");
    detail->tori = (size_t)pbd_integer(values, "tori");
    scene->material[0] = particle_material(values);
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / BODY_LOOKS;
    PBD_TRY(sample_torus(values, size, &detail->particles));
    pbd_arena a PBD_ARENA;
    placement *place = pbd_new(&a, placement, detail->tori);
    PBD_TRY(pbd_arena_check(&a));
    place_tori(values, size, detail->tori, place);
    const pbd_status status = particle_scene_make(&detail->particles, detail->tori, place, scene);
    PBD_TRY(status);
    PBD_TRY(particle_set_radii(values, &detail->particles, scene));
    detail->watch = particle_watch_start(particle_radius(values, &detail->particles), 0);
    scene->contact.between_bodies = contact == CONTACT_ON;
    return contact == CONTACT_OFF ? pbd_ok() : add_walls(values, size, scene);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    tori_detail *detail = setup->detail;
    return particle_watch_look(&detail->watch, scene, method, state, time, recorder);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const tori_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double mean, worst;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_shape_errors(scene, x, &mean, &worst);
    pbd_metric(recorder, "mean_shape_error", "1", PBD_STATE, mean);
    pbd_metric(recorder, "worst_shape_error", "1", PBD_STATE, worst);
    particle_record_sampling(&detail->particles, detail->tori, recorder);
    particle_watch_record(&detail->watch, scene, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_tori = {
    .name = "tori",
    .summary = "tori fall between walls onto the ground: do they stay apart, inside, and come to rest?",
    .source = "cao2023 Figure 3, Table 1",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    PARTICLE_DETAIL(tori_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
