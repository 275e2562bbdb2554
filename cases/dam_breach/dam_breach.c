/* A dam of sand holds water and is lower in the middle, where water runs over it (yu2024 Figure 7, Table 2 "Dam
 * Breach").
 *
 * Lengths are relative to the dam's height H: a crest 0.3 H wide, slopes of 1.2 to 1, a channel 1.2 H wide between
 * smooth walls, a reservoir of 1.5 H before its foot with water up to 0.9 H, and a notch in the crest, 0.5 H wide, down
 * to 0.4 H. With H = 0.267 m and a spacing of 1/384 m these are the paper's 4 million particles. The paper does not
 * give the shape, gravity, the water's density and viscosity, or friction on the ground. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/geometry/near_pairs.h"
#include "cases/scenes/clearance.h"
#include "cases/scenes/granular.h"
#include "cases/scenes/liquid.h"
#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/space/sph_kernel.h"

static const pbd_param params[] = {
    {"height", "m", PBD_REAL, "0.267", 0, 1e6, PBD_OPEN_MIN, NULL, "H: of the dam"},
    {"notch", "", PBD_REAL, "0.4", 0, 1, 0, NULL, "height of the notch's floor, in H; 1: there is none"},
    {"water", "", PBD_REAL, "0.9", 0.1, 1, 0, NULL, "height of the water, in H"},
    PBD_SAMPLING_PARAMS("6000"),
    PBD_PARTICLE_MATERIAL_PARAMS("400", "0.4", "1", "hencky"),
    {"water_density", "kg/m^3", PBD_REAL, "0.6", 0, 1e9, PBD_OPEN_MIN, NULL, "of the water, where sand has `density`"},
    {"water_viscosity", "", PBD_REAL, "0.01", 0, 1, 0, NULL, "c of XSPH: share of its neighbours' velocity in a step"},
    {"floor_friction", "", PBD_REAL, "0.5", 0, 100, 0, NULL, "Coulomb's coefficient, of the ground"},
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"duration", "s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

enum { BINS = 6, FRAMES = 4, PICTURE = 4000, WALLS = 5 };
static const double CREST = 0.3, SLOPE = 1.2, WIDTH = 1.2, RESERVOIR = 1.5, NOTCH = 0.5, BEYOND = 3;
static const double WATER_RADIUS = 0.25; /* of contact with walls, in spacings */

typedef struct breach_detail {
    double *exchange; /* sand x 3, N s: impulses up to the last observation */
    liquid_watch watch;
    double height, notch, level;                 /* m */
    double gap;                                  /* m: between sand and water at the start */
    size_t sand;                                 /* particles: they come first; the others are water */
    double by_depth[BINS], sand_by_depth[BINS];  /* sums over the observations: impulses, N s; particles */
    double compressed, most_compressed, deepest; /* compression of water: last, largest; largest depth in a wall, m */
    double water_across, sand_across;            /* current shares beyond the dam's far foot */
    double crest;                                /* current height of the sand in the middle of the crest, in H */
    int frame;
} breach_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* x of the near edge of the crest, m; the dam's near foot is at x = 0. */
static double crest_from(const breach_detail *d) { return SLOPE * d->height; }
static double far_foot(const breach_detail *d) { return (2 * SLOPE + CREST) * d->height; }

static double dam_top(const breach_detail *d, double x, double y) {
    const double up = x / SLOPE, down = (far_foot(d) - x) / SLOPE;
    const double top = fmin(d->height, fmin(up, down));
    return fabs(y) < 0.5 * NOTCH * d->height ? fmin(top, d->notch) : top;
}

/* The sign is exact; the magnitude is accurate enough to keep samples off the surface. */
static double to_sand(const solid *s, const double x[3]) {
    const breach_detail *d = s->of;
    const double flat = (x[2] - dam_top(d, x[0], x[1])) * SLOPE / hypot(1, SLOPE);
    const double side = fabs(x[1]) - 0.5 * WIDTH * d->height;
    return fmax(fmax(flat, -x[2]), fmax(side, fmax(-x[0], x[0] - far_foot(d))));
}

