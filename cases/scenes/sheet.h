/* A rectangular triangle mesh in the plane z = 0, for hanging_sheet and towel. */
#ifndef PBD_SHEET_H
#define PBD_SHEET_H

#include "cases/scenes/body.h"

#define PBD_SHEET_PARAMS(E_, nu_, density_, fibre_stiffness_, fibre_angle_, fibre_when_)          \
    {"E", "Pa", PBD_REAL, E_, 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},                \
        {"nu", "", PBD_REAL, nu_, -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"}, \
        {"density", "kg/m^3", PBD_REAL, density_, 0, 1e9, PBD_OPEN_MIN, NULL, "mass density"},    \
        {"material", "", PBD_CHOICE, "neo_hookean", 0, 0, 0, law_names, "strain-energy density"}, \
        {"fibre_stiffness",                                                                       \
         "Pa",                                                                                    \
         PBD_REAL,                                                                                \
         fibre_stiffness_,                                                                        \
         0,                                                                                       \
         1e15,                                                                                    \
         0,                                                                                       \
         NULL,                                                                                    \
         "adds twice itself to the modulus along the fibre; 0: none"},                            \
        {"fibre_angle",                                                                           \
         "deg",                                                                                   \
         PBD_REAL,                                                                                \
         fibre_angle_,                                                                            \
         -180,                                                                                    \
         180,                                                                                     \
         0,                                                                                       \
         NULL,                                                                                    \
         fibre_when_ ": of the fibre at rest, from length to width"},                             \
        {"thickness", "m", PBD_REAL, "0.01", 0, 1e3, PBD_OPEN_MIN, NULL, "of the cloth"},         \
        {"length", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "along x"},                    \
        {"width", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "along y"}, {                   \
        "cells", "", PBD_INTEGER, "16", 1, 2000, 0, NULL, "squares across the width"              \
    }

typedef struct sheet_size {
    double length, width;
    int along, across; /* squares */
} sheet_size;

/* Sets positions, triangles and zero forces, but neither masses nor material. The scene must be zeroed. */
pbd_status sheet_mesh(const sheet_size *size, pbd_scene *scene);

/* Sets mesh, lumped masses and material from the parameters above. The sheet extends from x = 0 to length, centred on
 * the x axis. The direction of the diagonals alternates from square to square, so that none is preferred. */
pbd_status sheet_build(const pbd_values *values, pbd_scene *scene, sheet_size *size);
/* Returns the number of the particle at (i, j), 0 .. along, 0 .. across. */
uint32_t sheet_particle(const sheet_size *size, int i, int j);
/* Returns the share of the length of an edge of n squares that belongs to its particle i, 0 .. n: 1/n, half of that at
 * the ends. */
double sheet_edge_share(int i, int n);

/* Area-weighted means of the deformation gradient F over the sheet. */
typedef struct sheet_strain {
    double along[3], across[3];  /* mean of F x and F y, x and y the axes at rest */
    double fibre, perpendicular; /* mean |F b|, b along the fibre (without one: x) and perpendicular to it */
    double principal_angle; /* deg in (-90, 90]: the direction at rest that the mean F stretches most, from x to y */
    double principal[2];    /* largest and smallest stretch of the mean F */
    double shear_angle;     /* deg: 90 minus the angle between `along` and `across` */
    size_t inverted;        /* triangles folded over within the sheet: normal opposite to the mean one */
} sheet_strain;

sheet_strain sheet_strain_at(const pbd_scene *scene, const double *x);
/* Records stretch_fibre, stretch_perpendicular, principal_angle, principal_stretch, shear_angle, inverted_triangles. */
void sheet_record(const sheet_strain *strain, pbd_recorder *recorder);

#endif
