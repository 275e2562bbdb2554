/* A state as a PLY file (Turk 1994; binary, little-endian), which Blender, MeshLab, CloudCompare and Open3D open: the
 * particles with position, velocity, strain and body, and the outside of their elements as triangles. */
#ifndef PBD_PLY_H
#define PBD_PLY_H

#include "methods/method.h"

typedef struct ply_state {
    size_t particles, triangles;
    const double *position, *velocity; /* particles x 3; velocity NULL: unknown */
    const double *strain;              /* particles */
    const uint32_t *body;              /* particles */
    const uint32_t *triangle;          /* triangles x 3 */
} ply_state;

/* PBD_FAILED with the path and why when the file cannot be written. */
pbd_status ply_write(const char *path, const ply_state *state);

#endif
