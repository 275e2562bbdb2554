#include "cases/scenes/returning.h"

#include <math.h>
#include <stdlib.h>

#include "cases/scenes/larger.h"
#include "harness/exec/arena.h"

static const double BACK = 0.01; /* shape error below which the body is back */

/* The speed of pressure waves in an unbounded body: sqrt((lambda + 2 mu)/density). */
static double sound_speed(const pbd_material *m) {
    return sqrt(m->E * (1 - m->nu) / ((1 + m->nu) * (1 - 2 * m->nu)) / m->density);
}

returning returning_start(const pbd_scene *scene) {
    return (returning){.crossing = scene->extent / sound_speed(scene->material), .first = -1, .since = -1};
}

pbd_status returning_observe(returning *r, const pbd_scene *scene, const pbd_method *method, const void *state,
                             double time, pbd_recorder *recorder) {
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double speed;
    PBD_TRY(body_positions(scene, method, state, &x));
    const double error = body_shape_error(scene, x);
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "rest_shape_error", "value", "1", &error, 1, 1);
    if (!(error < BACK)) {
        r->since = -1;
    } else {
        if (r->since < 0) r->since = time;
        if (r->first < 0) r->first = time;
    }
    const pbd_status status = body_largest_speed(scene, method, state, &speed);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    r->largest_speed = larger(speed, r->largest_speed);
    return status;
}

void returning_record(const returning *r, const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    const double error = body_shape_error(scene, x);
    pbd_metric(recorder, "rest_shape_error", "1", PBD_ERROR, error);
    pbd_metric(recorder, "came_back", "1", PBD_QUALITY, error < BACK);
    if (r->first >= 0) pbd_metric(recorder, "first_back", "1", PBD_ERROR, r->first / r->crossing);
    if (r->since >= 0) pbd_metric(recorder, "back_since", "1", PBD_ERROR, r->since / r->crossing);
    pbd_metric(recorder, "largest_speed", "m/s", PBD_STATE, r->largest_speed);
    pbd_metric(recorder, "sound_crossing", "s", PBD_STATE, r->crossing);
}
