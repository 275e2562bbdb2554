/* Flowing matter falls onto an obstacle on the floor: code shared by drop_onto_sphere and drop_onto_mesh. Penetration
 * is not computed with the methods' collider code, but in closed form, or from winding numbers and distances of
 * cases/geometry/triangle_tree.c. */
#ifndef PBD_OBSTACLE_DROP_H
#define PBD_OBSTACLE_DROP_H

#include "cases/geometry/triangle_mesh.h"
#include "cases/scenes/collider_mesh.h"
#include "cases/scenes/granular.h"

#define PBD_OBSTACLE_DROP_PARAMS(size_)                                                                                \
    {"size", "m", PBD_REAL, size_, 0, 1e6, PBD_OPEN_MIN, NULL, "edge of the cube that falls"},                         \
        {"drop", "m", PBD_REAL, "0.02", 0, 1e6, 0, NULL, "from its lowest point to the top of the obstacle"},          \
        {"speed", "m/s", PBD_REAL, "1", 0, 1e6, 0, NULL, "at the start, downwards"},                                   \
        {"friction", "", PBD_REAL, "0.4", 0, 100, 0, NULL, "Coulomb's coefficient, of the obstacle"},                  \
        {"duration", "s", PBD_REAL, "0.4", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"}, PBD_SAMPLING_PARAMS("1500"), \
        PBD_PARTICLE_MATERIAL_PARAMS("3.537e5", "0.3", "2200", "hencky"), PBD_GRANULAR_FLOOR_PARAMS("0.4")

/* A sphere of radius `sphere`, m, or a mesh if it is not NULL. It stands on z = 0, a mesh once lifted by mesh_lift.
 * obstacle_drop_build takes over the mesh, also on failure. */
typedef struct obstacle {
    double sphere;
    pbd_collider_mesh *mesh;
    double mesh_lift; /* m: how far the mesh is to be lifted */
} obstacle;

/* Data that the cases keep for measuring. */
typedef struct obstacle_drop_detail {
    sampling particles;
    granular_watch watch;
    double sphere, centre[3];
    triangle_mesh surface; /* a copy, where the obstacle is a mesh */
    bool closed;
    double thickness, top; /* m */
    double deepest;        /* m: the largest depth of a particle's sphere in the obstacle so far */
    size_t inside;         /* the most particles so far with the centre deeper than half a spacing in the obstacle */
} obstacle_drop_detail;

pbd_status obstacle_drop_build(const pbd_values *values, obstacle thing, pbd_setup *setup);
pbd_status obstacle_drop_observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                                 pbd_recorder *recorder);
pbd_status obstacle_drop_measure(const pbd_setup *setup, const pbd_method *method, const void *state,
                                 pbd_recorder *recorder);
void obstacle_drop_free_detail(void *detail);

#endif
