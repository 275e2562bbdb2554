#include "cases/scenes/cube.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scenes/loaded.h"
#include "harness/exec/arena.h"

#include "methods/physics/parts/hex8.h"

static const char *const loads[] = {"small", "large", NULL};
static const char *const bases[] = {"weight", "reset", NULL};
static const char *const sharings[] = {"once", "per_element", NULL};
static const char *const conventions[] = {"printed", "standard", NULL};
static const char *const spreads[] = {"equal", "consistent", NULL};
static const char *const references[] = {"fem", "none", NULL};

const pbd_param cube_params[] = {
    {"E", "Pa", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},
    {"nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"},
    {"density", "kg/m^3", PBD_REAL, "0", 0, 1e9, 0, NULL, "0: every particle weighs 1 kg, as in the paper"},
    {"edge", "m", PBD_REAL, "2", 0, 1e6, PBD_OPEN_MIN, NULL, "of the whole cube"},
    {"cells", "", PBD_INTEGER, "1", 1, 200, 0, NULL, "hexahedra along each edge"},
    {"load", "", PBD_CHOICE, "small", 0, 0, 0, loads,
     "loaded nodes move by 5 % (small) or 15 % (large) of the edge on average in FEM"},
    {"loads", "", PBD_CHOICE, "equal", 0, 0, 0, spreads,
     "over the top nodes: equal nodal forces, or the consistent ones of a traction"},
    {"base", "", PBD_CHOICE, "reset", 0, 0, 0, bases,
     "fixed by inverse mass 0, or with full weight and reset after each projection"},
    {"shared", "", PBD_CHOICE, "once", 0, 0, 0, sharings,
     "constraints common to two elements count once or per element"},
    {"convention", "", PBD_CHOICE, "printed", 0, 0, 0, conventions,
     "shear entries of D as printed (twice the usual) or standard"},
    {"reference", "", PBD_CHOICE, "fem", 0, 0, 0, references,
     "none: no reference, for meshes (above about 25 cells) whose direct solve takes too long"},
    {0}};

static size_t node_at(const int cells[3], int i, int j, int k) {
    return (size_t)i + (size_t)(cells[0] + 1) * ((size_t)j + (size_t)(cells[1] + 1) * (size_t)k);
}

static void fill_mesh(const int cells[3], const double size[3], pbd_scene *scene) {
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (int k = 0; k <= cells[2]; k++)
        for (int j = 0; j <= cells[1]; j++)
            for (int i = 0; i <= cells[0]; i++) {
                size_t node = node_at(cells, i, j, k);
                /* Centred in x and y, so that torsion turns about the z axis. */
                scene->particles.positions[3 * node] = size[0] * ((double)i / cells[0] - 0.5);
                scene->particles.positions[3 * node + 1] = size[1] * ((double)j / cells[1] - 0.5);
                scene->particles.positions[3 * node + 2] = size[2] * (double)k / cells[2];
                if (k == 0) scene->particles.fixed_particle[scene->particles.fixed++] = (uint32_t)node;
            }
    uint32_t *hex = scene->hexes.corner;
    for (int k = 0; k < cells[2]; k++)
        for (int j = 0; j < cells[1]; j++)
            for (int i = 0; i < cells[0]; i++)
                for (int a = 0; a < 8; a++)
                    *hex++ = (uint32_t)node_at(cells, i + corner[a][0], j + corner[a][1], k + corner[a][2]);
    double lumped = scene->material->density * size[0] * size[1] * size[2] / (double)scene->hexes.count / 8;
    for (size_t e = 0; e < 8 * scene->hexes.count; e++)
        if (scene->material->density > 0) scene->particles.masses[scene->hexes.corner[e]] += lumped;
    for (size_t p = 0; p < scene->particles.count && !(scene->material->density > 0); p++)
        scene->particles.masses[p] = 1;
}

pbd_status cube_mesh(const int cells[3], const double size[3], const pbd_material *material, pbd_scene *scene) {
    size_t n = (size_t)(cells[0] + 1) * (size_t)(cells[1] + 1) * (size_t)(cells[2] + 1);
    size_t base = (size_t)(cells[0] + 1) * (size_t)(cells[1] + 1);
    scene->particles.count = n;
    scene->hexes.count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
    scene->material[0] = *material;
    scene->extent = fmax(size[0], fmax(size[1], size[2]));
    PBD_TRY_NEW(scene->particles.positions, 3 * n);
    PBD_TRY_NEW(scene->loads.forces, 3 * n);
    PBD_TRY_NEW(scene->particles.masses, n);
    PBD_TRY_NEW(scene->hexes.corner, 8 * scene->hexes.count);
    PBD_TRY_NEW(scene->particles.fixed_particle, base);
    fill_mesh(cells, size, scene);
    return pbd_ok();
}

void cube_free_detail(void *detail) {
    cube_detail *d = detail;
    free(d->reference);
    free(d->top);
}

/* ---- Loads and reference ----------------------------------------------------------------------------------------- */

