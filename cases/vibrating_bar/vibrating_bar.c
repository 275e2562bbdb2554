/* A clamped bar that swings in its first bending mode: its frequency, and how fast a method damps it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#include "cases/scenes/beam.h"

static const pbd_param params[] = {
    PBD_BOX_PARAMS("1e5", "0.3", "100", "neo_hookean", "1", "0.2", "2"),
    PBD_BEAM_SAMPLING_PARAMS,
    {"amplitude", "", PBD_REAL, "0.02", 0, 1, PBD_OPEN_MIN, NULL, "of the tip, over the length"},
    {"periods", "", PBD_REAL, "8", 3, 1e4, 0, NULL, "simulated time, in periods of the slender beam"},
    {0}};

enum { LOOKS_A_PERIOD = 400 }; /* plain PBD swings ten times as fast */

static const double STILL = 1e-4;

/* First root of cos a cosh a = -1. */
static const double FIRST_MODE = 1.8751040687119611;

typedef struct vibration_detail {
    beam_probe at_tip;
    double frequency; /* Hz, of the slender beam (Euler-Bernoulli) */
    size_t looks, room;
    double *time, *tip; /* s, m */
} vibration_detail;

static void free_detail(void *detail) {
    vibration_detail *d = detail;
    free(d->time);
    free(d->tip);
}

/* Shape of the first mode at s in [0, 1], 1 at the tip. */
static double mode_shape(double s) {
    const double a = FIRST_MODE, sigma = (sinh(a) - sin(a)) / (cosh(a) + cos(a));
    const double at = cosh(a * s) - cos(a * s) - sigma * (sinh(a * s) - sin(a * s));
    const double tip = cosh(a) - cos(a) - sigma * (sinh(a) - sin(a));
    return at / tip;
}

/* a^2/(2 pi) sqrt(E I/(rho A L^4)) with I/A = w^2/12. */
static double slender_frequency(const pbd_material *m, const beam_size *size) {
    const double a = FIRST_MODE / size->length;
    return a * a * size->width * sqrt(m->E / (12 * m->density)) / (2 * acos(-1));
}

static pbd_status swing(const pbd_values *values, const beam_size *size, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    vibration_detail *d = setup->detail;
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    const double periods = pbd_real(values, "periods");
    *d = (vibration_detail){.frequency = slender_frequency(scene->material, size),
                            .room = (size_t)(periods * LOOKS_A_PERIOD) + 16};
    PBD_TRY(beam_find_tip(scene, size, &d->at_tip));
    PBD_TRY_NEW(d->time, d->room);
    PBD_TRY_NEW(d->tip, d->room);
    const double speed = pbd_real(values, "amplitude") * size->length * 2 * acos(-1) * d->frequency;
    for (size_t p = 0; p < scene->particles.count; p++)
        scene->particles.velocities[3 * p + 2] =
            speed * mode_shape(fmax(scene->particles.positions[3 * p], 0) / size->length);
    scene->duration = periods / d->frequency;
    setup->observe_every = 1 / (d->frequency * LOOKS_A_PERIOD);
    return beam_hold_root(scene, size);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    beam_size size;
    PBD_TRY(beam_build_sampled(values, false, scene, &size));
    return swing(values, &size, setup);
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    vibration_detail *d = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double tip[3];
    PBD_TRY(body_positions(scene, method, state, &x));
    beam_tip(&d->at_tip, x, tip);
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "tip", "value", "m", &tip[2], 1, 1);
    if (time == 0) d->looks = 0; /* the solve is repeated */
    if (d->looks < d->room) {
        d->time[d->looks] = time;
        d->tip[d->looks++] = tip[2];
    }
    return pbd_ok();
}

/* Zero crossings of the tip, interpolated between observations, and the largest swing between two of them. */
typedef struct swings {
    size_t passages, peaks;
    double first, last;                  /* s: of the crossings */
    double sum_i, sum_ii, sum_y, sum_iy; /* of the line through log(peak) over its number */
} swings;

static void add_peak(swings *s, double peak) {
    const double i = (double)s->peaks++, y = log(peak);
    s->sum_i += i;
    s->sum_ii += i * i;
    s->sum_y += y;
    s->sum_iy += i * y;
}

/* A peak lies between observations: by the parabola through three of them. */
static double peak_at(const double *tip, size_t i) {
    const double a = fabs(tip[i - 1]), b = fabs(tip[i]), c = fabs(tip[i + 1]), curve = a - 2 * b + c;
    return curve < 0 ? b - (a - c) * (a - c) / (8 * curve) : b;
}

static swings find_swings(const vibration_detail *d) {
    swings s = {0};
    double peak = 0, largest = 0;
    for (size_t i = 1; i + 1 < d->looks; i++) {
        const double before = d->tip[i - 1], now = d->tip[i];
        if (i > 1 && before * now <= 0 && before != now && before != 0) {
            const double at = d->time[i - 1] + (d->time[i] - d->time[i - 1]) * before / (before - now);
            if (s.passages++ == 0) s.first = at;
            s.last = at;
            if (peak > 0) add_peak(&s, peak);
            largest = fmax(largest, peak);
            if (peak > 0 && peak < STILL * largest) break; /* the rest would be rounding */
            peak = 0;
        }
        if (fabs(now) >= fabs(before) && fabs(now) > fabs(d->tip[i + 1])) peak = fmax(peak, peak_at(d->tip, i));
    }
    return s;
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const vibration_detail *d = setup->detail;
    (void)method, (void)state;
    const swings s = find_swings(d);
    pbd_metric(recorder, "slender_frequency", "Hz", PBD_STATE, d->frequency);
    pbd_metric(recorder, "half_swings", "1", PBD_STATE, (double)s.peaks);
    if (s.passages >= 3) {
        const double frequency = (double)(s.passages - 1) / (2 * (s.last - s.first));
        pbd_metric(recorder, "first_frequency", "Hz", PBD_STATE, frequency);
        pbd_metric(recorder, "slender_frequency_ratio", "1", PBD_STATE, frequency / d->frequency);
    }
    if (s.peaks < 3) return pbd_ok();
    const double n = (double)s.peaks;
    const double half = -(n * s.sum_iy - s.sum_i * s.sum_y) / (n * s.sum_ii - s.sum_i * s.sum_i);
    const double decrement = 2 * half, pi = acos(-1); /* a period is two swings */
    const double damping = decrement / sqrt(4 * pi * pi + decrement * decrement);
    const double frequency = (double)(s.passages - 1) / (2 * (s.last - s.first));
    pbd_metric(recorder, "damping_ratio", "1", PBD_ERROR, damping);
    pbd_metric(recorder, "excess_damping", "1", PBD_STATE, damping - pi * frequency * setup->dt);
    return pbd_ok();
}

const pbd_case pbd_case_vibrating_bar = {
    .name = "vibrating_bar",
    .summary = "a clamped bar in its first bending mode: frequency and damping ratio of a method",
    .source = "Euler-Bernoulli beam; logarithmic decrement",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(vibration_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
    .free_detail = free_detail,
};
