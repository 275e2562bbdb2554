/* A scene with prescribed states, for tests of the viewer: two spheres of different matter that move apart or up, and a
 * square of cloth. No method is run. */
#ifndef PBD_TESTS_VIEWED_SCENE_H
#define PBD_TESTS_VIEWED_SCENE_H

#include <string.h>
#include <unistd.h>

#include "harness/view/view.h"

enum { VIEWED = 6, VIEWED_STATES = 3 };

/* Positions and velocities of a state; the cloth is at rest at z = -1. */
typedef struct viewed_state {
    double x[3 * VIEWED], v[3 * VIEWED];
} viewed_state;

static viewed_state viewed_now;

static pbd_status viewed_read(const void *state, pbd_field field, double *out) {
    const viewed_state *s = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "the field is not known");
    memcpy(out, field == PBD_POSITIONS ? s->x : s->v, sizeof s->x);
    return pbd_ok();
}

static const pbd_method viewed_method = {.name = "given", .needs = PBD_NEEDS_SAMPLES, .read = viewed_read};

static double viewed_rest[3 * VIEWED] = {-1, 0, 0, 1, 0, 0, -1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1};
static double viewed_mass[VIEWED] = {1, 1, 1, 1, 1, 1};
static uint8_t viewed_material[VIEWED] = {0, 1, 2, 2, 2, 2};
static uint32_t viewed_triangle[6] = {2, 3, 4, 2, 4, 5};

/* Spheres of radius 0.4 at x = -1 (sand) and x = 1 (liquid), and cloth of 2 x 2 m below. */
static pbd_scene viewed_scene(void) {
    return (pbd_scene){
        .bytes = sizeof(pbd_scene),
        .particles = {.count = VIEWED,
                      .positions = viewed_rest,
                      .masses = viewed_mass,
                      .spacing = 0.8,
                      .material = viewed_material},
        .triangles = {.count = 2, .corner = viewed_triangle},
        .extent = 2,
        .duration = 1,
        .materials = 3,
        .material = {{.flow = "drucker_prager"}, {.matter = PBD_FLUID}, {.matter = PBD_CLOTH}},
    };
}

/* In state k both spheres are at z = k * rise; the left one has velocity 0, the right one a speed of 2 m/s. */
static pbd_status viewed_keep(const pbd_scene *scene, double rise, int file, pbd_spool **out) {
    const pbd_spool_plan plan = pbd_view_plan(file, VIEWED_STATES, 10, 1, PBD_COLOUR_AUTO);
    PBD_TRY(pbd_spool_begin(&plan, scene, &viewed_method, out));
    for (int k = 0; k < VIEWED_STATES; k++) {
        memcpy(viewed_now.x, viewed_rest, sizeof viewed_now.x);
        memset(viewed_now.v, 0, sizeof viewed_now.v);
        viewed_now.x[2] = viewed_now.x[5] = k * rise;
        viewed_now.v[5] = 2;
        if (!pbd_spool_wants(*out, 0.5 * k, k)) return pbd_error(PBD_FAILED, "state %d is not wanted", k);
        PBD_TRY(pbd_spool_keep(*out, &viewed_now));
    }
    return pbd_ok();
}

static char viewed_text[9][20] = {"sphere", "given", "{\"rise\":0}", "cpu", "f64", "ok", "", "run"};

static pbd_result viewed_result(void) {
    return (pbd_result){.run_id = "0123456789abcdef0123456789abcdef",
                        .case_name = viewed_text[0],
                        .method_name = viewed_text[1],
                        .params = viewed_text[2],
                        .backend = viewed_text[3],
                        .precision = viewed_text[4],
                        .state = viewed_text[5],
                        .says = viewed_text[6],
                        .kind = viewed_text[7]};
}

#endif
