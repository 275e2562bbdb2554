/* Tears and clumps of elastic matter sampled by particles, from positions alone, for every method and case.
 *
 * Counted are particles of a continuum with E > 0, without a flow rule or a yield strain, in a scene with a spacing and
 * under a method of samples (PBD_NEEDS_SAMPLES). Matter that flows or yields, and liquid, need not keep its neighbours;
 * a mesh keeps its own. Scenes with blades are left out, since the pairs that a blade separates depend on where the
 * body is at that time.
 *
 *   pairs      of such particles of one body, nearer at rest than 1.75 spacings: on a cubic lattice the 26 neighbours,
 *              within the smallest support radius of a method here (1.8)
 *   F_i        the linear map that fits the pairs of particle i best (Falk and Langer 1998, Phys. Rev. E 57, 7192)
 *   explained  (|F_i X| + |F_j X|)/2, length of the pair by the deformation around it; X, L at rest, l now
 *   torn       share of pairs with l > 1.5 max(L, explained): each end is nearer to the next site than to its own
 *   clumped    share of pairs with l < 0.5 L and l < 0.5 explained
 *
 * So homogeneous deformation, however large, and rotation neither tear nor clump. A crack stretches the fits beside it.
 * Pairs longer than 1.2 max(L, explained) are therefore left out of the fits, which are repeated until no further pair
 * is left out; clumps are counted with the first fits. */
#ifndef PBD_TEARS_H
#define PBD_TEARS_H

#include "methods/method.h"

/* Values of torn and clumped above it are warnings. A crack through a body of n x n x n particles is 0.7/n of its
 * pairs; a lone particle in 26,000 pairs is about enough for a warning. */
#define PBD_TEARS_WARN 1e-3

typedef struct tear_count {
    size_t pairs, torn, clumped;
} tear_count;

/* Whether a material keeps its neighbours: a continuum with E > 0 that neither flows nor yields. */
bool pbd_is_elastic(const pbd_material *material);

/* x: particles x 3, m. Pairs with a non-finite position are torn. out->pairs 0: no such matter. */
pbd_status pbd_tears_count(const pbd_scene *scene, const pbd_method *method, const double *x, tear_count *out);

/* Records torn and clumped of these positions and their warnings, if there are pairs. */
pbd_status pbd_tears_record(const pbd_scene *scene, const pbd_method *method, const double *x, pbd_recorder *recorder);

#endif