static double to_water(const solid *s, const double x[3]) {
    const breach_detail *d = s->of;
    const double slope = x[0] > 0 ? (x[0] / SLOPE - x[2]) * SLOPE / hypot(1, SLOPE) + d->gap : d->gap + x[0] - x[2];
    const double side = fabs(x[1]) - 0.5 * WIDTH * d->height;
    return fmax(fmax(slope, x[2] - d->level), fmax(side, fmax(-x[2], -RESERVOIR * d->height - x[0])));
}

static solid body_of(const breach_detail *d, bool water) {
    const double h = d->height, half = 0.5 * WIDTH * h;
    const double low = water ? -RESERVOIR * h : 0, high = water ? SLOPE * d->level : far_foot(d);
    const double top = water ? d->level : h;
    return (solid){.low = {low, -half, 0}, .high = {high, half, top}, .distance = water ? to_water : to_sand, .of = d};
}

/* m^3: of both together. */
static double volume_of(const breach_detail *d) {
    const double h = d->height, width = WIDTH * h;
    const double dam = (CREST + SLOPE) * h * h * width, cut = h - d->notch;
    const double notch = (CREST * h + SLOPE * cut) * cut * NOTCH * h;
    return dam - notch + (RESERVOIR * h + 0.5 * SLOPE * d->level) * d->level * width;
}

