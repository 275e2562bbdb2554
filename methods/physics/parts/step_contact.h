/* Colliders inside the global step of a constant matrix A (step_matrix.h), for solvers whose iteration moves all
 * particles by d = -A^-1 grad G. The move becomes
 *
 *     d + A^-1 f,   f: contact forces with which every particle is outside the colliders at the end of the move,
 *
 * by the law of collider_push for each particle: f acts along the normal, is zero without contact, and Coulomb friction
 * bounds its tangential part. Without friction, on convex colliders, that is the minimum of the model of G under the
 * constraints, so that iterations end where G is least outside the colliders. To push particles out of them after an
 * unconstrained move is no such step: where A couples particles, its fixed points are no minimum, and energy is gained.
 *
 * Particles that touched are coupled by entries of A^-1, a column for each, solved once for a step size. Their forces
 * are found by block Gauss-Seidel on these (Jourdan, Alart and Jean 1998): the force of one is what pushes it out, with
 * those of the others held. Colliders are those of the end of the substep, as everywhere, and friction is of the motion
 * against theirs. Host code, the same bits for any number of threads. */
#ifndef PBD_STEP_CONTACT_H
#define PBD_STEP_CONTACT_H

#include "methods/physics/parts/step_matrix.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(step_contact_create, step_contact_free, step_contact_begin, step_contact_move, step_contact_forces,
            step_contact_end)

typedef struct step_contact {
    collider_poses *walls; /* of the method; count 0: all calls return at once */
    collider_poses meshed; /* the same with meshes in the memory of the host; count 0: no collider is a mesh */
    pbd_exec *host;        /* of `meshed` */
    step_matrix *matrix;
    double *radius;                /* particles, m */
    double limit;                  /* m: what is left of a penetration */
    size_t touching, room;         /* particles that touched so far, with this step size */
    bool acts;                     /* any force of the last move is not zero */
    uint32_t *particle;            /* by touching one */
    bool *listed;                  /* by particle */
    double *column;                /* touching x particles, m/N: columns of A^-1 */
    double *force;                 /* touching x 3, N */
    double *at, *scratch, *moving; /* particles x 3, m; touching x 3; touching x 3, m */
    double *sums;                  /* particles x COLLIDER_SUMS: of the substep; NULL: no collider moves */
    double factored;               /* s: the step size of the columns */
} step_contact;

/* walls, matrix: of the caller, who moves the colliders and factorises before step_contact_begin. *c may be freed also
 * after an error. */
pbd_status step_contact_create(step_contact *c, const pbd_scene *scene, collider_poses *walls, step_matrix *matrix);
void step_contact_free(step_contact *c); /* safe on a zeroed one */
/* Before the first move of a substep from `time` on, s: forces are zero. */
pbd_status step_contact_begin(step_contact *c, double time);
/* start: positions at the start of the substep; from: present ones; move: becomes the constrained one. Particles x 3,
 * m. *rounds: of Gauss-Seidel. */
pbd_status step_contact_move(step_contact *c, const double *start, const double *from, double *move, long *rounds);
/* The forces of the last move, particles x 3, N. */
void step_contact_forces(const step_contact *c, double *out);
/* After the last move of a substep: its impulses and their work are added to the sums of `walls`. start: as above. */
void step_contact_end(step_contact *c, const double *start);

#endif
