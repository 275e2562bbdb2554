/* Closed-form references: bars with free sides and membranes in tension. */
#ifndef PBD_STRETCHED_H
#define PBD_STRETCHED_H

#include "methods/method.h"

/* A homogeneous state under a nominal stress along one direction. found: 0 if the law has no such state. */
typedef struct stretched {
    int found;
    double along, across; /* stretches */
    double energy;        /* J/m^3 */
} stretched;

/* A bar with free sides, under a nominal stress >= 0, Pa. */
stretched stretched_bar(const pbd_material *material, double stress);

/* A membrane (as pbd_scene's triangles: no strain through the thickness, lambda of plane stress) under nominal stresses
 * >= 0, Pa: `along` its first fibre, if it has one, and `across` it in the plane. A second fibre is taken to be
 * perpendicular to the first, whatever its direction; a third is ignored. */
stretched stretched_membrane(const pbd_material *material, double along, double across);

/* A sheet of solid matter with free faces (no stress through the thickness, at any strain), with stresses and fibres as
 * above. *through: the stretch through the thickness; not written if no state is found. */
stretched stretched_sheet(const pbd_material *material, double along, double across, double *through);

/* Returns how far the lower end of a long body sinks when the body hangs under its own weight, m. Each piece is
 * stretched by the weight below it. With w = density x gravity (`weight`) and P(s) the nominal stress:
 *
 *     sag = int_0^length (s - 1) dX = int (s - 1) dP / w = ((s1 - 1) w length - psi(s1)) / w,   P(s1) = w length.
 *
 * top: the state at the upper end. */
double stretched_sag(stretched top, double weight, double length);

#endif
