/* Two-way contact with friction between a method's particles and the triangles of a cloth. Contact law:
 * cloth_contact_kernels.h.
 *
 * The particles' solver owns rows x and v (the fourth column of v: inverse mass, 1/kg) and works on velocities; the
 * cloth works on positions. After the prediction of both, cloth_contact_begin searches candidate pairs (a linear BVH,
 * mesh_tree.h); cloth_contact_iterate follows in each iteration. Contacts are not kept between steps: a particle that
 * approaches by more than d in one step passes through. */
#ifndef PBD_CLOTH_CONTACT_H
#define PBD_CLOTH_CONTACT_H

#include "methods/physics/parts/cloth.h"

PBD_PRECISE(cloth_contact_create, cloth_contact_free, cloth_contact_begin, cloth_contact_iterate, cloth_contact_record,
            cloth_contact_arrays)

typedef struct cloth_contact_settings {
    size_t particles;
    double distance; /* m: d, from a particle's centre to the cloth's mid-surface */
    double friction; /* Coulomb's coefficient */
    double time;     /* s: a step corrects the fraction dt/time of initial penetration; 0: all of it */
} cloth_contact_settings;

typedef struct cloth_contact cloth_contact;

pbd_status cloth_contact_create(const cloth *c, const cloth_contact_settings *settings, pbd_exec *exec,
                                pbd_recorder *recorder, cloth_contact **out);
void cloth_contact_free(cloth_contact *c); /* NULL-safe */
/* Rows of the saved state (device_state.h): the extremes measured so far. */
size_t cloth_contact_arrays(cloth_contact *c, device_array *row);

/* Finds the contacts of a step and records cloth_contacts (touching). x: positions; v: velocities. The rows may be in
 * any order, which must not change until the last iteration. Waits. */
pbd_status cloth_contact_begin(cloth_contact *c, const real *x, const real *v, double dt);
pbd_status cloth_contact_iterate(cloth_contact *c, real *v);
/* Records cloth_penetration (largest penetration at the start of a step, m) and most_cloth_contacts (largest number of
 * touching contacts). */
pbd_status cloth_contact_record(cloth_contact *c);

#endif
