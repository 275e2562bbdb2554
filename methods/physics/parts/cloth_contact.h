/* Two-way contact, with friction, between particles of a method and the triangles of a cloth. cloth_contact_kernels.h
 * has the law.
 *
 * The particles' solver owns rows x and v (1/kg the fourth) and works on velocities; the cloth works on positions.
 * Between the prediction of both and the end of the step: cloth_contact_begin once, which searches candidate pairs (a
 * linear BVH, mesh_tree.h), then cloth_contact_iterate in each iteration. Contacts are not carried from step to step: a
 * particle that approaches by more than d in one step passes through. */
#ifndef PBD_CLOTH_CONTACT_H
#define PBD_CLOTH_CONTACT_H

#include "methods/physics/parts/cloth.h"

PBD_PRECISE(cloth_contact_create, cloth_contact_free, cloth_contact_begin, cloth_contact_iterate, cloth_contact_record)

typedef struct cloth_contact_settings {
    size_t particles;
    double distance; /* m: d, of a particle's middle from the cloth's */
    double friction; /* Coulomb's coefficient */
    double time;     /* s: gaps below 0 when a step begins gain dt over this of what they lack; 0: all at once */
} cloth_contact_settings;

typedef struct cloth_contact cloth_contact;

pbd_status cloth_contact_create(const cloth *c, const cloth_contact_settings *settings, pbd_exec *exec,
                                pbd_recorder *recorder, cloth_contact **out);
void cloth_contact_free(cloth_contact *c); /* NULL-safe */

/* x: where particles are, v: their velocities now; both in any order, which must hold until the last iterate. Waits. */
pbd_status cloth_contact_begin(cloth_contact *c, const real *x, const real *v, double dt);
pbd_status cloth_contact_iterate(cloth_contact *c, real *v);
/* cloth_penetration (of d, the deepest when a step began), cloth_contacts and most_cloth_contacts (that touch). Waits.
 */
pbd_status cloth_contact_record(cloth_contact *c);

#endif
