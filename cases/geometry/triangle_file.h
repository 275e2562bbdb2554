/* Triangles from OBJ, OFF, PLY and STL files, read by assimp. */
#ifndef PBD_TRIANGLE_FILE_H
#define PBD_TRIANGLE_FILE_H

#include "cases/geometry/triangle_mesh.h"

/* Fills vertices and triangles as they are in the file, unchecked: corners are below the number of vertices, but
 * coordinates may have any value. */
pbd_status triangle_file_read(const pbd_content *content, triangle_mesh *out);

/* Reads the file (its format follows from the extension), multiplies lengths by `unit` (m), and checks that the mesh
 * bounds a body: no number is NaN or infinite, every edge belongs to two triangles that run along it in opposite ways,
 * and there is a volume. Coincident vertices are merged, polygons are split into triangles, and triangles without an
 * area whose corners are not all different are left out. A mesh that is inside out as a whole is reversed. Several
 * closed surfaces, apart or one in a cavity of the other, are one body.
 *
 * PBD_BAD_INPUT says what is wrong and where: triangles are numbered from 1 in the file's order. assimp keeps
 * coordinates as 32-bit floats. */
pbd_status triangle_mesh_read(const pbd_content *content, double unit, triangle_mesh *out);

#endif
