/* Bars whose nodes have random offsets, or that are filled with Poisson disks; and the displacement of their tip. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/sampling/sampling.h"
#include "cases/scenes/beam.h"
#include "harness/exec/arena.h"

const char *const beam_samplings[] = {"lattice", "jitter", "poisson", NULL};
enum { LATTICE, JITTER, POISSON };

/* ---- Offsets ----------------------------------------------------------------------------------------------------- */

static bool is_inner(int place, int last) { return place > 0 && place < last; }

static void offset_nodes(const beam_size *size, bool both, double most, uint64_t seed, pbd_scene *scene) {
    const int last = both ? size->along - 1 : size->along;
    for (int i = 1; i <= last; i++)
        for (int j = 0; j <= size->across; j++)
            for (int k = 0; k <= size->deep; k++) {
                const double by[3] = {body_noise(&seed), body_noise(&seed), body_noise(&seed)};
                const bool inner[3] = {is_inner(i, size->along), is_inner(j, size->across), is_inner(k, size->deep)};
                double *x = scene->particles.positions + 3 * beam_particle(size, i, j, k);
                for (int d = 0; d < 3; d++)
                    if (inner[d]) x[d] += most * by[d];
            }
}

static pbd_status offset(const pbd_values *values, const beam_size *size, bool both, pbd_scene *scene) {
    const double jitter = pbd_real(values, "jitter");
    pbd_arena a PBD_ARENA;
    double *lattice = pbd_new(&a, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    memcpy(lattice, scene->particles.positions, 3 * scene->particles.count * sizeof *lattice);
    offset_nodes(size, both, jitter * scene->particles.spacing, (uint64_t)pbd_integer(values, "seed"), scene);
    /* Takes the lattice as a deformation of the moved nodes: the same tetrahedra are inverted in either direction. */
    if (body_strain_at(scene, lattice).inverted == 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT,
                     "jitter=%g with seed=%ld inverts tetrahedra of the bar's cubes: set a smaller jitter, or "
                     "another seed",
                     jitter, pbd_integer(values, "seed"));
}

/* ---- Poisson disks ----------------------------------------------------------------------------------------------- */

static pbd_status sample_bar(const pbd_values *values, const beam_size *size, double spacing, sampling *out) {
    const double low[3] = {0, -0.5 * size->width, -0.5 * size->thickness};
    const double high[3] = {size->length, 0.5 * size->width, 0.5 * size->thickness};
    shapes box = {0};
    shapes_box(&box, low, high);
    const solid body = shapes_solid(&box);
    const sampling_plan plan = {
        .kind = SAMPLING_POISSON, .spacing = spacing, .seed = (uint64_t)pbd_integer(values, "seed")};
    return sampling_make(&body, &plan, out);
}

/* Writes the layers first .. last of the lattice from particle `at` on. mass: of a cube, kg. */
static void place_layers(const beam_size *size, int first, int last, double mass, size_t at, pbd_scene *scene) {
    for (int i = first; i <= last; i++)
        for (int j = 0; j <= size->across; j++)
            for (int k = 0; k <= size->deep; k++, at++) {
                beam_node(size, i, j, k, scene->particles.positions + 3 * at);
                scene->particles.masses[at] = mass;
            }
}

static pbd_status scatter(const pbd_values *values, bool both, pbd_scene *scene, beam_size *size) {
    const double density = scene->material->density, spacing = scene->particles.spacing;
    sampling bar PBD_CLEANUP(sampling_free) = {0};
    PBD_TRY(sample_bar(values, size, spacing, &bar));
    const size_t root = beam_layer(size) * ((size_t)size->behind + 1);
    const size_t end = both ? beam_layer(size) * ((size_t)size->beyond + 1) : 0, n = root + bar.count + end;
    scene->particles.count = n;
    scene->particles.spacing = bar.spacing;
    PBD_TRY_NEW(scene->particles.positions, 3 * n);
    PBD_TRY_NEW(scene->loads.forces, 3 * n);
    PBD_TRY_NEW(scene->particles.masses, n);
    place_layers(size, -size->behind, 0, density * spacing * spacing * spacing, 0, scene);
    memcpy(scene->particles.positions + 3 * root, bar.position, 3 * bar.count * sizeof(double));
    for (size_t i = 0; i < bar.count; i++) scene->particles.masses[root + i] = density * bar.volume;
    if (both)
        place_layers(size, size->along, size->along + size->beyond, density * spacing * spacing * spacing,
                     root + bar.count, scene);
    return pbd_ok();
}

pbd_status beam_build_sampled(const pbd_values *values, bool both, pbd_scene *scene, beam_size *size) {
    const int kind = pbd_choice(values, "sampling");
    PBD_TRY(beam_describe(values, pbd_real(values, "width"), scene, size));
    size->behind = (int)pbd_integer(values, "held_layers") - 1;
    size->beyond = both ? size->behind : 0;
    size->scattered = kind != LATTICE;
    if (kind == POISSON) return scatter(values, both, scene, size);
    PBD_TRY(beam_fill(size, scene));
    return kind == JITTER ? offset(values, size, both, scene) : pbd_ok();
}

/* ---- The tip ----------------------------------------------------------------------------------------------------- */

static void mean_of_nodes(const beam_size *size, beam_probe *out) {
    for (int j = size->across / 2; j <= (size->across + 1) / 2; j++)
        for (int k = size->deep / 2; k <= (size->deep + 1) / 2; k++)
            out->particle[out->count++] = beam_particle(size, size->along, j, k);
    for (int p = 0; p < out->count; p++) out->weight[p] = 1.0 / out->count;
}

/* Finds the BEAM_PROBED particles nearest to `at`, by insertion sort. */
static void find_nearest(const pbd_scene *scene, const double at[3], beam_probe *out) {
    double square[BEAM_PROBED];
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double *x = scene->particles.positions + 3 * i;
        double s = 0;
        for (size_t d = 0; d < 3; d++) s += (x[d] - at[d]) * (x[d] - at[d]);
        int p = out->count < BEAM_PROBED ? out->count++ : BEAM_PROBED;
        for (; p > 0 && square[p - 1] > s; p--) {
            if (p == BEAM_PROBED) continue;
            square[p] = square[p - 1];
            out->particle[p] = out->particle[p - 1];
        }
        if (p == BEAM_PROBED) continue;
        square[p] = s;
        out->particle[p] = (uint32_t)i;
    }
}

