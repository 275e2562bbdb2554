/* Scenes with liquid: blocks of liquid in a tank, and measurements over time. Up is z. */
#ifndef PBD_LIQUID_H
#define PBD_LIQUID_H

#include "cases/scenes/particle_scene.h"

#define PBD_LIQUID_PARAMS                                                                                             \
    {"density", "kg/m^3", PBD_REAL, "1000", 0, 1e9, PBD_OPEN_MIN, NULL, "of the liquid at rest"},                     \
        {"viscosity", "", PBD_REAL, "0.01", 0, 1, 0, NULL, "c of XSPH: share of its neighbours' velocity in a step"}, \
        {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"}, {                                        \
        "jitter", "", PBD_REAL, "0", 0, 0.4, 0, NULL, "random offset of lattice positions, in spacings"               \
    }

/* Number of observations of a moving case. */
enum { LIQUID_LOOKS = 100 };

/* Fills the box from low to high with liquid, on a lattice of `spacing` whose outer sites are half a spacing from the
 * box's faces. The edges of the box must be multiples of the spacing, except for rounding errors. Sets matter, density,
 * viscosity, gravity and contact radii for walls, a quarter of the spacing: particles that fill space stay farther away
 * than that. */
pbd_status liquid_make(const pbd_values *values, const double low[3], const double high[3], double spacing,
                       pbd_scene *scene);
/* Adds a floor at z = 0 and frictionless walls around the box from low to high. Bits of `open` leave walls out: 1 -x,
 * 2 +x, 4 -y, 8 +y. The scene must have room for the colliders. */
void liquid_add_tank(pbd_scene *scene, const double low[3], const double high[3], unsigned open);

typedef struct liquid_watch {
    double start_energy;                   /* J: potential (0 at z = 0) plus kinetic, at the start */
    double energy, kinetic, peak, fastest; /* J: both, now; kinetic, now and largest so far; m/s, largest so far */
    double most_gain;                      /* largest energy so far, over start_energy, minus 1 */
    double centre;                         /* m: height of the centre of mass, now */
    size_t lost;                           /* particles now not finite, or more than a spacing beyond a plane */
    bool looked, tells_velocities;
} liquid_watch;

/* Measures, and appends to the series time, height_of_centre, kinetic_energy and energy (over that at the start). */
pbd_status liquid_look(liquid_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                       const double *x, double time, pbd_recorder *recorder);
/* Records kinetic_energy_left (over the energy at the start), energy_gained, largest_speed, lost_particles. */
void liquid_record(const liquid_watch *w, pbd_recorder *recorder);

#endif
