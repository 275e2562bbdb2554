/* Sausages are pushed over the edge of a table, cut by a knife, and fall into a glass box.
 *
 * They lie side by side along x, their front ends at the edge of the table, x = 0, its top at z = 0. A plate behind
 * them moves along x; guides beside them stand still. The knife falls in a plane x = gap; the box stands below it. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/particle_watch.h"

static const pbd_param params[] = {
    {"sausages", "", PBD_INTEGER, "1", 1, 1000, 0, NULL, "side by side"},
    {"length", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "of a sausage, from end to end"},
    {"sausage_radius", "m", PBD_REAL, "0.1", 0, 1e6, PBD_OPEN_MIN, NULL, "of a sausage"},
    {"particles_each", "", PBD_INTEGER, "1000", 1, SAMPLING_MOST, 0, NULL, "of a sausage; 38448 in all in the paper"},
    PBD_PARTICLE_MATERIAL_PARAMS("2000", "0.4", "100", "stable_neo_hookean"),
    {"push_speed", "m/s", PBD_REAL, "0.5", 0, 1e6, PBD_OPEN_MIN, NULL, "of the plate behind them"},
    {"cuts", "", PBD_INTEGER, "3", 0, 1000, 0, NULL, "number of cuts; 0: no knife"},
    {"piece", "m", PBD_REAL, "0.22", 0, 1e6, PBD_OPEN_MIN, NULL, "cuts>0: pushed out between two cuts"},
    {"gap", "m", PBD_REAL, "0.04", 0, 1e6, 0, NULL, "cuts>0: from the table's edge to the knife"},
    {"knife_speed", "m/s", PBD_REAL, "4", 0, 1e6, PBD_OPEN_MIN, NULL, "cuts>0: downward"},
    {"depth", "m", PBD_REAL, "0.6", 0, 1e6, PBD_OPEN_MIN, NULL, "from the table's top to the bottom of the box"},
    {"box", "m", PBD_REAL, "0.7", 0, 1e6, PBD_OPEN_MIN, NULL, "the box's length along x, inside"},
    {"box_height", "m", PBD_REAL, "0.3", 0, 1e6, PBD_OPEN_MIN, NULL, "of its walls"},
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"self_distance", "", PBD_REAL, "4", 1, 1e6, 0, NULL,
     "in spacings: contact applies to pairs farther apart at rest"},
    PBD_CONTACT_PARAMS("0.2", ""),
    {"duration", "s", PBD_REAL, "2.5", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct sausages_detail {
    sampling particles;
    size_t sausages;
    double pitch, lift, wide,
        back; /* m: distance of sausages; height above the table; half the row's width; x of the plate */
    particle_watch watch;
} sausages_detail;

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

static pbd_collider *add_box(pbd_scene *scene, const double low[3], const double high[3], double friction) {
    pbd_collider *c = &scene->colliders.item[scene->colliders.count++];
    c->shape = PBD_BOX;
    c->friction = friction;
    for (int d = 0; d < 3; d++) {
        c->axis[d][d] = 1;
        c->centre[d] = 0.5 * (low[d] + high[d]);
        c->half[d] = 0.5 * (high[d] - low[d]);
    }
    return c;
}

/* A row with a tenth of a radius on both sides of each sausage; more if contact radii, or particles that protrude from
 * the sausage's surface, need it to start without contact. */
static void make_room(const pbd_values *values, sausages_detail *detail) {
    const double radius = pbd_real(values, "sausage_radius"), contact = particle_radius(values, &detail->particles);
    double low[3] = {INFINITY, INFINITY, INFINITY}, side = 0;
    for (size_t i = 0; i < detail->particles.count; i++) {
        const double *x = detail->particles.position + 3 * i;
        for (int d = 0; d < 3; d++) low[d] = fmin(low[d], x[d]);
        side = fmax(side, fabs(x[1]));
    }
    detail->pitch = fmax(2.2 * radius, 2 * (side + contact));
    detail->wide = 0.5 * detail->pitch * (double)detail->sausages;
    detail->lift = fmax(0, contact - low[2]);
    detail->back = fmin(-pbd_real(values, "length"), low[0] - contact);
}

