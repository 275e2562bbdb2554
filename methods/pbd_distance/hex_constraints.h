/* The constraints of a cubic PBD element (rodero2016 section 4): edges, face diagonals, inner diagonals and volume of
 * each hexahedron, and their gradients at rest. All f64, SI units. */
#ifndef PBD_HEX_CONSTRAINTS_H
#define PBD_HEX_CONSTRAINTS_H

#include "methods/method.h"

typedef enum hex_kind { HEX_EDGE, HEX_FACE, HEX_DIAGONAL, HEX_VOLUME, HEX_KINDS } hex_kind;
enum { HEX_DISTANCES = 3 }; /* the first three kinds */

/* How the volume constraint splits faces into triangles (claims R-7). A: all face diagonals end at corners 0 and 6,
 * so opposite faces are parallel; B: the other diagonal of every face. AVERAGED: one constraint, the mean of both.
 * MEAN: two constraints A and B, each with half the stiffness: the only reading that gives the printed polynomials. */
typedef enum hex_split { HEX_SPLIT_A, HEX_SPLIT_B, HEX_SPLIT_AVERAGED, HEX_SPLIT_MEAN } hex_split;

typedef struct hex_constraints {
    size_t particles, cells;
    size_t count[HEX_DISTANCES];
    uint32_t *pair[HEX_DISTANCES]; /* count x 2 */
    double *rest[HEX_DISTANCES];   /* count, m */
    uint32_t *cell;                /* cells x 8 */
    double *rest_volume[2];        /* cells, m^3 x 6, for splits A and B (they differ on bent faces) */
} hex_constraints;

/* Lists the constraints of a scene's hexahedra in mesh order: distances sorted by particle numbers, volumes by cell.
 * With PBD_SHARED_ONCE each pair appears once. */
pbd_status hex_constraints_create(const pbd_scene *scene, hex_constraints *out);
void hex_constraints_free(hex_constraints *h); /* safe on a zeroed one */

/* Returns six times the volume of a cell with corners p for split A or B: the sum of (p1 x p2).p3 over the 12 triangles
 * (rodero2016 section 4; the printed V0 is a sixth of it, R-3). Writes its gradient g (per corner, m^2). */
double hex_six_volumes(const double p[8][3], hex_split split, double g[8][3]);

/* One constraint of the linear analysis: its gradient at rest. */
typedef struct linear_constraint {
    uint32_t particle[8];
    int count; /* 2 or 8 */
    hex_kind kind;
    double share;   /* factor of the kind's stiffness: 1, or 1/2 for each half of HEX_SPLIT_MEAN */
    double g[8][3]; /* per particle */
} linear_constraint;

/* Lists all constraints at rest, kind by kind in mesh order. The caller frees *out. */
pbd_status hex_linear_constraints(const hex_constraints *h, const double *positions, hex_split split,
                                  linear_constraint **out, size_t *count);

#endif
