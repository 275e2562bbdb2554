/* A bar of cubes along x, as hexahedra and as tetrahedra on the same nodes: the mesh of cantilever, twist, collapse and
 * their kin. */
#ifndef PBD_BEAM_H
#define PBD_BEAM_H

#include "cases/scenes/body.h"

/* Parameters that every bar has: E, nu, density, material, length, width, cells. For use at the head of a table. */
#define PBD_BEAM_PARAMS(default_E, default_density) \
    PBD_BOX_PARAMS(default_E, "0.3", default_density, "neo_hookean", "1", "0.2", "4")

/* The same with every default to be chosen. */
#define PBD_BOX_PARAMS(E_, nu_, density_, material_, length_, width_, cells_)                     \
    {"E", "Pa", PBD_REAL, E_, 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},                \
        {"nu", "", PBD_REAL, nu_, -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"}, \
        {"density", "kg/m^3", PBD_REAL, density_, 0, 1e9, PBD_OPEN_MIN, NULL, "mass density"},    \
        {"material", "", PBD_CHOICE, material_, 0, 0, 0, law_names, "strain-energy density"},     \
        {"length", "m", PBD_REAL, length_, 0, 1e6, PBD_OPEN_MIN, NULL, "along x"},                \
        {"width", "m", PBD_REAL, width_, 0, 1e6, PBD_OPEN_MIN, NULL, "of the square section"}, {  \
        "cells", "", PBD_INTEGER, cells_, 1, 200, 0, NULL, "cubes across the width"               \
    }

typedef struct beam_size {
    double length, width;
    int along, across; /* cubes */
    double thickness;  /* along z; the width but for plates */
    int deep;          /* cubes through it */
} beam_size;

/* Mesh, masses (lumped) and material from the parameters above. The bar lies from x = 0 to length and is centred on the
 * x axis. Each cube is five tetrahedra, mirrored from one cube to the next, so that no direction is preferred. Nothing
 * is held, no load. */
pbd_status beam_build(const pbd_values *values, pbd_scene *scene, beam_size *size);
/* The same for a plate of this thickness, m. */
pbd_status beam_build_plate(const pbd_values *values, double thickness, pbd_scene *scene, beam_size *size);
/* Turns the bar so that it hangs along -z from its root at the origin: (x, y, z) becomes (z, y, -x). */
void beam_hang(pbd_scene *scene);
/* Holds every particle at x = 0. */
pbd_status beam_hold_root(pbd_scene *scene, const beam_size *size);
/* Number of the particle in layer i along and at (j, k) across, 0 .. along, 0 .. across, 0 .. deep. */
uint32_t beam_particle(const beam_size *size, int i, int j, int k);
/* The mean over the particles around the centre of the end face of rows of three: 1, 2 or 4 particles. */
void beam_tip(const beam_size *size, const double *rows, double out[3]);
/* The particles of that mean. Returns how many. */
int beam_tip_particles(const beam_size *size, uint32_t out[4]);
/* Holds the layers of particles at the root and at the other end. */
pbd_status beam_hold_ends(pbd_scene *scene, const beam_size *size);
/* The mean of rows of three over layer i. */
void beam_layer_mean(const beam_size *size, const double *rows, int i, double out[3]);
/* How much wider than at rest the layers first .. last are at x: the best single factor on the distances of their
 * particles from each layer's middle. */
double beam_lateral_stretch(const pbd_scene *scene, const beam_size *size, const double *x, int first, int last);

#endif
