/* Clouds of smoothed particles and readers of a solver's state, for the tests of desbrun_sph. */
#ifndef PBD_TESTS_SMOOTHED_PARTICLES_H
#define PBD_TESTS_SMOOTHED_PARTICLES_H

#include "tests/ladder.h"

enum { SIDE = 6, MOST = 1000 };
UNUSED static const double SPACING = 0.1;

UNUSED static void open_scene(pbd_scene *scene, size_t particles) {
    *scene = (pbd_scene){.particles.count = particles, .particles.spacing = SPACING, .extent = 1, .duration = 1};
    scene->particles.positions = calloc(3 * particles, sizeof *scene->particles.positions);
    scene->particles.velocities = calloc(3 * particles, sizeof *scene->particles.velocities);
    scene->particles.masses = calloc(particles, sizeof *scene->particles.masses);
}

/* A jittered lattice of `side` particles along each axis, with uneven masses and random velocities. */
UNUSED static void make_cloud(pbd_scene *scene, int dimensions, size_t side, double jitter, double speed) {
    uint64_t seed = 5;
    open_scene(scene, dimensions == 2 ? side * side : side * side * side);
    for (size_t p = 0; p < scene->particles.count; p++) {
        const double cell[3] = {(double)(p % side), (double)(p / side % side), (double)(p / side / side)};
        for (size_t d = 0; d < (size_t)dimensions; d++) {
            scene->particles.positions[3 * p + d] = SPACING * (cell[d] + jitter * noise(&seed));
            scene->particles.velocities[3 * p + d] = speed * noise(&seed);
        }
        scene->particles.masses[p] = 0.01 * (1 + 0.3 * noise(&seed));
    }
}

UNUSED static double mean_density(const pbd_scene *scene, int dimensions) {
    double mass = 0;
    for (size_t p = 0; p < scene->particles.count; p++) mass += scene->particles.masses[p];
    return mass / (double)scene->particles.count / pow(SPACING, dimensions);
}

/* ---- The paper's equations, plainly ------------------------------------------------------------------------------ */

typedef struct formulas {
    bool spline;
    int dimensions;
    double h, k, rest;
} formulas;

/* Kernel of claims A1. */
UNUSED static double W(const formulas *f, double r) {
    const double q = r / f->h;
    if (f->spline) {
        const double sigma = f->dimensions == 2 ? 10 / (7 * M_PI * f->h * f->h) : 1 / (M_PI * pow(f->h, 3));
        return q <= 1 ? sigma * (1 - 1.5 * q * q + 0.75 * q * q * q) : q < 2 ? sigma / 4 * pow(2 - q, 3) : 0;
    }
    const double sigma = f->dimensions == 2 ? 5 / (16 * M_PI * f->h * f->h) : 15 / (64 * M_PI * pow(f->h, 3));
    return q < 2 ? sigma * pow(2 - q, 3) : 0;
}

UNUSED static double density_at(const formulas *f, const pbd_scene *s, const double *x, size_t i) {
    double sum = 0;
    for (size_t j = 0; j < s->particles.count; j++)
        sum += s->particles.masses[j] *
               W(f, hypot(hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]), x[3 * i + 2] - x[3 * j + 2]));
    return sum;
}

/* E = sum m k (ln(rho/rho0) + rho0/rho - 1): claims A5. */
UNUSED static double stored_energy(const formulas *f, const pbd_scene *s, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < s->particles.count; i++) {
        const double ratio = density_at(f, s, x, i) / f->rest;
        sum += s->particles.masses[i] * f->k * (log(ratio) + 1 / ratio - 1);
    }
    return sum;
}

UNUSED static double kinetic(const pbd_scene *s, const double *v) {
    double sum = 0;
    for (size_t i = 0; i < 3 * s->particles.count; i++) sum += 0.5 * s->particles.masses[i / 3] * v[i] * v[i];
    return sum;
}

UNUSED static void read_state(const solver *s, double *x, double *v) {
    check_ok(s->method->read(s->state, PBD_POSITIONS, x));
    check_ok(s->method->read(s->state, PBD_VELOCITIES, v));
}

UNUSED static void steps_of(solver *s, double dt, long count) {
    for (long i = 0; i < count; i++) check_ok(s->method->step(s->state, dt));
}

UNUSED static double count_of(const solver *s, const char *name) {
    for (size_t i = 0; i < s->result.metrics; i++)
        if (strcmp(s->result.metric[i].name, name) == 0) return s->result.metric[i].value;
    return 0;
}

UNUSED static bool was_warned(const solver *s, const char *name) {
    for (size_t i = 0; i < s->result.warnings; i++)
        if (strcmp(s->result.warning[i].name, name) == 0) return true;
    return false;
}

#endif
