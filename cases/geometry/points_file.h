/* Sets of points with volumes and other fields, and cells between them, as PLY files (Turk 1994). */
#ifndef PBD_POINTS_FILE_H
#define PBD_POINTS_FILE_H

#include "harness/exec/arena.h"

/* Fields of a point: properties of the element `vertex` of a file. */
typedef enum points_field {
    POINTS_POSITION, /* x, y, z: m, at rest; required */
    POINTS_VOLUME,   /* volume: m^3, > 0; required */
    POINTS_MASS,     /* mass: kg, > 0 */
    POINTS_VELOCITY, /* vx, vy, vz: m/s */
    POINTS_START,    /* start_x, start_y, start_z: m */
    POINTS_FORCE,    /* fx, fy, fz: N */
    POINTS_RADIUS,   /* radius: m, contact radius */
    POINTS_HELD,     /* held: 0 or 1 */
    POINTS_FIELDS
} points_field;

/* Elements of a file, each with one list of its corners: hex (8), tet (4), face (3). */
typedef enum points_cell { POINTS_HEX, POINTS_TET, POINTS_FACE, POINTS_CELLS } points_cell;
enum { POINTS_MOST_CORNERS = 8 };

typedef struct points_file {
    size_t count;
    double *field[POINTS_FIELDS]; /* count x 3 for vectors, else count; NULL: not in the file */
    size_t cells[POINTS_CELLS];
    uint32_t *corner[POINTS_CELLS];
} points_file;

/* Number of components of a field: 3 or 1. Number of corners of a cell: 8, 4 or 3. */
size_t points_width(points_field field);
size_t points_corners(points_cell cell);

/* Reads ascii and binary_little_endian; the arena owns the arrays. Other properties and elements are skipped.
 * PBD_BAD_INPUT says what is wrong and where; elements are numbered from 0, as in lists of corners. */
pbd_status points_file_read(const pbd_content *content, pbd_arena *arena, points_file *out);

/* Writes cells and all fields that are not NULL, in binary. PBD_FAILED when the file cannot be written. */
pbd_status points_file_write(const char *path, const points_file *points);

#endif
