/* A bar of cubes along x, as hexahedra and as tetrahedra on the same nodes: the mesh of cantilever, twist, collapse and
 * similar cases. */
#ifndef PBD_BEAM_H
#define PBD_BEAM_H

#include "cases/scenes/body.h"

/* Parameters that every bar has: E, nu, density, material, length, width, cells. For use at the head of a table. */
#define PBD_BEAM_PARAMS(default_E, default_density) \
    PBD_BOX_PARAMS(default_E, "0.3", default_density, "neo_hookean", "1", "0.2", "4")

/* The same parameters, with all defaults as arguments. */
#define PBD_BOX_PARAMS(E_, nu_, density_, material_, length_, width_, cells_)                     \
    {"E", "Pa", PBD_REAL, E_, 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},                \
        {"nu", "", PBD_REAL, nu_, -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"}, \
        {"density", "kg/m^3", PBD_REAL, density_, 0, 1e9, PBD_OPEN_MIN, NULL, "mass density"},    \
        {"material", "", PBD_CHOICE, material_, 0, 0, 0, law_names, "strain-energy density"},     \
        {"length", "m", PBD_REAL, length_, 0, 1e6, PBD_OPEN_MIN, NULL, "along x"},                \
        {"width", "m", PBD_REAL, width_, 0, 1e6, PBD_OPEN_MIN, NULL, "of the square section"}, {  \
        "cells", "", PBD_INTEGER, cells_, 1, 200, 0, NULL, "cubes across the width"               \
    }

/* How beam_build_sampled fills and holds the bar. For use in a table, after the parameters above. */
#define PBD_BEAM_SAMPLING_PARAMS                                                                             \
    {"sampling",                                                                                             \
     "",                                                                                                     \
     PBD_CHOICE,                                                                                             \
     "lattice",                                                                                              \
     0,                                                                                                      \
     0,                                                                                                      \
     0,                                                                                                      \
     beam_samplings,                                                                                         \
     "nodes of the cubes, these with random offsets, or Poisson disks without a mesh"},                      \
        {"jitter",                                                                                           \
         "",                                                                                                 \
         PBD_REAL,                                                                                           \
         "0.1",                                                                                              \
         0,                                                                                                  \
         0.4,                                                                                                \
         0,                                                                                                  \
         NULL,                                                                                               \
         "sampling=jitter: largest offset along each axis, "                                                 \
         "in spacings; surfaces stay plane"},                                                                \
        {"seed", "", PBD_INTEGER, "1", 0, 1e9, 0, NULL, "sampling=jitter|poisson: of the random numbers"}, { \
        "held_layers", "", PBD_INTEGER, "1", 1, 20, 0, NULL,                                                 \
            "of particles at a clamped end: the first at its face, others behind it"                         \
    }

extern const char *const beam_samplings[]; /* lattice, jitter, poisson */

typedef struct beam_size {
    double length, width;
    int along, across;  /* cubes */
    double thickness;   /* along z; equals the width except for plates */
    int deep;           /* cubes through the thickness */
    int behind, beyond; /* layers of held cubes at x < 0 and at x > length */
    bool scattered;     /* free particles are not on the lattice */
} beam_size;

/* The particles around the centre of the end face, and their weights in the value of a quantity at that centre. */
enum { BEAM_PROBED = 16 };
typedef struct beam_probe {
    int count;
    uint32_t particle[BEAM_PROBED];
    double weight[BEAM_PROBED];
} beam_probe;

/* Sets mesh, lumped masses and material from the parameters above. The bar extends from x = 0 to length and is centred
 * on the x axis. Each cube is five tetrahedra, mirrored from one cube to the next, so that no direction is preferred.
 * No particle is held, and forces are 0. */
pbd_status beam_build(const pbd_values *values, pbd_scene *scene, beam_size *size);
/* The same for a plate of this thickness, m. */
pbd_status beam_build_plate(const pbd_values *values, double thickness, pbd_scene *scene, beam_size *size);
/* Like beam_build, also with PBD_BEAM_SAMPLING_PARAMS. both: the caller will also hold the end at x = length.
 *
 * Held layers are on the lattice for every sampling. jitter: the other nodes get random offsets, nodes of a face only
 * within it, so that the body stays the same box; masses are those of the lattice. poisson: the bar from x = 0 to
 * length is filled with particles of equal volume, and there are no cells. Order of the particles: held ones at the
 * root, free ones, held ones at the end. */
pbd_status beam_build_sampled(const pbd_values *values, bool both, pbd_scene *scene, beam_size *size);
/* Turns the bar so that it hangs along -z from its root at the origin: (x, y, z) becomes (z, y, -x). */
void beam_hang(pbd_scene *scene);
/* Holds the layers of particles at x <= 0. */
pbd_status beam_hold_root(pbd_scene *scene, const beam_size *size);
/* Parts of beam_build. beam_describe reads parameters and material; beam_fill makes nodes, cubes and masses. beam_node
 * writes the position at rest of a node, m; beam_layer returns the number of nodes in a layer. */
pbd_status beam_describe(const pbd_values *values, double thickness, pbd_scene *scene, beam_size *size);
pbd_status beam_fill(const beam_size *size, pbd_scene *scene);
void beam_node(const beam_size *size, int i, int j, int k, double x[3]);
size_t beam_layer(const beam_size *size);
/* Returns the number of the particle at (j, k) in layer i: i = -behind .. along + beyond, j = 0 .. across,
 * k = 0 .. deep. */
uint32_t beam_particle(const beam_size *size, int i, int j, int k);
/* Finds the particles and weights for the centre of the end face: the mean of 1, 2 or 4 nodes or, for scattered
 * particles, a linear least-squares fit, which is exact for linear fields. PBD_BAD_INPUT: too few particles for it. */
pbd_status beam_find_tip(const pbd_scene *scene, const beam_size *size, beam_probe *out);
/* Writes the weighted sum of `rows` (particles x 3) with those weights. */
void beam_tip(const beam_probe *tip, const double *rows, double out[3]);
/* Holds the layers of particles at x <= 0 and at x >= length. */
pbd_status beam_hold_ends(pbd_scene *scene, const beam_size *size);
/* Writes the mean of `rows` (particles x 3) over layer i of nodes. */
void beam_layer_mean(const beam_size *size, const double *rows, int i, double out[3]);
/* Returns the volume-weighted root mean square of the Frobenius norm of the Green strain of the tetrahedra at x; NaN
 * without tetrahedra. */
double beam_rms_strain(const pbd_scene *scene, const double *x);
/* Returns the lateral stretch of the layers first .. last at x: the factor that maps the offsets of their particles
 * from the mean of the layer at rest to those at x, by least squares. */
double beam_lateral_stretch(const pbd_scene *scene, const beam_size *size, const double *x, int first, int last);

#endif
