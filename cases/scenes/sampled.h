/* The scene that sampled_mesh and sampled_shape share: a body filled with particles that hangs, or falls to a floor. */
#ifndef PBD_SAMPLED_H
#define PBD_SAMPLED_H

#include "cases/scenes/particle_scene.h"

extern const char *const sampled_sides[]; /* none, x_min ... z_max */

#define PBD_SAMPLED_PARAMS                                                                                      \
    PBD_SAMPLING_PARAMS("2000"), PBD_PARTICLE_MATERIAL_PARAMS("1e5", "0.3", "1000", "neo_hookean"),             \
        {"fixed", "", PBD_CHOICE, "z_max", 0, 0, 0, sampled_sides, "fixed: a side of the box around the body"}, \
        {"fixed_depth",                                                                                         \
         "m",                                                                                                   \
         PBD_REAL,                                                                                              \
         "0",                                                                                                   \
         0,                                                                                                     \
         1e6,                                                                                                   \
         0,                                                                                                     \
         NULL,                                                                                                  \
         "fixed!=none: particles up to here from that side; 0: 1.5 spacings"},                                  \
        {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},                                    \
        {"floor", "", PBD_CHOICE, "off", 0, 0, 0, particle_on_off, "a plane under the body"},                   \
        {"drop", "m", PBD_REAL, "0.1", 0, 1e6, 0, NULL, "floor=on: how far it is below the body's box"},        \
        PBD_CONTACT_PARAMS("0.3", "floor=on: "), {                                                              \
        "duration", "s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"                            \
    }

/* The detail of these cases. */
typedef struct sampled_detail {
    sampling particles;
    double peak; /* J: the largest kinetic energy so far */
} sampled_detail;

/* Builds the scene of a body from the parameters above. */
pbd_status sampled_build(const pbd_values *values, const solid *body, pbd_setup *setup);
pbd_status sampled_observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                           pbd_recorder *recorder);
pbd_status sampled_measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder);

#endif
