/* Measurements of matter that flows and breaks, from positions alone: spacing of the particles, shape of the heap,
 * pieces, centre of mass. Parameters and an observer for its cases. */
#ifndef PBD_GRANULAR_H
#define PBD_GRANULAR_H

#include "cases/scenes/neighbours.h"
#include "cases/scenes/particle_watch.h"
#include "methods/physics/matter/flow_table.h"

/* Number of observations of a moving case. */
enum { GRANULAR_LOOKS = 100 };

/* ---- Parameters and building ------------------------------------------------------------------------------------- */

#define PBD_GRANULAR_FLOOR_PARAMS(friction_)                                                             \
    {"floor_friction", "", PBD_REAL, friction_, 0, 100, 0, NULL, "Coulomb's coefficient, of the floor"}, \
        {"contact_radius",                                                                               \
         "m",                                                                                            \
         PBD_REAL,                                                                                       \
         "0",                                                                                            \
         0,                                                                                              \
         1e6,                                                                                            \
         0,                                                                                              \
         NULL,                                                                                           \
         "of particles on floors and walls; 0: half a spacing of a lattice, 0.3 of Poisson disks"},      \
    {                                                                                                    \
        "gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"                                \
    }

/* Sets material, flow rule and gravity. */
void granular_set_material(const pbd_values *values, pbd_scene *scene);
/* Sets friction and contact radii, once the scene has particles. If contact_radius is 0, the radius is the distance
 * from a surface that the sampling leaves, so that floors and walls push no particle at the start. */
pbd_status granular_set_radii(const pbd_values *values, const sampling *s, pbd_scene *scene);
/* Fills a body with particles as the parameters say, puts it in its place `here`, and sets friction and radii. */
pbd_status granular_fill(const pbd_values *values, const solid *body, const placement *here, sampling *particles,
                         pbd_scene *scene);
/* The same for a body that fills a vessel with curved walls: lattice particles keep at least half a spacing from them.
 */
pbd_status granular_fill_vessel(const pbd_values *values, const solid *body, sampling *particles, pbd_scene *scene);
/* Writes the smallest box that contains the spheres of all particles. Walls belong there and not at the requested size
 * of the body: a lattice's edge is a whole number of spacings, and particles that start in a wall are flung out of it.
 */
void granular_find_box(const pbd_scene *scene, double low[3], double high[3]);
/* Adds frictionless walls on the four vertical sides of a box. The scene must have room for them. */
enum { GRANULAR_WALLS = 4 };
void granular_add_walls(const double low[3], const double high[3], pbd_scene *scene);

/* ---- Heaps on the plane z = 0 ------------------------------------------------------------------------------------ */

typedef enum heap_form {
    HEAP_AXISYMMETRIC, /* about the z axis: distances are measured from it */
    HEAP_PLANE         /* behind the wall x = 0: distances are x */
} heap_form;

enum { HEAP_BINS = 400 };

typedef struct heap {
    double reach_99;         /* m: the distance within which 99 % of the mass is */
    double reach, reach_all; /* m: largest distance, plus half a spacing: in the largest piece, of all particles */
    double height;           /* m: of the highest bin of the outline */
    double angle;            /* degrees: see heap_measure; NaN if there is no slope to fit */
    size_t bins;             /* the outline: number of bins, their width (m) and the height of each (m) */
    double width, top[HEAP_BINS];
} heap;

/* parts: the pieces of x by GRANULAR_LINK, as granular_look returns them; NULL: heap_measure finds them itself.
 *
 * The outline: the plane is divided into squares (axisymmetric) or into strips parallel to the wall (HEAP_PLANE), 1.5
 * spacings wide, or wider if the heap would otherwise need more than HEAP_BINS bins. The height of a square is the z of
 * its highest particle plus half a spacing, 0 without a particle. A bin is a ring as wide as a square; its height is
 * the mean over the squares whose centre is in it. The angle is that of a straight line fitted by least squares to the
 * outline from the outermost bin with at least 80 % of the height to the first bin beyond it with less than 20 %. That
 * bin is included only if there are otherwise fewer than three. Only the largest piece counts for height and outline,
 * since a grain in the air is not part of the surface. */
