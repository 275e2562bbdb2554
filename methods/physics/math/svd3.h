/* Singular values of a 3 x 3 matrix, and its polar decomposition: no branches, the same work for every matrix.
 *
 *     F = U diag(s) V^T,   U and V rotations (det = +1),   s.x >= s.y >= |s.z|,   s.z < 0 exactly when det F < 0
 *
 * which is the convention of invertible finite elements: a reflection shows as a negative smallest singular value.
 * F = R S with R = U V^T a rotation also where det F < 0, and S = V diag(s) V^T symmetric.
 *
 * One-sided Jacobi (Hestenes): turn pairs of columns of F until all are orthogonal, F V = B; each turn also puts the
 * longer column first. Then B = U diag(s) by three Givens rotations: these are exact rotations whatever B is, so rank
 * 2, 1 and 0 need no case of their own, and the sign of det F is left in s.z. Squaring F (eigenvalues of F^T F) would
 * cost half the digits of the small singular values. F is scaled by a power of two first, so that nothing in between
 * over- or underflows.
 *
 * Errors, in units of eps s.x, are in README.md. They do not depend on rank, gaps or scale. */
#ifndef PBD_BODY
#ifndef PBD_SVD3_H
#define PBD_SVD3_H

#include "methods/physics/math/mat3.h"

/* Sweeps over the three pairs of columns. Convergence is quadratic: the worst matrix a search found is off by 5e-9 of
 * s.x after four, by rounding after five. */
#define PBD_SVD3_SWEEPS (REAL_IS_FLOAT ? 4 : 5)

#define PBD_BODY "methods/physics/math/svd3.h"
#include "methods/physics/math/twice.h"
#endif
#else

typedef struct V(svd3) {
    V(mat3) u;
    V(vec3) s; /* singular values */
    V(mat3) v;
} V(svd3);

typedef struct V(polar3) {
    V(mat3) r, s;
} V(polar3);

typedef struct V(plane_turn) {
    V(real) c, s; /* cosine and sine */
} V(plane_turn);

/* (p, q) -> (c p + s q, c q - s p) */
PBD_FN void V(vec3_turn)(V(plane_turn) by, V(vec3) * p, V(vec3) * q) {
    V(vec3) old = *p;
    *p = V(vec3_add)(V(vec3_scale)(by.c, old), V(vec3_scale)(by.s, *q));
    *q = V(vec3_sub)(V(vec3_scale)(by.c, *q), V(vec3_scale)(by.s, old));
}

/* The turn after which p and q are orthogonal and p is the longer one. With d = p.p - q.q and h = 2 p.q the angle is
 * half that of the vector (d, h). */
PBD_FN V(plane_turn) V(svd3_turn)(V(vec3) p, V(vec3) q) {
    V(real) h = 2 * V(vec3_dot)(p, q);
    V(real) d = V(vec3_dot)(V(vec3_add)(p, q), V(vec3_sub)(p, q));
    V(real) square = d * d + h * h;
    V(real) inverse = 1 / V(real_sqrt)(V(real_where)(square < REAL_MIN, V(real_set)(1), square));
    V(real) larger = V(real_sqrt)((real)0.5 + (real)0.5 * V(real_abs)(d) * inverse);
    V(real) smaller = (real)0.5 * h * inverse / larger;
    V(plane_turn) out;
    out.c = V(real_where)(d < 0, V(real_abs)(smaller), larger);
    out.s = V(real_where)(d < 0, V(real_copysign)(larger, h), smaller);
    /* Nothing to turn, or so small beside the largest column (which is about 1) that it is rounding. */
    out.c = V(real_where)(square < REAL_MIN, V(real_set)(1), out.c);
    out.s = V(real_where)(square < REAL_MIN, V(real_set)(0), out.s);
    return out;
}

