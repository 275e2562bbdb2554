/* Balances of energy and momentum of a run that moves, from what a method reports of its state.
 *
 *   E = K + Psi + U     kinetic energy, elastic energy (scene_energy.h), potential energy of gravity
 *   W                   work of the scene's constant forces, of moving colliders, and of what moves held particles
 *   energy_gain         max over t of [E(t) - E(0) - W(t)] over max over t of [K + Psi + |U(t) - U(0)| + |W|]
 *   momentum_drift      the change of linear momentum that gravity, forces and colliders do not explain, over the
 *                       largest sum of m |v|; or the angular momentum about the centre of mass that is not a share
 *                       between 0 and 1 of that at the start, over the largest sum of m |r x v|: integrators lose it,
 *                       none may make it; what a method keeps of it beside the particles' velocities counts (PBD_SPIN)
 *
 * A run is sampled at its start, every so many steps, where forces end, and at its end; nothing in the solver changes.
 * What is not known of Psi is left out (scene_energy.h), so that energy_gain is never too large by it. Held particles
 * that stand still do no work. Those that move (pbd_pour) have one velocity u, and what moves them gives the impulse j
 * that gravity, forces and colliders leave of the change of momentum: its work is u.j (pour_work), which hides what a
 * method gains or loses of momentum along u. Where one of the others is not known, energies are not judged. Where a
 * collider moves, its work is what the method summed (PBD_COLLIDER_SUMS: collider_work, contact_dissipation); if the
 * method sums nothing, the balance starts again when colliders stand still.
 * What flow rules dissipate is recorded where the method sums it (PBD_PLASTIC_DISSIPATION: plastic_dissipation).
 * Energies below those of a start that is tolerated as rest are not judged. Momentum is judged in scenes without held
 * particles where no velocity is damped, and where colliders are, only the linear one and if one of them moves. */
#ifndef PBD_BALANCE_H
#define PBD_BALANCE_H

#include <stdio.h>

#include "harness/catalog/registry.h"

#define PBD_BALANCE_WARNS 0.01      /* of energy_gain and momentum_drift */
#define PBD_BALANCE_UNPHYSICAL 0.10 /* likewise: the state of the run */

typedef struct pbd_balance pbd_balance;

/* steps: of the run, 0: unknown. The scene, the method and its state are borrowed. */
pbd_status pbd_balance_create(const pbd_scene *scene, const pbd_method *method, const pbd_values *values,
                              pbd_precision precision, double dt, long steps, pbd_balance **out);
void pbd_balance_free(pbd_balance *balance); /* NULL-safe */

/* Whether the state after `step` steps is to be sampled. Called for each step, from 0 on. */
bool pbd_balance_wants(pbd_balance *balance, long step);
/* Samples the state after the step last asked about. A state that is not finite is left out. Without velocities there
 * is no balance. */
pbd_status pbd_balance_sample(pbd_balance *balance, const void *state);

/* Kinetic, elastic and gravitational energy at the last sample, J, the last from its start on; NAN: no sample yet. */
double pbd_balance_energy(const pbd_balance *balance);

/* Samples the last state and records energy_gain, momentum_drift, collider_work, contact_dissipation, warnings and the
 * series energy_balance.
 * PBD_UNPHYSICAL when either is above PBD_BALANCE_UNPHYSICAL. */
pbd_status pbd_balance_end(pbd_balance *balance, const void *state, pbd_recorder *recorder);

/* Of a run that is paused (pause.h): what it knows so far, and a balance just created that goes on from there. Sums of
 * colliders begin anew with a loaded state. */
pbd_status pbd_balance_save(const pbd_balance *balance, const void *state, FILE *file);
pbd_status pbd_balance_load(pbd_balance *balance, FILE *file);

#endif
