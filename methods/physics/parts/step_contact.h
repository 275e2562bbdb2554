/* Colliders inside the global step of a constant matrix A (step_matrix.h), for solvers whose iteration moves all
 * particles by d = -A^-1 grad G. The move becomes
 *
 *     d + A^-1 f,   f: contact forces with which every particle is outside the colliders at the end of the move
 *
 * Each particle obeys the law of collider_push: f acts along the normal, is zero without contact, and Coulomb friction
 * bounds its tangential part. Without friction and with convex colliders, the move is the minimum of the model of G
 * under the contact constraints, so the iterations converge to the constrained minimum of G. Pushing particles out
 * after an unconstrained move would not do this: where A couples particles, the fixed points of that scheme are not
 * minima, and energy is gained.
 *
 * Particles that have touched are coupled by entries of A^-1; a column for each is computed once per step size. Their
 * forces are found by block Gauss-Seidel (Jourdan, Alart and Jean 1998): each force is the one that pushes its particle
 * out while the others are fixed. Colliders are at their poses of the end of the substep, as everywhere, and friction
 * acts on the motion relative to them. Host code; results are bitwise the same for any number of threads. */
#ifndef PBD_STEP_CONTACT_H
#define PBD_STEP_CONTACT_H

#include "methods/physics/parts/step_matrix.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(step_contact_create, step_contact_free, step_contact_begin, step_contact_move, step_contact_forces,
            step_contact_end)

typedef struct step_contact {
    collider_poses *walls; /* the method's; count 0: all calls return at once */
    collider_poses meshed; /* the same, with meshes in host memory; count 0: no collider is a mesh */
    pbd_exec *host;        /* of `meshed` */
    step_matrix *matrix;
    double *radius;                /* particles, m */
    double limit;                  /* m: rounds end when no position changes by more */
    size_t touching, room;         /* particles that touched so far with this step size; allocated */
    bool acts;                     /* some force of the last move is not zero */
    uint32_t *particle;            /* by touching particle: its number */
    bool *listed;                  /* by particle */
    double *column;                /* touching x particles, m/N: columns of A^-1 */
    double *force;                 /* touching x 3, N */
    double *at, *scratch, *moving; /* particles x 3, m; particles x 3; touching x 3, m */
    double *sums;                  /* particles x COLLIDER_SUMS, for the substep; NULL: no collider moves */
    double factored;               /* s: step size of the columns */
} step_contact;

/* walls, matrix: owned by the caller, who moves the colliders and factorises before step_contact_begin. *c may be freed
 * also after an error. */
pbd_status step_contact_create(step_contact *c, const pbd_scene *scene, collider_poses *walls, step_matrix *matrix);
void step_contact_free(step_contact *c); /* safe on a zeroed one */
/* Call before the first move of the substep that begins at `time`, s: sets the forces to zero. */
pbd_status step_contact_begin(step_contact *c, double time);
/* start: positions at the start of the substep; from: present ones; move: the unconstrained move, becomes the
 * constrained one. Particles x 3, m. *rounds: number of Gauss-Seidel rounds. */
pbd_status step_contact_move(step_contact *c, const double *start, const double *from, double *move, long *rounds);
/* The forces of the last move, particles x 3, N. */
void step_contact_forces(const step_contact *c, double *out);
/* Call after the last move of a substep: adds its impulses and their work to the sums of `walls`. start: as above. */
void step_contact_end(step_contact *c, const double *start);

#endif
