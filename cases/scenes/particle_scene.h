/* Scenes of bodies that are sampled by particles: parameters, placed bodies, floors and walls, fixed parts, and
 * measurements of a state. */
#ifndef PBD_PARTICLE_SCENE_H
#define PBD_PARTICLE_SCENE_H

#include <math.h>

#include "cases/sampling/sampling.h"
#include "cases/scenes/body.h"

/* ---- Parameters, for use in a table ------------------------------------------------------------------------------ */

#define PBD_PARTICLE_MATERIAL_PARAMS(E_, nu_, density_, material_)                                \
    {"E", "Pa", PBD_REAL, E_, 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},                \
        {"nu", "", PBD_REAL, nu_, -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"}, \
        {"density", "kg/m^3", PBD_REAL, density_, 0, 1e9, PBD_OPEN_MIN, NULL, "mass density"}, {  \
        "material", "", PBD_CHOICE, material_, 0, 0, 0, law_names, "strain-energy density"        \
    }

#define PBD_SAMPLING_PARAMS(particles_) PBD_SEEDED_SAMPLING_PARAMS(particles_, "sampling=poisson")

/* The same for a case with more uses of the seed. seed_when_: the condition with which the seed is read. */
#define PBD_SEEDED_SAMPLING_PARAMS(particles_, seed_when_)                                                  \
    {"particles", "", PBD_INTEGER, particles_, 1, SAMPLING_MOST, 0, NULL, "spacing=0: of a body, exactly"}, \
        {"spacing", "m", PBD_REAL, "0", 0, 1e6, 0, NULL, "of the lattice's sites; 0: from `particles`"},    \
        {"sampling",                                                                                        \
         "",                                                                                                \
         PBD_CHOICE,                                                                                        \
         "lattice",                                                                                         \
         0,                                                                                                 \
         0,                                                                                                 \
         0,                                                                                                 \
         sampling_kinds,                                                                                    \
         "cubic lattice, or Poisson disks: random, with a smallest distance"},                              \
    {                                                                                                       \
        "seed", "", PBD_INTEGER, "1", 0, 1e9, 0, NULL, seed_when_ ": of the random numbers"                 \
    }

extern const char *const particle_on_off[]; /* off, on */
extern const char *const particle_layers[]; /* 1, 2, all */

/* Contact of particles with each other, floors and walls. when_: "", or the condition with which they are read:
 * "floor=on: ". */
#define PBD_CONTACT_PARAMS(friction_, when_)                                                                     \
    {"contact_radius", "m", PBD_REAL, "0", 0, 1e6, 0, NULL, when_ "of particles that collide; 0: 0.7 spacings"}, \
        {"contact_layers",                                                                                       \
         "",                                                                                                     \
         PBD_CHOICE,                                                                                             \
         "2",                                                                                                    \
         0,                                                                                                      \
         0,                                                                                                      \
         0,                                                                                                      \
         particle_layers,                                                                                        \
         when_ "number of colliding layers, from the surface"},                                                  \
    {                                                                                                            \
        "friction", "", PBD_REAL, friction_, 0, 100, 0, NULL, when_ "Coulomb's coefficient, everywhere"          \
    }

pbd_material particle_material(const pbd_values *values);
sampling_plan particle_plan(const pbd_values *values);

/* ---- Building ---------------------------------------------------------------------------------------------------- */

typedef struct placement {
    double turn[3][3]; /* rows; a rotation */
    double by[3];      /* m: x becomes turn x + by */
} placement;

placement placement_at(double x, double y, double z);
/* A rotation by `angle` (rad) about an axis of any length, followed by a translation. */
placement placement_turned(const double axis[3], double angle, const double by[3]);

/* Sets `extent` to the longest edge of the bounding box of the positions at rest, at least the spacing. */
void particle_scene_measure(pbd_scene *scene);

/* Makes the particles of `bodies` equal bodies, each a copy of `s` put in its place; body numbers ascend. The scene's
 * material must be set. Sets particles, spacing, positions, volumes, masses, forces, body, extent. */
pbd_status particle_scene_make(const sampling *s, size_t bodies, const placement *place, pbd_scene *scene);

/* Gives a body a surface for pictures (pbd_scene.skin): a copy of `from`, put in its place. */
struct shape_mesh; /* cases/geometry/shape_mesh.h */
pbd_status particle_add_skin(pbd_scene *scene, uint32_t body, const struct shape_mesh *from, const placement *place);

/* Sets detail_bytes, free_detail and numbers of a case whose detail is `sampling particles`, then numbers only. */
#define PARTICLE_DETAIL(TYPE)                                                                 \
    .detail_bytes = sizeof(TYPE) + 0 * sizeof(char[offsetof(TYPE, particles) == 0 ? 1 : -1]), \
    .free_detail = particle_free_detail, .numbers = sizeof(TYPE) - sizeof(sampling)
void particle_free_detail(void *detail);

/* Returns contact_radius (m), or 0.7 spacings if it is 0: spheres of radius 1/sqrt(2) spacings about the sites of a
 * square lattice leave no hole. */
double particle_radius(const pbd_values *values, const sampling *s);
/* Sets friction and contact radii from the parameters above. Particles outside of the layers that collide have radius
 * 0. The layers of the sampling are repeated for each body. */
pbd_status particle_set_radii(const pbd_values *values, const sampling *s, pbd_scene *scene);

/* Allocates room for `most` colliders. The functions below add them, without a check of the room. */
pbd_status particle_open_colliders(pbd_scene *scene, size_t most);
/* Adds the half space below the plane through `at` with this normal (any length). Returns it, so that further members
 * can be set. */
pbd_collider *particle_add_plane(pbd_scene *scene, const double at[3], const double normal[3], double friction);
/* Adds the capsule around the segment from a to b, which must differ. */
pbd_collider *particle_add_capsule(pbd_scene *scene, const double a[3], const double b[3], double radius,
                                   double friction);

#endif