pbd_status heap_measure(const pbd_scene *scene, const double *x, heap_form form, const pieces *parts, heap *out);

/* ---- Where the mass is ------------------------------------------------------------------------------------------- */

/* Records the shares of the mass in the cells of a box, x fastest, as the series mass_in_cells. Half the sum of the
 * absolute differences between two runs is the share of mass that lies elsewhere. Particles outside of the box count
 * for the nearest cell. */
typedef struct mass_box {
    double low[3], high[3];
    int cells[3];
} mass_box;

enum { MASS_CELLS = 4096 }; /* maximum number of cells */
void granular_record_mass(const pbd_scene *scene, const double *x, const mass_box *box, pbd_recorder *recorder);

/* Records the particles within three quarters of a spacing of the plane y = 0, for pictures, as the series `slice` with
 * the components x and z, m. If there are more than 2000, only every k-th. */
void granular_record_slice(const pbd_scene *scene, const double *x, pbd_recorder *recorder);

/* Records every k-th particle, at most MOST_VIEWED, for pictures, as a series of that name with the components x, y, z
 * (m) and piece: 1 for the largest, 2 for the next and so on, 0 for crumbs of less than 1 % of the particles. */
enum { MOST_VIEWED = 4000 };
pbd_status granular_record_view(const pbd_scene *scene, const double *x, const char *name, pbd_recorder *recorder);

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

/* Returns the largest depth, m, of a particle's centre in any of the colliders from number `first` on, which are taken
 * at `time`, s; 0 if none is inside. */
double granular_depth_in(const pbd_scene *scene, size_t first, const double *x, double time);

/* ---- Tension ----------------------------------------------------------------------------------------------------- */

/* Maximum and mean over the particles, Pa, of the largest principal Kirchhoff stress of Hencky's law, from the method's
 * own F; a particle that is not in tension counts as 0. PBD_NOT_SUPPORTED if the method does not provide F. */
pbd_status granular_tension(const pbd_scene *scene, const pbd_method *method, const void *state, double *largest,
                            double *mean);

/* ---- A watch ----------------------------------------------------------------------------------------------------- */

typedef struct granular_watch {
    evenness start, now;
    double densest;               /* kg/m^3, the largest so far */
    double wide_start, wide;      /* kg/m^3: granular_density over four spacings, at the start and at the end */
    double energy, peak, fastest; /* J: kinetic energy now, the largest so far; m/s, the largest so far */
    double deepest;               /* m: depth in a plane, the largest so far */
    size_t lost;                  /* particles now not finite, or more than a spacing beyond a plane */
    double centre[3];             /* of mass, now, m */
    double tension, mean_tension; /* Pa, the largest so far */
    bool looked, tells_velocities, tells_tension;
} granular_watch;

/* Measures the positions x of the state, and appends to the series time, height_of_centre, kinetic_energy,
 * relative_energy (granular_relative_energy), nn_mean, nn_std, density_max and lost_particles. A single neighbour
 * search serves all of these and the pieces by GRANULAR_LINK. parts: NULL if they are not needed; otherwise the caller
 * frees them, also after an error. Runs on several threads; no sum depends on their number. */
pbd_status granular_look(granular_watch *w, const pbd_setup *setup, const pbd_method *method, const void *state,
                         const double *x, double time, pieces *parts, pbd_recorder *recorder);
/* Records nn_mean, nn_std, nn_least, nn_mean_change (ratio to the start), nn_std_change, density_max (ratio to the
 * start, at the end), most_density_max, wide_density_max (density_max with a support radius of four spacings),
 * kinetic_energy_left (over the peak), largest_speed, lost_particles, deepest_in_walls, largest_tension, mean_tension.
 */
void granular_record(const granular_watch *w, const pbd_scene *scene, pbd_recorder *recorder);

#endif
