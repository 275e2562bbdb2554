/* Measurements of matter that flows and breaks, from positions alone: spacing of the particles, shape of the heap,
 * pieces, centre of mass. Parameters and an observer for its cases. */
#ifndef PBD_GRANULAR_H
#define PBD_GRANULAR_H

#include "cases/scenes/neighbours.h"
#include "cases/scenes/particle_watch.h"
#include "methods/physics/matter/flow_table.h"

/* How often a moving case of it is looked at. */
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

/* Sets the material, flow rule, gravity and, once the particles are there, radii towards floors and walls: as near as
 * the sampling puts particles to a surface, so that nothing is pushed at the start. */
void granular_set_material(const pbd_values *values, pbd_scene *scene);
pbd_status granular_set_radii(const pbd_values *values, const sampling *s, pbd_scene *scene);
/* A scene of one body, filled with particles as the parameters say and put where `here` says, with those radii. */
pbd_status granular_fill(const pbd_values *values, const solid *body, const placement *here, sampling *particles,
                         pbd_scene *scene);
/* The same of a body that fills a vessel with curved walls: no particle of a lattice is nearer to them than half a
 * spacing. */
pbd_status granular_fill_vessel(const pbd_values *values, const solid *body, sampling *particles, pbd_scene *scene);
/* The box that all particles touch from within, each as near as its radius: a lattice's edge is a whole number of
 * spacings, not quite the requested length, and what began in a wall would be flung out of it. */
void granular_find_box(const pbd_scene *scene, double low[3], double high[3]);
/* Smooth walls on the four upright sides of a box. scene->colliders has room for them. */
enum { GRANULAR_WALLS = 4 };
void granular_add_walls(const double low[3], const double high[3], pbd_scene *scene);

/* ---- Heaps on the plane z = 0 ------------------------------------------------------------------------------------ */

typedef enum heap_form {
    HEAP_AXISYMMETRIC, /* about the z axis: distances are from it */
    HEAP_PLANE         /* behind the wall x = 0: distances are x */
} heap_form;

enum { HEAP_BINS = 400 };

typedef struct heap {
    double reach_99;         /* m: 99 % of the mass lies nearer */
    double reach, reach_all; /* m, half a spacing beyond the farthest particle: of the largest piece, of all */
    double height;           /* m: of the highest bin of the outline */
    double angle;            /* degrees: see heap_measure; NaN where there is no slope to be fitted */
    size_t bins;             /* the outline: how many, and the height over the middle of each, m */
    double width, top[HEAP_BINS];
} heap;

/* parts: pieces of x by GRANULAR_LINK, as granular_look finds them; NULL: they are searched for.
 *
 * The outline: the plane is divided into squares (axisymmetric) or, in the plane form, strips across, of 1.5 spacings;
 * each is as high as its highest particle and half a spacing, or 0; a bin is the mean over the squares whose middle is
 * in a ring as wide. The angle is that of a straight line fitted by least squares to the outline between the outermost
 * bin that has 80 % of the height and the first beyond it that has less than 20 % (with that one, where there are fewer
 * than three). Only the largest piece counts for
 * height and outline: a grain in the air is no surface. */
pbd_status heap_measure(const pbd_scene *scene, const double *x, heap_form form, const pieces *parts, heap *out);

/* ---- Where the mass is ------------------------------------------------------------------------------------------- */

/* Shares of the mass in the cells of a box, x fastest, as the series mass_in_cells: half the sum of absolute
 * differences of two runs is the share of mass that lies elsewhere. What is beyond the box counts for the cell at its
 * edge. */
typedef struct mass_box {
    double low[3], high[3];
    int cells[3];
} mass_box;

enum { MASS_CELLS = 4096 }; /* at most */
void granular_record_mass(const pbd_scene *scene, const double *x, const mass_box *box, pbd_recorder *recorder);

/* A picture: the places of the particles within three quarters of a spacing of the plane y = 0, and every so many of
 * them so that they are 2000 at most, as the series `slice` with components x and z, m. */
void granular_record_slice(const pbd_scene *scene, const double *x, pbd_recorder *recorder);

/* A picture of all: places of at most MOST_VIEWED particles, every so many of them, as a series of that name with the
 * components x, y, z, m, and piece: 1 for the largest, 2 for the next..., 0 for crumbs of fewer than a hundredth. */
enum { MOST_VIEWED = 4000 };
pbd_status granular_record_view(const pbd_scene *scene, const double *x, const char *name, pbd_recorder *recorder);

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

/* How deep the middle of any particle is in one of the colliders from number `first` on, where they are at `time`, m.
 */
double granular_depth_in(const pbd_scene *scene, size_t first, const double *x, double time);

/* ---- Tension ----------------------------------------------------------------------------------------------------- */

/* Principal Kirchhoff stress of Hencky's law in tension, Pa, by the method's own F: over the particles, the largest and
 * the mean. PBD_NOT_SUPPORTED when the method tells no F. */
pbd_status granular_tension(const pbd_scene *scene, const pbd_method *method, const void *state, double *largest,
                            double *mean);

/* ---- A watch ----------------------------------------------------------------------------------------------------- */

typedef struct granular_watch {
    evenness start, now;
    double densest;               /* kg/m^3, at most */
    double wide_start, wide;      /* kg/m^3: granular_density over four spacings, at the start and at the end */
    double energy, peak, fastest; /* J now, J at most; m/s at most */
    double deepest;               /* m: in a plane, at most */
    size_t lost;                  /* now: not finite, or more than a spacing beyond a plane */
    double centre[3];             /* of mass, now */
    double tension, mean_tension; /* Pa, at most */
    bool looked, tells_velocities, tells_tension;
} granular_watch;

/* Looks at places x, which are the state's, and appends to the series time, height_of_centre, kinetic_energy,
 * relative_energy (granular_relative_energy), nn_mean, nn_std, density_max and lost_particles. One search finds the
 * neighbours for all of it, and for the pieces by GRANULAR_LINK: parts NULL where they are not wanted, else to be
 * freed, also after an error. Particles at x are passed over a few times on several threads; no sum depends on their
 * number. */
pbd_status granular_look(granular_watch *w, const pbd_setup *setup, const pbd_method *method, const void *state,
                         const double *x, double time, pieces *parts, pbd_recorder *recorder);
/* nn_mean, nn_std, nn_least, nn_mean_change (over the start), nn_std_change, density_max (over the
 * start's; at the end), most_density_max, wide_density_max (density_max by a kernel that ends at four spacings),
 * kinetic_energy_left (of the peak), largest_speed, lost_particles, deepest_in_walls, largest_tension, mean_tension. */
void granular_record(const granular_watch *w, const pbd_scene *scene, pbd_recorder *recorder);

#endif
