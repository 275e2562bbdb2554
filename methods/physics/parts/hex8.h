/* The 8-node hexahedron of linear elasticity: Hooke's law, element stiffness, assembly and the sparse solve.
 * Used by fem_linear, by the reference of the cube cases and by the fits of pbd_distance.
 * Source: rodero2016 Eqs. 2 to 5 (Zienkiewicz 1977); errors in print: R-1. All f64, SI units. */
#ifndef PBD_HEX8_H
#define PBD_HEX8_H

#include "methods/method.h"

enum { HEX8_NODES = 8, HEX8_DOFS = 24 };

/* Reference coordinates (-1 or 1) of the nodes, in Zienkiewicz's order. */
extern const double hex8_corner[HEX8_NODES][3];

/* Elasticity matrix D[6][6], row-major, Pa, for strains (xx, yy, zz, xy, yz, zx) with engineering shear. PBD_D_PRINTED
 * is rodero2016 Eq. 4 as printed: A(1 - 2 nu) in the shear entries, twice those of PBD_D_STANDARD. */
void hex8_elasticity(double E, double nu, pbd_convention convention, double D[36]);

/* K[24][24] = integral of B' D B by 2x2x2 Gauss points, exact for parallelepipeds. x: corners, m. K: N/m, row-major.
 * PBD_BAD_INPUT when the Jacobian is not positive at a Gauss point (inverted or flat). element: its index, for
 * messages. */
pbd_status hex8_stiffness(const double x[HEX8_NODES][3], const double D[36], size_t element, double K[576]);

/* Volume of the element, m^3, by the same quadrature. */
double hex8_volume(const double x[HEX8_NODES][3]);

/* share[a] = integral of N_a over the element, m^3, exact. Used to lump its mass and its weight. */
void hex8_shares(const double x[HEX8_NODES][3], double share[HEX8_NODES]);

/* Solves K u = f on all hexahedra of the scene with displacement `prescribed` (particles x 3, m) at the fixed particles
 * (NULL: 0) and scene->loads.forces elsewhere. u: particles x 3, m, owned by the caller. PBD_NO_EQUILIBRIUM when K is
 * singular (an unsupported body). */
pbd_status hex8_solve(const pbd_scene *scene, const double *prescribed, double *u);

/* r = K u (particles x 3, N) on the whole mesh without supports, for residuals and reactions. */
pbd_status hex8_forces(const pbd_scene *scene, const double *u, double *r);

#endif
