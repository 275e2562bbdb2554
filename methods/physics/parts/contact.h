/* Contact for methods that move particles: pairs of particles with radii (cao2023 section 4.2, Eq. 12), and rigid
 * colliders, both with Coulomb friction.
 *
 * A solver owns rows x (where the substep began) and p (predicted, with the inverse mass as the fourth). It calls
 * contact_begin once a substep after prediction, contact_iterate after each sweep of its constraints, contact_end when
 * p is final, and contact_record for the metrics. Where the scene has neither colliders nor particles with radii, each
 * call returns at once and nothing is allocated.
 *
 * Pairs are searched at predicted positions, with a margin; the lists are kept while no particle has moved by a quarter
 * of it, so that another quarter is left for the sweeps. One pass is Jacobi's: all pushes are computed, then applied.
 * The printed sum over all pairs of a particle overshoots where many meet: by default each pair takes a share of its
 * push. It is one number for the pair, which conserves momentum, and small enough that no crowd diverges (find_pushes;
 * contact_sum=printed: the plain sum).
 *
 * Lists are in ascending order of particles, so that results do not depend on when they were made. Results do not
 * depend on threads, and on the backend by rounding only. Lists are stored in slices, the candidates of several
 * particles side by side, so that a batch handles one of each at once. The pairs that overlap in a pass are stored when
 * the shares are computed, and the pushes visit only those. On a GPU launches do not wait: there the phases
 * contact_search and contact are the host's time. */
#ifndef PBD_CONTACT_H
#define PBD_CONTACT_H

#include "methods/params.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(contact_create, contact_free, contact_set_bodies, contact_begin, contact_iterate, contact_end,
            contact_record)

/* Of every method with contact. */
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
    size_t particles, radii, members;                  /* radii: all or none; members: of pairs, with a radius > 0 */
    bool pairs, walled;                                /* walled: there are colliders */
    bool between, stale;                               /* stale: pairs are searched again in any case */
    double self_distance, friction, margin, tolerance; /* m; -; m; m */
    uint64_t rows;                                     /* of all slices of lists */
    double filled;                                     /* share of their places that holds a candidate */
    size_t capacity;                                   /* entries that fit */
    size_t touching_sides;                             /* of pairs that touched when last recorded */
    double most_pairs;
    grid grid;
    const collider_poses *walls;
    /* Device: contact_kernels.h says what they hold. */
    real *radius, *rest, *body;
    uint32_t *count, *kept, *key, *order, *slice, *own, *list, *touching, *touches, *overlaps;
    real *reach, *crowd, *push, *depth, *near, *beyond, *block;
} contact;

/* walls: the scene's colliders, moved by the caller, who keeps them. particle: the scene's particle in each of the
 * solver's rows; NULL: the same order. PBD_BAD_INPUT for invalid radii. *c may be freed also after an error. */
pbd_status contact_create(contact *c, const pbd_scene *scene, const collider_poses *walls, const uint32_t *particle,
                          pbd_exec *exec, pbd_recorder *recorder, contact_settings set);
void contact_free(contact *c); /* safe on a zeroed one */
/* After a cut: the body of each particle, by the solver's rows. Waits. */
pbd_status contact_set_bodies(contact *c, const uint32_t *body);
/* Once a substep, of predicted positions. */
pbd_status contact_begin(contact *c, const real *p);
pbd_status contact_iterate(contact *c, const real *x, real *p);
/* Measures; the worst value of all substeps is kept. */
pbd_status contact_end(contact *c, const real *p);
/* deepest_penetration, contact_pairs (that touch, to a hundredth of their distance), most_contact_pairs (of the times
 * recorded), smallest_far_distance of pairs of one body, particles_ever_outside (whose centre has been beyond a
 * collider's surface). Waits. */
pbd_status contact_record(contact *c);

#endif
