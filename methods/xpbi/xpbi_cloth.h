/* Cloth among the continua of xpbi (yu2024 section 4.4, Figure 3): its vertices are rows of their own, which nothing of
 * the layout knows of; in each iteration its constraints are projected on positions, and contact gives and takes
 * velocities of particles. */
#ifndef PBD_XPBI_CLOTH_H
#define PBD_XPBI_CLOTH_H

#include "methods/physics/parts/cloth.h"
#include "methods/physics/parts/cloth_contact.h"
#include "methods/xpbi/scene_matter.h"

PBD_PRECISE(xpbi_cloth_create, xpbi_cloth_free, xpbi_cloth_begin, xpbi_cloth_meet, xpbi_cloth_iterate, xpbi_cloth_end,
            xpbi_cloth_bytes, xpbi_cloth_save, xpbi_cloth_load, xpbi_cloth_read)

typedef struct xpbi_cloth {
    pbd_recorder *recorder;
    cloth *cloth; /* NULL: there is none, and all of this does nothing */
    cloth_contact *contact;
    scene_part part, rest; /* numbers of vertices and of all others in the whole scene */
    bool walled;           /* the cloth meets colliders, and has their phase */
    double damping;
} xpbi_cloth;

void xpbi_cloth_free(xpbi_cloth *c);

/* Takes the scene apart; c->rest.scene is what is left for xpbi. Distances are the sums of the largest radii, or half
 * a spacing. *c may be freed whatever comes back. */
pbd_status xpbi_cloth_create(xpbi_cloth *c, const pbd_scene *scene, double damping, double time, pbd_exec *exec,
                             pbd_recorder *recorder);

/* After the particles' prediction. */
pbd_status xpbi_cloth_begin(xpbi_cloth *c, const real *x, const real *v, double dt);
pbd_status xpbi_cloth_meet(xpbi_cloth *c, real *v);
pbd_status xpbi_cloth_iterate(xpbi_cloth *c, real *v);
pbd_status xpbi_cloth_end(xpbi_cloth *c);
size_t xpbi_cloth_bytes(const xpbi_cloth *c);
pbd_status xpbi_cloth_save(const xpbi_cloth *c, void *blob);
pbd_status xpbi_cloth_load(xpbi_cloth *c, const void *blob);

/* rest: what xpbi has read, in the order of its part. Of a cloth's vertex F is 1 and what liquid has is 0. */
pbd_status xpbi_cloth_read(const xpbi_cloth *c, pbd_field field, const double *rest, double *out);

#endif