/* The unit load at x on the top face (rodero2016 Figure 6). Torsion is tangential about z and grows with the distance
 * from the axis, so the four corners of a single element get equal loads; shear is along x, traction along z. */
static void unit_load(cube_test test, const double *x, double f[3]) {
    for (int d = 0; d < 3; d++) f[d] = 0;
    if (test == CUBE_TORSION) {
        f[0] = -x[1];
        f[1] = x[0];
    } else
        f[test == CUBE_SHEAR ? 0 : 2] = 1;
}

/* The unit loads as nodal forces. */
static void apply_equal_loads(cube_test test, const cube_detail *detail, pbd_scene *scene) {
    for (size_t t = 0; t < detail->top_count; t++) {
        const size_t i = 3 * (size_t)detail->top[t];
        unit_load(test, scene->particles.positions + i, scene->loads.forces + i);
    }
}

/* The unit loads as a traction, linear over each element, divided by the area of an element's face, so that the
 * magnitude of the nodal forces does not depend on it. */
static pbd_status apply_traction(cube_test test, double face, const cube_detail *detail, pbd_scene *scene) {
    pbd_arena a PBD_ARENA;
    bool *marked = pbd_new(&a, bool, scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t t = 0; t < detail->top_count; t++) marked[detail->top[t]] = true;
    PBD_TRY(loaded_list(scene, marked));
    const pbd_loaded *quads = &scene->surface_load.quads;
    for (size_t c = 0; c < 4 * quads->count; c++) {
        unit_load(test, scene->particles.positions + 3 * (size_t)quads->corner[c], quads->density + 3 * c);
        for (size_t d = 0; d < 3; d++) quads->density[3 * c + d] /= face;
    }
    loaded_apply(scene);
    return pbd_ok();
}

