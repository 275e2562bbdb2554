/* Balances of energy and momentum of a moving run, from the fields that a method reports.
 *
 *   E = K + Psi + U     kinetic energy, elastic energy (scene_energy.h), potential energy of gravity
 *   W                   work of the scene's constant forces, of moving colliders, and of moving held particles
 *   energy_gain         max over t of [E(t) - E(0) - W(t)] over max over t of [K + Psi + |U(t) - U(0)| + |W|]
 *   momentum_drift      the larger of two numbers. Linear: the change of momentum that gravity, forces and colliders do
 *                       not explain, over the largest sum of m |v|. Angular, about the centre of mass: the part that is
 *                       not s times the momentum at the start, 0 <= s <= 1, over the largest sum of m |r x v|.
 *                       Integrators may lose angular momentum, but must not create it. What a method keeps of it beside
 *                       the particles' velocities counts (PBD_SPIN)
 *
 * A run is sampled at its start, at regular intervals of steps, where forces end, and at its end; sampling does not
 * change the solver. Unknown parts of Psi are left out (scene_energy.h), so that they never make energy_gain too large.
 * Held particles that stand still do no work. Those that move (pbd_pour) have one velocity u, and are driven by the
 * impulse j that remains of the change of momentum after gravity, forces and colliders: its work is u.j (pour_work),
 * which hides any momentum along u that a method gains or loses. If one of the other impulses is unknown, energies are
 * not judged. If a collider moves, its work is what the method summed (PBD_COLLIDER_SUMS: collider_work,
 * contact_dissipation); if the method sums nothing, the balance starts again when the colliders stand still.
 * The dissipation of flow rules is recorded if the method sums it (PBD_PLASTIC_DISSIPATION: plastic_dissipation).
 * Energies below the energy of a start that is tolerated as rest are not judged. Momentum is judged in scenes without
 * held particles and without damping of velocities; in scenes with colliders only linear momentum, and only if a
 * collider moves. */
#ifndef PBD_BALANCE_H
#define PBD_BALANCE_H

#include <stdio.h>

#include "harness/catalog/registry.h"

#define PBD_BALANCE_WARNS 0.01      /* energy_gain or momentum_drift above it is a warning */
#define PBD_BALANCE_UNPHYSICAL 0.10 /* likewise: above it the run is `unphysical` */

typedef struct pbd_balance pbd_balance;

/* steps: number in the run; 0: unknown. dt: s. The scene and the method are borrowed. */
pbd_status pbd_balance_create(const pbd_scene *scene, const pbd_method *method, const pbd_values *values,
                              pbd_precision precision, double dt, long steps, pbd_balance **out);
void pbd_balance_free(pbd_balance *balance); /* NULL-safe */

/* Whether the state after `step` steps is to be sampled. Called for each step, from 0 on. */
bool pbd_balance_wants(pbd_balance *balance, long step);
/* Samples the state after the step of the last pbd_balance_wants. A non-finite state is skipped. Without velocities
 * there is no balance. */
pbd_status pbd_balance_sample(pbd_balance *balance, const void *state);

/* Sum of kinetic, elastic and gravitational energy at the last sample, J, the last relative to the positions at rest;
 * NAN: no sample yet. */
double pbd_balance_energy(const pbd_balance *balance);

/* Samples the last state and records energy_gain, momentum_drift, collider_work, contact_dissipation, warnings and the
 * series energy_balance. PBD_UNPHYSICAL when energy_gain or momentum_drift is above PBD_BALANCE_UNPHYSICAL. */
pbd_status pbd_balance_end(pbd_balance *balance, const void *state, pbd_recorder *recorder);

/* For a paused run (pause.h): writes the balance so far, and loads it into a newly created balance. Sums of colliders
 * restart with a loaded state. */
pbd_status pbd_balance_save(const pbd_balance *balance, const void *state, FILE *file);
pbd_status pbd_balance_load(pbd_balance *balance, FILE *file);

#endif
