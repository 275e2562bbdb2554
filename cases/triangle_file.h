/* Triangles from OBJ, PLY and STL files, as assimp reads them and unchecked; for triangle_mesh.c. */
#ifndef PBD_TRIANGLE_FILE_H
#define PBD_TRIANGLE_FILE_H

#include "cases/triangle_mesh.h"

/* Fills vertices and triangles; corners are below the number of vertices, coordinates may be anything. */
pbd_status triangle_file_read(const pbd_content *content, triangle_mesh *out);

#endif