/* Solves a y = b in place, for a symmetric positive definite. False if a is singular to rounding. */
static bool solve_four(double a[4][4], double b[4]) {
    for (int k = 0; k < 4; k++) {
        if (!(a[k][k] > 1e-6)) return false; /* absolute: entries are sums of products of numbers near 1 */
        for (int i = k + 1; i < 4; i++) {
            const double f = a[i][k] / a[k][k];
            for (int j = k; j < 4; j++) a[i][j] -= f * a[k][j];
            b[i] -= f * b[k];
        }
    }
    for (int k = 3; k >= 0; k--) {
        for (int j = k + 1; j < 4; j++) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return true;
}

/* The linear basis: 1, and the offset from `at` in spacings. */
static void basis_at(const pbd_scene *scene, const double at[3], uint32_t particle, double out[4]) {
    out[0] = 1;
    for (uint32_t d = 0; d < 3; d++)
        out[d + 1] = (scene->particles.positions[3 * particle + d] - at[d]) / scene->particles.spacing;
}

pbd_status beam_find_tip(const pbd_scene *scene, const beam_size *size, beam_probe *out) {
    const double at[3] = {size->length, 0, 0};
    double a[4][4] = {{0}}, y[4] = {1, 0, 0, 0}, row[4];
    *out = (beam_probe){0};
    if (!size->scattered) {
        mean_of_nodes(size, out);
        return pbd_ok();
    }
    find_nearest(scene, at, out);
    for (int p = 0; p < out->count; p++) {
        basis_at(scene, at, out->particle[p], row);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) a[i][j] += row[i] * row[j];
    }
    if (!solve_four(a, y))
        return pbd_error(PBD_BAD_INPUT,
                         "cells=%d with sampling=jitter|poisson: too few particles at the tip to measure its "
                         "displacement; set more cells",
                         size->across);
    for (int p = 0; p < out->count; p++) {
        basis_at(scene, at, out->particle[p], row);
        for (int i = 0; i < 4; i++) out->weight[p] += y[i] * row[i];
    }
    return pbd_ok();
}

void beam_tip(const beam_probe *tip, const double *rows, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (int p = 0; p < tip->count; p++)
        for (uint32_t d = 0; d < 3; d++) out[d] += rows[3 * tip->particle[p] + d] * tip->weight[p];
}
