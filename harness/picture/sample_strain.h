/* Strain and damage of a body that is sampled by particles, from their positions alone: for files and pictures of
 * states. */
#ifndef PBD_SAMPLE_STRAIN_H
#define PBD_SAMPLE_STRAIN_H

#include "methods/method.h"

/* The Frobenius norm of Green's strain at each particle, of the linear map that fits the places x (particles x 3, m) of
 * its neighbours at rest best: those within 1.75 spacings, of the same body. Where these lie in a plane or are too few,
 * the root mean square of Green's strain along the way to each. Particles without a neighbour have none: 0. The scene
 * must have a spacing. */
pbd_status pbd_sample_strain(const pbd_scene *scene, const double *x, double *strain);

/* The share of these neighbours from which each particle has parted: to more than twice the distance at rest (the local
 * damage of S. Silling and E. Askari, Computers and Structures 83, 2005, with bonds of that strength). */
pbd_status pbd_sample_damage(const pbd_scene *scene, const double *x, double *damage);

#endif
