#include "cases/scenes/beam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/matter/law_material.h"
/* after law_material.h */
#include "cases/scenes/tetrahedron.h"

uint32_t beam_particle(const beam_size *size, int i, int j, int k) {
    const uint32_t wide = (uint32_t)size->across + 1, deep = (uint32_t)size->deep + 1;
    return (uint32_t)k + deep * ((uint32_t)j + wide * (uint32_t)(size->behind + i));
}

size_t beam_layer(const beam_size *size) { return ((size_t)size->across + 1) * ((size_t)size->deep + 1); }

static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                 {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
/* A cube as five tetrahedra: one in the middle, on four corners no two of which share an edge, and one at each other
 * corner. The second row is for cubes with odd behind + i + j + k: face diagonals of adjacent cubes then coincide. */
static const int five[2][5][4] = {{{0, 2, 7, 5}, {0, 1, 2, 5}, {0, 2, 3, 7}, {0, 5, 7, 4}, {2, 7, 5, 6}},
                                  {{1, 3, 4, 6}, {0, 1, 3, 4}, {1, 2, 3, 6}, {1, 6, 4, 5}, {3, 4, 6, 7}}};

static double tet_volume(const double *x, const uint32_t *t) {
    double d[3][3];
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++) d[c][i] = x[3 * t[c] + (uint32_t)i] - x[3 * t[3] + (uint32_t)i];
    return (d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
            d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0])) /
           6;
}

static void fill_cube(const beam_size *size, int i, int j, int k, pbd_scene *scene, uint32_t *hex, uint32_t *tet) {
    for (int v = 0; v < 8; v++) hex[v] = beam_particle(size, i + corner[v][0], j + corner[v][1], k + corner[v][2]);
    for (int t = 0; t < 5; t++, tet += 4) {
        for (int v = 0; v < 4; v++) tet[v] = hex[five[(size->behind + i + j + k) % 2][t][v]];
        if (tet_volume(scene->particles.positions, tet) > 0) continue;
        const uint32_t swap = tet[0];
        tet[0] = tet[1];
        tet[1] = swap;
    }
}

void beam_node(const beam_size *size, int i, int j, int k, double x[3]) {
    x[0] = size->length * i / size->along;
    x[1] = size->width * ((double)j / size->across - 0.5);
    x[2] = size->thickness * ((double)k / size->deep - 0.5);
}

static void fill_mesh(const beam_size *size, pbd_scene *scene) {
    for (int i = -size->behind; i <= size->along + size->beyond; i++)
        for (int j = 0; j <= size->across; j++)
            for (int k = 0; k <= size->deep; k++)
                beam_node(size, i, j, k, scene->particles.positions + 3 * beam_particle(size, i, j, k));
    uint32_t *hex = scene->hexes.corner, *tet = scene->tets.corner;
    for (int i = -size->behind; i < size->along + size->beyond; i++)
        for (int j = 0; j < size->across; j++)
            for (int k = 0; k < size->deep; k++, hex += 8, tet += 20) fill_cube(size, i, j, k, scene, hex, tet);
}

/* Each corner gets an eighth of a cube's mass, as by lumping over hexahedra. Lumping over tetrahedra gives the same,
 * averaged over the two divisions of a cube. */
static void lump_mass(const beam_size *size, pbd_scene *scene) {
    const double cubes = (double)((size_t)size->along * (size_t)size->across * (size_t)size->deep);
    const double cube = scene->material->density * size->length * size->width * size->thickness / cubes;
    for (size_t e = 0; e < 8 * scene->hexes.count; e++) scene->particles.masses[scene->hexes.corner[e]] += cube / 8;
}

static pbd_status allocate(pbd_scene *scene) {
    const size_t n = scene->particles.count;
    PBD_TRY_NEW(scene->particles.positions, 3 * n);
    PBD_TRY_NEW(scene->loads.forces, 3 * n);
    PBD_TRY_NEW(scene->particles.masses, n);
    PBD_TRY_NEW(scene->hexes.corner, 8 * scene->hexes.count);
    PBD_TRY_NEW(scene->tets.corner, 4 * scene->tets.count);
    return pbd_ok();
}

/* The number of cubes along `length`, m, if the width has size->across of them; at least 1. */
static pbd_status count_cubes(const beam_size *size, const char *name, double length, int *out) {
    const double wanted = length / size->width * size->across;
    if (!(wanted < 1e6))
        return pbd_error(PBD_BAD_INPUT, "%s=%g over width=%g makes %.3g cubes along it: 1000000 at most", name, length,
                         size->width, wanted);
    *out = wanted < 1 ? 1 : (int)lround(wanted);
    return pbd_ok();
}

pbd_status beam_build(const pbd_values *values, pbd_scene *scene, beam_size *size) {
    return beam_build_plate(values, pbd_real(values, "width"), scene, size);
}

