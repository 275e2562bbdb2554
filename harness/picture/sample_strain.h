/* Strain and damage of a body that is sampled by particles, from their positions alone: for files and pictures of
 * states. */
#ifndef PBD_SAMPLE_STRAIN_H
#define PBD_SAMPLE_STRAIN_H

#include "methods/method.h"

/* The Frobenius norm of Green's strain at each particle, from the linear map that best fits the positions x (particles
 * x 3, m) of its neighbours: particles of the same body within 1.75 spacings at rest. Where these lie in a plane or are
 * too few, the root mean square of Green's strain along the lines to them. 0 without neighbours. The scene must have a
 * spacing. */
pbd_status pbd_sample_strain(const pbd_scene *scene, const double *x, double *strain);

/* The share of these neighbours that are now at more than twice their distance at rest (the local damage of S. Silling
 * and E. Askari, Computers and Structures 83, 2005, with bonds that break at that stretch). */
pbd_status pbd_sample_damage(const pbd_scene *scene, const double *x, double *damage);

#endif
