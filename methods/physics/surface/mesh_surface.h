/* A collider's surface made ready for the device: checked, equal vertices made one, turned outward, with pseudonormals
 * of its faces, edges and corners (J. A. Baerentzen, H. Aanaes, Signed distance computation using the angle weighted
 * pseudonormal, IEEE TVCG 11, 2005): their side tells inside from outside wherever on the surface the nearest point
 * lies. Host, double. */
#ifndef PBD_MESH_SURFACE_H
#define PBD_MESH_SURFACE_H

#include "methods/method.h"

typedef struct mesh_surface {
    size_t vertices, triangles;
    double *vertex;     /* vertices x 3, m */
    uint32_t *triangle; /* triangles x 3, counter-clockwise from outside */
    double *normal;     /* triangles x 7 x 3: of its face, of the edges after its corners, of its corners; unit vectors
                           outward. NULL: a sheet */
    double size;        /* m: the largest coordinate */
    double volume;      /* m^3; 0 of a sheet */
    size_t collapsed;   /* triangles left out, since corners of theirs are one */
    size_t slivers;     /* without an area, though their corners differ: kept */
} mesh_surface;

/* `number`: of the collider, for sentences. PBD_BAD_INPUT for a mesh without a triangle, an area, or (closed) a volume,
 * for corners that are no vertices, numbers that are not finite, and a sheet or a container that cannot be one. */
pbd_status mesh_surface_make(const pbd_collider_mesh *mesh, size_t number, bool container, mesh_surface *out);
void mesh_surface_free(mesh_surface *surface); /* safe on a zeroed one */

#endif
