/* The state of fem_implicit: the mesh with its shape gradients and volumes, the matrix, masses and loads (fem_body.c),
 * and the working data of a solve (fem_implicit.c). */
#ifndef PBD_FEM_BODY_H
#define PBD_FEM_BODY_H

#include <math.h>

#include "harness/exec/real.h"
#include "methods/fem_implicit/elements.h"
#include "methods/fem_implicit/material.h"
#include "methods/params.h"
#include "methods/physics/math/sparse.h"

PBD_PRECISE(fem_body_create, fem_body_free)

#define FEM_IMPLICIT_PARAMS(REAL, INTEGER, CHOICE)                                                         \
    CHOICE(element, "hex27", (tet4, tet10, hex8, hex27), "finite element; the quadratic ones do not lock") \
    CHOICE(mass, "consistent", (consistent, lumped),                                                       \
           "of inertia and gravity; lumped: the scene's masses of particles, of linear elements only")     \
    CHOICE(integrator, "backward_euler", (backward_euler, implicit_midpoint), "of moving scenes")          \
    REAL(dt, "s", "0.005", 0, 1e3, PBD_OPEN_MIN, "time step of moving scenes")                             \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities, by mass")                                         \
    CHOICE(plastic_flow, "von_mises", (von_mises, whole),                                                  \
           "yield_strain>0: yield by the deviatoric strain, or by the whole strain (C-9)")                 \
    INTEGER(load_steps, "1", 1, 10000, "smallest number of load steps")                                    \
    REAL(newton_tolerance, "", "1e-10", 0, 1, 0, "residual force over load; 0: to the level of rounding")  \
    INTEGER(newton_iterations, "60", 1, 10000, "largest number in one load or time step")                  \
    CHOICE(residual, "off", (off, last),                                                                   \
           "last: of the last time step, after each iteration, over that before the first, with the time it took")
PBD_SETTINGS(fem_implicit_settings, FEM_IMPLICIT_PARAMS)

typedef struct fem_implicit {
    element_mesh mesh;
    element_rule rule;
    material material;
    size_t dofs, particles;
    double *gradient; /* elements x points x corners x 3, 1/m */
    double *volume;   /* elements x points, m^3 */
    double *pull;     /* elements x points: root of the sum of |gradient|^2, 1/m */
    pbd_sparse matrix;
    pbd_factors *factors; /* of `matrix`; its column order is kept */
    int *place;           /* of pbd_sparse_find_places */
    double *mass;         /* kg: values of the mass matrix of the free unknowns, in the pattern of `matrix` */
    double *load;         /* nodes x 3, N: gravity and forces, a dead load */
    double *later;        /* nodes x 3, N: gravity alone, the load after the forces end; NULL: they act throughout */
    double *u, *v;        /* nodes x 3: displacement, m, and velocity, m/s */
    double *plastic;      /* elements x points x PLASTIC_ENTRIES: plastic Green strain; NULL: elastic */
    double time;          /* s */
    double watched;       /* s: the scene's duration, if the residuals of its last step are recorded; else 0 */
    struct {
        double first, begun; /* the first residual, N; the wall-clock time then, s */
        bool now;
    } watch;
    /* Of the running step. */
    const double *acting; /* load or later */
    double inertia;       /* c, 1/s^2 */
    double *target;       /* m */
    double fraction;      /* of the load */
    double *residual;     /* nodes x 3: -dPi/du at u, N; 0 where held */
    double *step;         /* nodes x 3: Newton step, m */
    double *trial, *trial_residual;
    double *work, *packed; /* scratch: nodes x 3; free unknowns */
    double *middle;        /* nodes x 3, m: the unknown of a time step */
    fem_implicit_settings set;
    double yield, creep, forces_end;
    pbd_residual *left; /* where the residual of the running step or solve is written; NULL: nowhere */
    double ended[2];    /* the last residual and its rounding, both over the load */
    pbd_recorder *recorder;
} fem_implicit;

/* By element and quadrature point. */
static inline double *fem_gradients_at(const fem_implicit *fem, size_t element, int q) {
    return fem->gradient + 3 * (size_t)fem->mesh.corners * (element * (size_t)fem->rule.points + (size_t)q);
}
static inline double fem_volume_at(const fem_implicit *fem, size_t element, int q) {
    return fem->volume[element * (size_t)fem->rule.points + (size_t)q];
}

static inline size_t fem_plastic_entries(const fem_implicit *fem) {
    return PLASTIC_ENTRIES * fem->mesh.elements * (size_t)fem->rule.points;
}
static inline double *fem_plastic_at(const fem_implicit *fem, size_t element, int q) {
    return fem->plastic ? fem->plastic + PLASTIC_ENTRIES * (element * (size_t)fem->rule.points + (size_t)q) : NULL;
}

static inline double fem_norm(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Reads fem->set and fem->recorder; all other members must be zero. Call fem_body_free also after an error. */
pbd_status fem_body_create(fem_implicit *fem, const pbd_scene *scene);
void fem_body_free(fem_implicit *fem); /* frees what *fem points to; safe on a zeroed one */

#endif
