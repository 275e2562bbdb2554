/* Fitting the four stiffnesses of a cubic PBD element to a linear FEM element (rodero2016 sections 3.1, 4 and 5.1).
 * f64. */
#ifndef PBD_FIT_H
#define PBD_FIT_H

#include "methods/pbd_distance/hex_constraints.h"

typedef enum fit_norm { FIT_MASS_SPECTRAL, FIT_MASS_FROBENIUS } fit_norm;

/* One element, its material, and the form of its constraints. */
typedef struct fit_problem {
    double corner[8][3]; /* m */
    pbd_material material;
    double mass;        /* kg, of each particle */
    fit_norm mass_norm; /* ||M|| of Eq. 10; the Frobenius norm is used for K */
    hex_split split;
    bool volume;       /* false: k_volume is fixed at 0 */
    int iterations;    /* Jacobi iterations whose K_PBD is fitted; 1 in the paper */
    pbd_fixing fixing; /* of the base, in the deformation tests */
} fit_problem;

typedef struct fit_answer {
    double k[HEX_KINDS]; /* in [0, 1] */
    double error;        /* relative Frobenius error of K_PBD against K_FEM, Eq. 13 */
    int evaluations;     /* of the objective; 0 for the direct solution */
} fit_answer;

/* The matrices of a problem, computed once by fit_prepare. */
typedef struct fit_matrices {
    fit_problem problem;
    double dt;                   /* s, Eq. 10: sqrt(||M|| / ||K_FEM||_F) */
    double K_fem[576], norm_fem; /* N/m */
    double J[HEX_KINDS][576];    /* -d(delta p)/du per unit stiffness of each kind: K_PBD = (m / dt^2) sum k J */
    double gram[HEX_KINDS][HEX_KINDS], right[HEX_KINDS]; /* linear least-squares problem, K_FEM in units of m/dt^2 */
    linear_constraint *constraint;                       /* of the element */
    size_t constraints;
} fit_matrices;

pbd_status fit_prepare(const fit_problem *problem, fit_matrices *out);
void fit_release(fit_matrices *m);

/* Writes K_PBD for stiffnesses k and the problem's iterations, N/m, row-major 24 x 24 (Eq. 9 with the sign of R-2). */
void fit_stiffness_matrix(const fit_matrices *m, const double k[HEX_KINDS], double K[576]);
/* Returns the relative error of Eq. 13. */
double fit_error(const fit_matrices *m, const double k[HEX_KINDS]);

/* Solves Eq. 11 for one iteration: linear least squares with 0 <= k <= 1. The problem is strictly convex, and its four
 * unknowns allow the enumeration of all active sets: the best feasible one is the exact solution. */
pbd_status fit_bounded_least_squares(const fit_matrices *m, fit_answer *out);
/* Solves Eq. 11 by Nelder-Mead, as the paper's fminsearch (NLopt, whose reflection keeps the bounds), from k = `start`
 * for every kind; for any number of iterations. */
pbd_status fit_by_nelder_mead(const fit_matrices *m, double start, fit_answer *out);
/* The paper's conjecture (section 6): fits the three deformation tests on the element instead of K. Minimises the sum
 * of squared relative displacement errors of torsion, shear and traction at static rest, from several starts. */
pbd_status fit_to_deformation_tests(const fit_matrices *m, fit_answer *out);

/* Evaluates the printed polynomials (section 5.1; the lower branch below nu = 0.29), clamped to [0, 1]. */
void fit_polynomials(double nu, double k[HEX_KINDS]);

/* Compares K of one Gauss-Seidel sweep, averaged over `samples` random orders (section 3, L119), with K of Jacobi:
 * *difference = ||mean K_GS - K_J|| / ||K_J||, *spread = root mean square of ||K_GS - mean|| / ||mean||. */
pbd_status fit_sample_orders(const fit_matrices *m, const double k[HEX_KINDS], int samples, uint64_t seed,
                             double *difference, double *spread);

#endif
