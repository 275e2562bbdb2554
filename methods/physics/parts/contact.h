/* Contact for methods that move particles: pairs of particles with radii (cao2023 section 4.2, Eq. 12), and rigid
 * colliders, both with Coulomb friction.
 *
 * A solver owns rows x (where the substep began) and p (predicted, with the inverse mass as the fourth). It calls
 * contact_begin once a substep after prediction, contact_iterate after each sweep of its own constraints, contact_end
 * when p is final, and contact_record when numbers are wanted. Where its scene has neither colliders nor particles with
 * radii, each call returns at once and nothing is kept.
 *
 * Pairs are searched at predicted positions, with a margin; the lists are kept while no particle has moved by a quarter
 * of it, so that another quarter is left to what the sweeps do. One pass is Jacobi's: all pushes are found, then
 * applied. The printed sum over all pairs of a particle overshoots where many meet: by default each pair takes a share
 * of its push, one number for the pair, so that momentum is kept, chosen so that no crowd can diverge (find_pushes;
 * contact_sum=printed: the plain sum).
 *
 * Lists are in ascending order of particles, so that an answer does not depend on when they were made; and it does not
 * depend on threads, nor but for rounding on the backend. They stand in slices, the candidates of several particles
 * side by side, so that a batch looks at one of each at once; what overlaps in a pass is written down on the way to the
 * shares, and only that is looked at again for the pushes. On a GPU launches do not wait: there the phases
 * contact_search and contact say what the host took. */
#ifndef PBD_CONTACT_H
#define PBD_CONTACT_H

#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(contact_create, contact_free, contact_set_bodies, contact_begin, contact_iterate, contact_end,
            contact_record)

/* For the table of any method that has contact. */
static const char *const contact_sums[] = {"shared", "printed", NULL};
#define CONTACT_PARAMS                                                                                \
    {"contact_sum",                                                                                   \
     "",                                                                                              \
     PBD_CHOICE,                                                                                      \
     "shared",                                                                                        \
     0,                                                                                               \
     0,                                                                                               \
     0,                                                                                               \
     contact_sums,                                                                                    \
     "pushes of all pairs of a particle: a share of each, or their plain sum (cao2023 Eq. 12)"},      \
        {"contact_relaxation",                                                                        \
         "",                                                                                          \
         PBD_REAL,                                                                                    \
         "1.9",                                                                                       \
         0,                                                                                           \
         64,                                                                                          \
         PBD_OPEN_MIN,                                                                                \
         NULL,                                                                                        \
         "contact_sum=shared: factor of the share at which pushes cannot overshoot; stable below 2"}, \
    {                                                                                                 \
        "contact_margin", "", PBD_REAL, "0.5", 0, 10, PBD_OPEN_MIN, NULL,                             \
            "search distance beyond contact, in diameters of the largest particle"                    \
    }

typedef struct contact {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles, members;                                     /* members: with a radius */
    bool pairs, shared, walled;                                    /* walled: there are colliders */
    bool between, stale;                                           /* stale: pairs are searched again in any case */
    double self_distance, friction, relaxation, margin, tolerance; /* m; -; -; m; m */
    uint64_t rows;                                                 /* of all slices of lists */
    double filled;                                                 /* share of their places that holds a candidate */
    size_t capacity;                                               /* entries that fit */
    size_t touching_sides;                                         /* of pairs that touched when last recorded */
    double most_pairs;
    grid grid;
    collider_poses walls;
    /* Device: contact_kernels.h says what they hold. */
    real *radius, *rest, *body;
    uint32_t *count, *kept, *key, *order, *slice, *own, *list, *touching, *touches, *overlaps;
    real *reach, *crowd, *push, *depth, *near, *beyond, *block;
} contact;

/* particle: which of the scene stands where in the solver's rows; NULL: each at its own number. PBD_BAD_INPUT for
 * colliders and radii that make no sense. *c may be freed whatever comes back. */
pbd_status contact_create(contact *c, const pbd_scene *scene, const uint32_t *particle, pbd_exec *exec,
                          pbd_recorder *recorder, const pbd_values *values);
void contact_free(contact *c); /* safe on a zeroed one */
/* After a cut: the body of each particle, by the solver's rows. Waits. */
pbd_status contact_set_bodies(contact *c, const uint32_t *body);
/* For the substep from `time` to time + dt, s. */
pbd_status contact_begin(contact *c, const real *p, double time, double dt);
pbd_status contact_iterate(contact *c, const real *x, real *p);
/* Measures: the worst of all substeps is kept. */
pbd_status contact_end(contact *c, const real *p);
/* deepest_penetration, contact_pairs (that touch, to a hundredth of their distance), most_contact_pairs (of the times
 * recorded), smallest_far_distance of pairs of one body, particles_ever_outside (whose centre was ever beyond a
 * collider's surface). Waits. */
pbd_status contact_record(contact *c);

#endif
