/* Closed-form references: bars with free sides and membranes in tension. */
#ifndef PBD_STRETCHED_H
#define PBD_STRETCHED_H

#include "methods/method.h"

/* A homogeneous state under a nominal stress along one direction. found: 0 where the law has no such state. */
typedef struct stretched {
    int found;
    double along, across; /* stretches */
    double energy;        /* J/m^3 */
} stretched;

/* A bar with free sides, pulled (stress >= 0, Pa of the area at rest). */
stretched stretched_bar(const pbd_material *material, double stress);

/* A membrane (pbd_scene's triangles: no strain across it, lambda of plane stress) pulled along its first fibre, if it
 * has one, by `along` and in its plane perpendicular to that by `across`, Pa, both >= 0. A second fibre is taken to be
 * perpendicular to the first, whatever its direction; a third is not looked at. */
stretched stretched_membrane(const pbd_material *material, double along, double across);

/* A sheet of solid matter with free faces (no stress across it, at any strain), pulled as above; its fibres as above.
 * *through: its stretch across the faces. */
stretched stretched_sheet(const pbd_material *material, double along, double across, double *through);

/* How far the lower end of a long body sinks that hangs under its own weight, m: each piece is stretched by the weight
 * below it, so that with w = density x gravity and P(s) the nominal stress
 *
 *     sag = int_0^length (s - 1) dX = int (s - 1) dP / w = ((s1 - 1) w length - psi(s1)) / w,   P(s1) = w length.
 *
 * top: the state at the upper end. */
double stretched_sag(stretched top, double weight, double length);

#endif
