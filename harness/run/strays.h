/* Particles that a run lost, from positions at its end alone, for every method and case.
 *
 * `escaped`, in scenes with colliders: the share of the free particles whose centre is beyond a collider
 * (clearance_beyond). Nothing may cross a rigid wall, so one particle is a warning. The run is `unphysical` above 1 %,
 * since 99 % quantiles such as run_out_99 then depend on matter that has left the scene.
 *
 * `lone`, of matter that flows, yields or is liquid, under a method of samples (PBD_NEEDS_SAMPLES): the share of the
 * particles without another one within two spacings, which is beyond the kernels' support. Elastic matter has `torn`
 * (tears.h). It is a warning above 1 %, for the same reason, and never changes the state of the run: spray is
 * possible, though a continuum method cannot tell. */
#ifndef PBD_STRAYS_H
#define PBD_STRAYS_H

#include "methods/method.h"

#define PBD_LONE_WARN 0.01
#define PBD_ESCAPED_UNPHYSICAL 0.01

/* Records `escaped` and `lone` of the positions x (particles x 3, m) at `time`, s, and their warnings. PBD_UNPHYSICAL:
 * see above. */
pbd_status pbd_strays_record(const pbd_scene *scene, const pbd_method *method, const double *x, double time,
                             pbd_recorder *recorder);

#endif
