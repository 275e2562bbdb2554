/* Deformation gradients of tetrahedra from the positions of their corners. Include after a header that defines vec3 and
 * mat3 for REAL double. */
#ifndef PBD_TETRAHEDRON_H
#define PBD_TETRAHEDRON_H

#include <stdint.h>

static inline vec3 row_at(const double *rows, uint32_t particle) {
    const double *row = rows + 3 * (size_t)particle;
    return vec3_make(row[0], row[1], row[2]);
}

/* The edges from the fourth corner to the others, as columns. */
static inline mat3 tet_edges(const double *rows, const uint32_t *tet) {
    const vec3 last = row_at(rows, tet[3]);
    return mat3_make(vec3_sub(row_at(rows, tet[0]), last), vec3_sub(row_at(rows, tet[1]), last),
                     vec3_sub(row_at(rows, tet[2]), last));
}

/* Returns a b^-1 and writes det b. */
static inline mat3 mat3_over(mat3 a, mat3 b, double *det) {
    *det = mat3_det(b);
    return mat3_scale(1 / *det, mat3_mul_transposed(a, mat3_cofactor(b)));
}

#endif