static double norm3(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static double mean_top_displacement(const cube_detail *detail, const double *u) {
    double sum = 0;
    for (size_t t = 0; t < detail->top_count; t++) sum += norm3(u + 3 * detail->top[t]);
    return sum / (double)detail->top_count;
}

/* Returns E edge f.u / F^2, or E edge^3 f.u / M^2 for torsion: f are the nodal forces, u the displacements, F the sum
 * of f along the load, M the moment of f. For a traction, F and M are those of the continuum on every mesh, and f.u is
 * twice the energy, so the compliance grows towards its limit as the mesh is refined. */
static double compliance_of(cube_test test, const pbd_values *values, const pbd_scene *scene, const double *u) {
    const double edge = pbd_real(values, "edge");
    double work = 0, resultant = 0, unit[3];
    for (size_t i = 0; i < 3 * scene->particles.count; i++) {
        if (i % 3 == 0) unit_load(test, scene->particles.positions + i, unit);
        work += scene->loads.forces[i] * u[i];
        resultant += scene->loads.forces[i] * unit[i % 3];
    }
    return pbd_real(values, "E") * edge * (test == CUBE_TORSION ? edge * edge : 1) * work / (resultant * resultant);
}

static pbd_status judge_reference(cube_test test, const char *limits, const pbd_values *values, pbd_setup *setup) {
    static const char *const keys[] = {"nu", "convention", NULL};
    cube_detail *detail = setup->detail;
    detail->compliance = compliance_of(test, values, &setup->scene, detail->reference);
    return fem_reference_find(limits, "reference.csv of the cube", keys, "compliance", values, &detail->limit);
}

static pbd_status build_detail(cube_test test, const char *limits, const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    int cells = (int)pbd_integer(values, "cells");
    cube_detail *detail = setup->detail;
    size_t top = (size_t)(cells + 1) * (size_t)(cells + 1);
    bool fem = pbd_choice(values, "reference") == 0;
    if (fem) PBD_TRY_NEW(detail->reference, 3 * scene->particles.count);
    PBD_TRY_NEW(detail->top, top);
    detail->top_count = top;
    for (size_t t = 0; t < top; t++) detail->top[t] = (uint32_t)(scene->particles.count - top + t);
    double edge = pbd_real(values, "edge"), strain = pbd_choice(values, "load") == 0 ? 0.05 : 0.15, scale;
    if (pbd_choice(values, "loads") == 1)
        PBD_TRY(apply_traction(test, edge / cells * edge / cells, detail, scene));
    else
        apply_equal_loads(test, detail, scene);
    if (fem) { /* FEM is linear: scaling the loads scales its answer. */
        PBD_TRY(hex8_solve(scene, NULL, detail->reference));
        PBD_TRY(judge_reference(test, limits, values, setup));
        scale = strain * edge / mean_top_displacement(detail, detail->reference);
        for (size_t i = 0; i < 3 * scene->particles.count; i++) detail->reference[i] *= scale;
    } else { /* of the same order of magnitude: a uniform stress of E times the strain */
        double sum = 0;
        for (size_t t = 0; t < top; t++) sum += norm3(scene->loads.forces + 3 * detail->top[t]);
        scale = strain * pbd_real(values, "E") * edge * edge / sum;
    }
    for (size_t i = 0; i < 3 * scene->particles.count; i++) scene->loads.forces[i] *= scale;
    for (size_t i = 0; i < 12 * scene->surface_load.quads.count; i++) scene->surface_load.quads.density[i] *= scale;
    return pbd_ok();
}

pbd_status cube_build(cube_test test, const char *limits, const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    int n = (int)pbd_integer(values, "cells"), cells[3] = {n, n, n};
    double edge = pbd_real(values, "edge"), size[3] = {edge, edge, edge};
    pbd_material material = {.E = pbd_real(values, "E"),
                             .nu = pbd_real(values, "nu"),
                             .density = pbd_real(values, "density"),
                             .convention = (pbd_convention)pbd_choice(values, "convention")};
    PBD_TRY(cube_mesh(cells, size, &material, scene));
    scene->hints.fixing = (pbd_fixing)pbd_choice(values, "base");
    scene->hints.shared = (pbd_sharing)pbd_choice(values, "shared");
    return build_detail(test, limits, values, setup);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* displacement_error: the paper's relative error over the loaded nodes. displacement_ratio: work of the load over that
 * in FEM, f.u / f.u_FEM. stiffness_ratio: its inverse, above 1 if the method is stiffer than FEM. */
static void record_errors(const pbd_setup *setup, const double *u, const char *suffix, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const cube_detail *detail = setup->detail;
    if (!detail->reference) return;
    double error = 0, sum = 0, work = 0, work_fem = 0;
    for (size_t t = 0; t < detail->top_count; t++) {
        size_t i = 3 * (size_t)detail->top[t];
        double difference[3];
        for (size_t d = 0; d < 3; d++) {
            difference[d] = u[i + d] - detail->reference[i + d];
            work += scene->loads.forces[i + d] * u[i + d];
            work_fem += scene->loads.forces[i + d] * detail->reference[i + d];
        }
        error += norm3(difference);
        sum += norm3(detail->reference + i);
    }
    char name[64];
    snprintf(name, sizeof name, "displacement_error%s", suffix);
    pbd_metric(recorder, name, "1", PBD_ERROR, error / sum);
    snprintf(name, sizeof name, "displacement_ratio%s", suffix);
    pbd_metric(recorder, name, "1", PBD_STATE, work / work_fem);
    snprintf(name, sizeof name, "stiffness_ratio%s", suffix);
    pbd_metric(recorder, name, "1", PBD_STATE, work_fem / work);
}

/* Records the relative difference of the compliance between linear FEM on this mesh and the continuum. */
static void record_reference(const cube_detail *detail, pbd_recorder *recorder) {
    if (!detail->reference) return;
    pbd_metric(recorder, "reference_compliance", "1", PBD_STATE, detail->compliance);
    if (!(detail->limit.value > 0)) return;
    pbd_metric(recorder, "reference_error", "1", PBD_STATE, detail->compliance / detail->limit.value - 1);
    pbd_metric(recorder, "reference_uncertainty", "1", PBD_STATE, detail->limit.uncertainty);
}

static void record_vectors(pbd_recorder *recorder, const char *name, const char *unit, const double *rows,
                           const uint32_t *index, size_t count) {
    static const char *const components[3] = {"x", "y", "z"};
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < 3; d++)
            pbd_series(recorder, name, components[d], unit, rows + 3 * (index ? index[i] : i) + d, 1, 1);
}

enum { LARGEST_SHAPE = 2000 }; /* particles; larger shapes are not recorded: a picture of them cannot be read */

static void record_shapes(const pbd_setup *setup, const double *u, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const cube_detail *detail = setup->detail;
    if (!detail->reference) return;
    record_vectors(recorder, "top_displacement", "m", u, detail->top, detail->top_count);
    record_vectors(recorder, "top_displacement_reference", "m", detail->reference, detail->top, detail->top_count);
    if (scene->particles.count > LARGEST_SHAPE) return;
    record_vectors(recorder, "rest_position", "m", scene->particles.positions, NULL, scene->particles.count);
    record_vectors(recorder, "displacement", "m", u, NULL, scene->particles.count);
    record_vectors(recorder, "displacement_reference", "m", detail->reference, NULL, scene->particles.count);
    if (scene->loads.forces) record_vectors(recorder, "force", "N", scene->loads.forces, NULL, scene->particles.count);
}

pbd_status cube_measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    size_t n = 3 * scene->particles.count;
    pbd_arena a PBD_ARENA;
    double *u = pbd_new(&a, double, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(method->read(state, PBD_POSITIONS, u));
    for (size_t i = 0; i < n; i++) u[i] -= scene->particles.positions[i];
    record_errors(setup, u, "", recorder);
    record_reference(setup->detail, recorder);
    record_shapes(setup, u, recorder);
    const pbd_status predicted = method->read(state, PBD_PREDICTED, u);
    if (predicted.code == PBD_NOT_SUPPORTED) return pbd_ok();
    PBD_TRY(predicted);
    for (size_t i = 0; i < n; i++) u[i] -= scene->particles.positions[i];
    record_errors(setup, u, "_predicted", recorder);
    return pbd_ok();
}
