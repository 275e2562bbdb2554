/* A bar of cubes along x, as hexahedra and as tetrahedra on the same nodes: the mesh of cantilever, twist, collapse and
 * their kin. */
#ifndef PBD_BEAM_H
#define PBD_BEAM_H

#include "cases/case.h"

/* Parameters that every bar has: E, nu, density, material, length, width, cells. For use at the head of a table. */
#define PBD_BEAM_PARAMS(default_E, default_density)                                                   \
    {"E", "Pa", PBD_REAL, default_E, 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},             \
        {"nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"},   \
        {"density", "kg/m^3", PBD_REAL, default_density, 0, 1e9, PBD_OPEN_MIN, NULL, "mass density"}, \
        {"material", "", PBD_CHOICE, "neo_hookean", 0, 0, 0, beam_laws, "strain-energy density"},     \
        {"length", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "along x"},                        \
        {"width", "m", PBD_REAL, "0.2", 0, 1e6, PBD_OPEN_MIN, NULL, "of the square section"}, {       \
        "cells", "", PBD_INTEGER, "4", 1, 200, 0, NULL, "cubes across the width"                      \
    }

extern const char *const beam_laws[];

typedef struct beam_size {
    double length, width;
    int along, across; /* cubes */
} beam_size;

/* Mesh, masses (lumped) and material from the parameters above. The bar lies from x = 0 to length and is centred on the
 * x axis. Each cube is five tetrahedra, mirrored from one cube to the next, so that no direction is preferred. Nothing
 * is held, no load. */
pbd_status beam_build(const pbd_values *values, pbd_scene *scene, beam_size *size);
/* Holds every particle at x = 0. */
pbd_status beam_hold_root(pbd_scene *scene, const beam_size *size);
/* Number of the particle in layer i along and at (j, k) across, 0 .. along, 0 .. across. */
uint32_t beam_particle(const beam_size *size, int i, int j, int k);
/* The mean over the particles around the centre of the end face of rows of three: 1, 2 or 4 particles. */
void beam_tip(const beam_size *size, const double *rows, double out[3]);
/* The particles of that mean. Returns how many. */
int beam_tip_particles(const beam_size *size, uint32_t out[4]);
void beam_free(pbd_scene *scene); /* also frees scene->detail with free() */

#endif