pbd_status beam_describe(const pbd_values *values, double thickness, pbd_scene *scene, beam_size *size) {
    *size = (beam_size){.length = pbd_real(values, "length"),
                        .width = pbd_real(values, "width"),
                        .across = (int)pbd_integer(values, "cells"),
                        .thickness = thickness};
    PBD_TRY(count_cubes(size, "length", size->length, &size->along));
    PBD_TRY(count_cubes(size, "thickness", thickness, &size->deep));
    scene->extent = fmax(fmax(size->length, size->width), thickness);
    scene->particles.spacing = size->width / size->across;
    scene->material[0] = (pbd_material){.E = pbd_real(values, "E"),
                                        .nu = pbd_real(values, "nu"),
                                        .density = pbd_real(values, "density"),
                                        .convention = PBD_D_STANDARD,
                                        .law = law_names[pbd_choice(values, "material")]};
    return pbd_ok();
}

pbd_status beam_fill(const beam_size *size, pbd_scene *scene) {
    const size_t along = (size_t)(size->along + size->behind + size->beyond);
    scene->particles.count = beam_layer(size) * (along + 1);
    scene->hexes.count = along * (size_t)size->across * (size_t)size->deep;
    scene->tets.count = 5 * scene->hexes.count;
    PBD_TRY(allocate(scene));
    fill_mesh(size, scene);
    lump_mass(size, scene);
    return pbd_ok();
}

pbd_status beam_build_plate(const pbd_values *values, double thickness, pbd_scene *scene, beam_size *size) {
    PBD_TRY(beam_describe(values, thickness, scene, size));
    return beam_fill(size, scene);
}

static pbd_status hold_layers(pbd_scene *scene, const beam_size *size, bool end) {
    const size_t root = beam_layer(size) * ((size_t)size->behind + 1);
    const size_t other = end ? beam_layer(size) * ((size_t)size->beyond + 1) : 0, last = scene->particles.count - other;
    PBD_TRY_NEW(scene->particles.fixed_particle, root + other);
    for (size_t i = 0; i < root; i++) scene->particles.fixed_particle[i] = (uint32_t)i;
    for (size_t i = 0; i < other; i++) scene->particles.fixed_particle[root + i] = (uint32_t)(last + i);
    scene->particles.fixed = root + other;
    return pbd_ok();
}

pbd_status beam_hold_root(pbd_scene *scene, const beam_size *size) { return hold_layers(scene, size, false); }
pbd_status beam_hold_ends(pbd_scene *scene, const beam_size *size) { return hold_layers(scene, size, true); }

static void hang_rows(double *rows, size_t count) {
    for (size_t i = 0; rows && i < count; i++) {
        const double x = rows[3 * i];
        rows[3 * i] = rows[3 * i + 2];
        rows[3 * i + 2] = -x;
    }
}

void beam_hang(pbd_scene *scene) {
    hang_rows(scene->particles.positions, scene->particles.count);
    hang_rows(scene->loads.forces, scene->particles.count);
    hang_rows(scene->particles.start, scene->particles.count);
    hang_rows(scene->surface_load.quads.density, 4 * scene->surface_load.quads.count);
    hang_rows(scene->surface_load.triangles.density, 3 * scene->surface_load.triangles.count);
}

void beam_layer_mean(const beam_size *size, const double *rows, int i, double out[3]) {
    const size_t layer = beam_layer(size), first = layer * (size_t)(size->behind + i);
    memset(out, 0, 3 * sizeof *out);
    for (size_t p = first; p < first + layer; p++)
        for (size_t d = 0; d < 3; d++) out[d] += rows[3 * p + d] / (double)layer;
}

double beam_lateral_stretch(const pbd_scene *scene, const beam_size *size, const double *x, int first, int last) {
    const size_t layer = beam_layer(size);
    double along = 0, square = 0, middle[3], rest[3];
    for (int i = first; i <= last; i++) {
        beam_layer_mean(size, x, i, middle);
        beam_layer_mean(size, scene->particles.positions, i, rest);
        for (size_t p = beam_particle(size, i, 0, 0), end = p + layer; p < end; p++)
            for (size_t d = 0; d < 3; d++) {
                const double from = scene->particles.positions[3 * p + d] - rest[d];
                along += from * (x[3 * p + d] - middle[d]);
                square += from * from;
            }
    }
    return along / square;
}

double beam_rms_strain(const pbd_scene *scene, const double *x) {
    double sum = 0, all = 0;
    for (size_t e = 0; e < scene->tets.count; e++) {
        const uint32_t *tet = scene->tets.corner + 4 * e;
        double six_volumes;
        const mat3 F = mat3_over(tet_edges(x, tet), tet_edges(scene->particles.positions, tet), &six_volumes);
        const mat3 C = mat3_transposed_mul(F, F); /* E = (C - 1)/2 */
        const mat3 twice = mat3_sub(C, mat3_identity());
        sum += six_volumes * mat3_inner(twice, twice) / 4;
        all += six_volumes;
    }
    return sqrt(sum / all);
}