static void add_table(const pbd_values *values, const sausages_detail *detail, pbd_scene *scene) {
    const double length = pbd_real(values, "length"), radius = pbd_real(values, "sausage_radius");
    const double wide = detail->wide, thick = radius, back = -1.5 * length, friction = pbd_real(values, "friction");
    const double top = 3 * radius, speed = pbd_real(values, "push_speed");
    add_box(scene, (const double[]){back, -wide - thick, -thick}, (const double[]){0, wide + thick, 0}, friction);
    add_box(scene, (const double[]){back, -wide - thick, 0}, (const double[]){0, -wide, top}, 0);
    add_box(scene, (const double[]){back, wide, 0}, (const double[]){0, wide + thick, top}, 0);
    pbd_collider *plate =
        add_box(scene, (const double[]){detail->back - thick, -wide, 0}, (const double[]){detail->back, wide, top}, 0);
    plate->velocity[0] = speed;
    plate->end = length / speed;
}

static void add_glass_box(const pbd_values *values, const sausages_detail *detail, pbd_scene *scene) {
    const double bottom = -pbd_real(values, "depth"), top = bottom + pbd_real(values, "box_height");
    const double thick = 0.5 * pbd_real(values, "sausage_radius"), wide = 1.5 * detail->wide,
                 friction = pbd_real(values, "friction");
    const double near = -pbd_real(values, "sausage_radius"), far = near + pbd_real(values, "box");
    const double ground[3] = {0, 0, bottom}, up[3] = {0, 0, 1};
    particle_add_plane(scene, ground, up, friction);
    add_box(scene, (const double[]){near - thick, -wide, bottom}, (const double[]){near, wide, top}, friction);
    add_box(scene, (const double[]){far, -wide, bottom}, (const double[]){far + thick, wide, top}, friction);
    add_box(scene, (const double[]){near - thick, -wide - thick, bottom}, (const double[]){far + thick, -wide, top},
            friction);
    add_box(scene, (const double[]){near - thick, wide, bottom}, (const double[]){far + thick, wide + thick, top},
            friction);
}

/* ---- The knife --------------------------------------------------------------------------------------------------- */

/* From a radius above the sausages to a radius below: each cut is a separate blade, which exists only while it falls.
 */
static pbd_status add_cuts(const pbd_values *values, const sausages_detail *detail, pbd_scene *scene) {
    const double radius = pbd_real(values, "sausage_radius"), gap = pbd_real(values, "gap"),
                 piece = pbd_real(values, "piece");
    const double push = pbd_real(values, "push_speed"), speed = pbd_real(values, "knife_speed"),
                 wide = 2 * detail->wide;
    const size_t cuts = (size_t)pbd_integer(values, "cuts");
    PBD_TRY_NEW(scene->blades.item, cuts);
    for (size_t k = 0; k < cuts; k++) {
        const double begin = (gap + piece * (double)(k + 1)) / push;
        scene->blades.item[scene->blades.count++] = (pbd_blade){.corner = {gap, -wide, 3 * radius},
                                                                .edge = {{0, 2 * wide, 0}, {0, 0, 6 * radius}},
                                                                .velocity = {0, 0, -speed},
                                                                .begin = begin,
                                                                .end = begin + 4 * radius / speed};
    }
    return pbd_ok();
}

