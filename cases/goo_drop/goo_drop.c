/* A ball, a cube or a tall column of snow, goo or any matter that flows falls to the floor: how far it spreads, how
 * high it stands, whether it bounces, and where its mass comes to lie. */
#include "cases/scenes/granular_drop.h"

static const char *const forms[] = {"ball", "cube", "column", NULL};
enum { FORM_BALL, FORM_CUBE, FORM_COLUMN };

static const pbd_param params[] = {
    {"shape", "", PBD_CHOICE, "ball", 0, 0, 0, forms, "of the body"},
    {"size", "m", PBD_REAL, "0.2", 0, 1e6, PBD_OPEN_MIN, NULL, "diameter, or edge, or the column's diameter"},
    {"slenderness", "", PBD_REAL, "8", 0.1, 1000, 0, NULL, "shape=column: height over diameter"},
    PBD_SAMPLING_PARAMS("1500"),
    PBD_PARTICLE_MATERIAL_PARAMS("5e5", "0.3", "400", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.6"),
    PBD_DROP_PARAMS("0.02", "2", "0.4"),
    {"confined", "", PBD_CHOICE, "off", 0, 0, 0, particle_on_off, "by four smooth walls: a cube is strained along z"},
    {0}};

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    const double size = pbd_real(values, "size"), half = 0.5 * size;
    const double foot[3] = {0, 0, 0}, head[3] = {0, 0, size * pbd_real(values, "slenderness")};
    const double low[3] = {-half, -half, 0}, high[3] = {half, half, size};
    shapes s = {0};
    switch (pbd_choice(values, "shape")) {
        case FORM_BALL:
            shapes_sphere(&s, 0, 0, half, half);
            break;
        case FORM_CUBE:
            shapes_box(&s, low, high);
            break;
        default:
            shapes_cylinder(&s, foot, head, half);
    }
    const solid body = shapes_solid(&s);
    return granular_drop_build(values, &body, size, pbd_choice(values, "confined") == 1, setup);
}

const pbd_case pbd_case_goo_drop = {
    .name = "goo_drop",
    .summary = "snow or goo falls to the floor: spread, height, rebound and where the mass lies",
    .source = "yu2024 Figures 4, 10, 19",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=snow yield_stress=50 xi=10",
    PARTICLE_DETAIL(granular_drop_detail),
    .build = build,
    .measure = granular_drop_measure,
    .observe = granular_drop_observe,
};
