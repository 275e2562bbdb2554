/* A body that flows or breaks falls to a floor: code shared by notched_block and goo_drop. */
#ifndef PBD_GRANULAR_DROP_H
#define PBD_GRANULAR_DROP_H

#include "cases/scenes/granular.h"

#define PBD_DROP_PARAMS(drop_, speed_, duration_)                                          \
    {"drop", "m", PBD_REAL, drop_, 0, 1e6, 0, NULL, "from its feet to the floor"},         \
        {"speed", "m/s", PBD_REAL, speed_, 0, 1e6, 0, NULL, "at the start, downwards"}, {  \
        "duration", "s", PBD_REAL, duration_, 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time" \
    }

/* Data that the cases keep for measuring. */
typedef struct granular_drop_detail {
    sampling particles;
    granular_watch watch;
    double size, height; /* m: the unit of reported lengths; the height of the body at the start */
    double start_reach;  /* m: heap.reach_99 at the start */
    double lowest, rise; /* m: the lowest height of the centre of mass so far; its largest rise from there */
    double most_reach;   /* m: the largest heap.reach_99 so far */
} granular_drop_detail;

/* body: stands on z = 0, centred above the origin. size: the unit of reported lengths, m. confined: frictionless walls
 * touch the body on its four sides. */
pbd_status granular_drop_build(const pbd_values *values, const solid *body, double size, bool confined,
                               pbd_setup *setup);
pbd_status granular_drop_observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                                 pbd_recorder *recorder);
pbd_status granular_drop_measure(const pbd_setup *setup, const pbd_method *method, const void *state,
                                 pbd_recorder *recorder);

#endif