static pbd_status check_sizes(const pbd_values *values) {
    const double length = pbd_real(values, "length"), radius = pbd_real(values, "sausage_radius");
    const double pushed = pbd_real(values, "gap") + pbd_real(values, "piece") * (double)pbd_integer(values, "cuts");
    if (!(length > 2 * radius))
        return pbd_error(PBD_BAD_INPUT,
                         "length=%g m is not above twice sausage_radius=%g m: a sausage has two round ends", length,
                         radius);
    if (pbd_integer(values, "cuts") > 0 && !(pushed < length))
        return pbd_error(PBD_BAD_INPUT, "%ld cuts of piece=%g m need %g m pushed out, but length=%g m",
                         pbd_integer(values, "cuts"), pbd_real(values, "piece"), pushed, length);
    if (!(pbd_real(values, "depth") > pbd_real(values, "box_height") + radius))
        return pbd_error(PBD_BAD_INPUT, "depth=%g m leaves no room above box_height=%g m for a table %g m thick",
                         pbd_real(values, "depth"), pbd_real(values, "box_height"), radius);
    return pbd_ok();
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status sample_sausage(const pbd_values *values, sampling *out) {
    const double length = pbd_real(values, "length"), radius = pbd_real(values, "sausage_radius");
    const double from[3] = {-length + radius, 0, radius}, to[3] = {-radius, 0, radius};
    const sampling_plan plan = {.kind = SAMPLING_LATTICE, .count = (size_t)pbd_integer(values, "particles_each")};
    shapes s = {0};
    shapes_cone(&s, from, radius, to, radius);
    const solid body = shapes_solid(&s);
    return sampling_make(&body, &plan, out);
}

static pbd_status place_sausages(const sausages_detail *detail, pbd_scene *scene) {
    pbd_arena a PBD_ARENA;
    placement *place = pbd_new(&a, placement, detail->sausages);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t s = 0; s < detail->sausages; s++)
        place[s] = placement_at(0, detail->pitch * ((double)s - 0.5 * (double)(detail->sausages - 1)), detail->lift);
    const pbd_status status = particle_scene_make(&detail->particles, detail->sausages, place, scene);
    return status;
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    sausages_detail *detail = setup->detail;
    PBD_TRY(check_sizes(values));
    detail->sausages = (size_t)pbd_integer(values, "sausages");
    scene->material[0] = particle_material(values);
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / BODY_LOOKS;
    PBD_TRY(sample_sausage(values, &detail->particles));
    make_room(values, detail);
    PBD_TRY(place_sausages(detail, scene));
    PBD_TRY(particle_set_radii(values, &detail->particles, scene));
    scene->contact.between_bodies = true;
    scene->contact.self_distance = pbd_real(values, "self_distance") * scene->particles.spacing;
    detail->watch = particle_watch_start(particle_radius(values, &detail->particles), scene->contact.self_distance);
    PBD_TRY(particle_open_colliders(scene, 9));
    add_table(values, detail, scene);
    add_glass_box(values, detail, scene);
    return add_cuts(values, detail, scene);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static size_t least_piece(const sausages_detail *detail) { return 1 + detail->particles.count / 100; }

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    sausages_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t pieces, crumbs;
    PBD_TRY(particle_watch_look(&detail->watch, scene, method, state, time, recorder));
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_status status = particle_count_pieces(scene, x, least_piece(detail), &pieces, &crumbs);
    const double count = (double)pieces;
    pbd_series(recorder, "pieces_apart", "value", "1", &count, 1, 1);
    return status;
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const sausages_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t pieces, crumbs;
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_status status = particle_count_pieces(scene, x, least_piece(detail), &pieces, &crumbs);
    particle_record_sampling(&detail->particles, detail->sausages, recorder);
    particle_watch_record(&detail->watch, scene, recorder);
    pbd_metric(recorder, "pieces_apart", "1", PBD_STATE, (double)pieces);
    pbd_metric(recorder, "pieces_expected", "1", PBD_STATE, (double)(detail->sausages * (scene->blades.count + 1)));
    pbd_metric(recorder, "crumbs", "1", PBD_FLAW, (double)crumbs);
    return status;
}

const pbd_case pbd_case_sausages = {
    .name = "sausages",
    .summary = "sausages are pushed over a table's edge, cut by a knife, and fall into a glass box",
    .source = "cao2023 Figure 8, Table 1",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    PARTICLE_DETAIL(sausages_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
