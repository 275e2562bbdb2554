/* Scenes with liquid: blocks of it in a tank, and what is measured of it over time. Up is z. */
#ifndef PBD_LIQUID_H
#define PBD_LIQUID_H

#include "cases/scenes/particle_scene.h"

#define PBD_LIQUID_PARAMS                                                                                             \
    {"density", "kg/m^3", PBD_REAL, "1000", 0, 1e9, PBD_OPEN_MIN, NULL, "of the liquid at rest"},                     \
        {"viscosity", "", PBD_REAL, "0.01", 0, 1, 0, NULL, "c of XSPH: share of its neighbours' velocity in a step"}, \
        {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"}, {                                        \
        "jitter", "", PBD_REAL, "0", 0, 0.4, 0, NULL, "random offset of lattice positions, in spacings"               \
    }

/* How often a moving case is looked at. */
enum { LIQUID_LOOKS = 100 };

/* A box full of it, low to high, on a lattice of `spacing` whose walls are half a spacing off; edges are whole
 * multiples of the spacing but for rounding. Sets matter, density, viscosity, gravity and radii towards walls, a
 * quarter of the spacing: what fills space keeps them farther off. */
pbd_status liquid_make(const pbd_values *values, const double low[3], const double high[3], double spacing,
                       pbd_scene *scene);
/* A floor at z = 0 and smooth walls around low to high; a wall is left out where `open` has its bit: 1 -x, 2 +x, 4 -y,
 * 8 +y. Collider room must be there. */
void liquid_add_tank(pbd_scene *scene, const double low[3], const double high[3], unsigned open);

typedef struct liquid_watch {
    double start_energy;                   /* J: of weight above the floor, and of motion */
    double energy, kinetic, peak, fastest; /* J now; of motion now, at most; m/s at most */
    double most_gain;                      /* of energy beyond the start's, over it */
    double centre;                         /* m: height of the centre of mass, now */
    size_t lost;                           /* particles not finite, or more than a spacing beyond a plane */
    bool looked, tells_velocities;
} liquid_watch;

/* Appends to the series time, height_of_centre, kinetic_energy and energy (over that at the start). */
pbd_status liquid_look(liquid_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                       const double *x, double time, pbd_recorder *recorder);
/* kinetic_energy_left (of the weight's energy at the start), energy_gained, largest_speed, lost_particles. */
void liquid_record(const liquid_watch *w, pbd_recorder *recorder);

#endif
