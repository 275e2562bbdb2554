/* Singular value and polar decomposition of a 3 x 3 matrix, without branches: every matrix costs the same.
 *
 *     F = U diag(s) V^T,   U and V rotations (det = +1),   s.x >= s.y >= |s.z|,   s.z < 0 exactly when det F < 0
 *
 * This is the convention of invertible finite elements: a reflection appears as a negative smallest singular value. The
 * polar decomposition is F = R S with the rotation R = U V^T, also where det F < 0, and the symmetric S = V diag(s)
 * V^T.
 *
 * One-sided Jacobi (Hestenes): pairs of columns of F are rotated until all are orthogonal, F V = B; each rotation also
 * puts the longer column first. Three Givens rotations then give B = U diag(s). They are rotations for any B, so rank
 * 2, 1 and 0 need no special case, and the sign of det F ends up in s.z. The eigenvalues of F^T F would cost half the
 * digits of the small singular values. F is first scaled by a power of two, so that intermediate results neither
 * overflow nor underflow.
 *
 * Errors, in units of eps s.x, are in methods/physics/README.md. They do not depend on rank, gaps or scale. */
#ifndef PBD_BODY
#ifndef PBD_SVD3_H
#define PBD_SVD3_H

#include "methods/physics/math/mat3.h"

/* Sweeps over the three pairs of columns. Convergence is quadratic: the worst matrix that a search found has an error
 * of 5e-9 s.x after four sweeps and of rounding after five. */
#define PBD_SVD3_SWEEPS (REAL_IS_FLOAT ? 4 : 5)

/* Decompositions that mat3_svds computes together. */
enum { PBD_SVD3_TOGETHER = PBD_BATCH > 1 ? 2 : 1 };

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

/* The rotation that makes p and q orthogonal with p the longer one. Its angle is half that of the vector (d, h), d =
 * p.p - q.q, h = 2 p.q. */
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
    /* No rotation where none is needed (d = h = 0) or where d and h are rounding relative to the largest column (about
     * 1). */
    out.c = V(real_where)(square < REAL_MIN, V(real_set)(1), out.c);
    out.s = V(real_where)(square < REAL_MIN, V(real_set)(0), out.s);
    return out;
}

/* The rotation of rows (a, b) after which b is 0 and a is not negative. */
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

/* One rotation of a sweep: columns p and q of F V become orthogonal; vp and vq are those of V. */
PBD_FN void V(svd3_rotate)(V(vec3) * p, V(vec3) * q, V(vec3) * vp, V(vec3) * vq) {
    const V(plane_turn) by = V(svd3_turn)(*p, *q);
    V(vec3_turn)(by, p, q);
    V(vec3_turn)(by, vp, vq);
}

/* U and s from b = F V. Row rotations eliminate b below its diagonal; the same rotations of the identity's columns give
 * U. */
PBD_FN void V(svd3_finish)(V(mat3) b, V(real) scale, V(svd3) * out) {
    V(plane_turn) by = V(svd3_givens)(b.x.x, b.x.y);
    out->u = V(mat3_identity)();
    V(real_turn)(by, &b.x.x, &b.x.y);
    V(real_turn)(by, &b.y.x, &b.y.y);
    V(real_turn)(by, &b.z.x, &b.z.y);
    V(vec3_turn)(by, &out->u.x, &out->u.y);
    by = V(svd3_givens)(b.x.x, b.x.z);
    V(real_turn)(by, &b.x.x, &b.x.z);
    V(real_turn)(by, &b.y.x, &b.y.z);
    V(real_turn)(by, &b.z.x, &b.z.z);
    V(vec3_turn)(by, &out->u.x, &out->u.z);
    by = V(svd3_givens)(b.y.y, b.y.z);
    V(real_turn)(by, &b.y.y, &b.y.z);
    V(real_turn)(by, &b.z.y, &b.z.z);
    V(vec3_turn)(by, &out->u.y, &out->u.z);

    /* The rotations skip columns below rounding, which may leave b.y.y negative: its sign moves to s.z. */
    V(real) sign = V(real_where)(b.y.y < 0, V(real_set)(-1), V(real_set)(1));
    out->u.y = V(vec3_scale)(sign, out->u.y);
    out->u.z = V(vec3_scale)(sign, out->u.z);

    /* Above the diagonal, b is zero to rounding. */
    out->s = V(vec3_scale)(scale, V(vec3_make)(b.x.x, b.y.y * sign, b.z.z * sign));
}

/* Decompositions of f[0..n), n at most PBD_SVD3_TOGETHER, each with the result of mat3_svd. A decomposition is one
 * chain of dependent operations; a core works on two chains at a time where they alternate. */
PBD_FN void V(mat3_svds)(const V(mat3) f[], int n, V(svd3) out[]) {
    V(mat3) b[PBD_SVD3_TOGETHER];
    V(real) scale[PBD_SVD3_TOGETHER];
    for (int k = 0; k < n; k++) {
        V(real) inverse;
        scale[k] = V(real_power_of_two)(V(mat3_largest)(f[k]), &inverse);
        b[k] = V(mat3_scale)(inverse, f[k]);
        out[k].v = V(mat3_identity)();
    }
    for (int sweep = 0; sweep < PBD_SVD3_SWEEPS; sweep++) {
        for (int k = 0; k < n; k++) V(svd3_rotate)(&b[k].x, &b[k].y, &out[k].v.x, &out[k].v.y);
        for (int k = 0; k < n; k++) V(svd3_rotate)(&b[k].x, &b[k].z, &out[k].v.x, &out[k].v.z);
        for (int k = 0; k < n; k++) V(svd3_rotate)(&b[k].y, &b[k].z, &out[k].v.y, &out[k].v.z);
    }
    for (int k = 0; k < n; k++) V(svd3_finish)(b[k], scale[k], &out[k]);
}

PBD_FN V(svd3) V(mat3_svd)(V(mat3) f) {
    V(svd3) out;
    V(mat3_svds)(&f, 1, &out);
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
