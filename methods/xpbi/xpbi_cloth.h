/* Cloth among the continua of xpbi (yu2024 section 4.4, Figure 3): its vertices are rows of their own, which nothing of
 * the layout knows of; in each iteration its constraints are projected on positions, and contact gives and takes
 * velocities of particles. */
#ifndef PBD_XPBI_CLOTH_H
#define PBD_XPBI_CLOTH_H

#include "methods/physics/parts/cloth.h"
#include "methods/physics/parts/cloth_contact.h"
#include "methods/physics/parts/stepper.h"
#include "methods/xpbi/scene_matter.h"

PBD_PRECISE(xpbi_cloth_create, xpbi_cloth_read, xpbi_cloth_part)

typedef struct xpbi_cloth {
    cloth *cloth; /* NULL: there is none */
    stepper *run; /* the cloth's own, a step of which is a step of xpbi */
    cloth_contact *contact;
    scene_part part, rest; /* numbers of vertices and of all others in the whole scene */
} xpbi_cloth;

/* Takes the scene apart; c->rest.scene is what is left for xpbi. Distances are the sums of the largest radii, or half
 * a spacing. *c may be freed also after an error. */
pbd_status xpbi_cloth_create(xpbi_cloth *c, const pbd_scene *scene, double damping, double time, pbd_exec *exec,
                             pbd_recorder *recorder);

/* It takes the xpbi_cloth. */
extern const step_part xpbi_cloth_part;

/* rest: what xpbi has read, in the order of its part. Of a cloth's vertex F is 1 and what liquid has is 0. */
pbd_status xpbi_cloth_read(const xpbi_cloth *c, pbd_field field, const double *rest, double *out);

#endif
