/* Random matrices and rotations for tests of laws and flow rules. The includer defines MATRIX_NUMBER as double or long
 * double. Include after a header that defines `real`, vec3 and mat3. */
#ifndef PBD_RANDOM_MATRICES_H
#define PBD_RANDOM_MATRICES_H

#include <math.h>
#include <stdint.h>

static double noise(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static void keep(double *most, double x) {
    if (!(x <= *most)) *most = x;
}

typedef struct matrix {
    MATRIX_NUMBER a[3][3]; /* row, column */
} matrix;

static matrix product(matrix a, matrix b) {
    matrix c = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) c.a[i][j] += a.a[i][k] * b.a[k][j];
    return c;
}

static matrix random_rotation(uint64_t *seed) {
    MATRIX_NUMBER q[4], length = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = noise(seed);
        length += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++) q[i] /= _Generic(length, long double : sqrtl, default : sqrt)(length);
    const MATRIX_NUMBER w = q[0], x = q[1], y = q[2], z = q[3];
    return (matrix){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                     {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                     {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

static mat3 to_mat3(matrix a) {
    vec3 c[3];
    for (int j = 0; j < 3; j++) c[j] = vec3_make((real)a.a[0][j], (real)a.a[1][j], (real)a.a[2][j]);
    return mat3_make(c[0], c[1], c[2]);
}

#endif