/* The turn of rows (a, b) after which b is 0 and a not negative. */
PBD_FN V(plane_turn) V(svd3_givens)(V(real) a, V(real) b) {
    V(real) square = a * a + b * b;
    V(real) inverse = 1 / V(real_sqrt)(V(real_where)(square < REAL_MIN, V(real_set)(1), square));
    V(plane_turn) out;
    out.c = V(real_where)(square < REAL_MIN, V(real_set)(1), a * inverse);
    out.s = V(real_where)(square < REAL_MIN, V(real_set)(0), b * inverse);
    return out;
}

PBD_FN void V(real_turn)(V(plane_turn) by, V(real) * a, V(real) * b) {
    V(real) old = *a;
    *a = by.c * old + by.s * *b;
    *b = by.c * *b - by.s * old;
}

PBD_FN V(svd3) V(mat3_svd)(V(mat3) f) {
    V(real) inverse, scale = V(real_power_of_two)(V(mat3_largest)(f), &inverse);
    V(mat3) b = V(mat3_scale)(inverse, f);
    V(svd3) out;
    out.u = out.v = V(mat3_identity)();
    for (int sweep = 0; sweep < PBD_SVD3_SWEEPS; sweep++) {
        V(plane_turn) by = V(svd3_turn)(b.x, b.y);
        V(vec3_turn)(by, &b.x, &b.y);
        V(vec3_turn)(by, &out.v.x, &out.v.y);
        by = V(svd3_turn)(b.x, b.z);
        V(vec3_turn)(by, &b.x, &b.z);
        V(vec3_turn)(by, &out.v.x, &out.v.z);
        by = V(svd3_turn)(b.y, b.z);
        V(vec3_turn)(by, &b.y, &b.z);
        V(vec3_turn)(by, &out.v.y, &out.v.z);
    }

    /* Row turns that empty b below its diagonal; the same turns of the identity's columns give U. */
    V(plane_turn) by = V(svd3_givens)(b.x.x, b.x.y);
    V(real_turn)(by, &b.x.x, &b.x.y);
    V(real_turn)(by, &b.y.x, &b.y.y);
    V(real_turn)(by, &b.z.x, &b.z.y);
    V(vec3_turn)(by, &out.u.x, &out.u.y);
    by = V(svd3_givens)(b.x.x, b.x.z);
    V(real_turn)(by, &b.x.x, &b.x.z);
    V(real_turn)(by, &b.y.x, &b.y.z);
    V(real_turn)(by, &b.z.x, &b.z.z);
    V(vec3_turn)(by, &out.u.x, &out.u.z);
    by = V(svd3_givens)(b.y.y, b.y.z);
    V(real_turn)(by, &b.y.y, &b.y.z);
    V(real_turn)(by, &b.z.y, &b.z.z);
    V(vec3_turn)(by, &out.u.y, &out.u.z);

    /* Beside the largest column the turns pass over what is below rounding: its sign belongs to s.z too. */
    V(real) sign = V(real_where)(b.y.y < 0, V(real_set)(-1), V(real_set)(1));
    out.u.y = V(vec3_scale)(sign, out.u.y);
    out.u.z = V(vec3_scale)(sign, out.u.z);
    b.y.y *= sign;
    b.z.z *= sign;

    /* Above the diagonal only rounding is left. */
    out.s = V(vec3_scale)(scale, V(vec3_make)(b.x.x, b.y.y, b.z.z));
    return out;
}

/* U diag(d) V^T */
PBD_FN V(mat3) V(svd3_with)(V(svd3) a, V(vec3) d) {
    V(mat3) scaled = V(mat3_make)(V(vec3_scale)(d.x, a.u.x), V(vec3_scale)(d.y, a.u.y), V(vec3_scale)(d.z, a.u.z));
    return V(mat3_mul_transposed)(scaled, a.v);
}

PBD_FN V(polar3) V(mat3_polar)(V(mat3) f) {
    V(svd3) parts = V(mat3_svd)(f);
    V(polar3) out;
    out.r = V(mat3_mul_transposed)(parts.u, parts.v);
    parts.u = parts.v;
    out.s = V(svd3_with)(parts, parts.s);
    return out;
}

#endif
