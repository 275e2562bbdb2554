/* Affine maps that tests apply to the positions of a trial: the metrics of a case on them are known by hand. */
#ifndef PBD_TESTS_PRESCRIBED_MAPS_H
#define PBD_TESTS_PRESCRIBED_MAPS_H

#include "tests/trial.h"

UNUSED static const double PI = 3.14159265358979323846;

typedef struct map {
    double m[3][3], by[3];
} map;

UNUSED static map diagonal(double x, double y, double z) { return (map){{{x, 0, 0}, {0, y, 0}, {0, 0, z}}, {0, 0, 0}}; }

/* Rotation by `angle`, rad, about the z axis. */
UNUSED static map turn(double angle) {
    const double c = cos(angle), s = sin(angle);
    return (map){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}, {0, 0, 0}};
}

/* A rotation by 0.7 rad about (1, 2, 3), by Rodrigues' formula, and a translation. */
UNUSED static map anywhere(void) {
    const double c = cos(0.7), s = sin(0.7), n = sqrt(14), k[3] = {1 / n, 2 / n, 3 / n};
    const double skew[3][3] = {{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}};
    map out = {.by = {3, -2, 1}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out.m[i][j] = (i == j ? c : 0) + (1 - c) * k[i] * k[j] + s * skew[i][j];
    return out;
}

/* Applies the map to the positions of the trial. */
UNUSED static void apply(trial *t, map by) {
    for (size_t p = 0; p < t->scene.particles.count; p++) {
        double *x = t->x + 3 * p;
        const double old[3] = {x[0], x[1], x[2]};
        for (int i = 0; i < 3; i++) x[i] = by.m[i][0] * old[0] + by.m[i][1] * old[1] + by.m[i][2] * old[2] + by.by[i];
    }
}

#endif
