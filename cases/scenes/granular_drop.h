/* A body that flows or breaks falls to a floor: what notched_block and goo_drop share. */
#ifndef PBD_GRANULAR_DROP_H
#define PBD_GRANULAR_DROP_H

#include "cases/scenes/granular.h"

#define PBD_DROP_PARAMS(drop_, speed_, duration_)                                          \
    {"drop", "m", PBD_REAL, drop_, 0, 1e6, 0, NULL, "from its feet to the floor"},         \
        {"speed", "m/s", PBD_REAL, speed_, 0, 1e6, 0, NULL, "at the start, downwards"}, {  \
        "duration", "s", PBD_REAL, duration_, 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time" \
    }

/* What the cases keep of their scene. */
typedef struct granular_drop_detail {
    sampling particles;
    granular_watch watch;
    double size, height; /* m: the unit of reported lengths; of the body */
    double start_reach;  /* m: of 99 % of the mass from the axis, at the start */
    double lowest, rise; /* m: the centre of mass at its lowest so far, and how far it rose from there */
    double most_reach;   /* m: of 99 % of the mass */
} granular_drop_detail;

/* The body stands on z = 0 with its middle over the origin; `size`, m, is the unit of reported lengths. Where it is
 * confined, smooth walls touch it on its four sides. */
pbd_status granular_drop_build(const pbd_values *values, const solid *body, double size, bool confined,
                               pbd_setup *setup);
pbd_status granular_drop_observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                                 pbd_recorder *recorder);
pbd_status granular_drop_measure(const pbd_setup *setup, const pbd_method *method, const void *state,
                                 pbd_recorder *recorder);

#endif
