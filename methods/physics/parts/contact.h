/* Contact of particles with each other (radii; cao2023 section 4.2, Eq. 12) and with rigid colliders, both with Coulomb
 * friction.
 *
 * A solver owns rows x (start of the substep) and p (predicted; the fourth is the inverse mass). In each substep it
 * calls contact_begin after prediction, contact_iterate after each sweep of its constraints, and contact_end when p is
 * final; contact_record records the metrics. Without colliders and radii all calls return at once and nothing is
 * allocated.
 *
 * Pairs are searched at predicted positions with a margin; the lists are kept until a particle has moved by a quarter
 * of the margin, which leaves another quarter for the sweeps. A pass is a Jacobi iteration: all pushes are computed,
 * then applied. The sum over all pairs of a particle, as printed in the paper, overshoots where a particle has many
 * pairs. By default each push is therefore scaled by a factor per pair, which conserves momentum and prevents
 * divergence (find_pushes; contact_sum=printed: the plain sum).
 *
 * Lists are in ascending order of particles, so that results do not depend on when they were built. Results do not
 * depend on threads, and on the backend only by rounding. Lists are stored in slices, with the candidates of several
 * particles interleaved, so that a batch handles one candidate of each. Overlapping pairs are stored when the factors
 * are computed, and the pushes visit only those. On a GPU launches do not wait, so the phases contact_search and
 * contact measure host time. */
#ifndef PBD_CONTACT_H
#define PBD_CONTACT_H

#include "methods/params.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(contact_create, contact_free, contact_set_bodies, contact_begin, contact_iterate, contact_end,
            contact_record)

/* Parameters of every method with contact. */
#define CONTACT_PARAMS(REAL, INTEGER, CHOICE)                                                         \
    CHOICE(contact_sum, "shared", (shared, printed),                                                  \
           "pushes of all pairs of a particle: a share of each, or their plain sum (cao2023 Eq. 12)") \
    REAL(contact_relaxation, "", "1.9", 0, 64, PBD_OPEN_MIN,                                          \
         "contact_sum=shared: factor of the share at which pushes cannot overshoot; stable below 2")  \
    REAL(contact_margin, "", "0.5", 0, 10, PBD_OPEN_MIN,                                              \
         "search distance beyond contact, in diameters of the largest particle")
PBD_SETTINGS(contact_settings, CONTACT_PARAMS)

typedef struct contact {
    pbd_exec *exec;
    pbd_recorder *recorder;
    contact_settings set;
    size_t particles, radii, members;                  /* radii: all or none; members: particles with a radius > 0 */
    bool pairs, walled;                                /* walled: the scene has colliders */
    bool between, stale;                               /* stale: pairs must be searched again */
    double self_distance, friction, margin, tolerance; /* m; -; m; m */
    uint64_t rows;                                     /* of all slices of lists */
    double filled;         /* fraction of list entries that are candidates; the rest is padding */
    size_t capacity;       /* entries allocated */
    size_t touching_sides; /* pairs that touched when last recorded, each twice */
    double most_pairs;
    grid grid;
    const collider_poses *walls;
    /* Device; contents: contact_kernels.h. */
    real *radius, *rest, *body;
    uint32_t *count, *kept, *key, *order, *slice, *own, *list, *touching, *touches, *overlaps;
    real *reach, *crowd, *push, *depth, *near, *beyond, *block;
} contact;

/* walls: the scene's colliders; the caller owns and moves them. particle: the scene's particle of each row; NULL: the
 * same order. PBD_BAD_INPUT for invalid radii. *c may be freed also after an error. */
pbd_status contact_create(contact *c, const pbd_scene *scene, const collider_poses *walls, const uint32_t *particle,
                          pbd_exec *exec, pbd_recorder *recorder, contact_settings set);
void contact_free(contact *c); /* safe on a zeroed one */
/* Sets the body of each row's particle, after a cut. Waits. */
pbd_status contact_set_bodies(contact *c, const uint32_t *body);
/* Once per substep; p: predicted positions. */
pbd_status contact_begin(contact *c, const real *p);
pbd_status contact_iterate(contact *c, const real *x, real *p);
/* Measures penetrations; keeps the worst of all substeps. */
pbd_status contact_end(contact *c, const real *p);
/* Records deepest_penetration, contact_pairs (touching, within a hundredth of the contact distance), most_contact_pairs
 * (over all records), smallest_far_distance (of pairs within one body), particles_ever_outside (whose centre was beyond
 * a collider's surface). Waits. */
pbd_status contact_record(contact *c);

#endif
