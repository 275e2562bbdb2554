/* Parameters of motion of deformable bodies, and measurements of a state from positions alone, for any method. */
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

/* How often a moving case is looked at. */
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

/* Records x as the series `position`, where a picture of so many particles can be read: 2000 at most. */
void body_record_shape(const pbd_scene *scene, const double *x, pbd_recorder *recorder);

/* How far x is from the shape at rest, moved and turned as a whole to where it fits best: the root of the mean square
 * distance by mass, over the same mean of the distances from the centre at rest. A body at one point has 1. */
double body_shape_error(const pbd_scene *scene, const double *x);

/* The fastest particle, m/s. PBD_NOT_SUPPORTED when the method tells no velocities. */
pbd_status body_largest_speed(const pbd_scene *scene, const pbd_method *method, const void *state, double *out);

/* Positions and velocities of the state, both to be freed. PBD_NOT_SUPPORTED when the method tells no velocities. */
pbd_status body_motion(const pbd_scene *scene, const pbd_method *method, const void *state, double **x, double **v);

/* Positions of the state, to be freed. */
pbd_status body_positions(const pbd_scene *scene, const pbd_method *method, const void *state, double **out);

/* Velocities of the state, to be freed; NULL when the method tells none. */
pbd_status body_velocities(const pbd_scene *scene, const pbd_method *method, const void *state, double **out);

/* Numbers in [-1, 1), the same on every machine. */
double body_noise(uint64_t *seed);

/* Room for scene->start, filled with positions. */
pbd_status body_start_at_rest(pbd_scene *scene);

/* Holds the particles whose mark is not 0. */
pbd_status body_hold(pbd_scene *scene, const unsigned char *mark);

#endif
