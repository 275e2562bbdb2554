/* Parameters of motion of deformable bodies, and measurements of a state from its positions and velocities, for any
 * method. */
#ifndef PBD_BODY_H
#define PBD_BODY_H

#include "cases/case.h"
#include "methods/physics/matter/law_table.h"

/* mode and duration, for use in a table of parameters. */
#define PBD_MOTION_PARAMS(default_mode, default_duration)                                                       \
    {"mode",                                                                                                    \
     "",                                                                                                        \
     PBD_CHOICE,                                                                                                \
     default_mode,                                                                                              \
     0,                                                                                                         \
     0,                                                                                                         \
     0,                                                                                                         \
     body_modes,                                                                                                \
     "static: the method solves for rest; dynamic: it moves for `duration`"},                                   \
    {                                                                                                           \
        "duration", "s", PBD_REAL, default_duration, 0, 1e6, PBD_OPEN_MIN, NULL, "mode=dynamic: simulated time" \
    }

extern const char *const body_modes[]; /* static, dynamic */

/* Sets scene->duration from the parameters above. */
void body_set_motion(const pbd_values *values, pbd_scene *scene);

/* Number of observations of a moving case. */
enum { BODY_LOOKS = 200 };

/* The state of the tetrahedra of a scene at positions x (particles x 3, m). */
typedef struct body_strain {
    double smallest_det_F;
    size_t inverted; /* tetrahedra with det F <= 0 */
    double energy;   /* J; NaN where the law has no value */
} body_strain;

body_strain body_strain_at(const pbd_scene *scene, const double *x);
/* Records smallest_det_F_of_tets, inverted_tets and, where the law has a value, strain_energy. */
void body_record_strain(const pbd_scene *scene, const double *x, pbd_recorder *recorder);

/* Records x as the series `position`, for pictures; not for scenes of more than 2000 particles. */
void body_record_shape(const pbd_scene *scene, const double *x, pbd_recorder *recorder);

/* Returns the deviation of x from the shape at rest after the best rigid fit: the mass-weighted root mean square
 * distance between the two, divided by that of the particles at rest from their centre of mass. 1 if all particles are
 * at one point. */
double body_shape_error(const pbd_scene *scene, const double *x);

/* Speed of the fastest particle, m/s. PBD_NOT_SUPPORTED if the method does not provide velocities. */
pbd_status body_largest_speed(const pbd_scene *scene, const pbd_method *method, const void *state, double *out);

/* Positions and velocities of the state; the caller frees both. PBD_NOT_SUPPORTED if the method does not provide
 * velocities. */
pbd_status body_motion(const pbd_scene *scene, const pbd_method *method, const void *state, double **x, double **v);

/* Positions of the state; the caller frees them. */
pbd_status body_positions(const pbd_scene *scene, const pbd_method *method, const void *state, double **out);

/* Velocities of the state; the caller frees them. NULL if the method does not provide any. */
pbd_status body_velocities(const pbd_scene *scene, const pbd_method *method, const void *state, double **out);

/* Returns a pseudorandom number in [-1, 1) and advances *seed; the sequence is the same on every machine. */
double body_noise(uint64_t *seed);

/* Allocates particles.start and copies the positions into it. */
pbd_status body_start_at_rest(pbd_scene *scene);

/* Holds the particles whose mark (one per particle) is not 0. */
pbd_status body_hold(pbd_scene *scene, const unsigned char *mark);

#endif
