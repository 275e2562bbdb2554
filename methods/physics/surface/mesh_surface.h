/* Prepares a collider's surface for the device: checks it, merges equal vertices, orients it outward, and computes the
 * pseudonormals of faces, edges and corners (J. A. Baerentzen, H. Aanaes, Signed distance computation using the angle
 * weighted pseudonormal, IEEE TVCG 11, 2005), which give the sign of the distance for any nearest point. Host
 * code, in f64. */
#ifndef PBD_MESH_SURFACE_H
#define PBD_MESH_SURFACE_H

#include "methods/method.h"

typedef struct mesh_surface {
    size_t vertices, triangles;
    double *vertex;     /* vertices x 3, m */
    uint32_t *triangle; /* triangles x 3, counter-clockwise from outside */
    double *normal;     /* triangles x 7 x 3, outward unit vectors: of the face, of the edge after each corner, of the
                           corners. NULL: a sheet */
    double size;        /* m: the largest absolute coordinate */
    double volume;      /* m^3; 0 of a sheet */
    size_t collapsed;   /* triangles dropped because corners coincide */
    size_t slivers;     /* triangles with distinct corners but no area: kept */
} mesh_surface;

/* number: the collider's, for messages. PBD_BAD_INPUT: no triangles, no area, no volume (if closed), invalid vertex
 * indices, non-finite numbers, a container that is not closed, or a sheet that is too thin. */
pbd_status mesh_surface_make(const pbd_collider_mesh *mesh, size_t number, bool container, mesh_surface *out);
void mesh_surface_free(mesh_surface *surface); /* safe on a zeroed one */

#endif