static pbd_status join(const sampling *sand, const sampling *water, pbd_scene *scene) {
    const size_t n = sand->count + water->count;
    sampling both = {.count = n, .spacing = sand->spacing, .volume = sand->volume};
    const placement here = placement_at(0, 0, 0);
    pbd_arena a PBD_ARENA;
    both.position = pbd_new(&a, double, 3 * n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY_NEW(scene->particles.material, n);
    memcpy(both.position, sand->position, 3 * sand->count * sizeof *both.position);
    memcpy(both.position + 3 * sand->count, water->position, 3 * water->count * sizeof *both.position);
    PBD_TRY(particle_scene_make(&both, 1, &here, scene));
    PBD_TRY_NEW(scene->contact.radius, n);
    for (size_t i = 0; i < n; i++) {
        const bool grain = i < sand->count;
        scene->particles.material[i] = !grain;
        scene->particles.volumes[i] = grain ? sand->volume : water->volume;
        scene->particles.masses[i] = scene->particles.volumes[i] * scene->material[!grain].density;
        scene->contact.radius[i] = (grain ? sand->site ? 0.4 : 0.3 : WATER_RADIUS) * scene->particles.spacing;
    }
    return pbd_ok();
}

/* Water is on a lattice, so that it starts without pressure. */
static pbd_status fill_bodies(const pbd_values *values, breach_detail *d, pbd_scene *scene) {
    sampling_plan plan = particle_plan(values);
    sampling sand PBD_CLEANUP(sampling_free) = {0}, water PBD_CLEANUP(sampling_free) = {0};
    if (plan.count > 0) plan.spacing = cbrt(volume_of(d) / (double)plan.count);
    d->gap = 0.5 * plan.spacing;
    const solid dam = body_of(d, false), lake = body_of(d, true);
    plan.count = 0;
    const sampling_plan still = {.kind = SAMPLING_LATTICE, .spacing = plan.spacing};
    PBD_TRY(sampling_make(&dam, &plan, &sand));
    PBD_TRY(sampling_make(&lake, &still, &water));
    d->sand = sand.count;
    return join(&sand, &water, scene);
}

static pbd_status set_walls(const pbd_values *values, const breach_detail *d, pbd_scene *scene) {
    const double h = d->height, half = 0.5 * WIDTH * h;
    const double floor_at[3] = {0, 0, 0}, up[3] = {0, 0, 1}, back[3] = {-RESERVOIR * h, 0, 0}, ahead[3] = {1, 0, 0};
    const double end[3] = {far_foot(d) + BEYOND * h, 0, 0}, behind[3] = {-1, 0, 0};
    PBD_TRY(particle_open_colliders(scene, WALLS));
    particle_add_plane(scene, floor_at, up, pbd_real(values, "floor_friction"));
    particle_add_plane(scene, back, ahead, 0);
    particle_add_plane(scene, end, behind, 0);
    for (int side = -1; side <= 1; side += 2) {
        const double at[3] = {0, half * side, 0}, inward[3] = {0, -side, 0};
        particle_add_plane(scene, at, inward, 0);
    }
    return pbd_ok();
}

/* Walls mirror water (parts/fluid.h): its lattice has no pressure at rest if they are at least half a spacing away. */
static pbd_status keep_water_at_rest(const breach_detail *d, pbd_scene *scene) {
    double *radius = scene->contact.radius;
    for (size_t i = d->sand; i < scene->particles.count; i++) radius[i] = 0.5 * scene->particles.spacing;
    const pbd_status status = clearance_keep(scene, NULL);
    for (size_t i = d->sand; i < scene->particles.count; i++) radius[i] = WATER_RADIUS * scene->particles.spacing;
    return status;
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    breach_detail *d = setup->detail;
    d->height = pbd_real(values, "height");
    d->notch = pbd_real(values, "notch") * d->height;
    d->level = pbd_real(values, "water") * d->height;
    granular_set_material(values, scene);
    scene->material[1] = (pbd_material){.matter = PBD_FLUID,
                                        .density = pbd_real(values, "water_density"),
                                        .viscosity = pbd_real(values, "water_viscosity")};
    scene->materials = 2;
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / LIQUID_LOOKS;
    PBD_TRY(fill_bodies(values, d, scene));
    PBD_TRY_NEW(d->exchange, 3 * d->sand);
    PBD_TRY(set_walls(values, d, scene));
    return keep_water_at_rest(d, scene);
}

static void free_detail(void *detail) { free(((breach_detail *)detail)->exchange); }

static pbd_status keep_exchange(void *detail, FILE *file, bool writes) {
    breach_detail *d = detail;
    const size_t count = 3 * d->sand, size = sizeof *d->exchange;
    const size_t kept = writes ? fwrite(d->exchange, size, count, file) : fread(d->exchange, size, count, file);
    return kept == count ? pbd_ok() : pbd_error(PBD_FAILED, "dam_breach cannot keep its %zu impulses", count);
}

/* ---- How full space is ------------------------------------------------------------------------------------------- */

/* Kernel sums of volumes (Wendland), with mirror images beyond the walls, over the sum of a lattice. */
typedef struct fullness {
    const pbd_scene *scene;
    const double *x;
    double support, per_lattice;
    double *far;  /* particles x WALLS: distances from planes, m */
    double *full; /* particles */
} fullness;

static double weight_between(const fullness *f, size_t i, size_t j, double square) {
    const double end = f->support * f->support;
    double sum = sph_kernel_at(SPH_WENDLAND_C2, square, f->support).w;
    for (size_t c = 0; c < WALLS; c++) {
        const double image = square + 4 * fmax(f->far[WALLS * i + c], 0) * fmax(f->far[WALLS * j + c], 0);
        if (image < end) sum += sph_kernel_at(SPH_WENDLAND_C2, image, f->support).w; /* most are far from all walls */
    }
    return sum * f->per_lattice;
}

static void add_pair(void *to, size_t i, size_t j, double square) {
    fullness *f = to;
    const double w = weight_between(f, i, j, square);
    f->full[i] += f->scene->particles.volumes[j] * w;
    f->full[j] += f->scene->particles.volumes[i] * w;
}

static double lattice_sum(double spacing, double support) {
    double sum = 0;
    for (int k = 0; k < 343; k++) {
        const int x = k % 7 - 3, y = k / 7 % 7 - 3, z = k / 49 - 3;
        sum += spacing * spacing * spacing *
               sph_kernel_at(SPH_WENDLAND_C2, spacing * spacing * (x * x + y * y + z * z), support).w;
    }
    return sum;
}

/* Fills out (count) for the first `count` particles, without the others. */
static pbd_status measure_fullness(const pbd_scene *scene, const double *x, size_t count, double *out) {
    pbd_arena a PBD_ARENA;
    const double support = 2.5 * scene->particles.spacing;
    fullness f = {.scene = scene,
                  .x = x,
                  .support = support,
                  .per_lattice = 1 / lattice_sum(scene->particles.spacing, support),
                  .far = pbd_new(&a, double, WALLS *count),
                  .full = out};
    PBD_TRY(pbd_arena_check(&a));
    for (size_t k = 0; k < WALLS * count; k++) {
        const pbd_collider *wall = &scene->colliders.item[k % WALLS];
        f.far[k] = 0;
        for (size_t d = 0; d < 3; d++) f.far[k] += (x[3 * (k / WALLS) + d] - wall->centre[d]) * wall->axis[2][d];
    }
    for (size_t i = 0; i < count; i++) f.full[i] = scene->particles.volumes[i] * weight_between(&f, i, i, 0);
    return near_pairs_visit(x, count, support, add_pair, &f);
}

/* ---- Depth ------------------------------------------------------------------------------------------------------- */

typedef struct depths {
    bool *surface;  /* particles of sand: whether each is at the surface */
    double *square; /* m^2: squared distance from the nearest particle of the surface */
} depths;

static const double SURFACE = 0.75;

static void note_surface(void *to, size_t i, size_t j, double square) {
    depths *d = to;
    if (d->surface[j] && square < d->square[i]) d->square[i] = square;
    if (d->surface[i] && square < d->square[j]) d->square[j] = square;
}

/* Fills out (count) with the depth in the sand, m, of each of the first `count` particles, all of them sand. Depths
 * beyond the start of the last bin may be infinity. */
static pbd_status measure_depths(const pbd_scene *scene, const double *x, size_t count, double *out) {
    pbd_arena a PBD_ARENA;
    depths d = {.surface = pbd_new(&a, bool, count), .square = out};
    double *full = pbd_new(&a, double, count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(measure_fullness(scene, x, count, full));
    for (size_t i = 0; i < count; i++) {
        d.surface[i] = full[i] < SURFACE; /* by sand alone */
        d.square[i] = d.surface[i] ? 0 : INFINITY;
    }
    PBD_TRY(near_pairs_visit_chosen(x, count, d.surface, (BINS - 1) * scene->particles.spacing, note_surface, &d));
    for (size_t i = 0; i < count; i++) d.square[i] = sqrt(d.square[i]);
    return pbd_ok();
}

/* Adds the impulses from water to sand since the last observation, by depth in the sand. */
static pbd_status look_at_exchange(breach_detail *d, const pbd_scene *scene, const pbd_method *method,
                                   const void *state, const double *x) {
    pbd_arena a PBD_ARENA;
    double *depth = pbd_new(&a, double, d->sand), *now = pbd_new(&a, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = method->read(state, PBD_EXCHANGE, now);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    PBD_TRY(status);
    PBD_TRY(measure_depths(scene, x, d->sand, depth));
    for (size_t i = 0; i < d->sand; i++) {
        const double *e = now + 3 * i, *was = d->exchange + 3 * i;
        const int bin = (int)fmin(depth[i] / scene->particles.spacing, BINS - 1);
        d->by_depth[bin] += sqrt((e[0] - was[0]) * (e[0] - was[0]) + (e[1] - was[1]) * (e[1] - was[1]) +
                                 (e[2] - was[2]) * (e[2] - was[2]));
        d->sand_by_depth[bin]++;
    }
    memcpy(d->exchange, now, 3 * d->sand * sizeof *now);
    return pbd_ok();
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

static pbd_status look_at_water(breach_detail *d, const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    pbd_arena a PBD_ARENA;
    double *full = pbd_new(&a, double, scene->particles.count), sum = 0;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(measure_fullness(scene, x, scene->particles.count, full));
    for (size_t i = d->sand; i < scene->particles.count; i++) sum += fmax(full[i] - 1, 0);
    d->compressed = sum / (double)(scene->particles.count - d->sand);
    d->most_compressed = fmax(d->most_compressed, d->compressed);
    pbd_series(recorder, "water_compression", "value", "1", &d->compressed, 1, 1);
    return pbd_ok();
}

static void look_at_dam(breach_detail *d, const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    double across[2] = {0}, top = 0;
    size_t beyond;
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double *at = x + 3 * i;
        const bool grain = i < d->sand, middle = fabs(at[1]) < 0.25 * NOTCH * d->height;
        across[grain] += at[0] > far_foot(d);
        if (grain && middle && fabs(at[0] - crest_from(d) - 0.5 * CREST * d->height) < 0.5 * CREST * d->height)
            top = fmax(top, at[2] + 0.5 * scene->particles.spacing);
    }
    d->water_across = across[0] / (double)(scene->particles.count - d->sand);
    d->sand_across = across[1] / (double)d->sand;
    d->crest = top / d->height;
    d->deepest = fmax(d->deepest, particle_deepest(scene, x, &beyond));
    pbd_series(recorder, "water_across", "value", "1", &d->water_across, 1, 1);
    pbd_series(recorder, "sand_across", "value", "1", &d->sand_across, 1, 1);
    pbd_series(recorder, "crest", "value", "1", &d->crest, 1, 1);
}

/* Particles within three quarters of a spacing of the middle plane, and a thinned view of all from above. */
static void draw(breach_detail *d, const pbd_scene *scene, const double *x, double time, pbd_recorder *recorder) {
    char slice[32], plan[32];
    const size_t every = scene->particles.count / PICTURE + 1;
    if (d->frame >= FRAMES || time < scene->duration * d->frame / (FRAMES - 1) - 1e-9) return;
    snprintf(slice, sizeof slice, "slice_%d", d->frame);
    snprintf(plan, sizeof plan, "plan_%d", d->frame++);
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double *at = x + 3 * i, matter = i < d->sand ? 0 : 1;
        const bool near = fabs(at[1]) < 0.75 * scene->particles.spacing;
        for (int k = 0; k < 3 && (near || i % every == 0); k++) {
            static const char *const axis[] = {"x", "y", "z"};
            if (near) pbd_series(recorder, slice, axis[k], "m", &at[k], 1, 1);
            if (i % every == 0) pbd_series(recorder, plan, axis[k], "m", &at[k], 1, 1);
        }
        if (near) pbd_series(recorder, slice, "value", "1", &matter, 1, 1);
        if (i % every == 0) pbd_series(recorder, plan, "value", "1", &matter, 1, 1);
    }
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    breach_detail *d = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(liquid_look(&d->watch, scene, method, state, x, time, recorder));
    PBD_TRY(look_at_water(d, scene, x, recorder));
    PBD_TRY(look_at_exchange(d, scene, method, state, x));
    look_at_dam(d, scene, x, recorder);
    draw(d, scene, x, time, recorder);
    return pbd_ok();
}

static void record_exchange(const breach_detail *d, pbd_recorder *recorder) {
    double all = 0, grains = 0, near = 0, near_grains = 0;
    for (int k = 0; k < BINS; k++) all += d->by_depth[k], grains += d->sand_by_depth[k];
    if (!(all > 0)) return;
    for (int k = 0; k < BINS; k++) {
        const double depth = k + 0.5, share = d->by_depth[k] / all, sand = d->sand_by_depth[k] / grains;
        if (k < 2) near += share, near_grains += sand;
        pbd_series(recorder, "exchange_by_depth", "depth", "1", &depth, 1, 1);
        pbd_series(recorder, "exchange_by_depth", "exchange", "1", &share, 1, 1);
        pbd_series(recorder, "exchange_by_depth", "sand", "1", &sand, 1, 1);
    }
    pbd_metric(recorder, "exchange_near_surface", "1", PBD_STATE, near);
    pbd_metric(recorder, "sand_near_surface", "1", PBD_STATE, near_grains);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const breach_detail *d = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    pbd_metric(recorder, "particles", "1", PBD_STATE, (double)scene->particles.count);
    pbd_metric(recorder, "sand_particles", "1", PBD_STATE, (double)d->sand);
    pbd_metric(recorder, "spacing", "m", PBD_STATE, scene->particles.spacing);
    liquid_record(&d->watch, recorder);
    if (!d->watch.looked) return pbd_ok();
    pbd_metric(recorder, "water_compression", "1", PBD_FLAW, d->compressed);
    pbd_metric(recorder, "most_water_compression", "1", PBD_FLAW, d->most_compressed);
    pbd_metric(recorder, "deepest_in_walls", "m", PBD_FLAW, d->deepest);
    pbd_metric(recorder, "water_across", "1", PBD_STATE, d->water_across);
    pbd_metric(recorder, "sand_across", "1", PBD_STATE, d->sand_across);
    pbd_metric(recorder, "crest", "1", PBD_STATE, d->crest);
    record_exchange(d, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_dam_breach = {
    .name = "dam_breach",
    .summary = "water behind and over a dam of sand: two kinds of matter in one solve",
    .source = "yu2024 Figure 7, Table 2",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=drucker_prager",
    .detail_bytes = sizeof(breach_detail),
    .numbers = sizeof(breach_detail) - offsetof(breach_detail, watch),
    .keep = keep_exchange,
    .build = build,
    .measure = measure,
    .observe = observe,
    .free_detail = free_detail,
};
