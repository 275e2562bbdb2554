/* Cloth coupled with the continua of xpbi (yu2024 section 4.4, Figure 3). Its vertices are separate rows outside the
 * layout. In each iteration its constraints are projected on positions, and contact exchanges momentum with the
 * particles. */
#ifndef PBD_XPBI_CLOTH_H
#define PBD_XPBI_CLOTH_H

#include "methods/physics/parts/cloth.h"
#include "methods/physics/parts/cloth_contact.h"
#include "methods/physics/parts/stepper.h"
#include "methods/xpbi/scene_matter.h"

PBD_PRECISE(xpbi_cloth_create, xpbi_cloth_read, xpbi_cloth_part)

typedef struct xpbi_cloth {
    cloth *cloth; /* NULL: no cloth */
    stepper *run; /* the cloth's stepper; its steps are those of xpbi */
    cloth_contact *contact;
    scene_part part, rest; /* indices of vertices, and of all other particles, in the whole scene */
} xpbi_cloth;

/* Splits the scene; c->rest.scene is the part of xpbi. The contact distance is the sum of the largest radii, or half a
 * spacing. *c can be freed after an error too. */
pbd_status xpbi_cloth_create(xpbi_cloth *c, const pbd_scene *scene, double damping, double time, pbd_exec *exec,
                             pbd_recorder *recorder);

/* Its `self` is the xpbi_cloth. */
extern const step_part xpbi_cloth_part;

/* Writes the field of the whole scene. rest: the field that xpbi has read, in the order of its part. For cloth, F is 1
 * and fields of liquid are 0. */
pbd_status xpbi_cloth_read(const xpbi_cloth *c, pbd_field field, const double *rest, double *out);

#endif
