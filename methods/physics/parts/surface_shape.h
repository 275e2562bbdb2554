/* Shape functions of edges, triangles and quadrilaterals, linear and quadratic, and rules of integration over them.
 *
 * The further nodes of a quadratic piece follow its corners: the midpoint of each side, beginning with side 0-1, and
 * the centre of a quadrilateral. They are at means of corners, so both orders have the same geometry, that of the
 * corners. Source: Zienkiewicz, Taylor and Zhu, The Finite Element Method, 7th ed., chapter 6. */
#ifndef PBD_SURFACE_SHAPE_H
#define PBD_SURFACE_SHAPE_H

#include <math.h>

enum { SURFACE_MOST_CORNERS = 4, SURFACE_MOST_NODES = 9, SURFACE_RULE = 3 };

/* Gauss-Legendre on [0, 1]: exact for polynomials of degree 5. The product of a load that is linear between the
 * corners, a quadratic shape function and the area element of a plane quadrilateral has degree 4. */
static const double surface_at[SURFACE_RULE] = {0.11270166537925831, 0.5, 0.88729833462074169};
static const double surface_weight[SURFACE_RULE] = {5.0 / 18, 8.0 / 18, 5.0 / 18};

static inline int surface_nodes(int corners, int order) {
    static const int quadratic[SURFACE_MOST_CORNERS + 1] = {0, 0, 3, 6, 9};
    return order == 1 ? corners : quadratic[corners];
}

/* On [0, 1]: functions of the two ends and, for order 2, of the midpoint. */
static inline void surface_line(int order, double s, double N[3]) {
    const double ends[2] = {1 - s, s};
    for (int a = 0; a < 2; a++) N[a] = order == 1 ? ends[a] : ends[a] * (2 * ends[a] - 1);
    N[2] = order == 1 ? 0 : 4 * s * (1 - s);
}

/* On the triangle (0, 0), (1, 0), (0, 1). */
static inline void surface_triangle(int order, double s, double t, double *N) {
    const double L[3] = {1 - s - t, s, t};
    for (int a = 0; a < 3; a++) N[a] = order == 1 ? L[a] : L[a] * (2 * L[a] - 1);
    for (int a = 0; order == 2 && a < 3; a++) N[3 + a] = 4 * L[a] * L[(a + 1) % 3];
}

/* On the square (0, 0), (1, 0), (1, 1), (0, 1): products of the functions of a line. */
static inline void surface_quad(int order, double s, double t, double *N) {
    static const int across[SURFACE_MOST_NODES][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {2, 0},
                                                      {1, 2}, {2, 1}, {0, 2}, {2, 2}};
    double of_s[3], of_t[3];
    surface_line(order, s, of_s);
    surface_line(order, t, of_t);
    for (int a = 0; a < surface_nodes(4, order); a++) N[a] = of_s[across[a][0]] * of_t[across[a][1]];
}

static inline void surface_shape(int corners, int order, double s, double t, double N[SURFACE_MOST_NODES]) {
    if (corners == 2)
        surface_line(order, s, N);
    else if (corners == 3)
        surface_triangle(order, s, t, N);
    else
        surface_quad(order, s, t, N);
}

/* Length or area of the piece for one unit of the reference piece at (s, t). */
static inline double surface_measure(int corners, const double x[SURFACE_MOST_CORNERS][3], double s, double t) {
    double along[3], across[3] = {0}, square = 0;
    for (int d = 0; d < 3; d++) {
        const double far = corners == 4 ? x[2][d] - x[3][d] : 0, side = corners == 4 ? x[2][d] - x[1][d] : 0;
        along[d] = corners == 4 ? (1 - t) * (x[1][d] - x[0][d]) + t * far : x[1][d] - x[0][d];
        if (corners > 2) across[d] = corners == 4 ? (1 - s) * (x[3][d] - x[0][d]) + s * side : x[2][d] - x[0][d];
    }
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        const double size = corners == 2 ? along[d] : along[e] * across[f] - along[f] * across[e];
        square += size * size;
    }
    return sqrt(square);
}

#endif
