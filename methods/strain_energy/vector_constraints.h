/* Constraints of tetrahedra with several components, each with its own multiplier (README.md).
 *
 *     six_strains      C = (E_xx, E_yy, E_zz, sqrt2 E_yz, sqrt2 E_zx, sqrt2 E_xy), E Green's strain, compliance D^-1/V
 *                      with D = lambda t t^T + 2 mu I, t = (1, 1, 1, 0, 0, 0): the energy V psi of stvk
 *                      (Macklin, Mueller and Chentanez 2016)
 *     two_constraints  C_D = |F|, C_H = J - gamma, compliances 1/(mu V) and 1/(l V), l = lambda + mu, gamma = 1 + mu/l:
 *                      the energy of macklin_neo_hookean up to a constant (Macklin and Mueller 2021)
 *
 * With S = sum_I dl_I B_I, dl_I the change of multiplier I and B_I the symmetric basis of C_I = tr(B_I E), six_strains
 * moves corner a by dx_a = w_a F S g_a, g_a the gradient of its shape function. So J W J^T has the entries
 * tr(B_I F^T F B_J G), G = sum_a w_a g_a g_a^T, without a loop over corners. */
#ifndef PBD_STRAIN_ENERGY_VECTOR_CONSTRAINTS_H
#define PBD_STRAIN_ENERGY_VECTOR_CONSTRAINTS_H

#include "methods/physics/matter/energy_constraint.h"
#include "methods/physics/parts/element_clusters.h"

enum { VECTOR_DH, VECTOR_HD, VECTOR_BOTH };
enum { VECTOR_STRAINS = 6, VECTOR_PAIR = 2 };

typedef struct vector_args {
    element_view view;
    real *multiplier; /* component k at [k * stride] */
    real *out;        /* sum_vector_residuals: one sum per block */
    size_t elements;
    real mu, lambda, compliance; /* in units of `unit`; 1/(unit dt^2) */
    real_bits components, order, none;
} vector_args;

/* ---- Six strains ------------------------------------------------------------------------------------------------- */

/* Row i and column j of a component, which is E_ij, times sqrt 2 if i != j. */
PBD_FN int vector_row(int component) { return component < 3 ? component : (component - 2) % 3; }
PBD_FN int vector_column(int component) { return component < 3 ? component : (component - 1) % 3; }

PBD_FN void vector_entries(vmat3 a, vreal out[3][3]) {
    const vvec3 column[3] = {a.x, a.y, a.z};
    for (int c = 0; c < 3; c++) out[0][c] = column[c].x, out[1][c] = column[c].y, out[2][c] = column[c].z;
}

/* Returns g_a of corners 0 to 2; g_a of the fourth is minus their sum. */
PBD_FN vvec3 vector_shape(const element *e, int corner) {
    return vvec3_make(e->b[corner], e->b[3 + corner], e->b[6 + corner]);
}

/* G = sum_a w_a g_a g_a^T. */
PBD_FN vmat3 vector_weights(const element *e) {
    vvec3 last = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    vmat3 sum = vmat3_make(last, last, last);
    for (int c = 0; c < 3; c++) {
        vvec3 g = vector_shape(e, c);
        last = vvec3_add(last, g);
        sum = vmat3_add(sum, vmat3_outer(vvec3_scale(e->corner[c][3], g), g));
    }
    return vmat3_add(sum, vmat3_outer(vvec3_scale(e->corner[3][3], last), last));
}

/* Returns tr(B_I C B_J G) of two components, first >= second; C = F^T F. */
PBD_FN vreal vector_product(int first, int second, vreal c[3][3], vreal g[3][3]) {
    const real half = (real)0.5, root = (real)0.70710678118654752440;
    const int i = vector_row(first), j = vector_column(first), k = vector_row(second), l = vector_column(second);
    if (first < 3) return c[i][k] * g[k][i];
    if (second < 3) return root * (c[j][k] * g[k][i] + c[i][k] * g[k][j]);
    return half * (c[j][k] * g[l][i] + c[j][l] * g[k][i] + c[i][k] * g[l][j] + c[i][l] * g[k][j]);
}

PBD_FN void vector_strains(vmat3 f, vreal out[VECTOR_STRAINS]) {
    const real root = (real)1.41421356237309504880;
    vreal e[3][3];
    vector_entries(vmat3_green(f), e);
    for (int k = 0; k < VECTOR_STRAINS; k++) out[k] = k < 3 ? e[k][k] : root * e[vector_row(k)][vector_column(k)];
}

/* D^-1 v. */
PBD_FN void vector_soften(const vector_args *a, const vreal v[VECTOR_STRAINS], vreal out[VECTOR_STRAINS]) {
    const real each = 1 / (2 * a->mu), shared = each * a->lambda / (2 * a->mu + 3 * a->lambda);
    vreal trace = shared * (v[0] + v[1] + v[2]);
    for (int k = 0; k < VECTOR_STRAINS; k++) out[k] = k < 3 ? each * v[k] - trace : each * v[k];
}

/* -(C + alpha lambda), alpha = D^-1/(V dt^2). */
PBD_FN void vector_strain_residual(const vector_args *a, vmat3 f, vreal alpha, const vreal lambda[VECTOR_STRAINS],
                                   vreal out[VECTOR_STRAINS]) {
    vreal strain[VECTOR_STRAINS], soft[VECTOR_STRAINS];
    vector_strains(f, strain);
    vector_soften(a, lambda, soft);
    for (int k = 0; k < VECTOR_STRAINS; k++) out[k] = -strain[k] - alpha * soft[k];
}

/* Solves m x = b by Cholesky; m is positive definite, since D^-1 is. */
PBD_FN void vector_solve(vreal m[VECTOR_STRAINS][VECTOR_STRAINS], vreal b[VECTOR_STRAINS]) {
    for (int j = 0; j < VECTOR_STRAINS; j++) {
        for (int k = 0; k < j; k++) m[j][j] -= m[j][k] * m[j][k];
        m[j][j] = 1 / vreal_sqrt(m[j][j]);
        for (int i = j + 1; i < VECTOR_STRAINS; i++) {
            for (int k = 0; k < j; k++) m[i][j] -= m[i][k] * m[j][k];
            m[i][j] *= m[j][j];
        }
    }
    for (int i = 0; i < VECTOR_STRAINS; i++) {
        for (int k = 0; k < i; k++) b[i] -= m[i][k] * b[k];
        b[i] *= m[i][i];
    }
    for (int i = VECTOR_STRAINS - 1; i >= 0; i--) {
        for (int k = i + 1; k < VECTOR_STRAINS; k++) b[i] -= m[k][i] * b[k];
        b[i] *= m[i][i];
    }
}

/* Updates the multipliers. Writes the moves of the corners divided by their inverse masses: gradient[a] = F S g_a. */
PBD_FN void vector_strain_move(const vector_args *a, size_t first, int count, const element *e, vreal size, vreal share,
                               vvec3 gradient[4]) {
    const real root = (real)0.70710678118654752440;
    const vmat3 f = element_deformation_gradient(e, 4);
    const vreal alpha = a->compliance / size;
    vreal lambda[VECTOR_STRAINS], step[VECTOR_STRAINS], m[VECTOR_STRAINS][VECTOR_STRAINS], c[3][3], g[3][3];
    for (int k = 0; k < VECTOR_STRAINS; k++) lambda[k] = element_entry(&a->view, a->multiplier, k, first, count);
    vector_strain_residual(a, f, alpha, lambda, step);
    vector_entries(vmat3_transposed_mul(f, f), c);
    vector_entries(vector_weights(e), g);
    const real each = 1 / (2 * a->mu), shared = each * a->lambda / (2 * a->mu + 3 * a->lambda);
    for (int i = 0; i < VECTOR_STRAINS; i++)
        for (int j = 0; j <= i; j++) {
            m[i][j] = vector_product(i, j, c, g);
            if (i == j) m[i][j] += each * alpha;
            if (i < 3) m[i][j] -= shared * alpha;
        }
    vector_solve(m, step);
    for (int k = 0; k < VECTOR_STRAINS; k++) {
        step[k] *= share;
        batch_store(a->multiplier + (size_t)k * a->view.stride, first, count, lambda[k] + step[k]);
    }
    const vmat3 s = vmat3_make(vvec3_make(step[0], root * step[5], root * step[4]),
                               vvec3_make(root * step[5], step[1], root * step[3]),
                               vvec3_make(root * step[4], root * step[3], step[2]));
    element_gradients(e, 4, vmat3_mul(f, s), gradient);
}

/* ---- Two constraints --------------------------------------------------------------------------------------------- */

/* Value, derivative with respect to F, and alpha of C_D (which = 0) or C_H (1). C_D is computed as sqrt 3 plus a term
 * free of cancellation. */
typedef struct vector_part {
    vreal value, alpha;
    vmat3 p;
} vector_part;

PBD_FN vector_part vector_part_of(const vector_args *a, int which, vmat3 f, vreal size) {
    const real root3 = (real)1.73205080756887729353, l = a->lambda + a->mu;
    vector_part out;
    const vmat3 green = vmat3_green(f);
    if (which == 0) {
        const vreal square = 2 * vmat3_trace(green), norm = vreal_sqrt(square + 3);
        out.value = square / (norm + root3) + root3;
        out.alpha = a->compliance / (a->mu * size);
        out.p = vmat3_scale(1 / norm, f);
        return out;
    }
    out.value = vvolume_of_matrix(f, green).d - a->mu / l;
    out.alpha = a->compliance / (l * size);
    out.p = vmat3_cofactor(f);
    return out;
}

/* Projects one of the two constraints and moves the corners of `e`. Adds the moves divided by the inverse masses to
 * `total`. */
PBD_FN void vector_single(const vector_args *a, int which, element *e, vreal size, vreal share, vreal *lambda,
                          vvec3 total[4]) {
    vvec3 gradient[4];
    const vector_part c = vector_part_of(a, which, element_deformation_gradient(e, 4), size);
    element_gradients(e, 4, c.p, gradient);
    const vreal step = -share * (c.value + c.alpha * *lambda) / (element_weight(e, 4, gradient) + c.alpha);
    *lambda += step;
    element_move(e, 4, step, gradient);
    for (int k = 0; k < 4; k++) total[k] = vvec3_add(total[k], vvec3_scale(step, gradient[k]));
}

/* Projects both constraints at once, with gradients at the same positions. Writes `total`. */
PBD_FN void vector_both(const vector_args *a, const element *e, vreal size, vreal share, vreal lambda[VECTOR_PAIR],
                        vvec3 total[4]) {
    vvec3 gd[4], gh[4];
    const vmat3 f = element_deformation_gradient(e, 4);
    const vector_part d = vector_part_of(a, 0, f, size), h = vector_part_of(a, 1, f, size);
    element_gradients(e, 4, d.p, gd);
    element_gradients(e, 4, h.p, gh);
    vreal across = vreal_set(0);
    for (int k = 0; k < 4; k++) across += e->corner[k][3] * vvec3_dot(gd[k], gh[k]);
    const vreal dd = element_weight(e, 4, gd) + d.alpha, hh = element_weight(e, 4, gh) + h.alpha;
    const vreal rd = -d.value - d.alpha * lambda[0], rh = -h.value - h.alpha * lambda[1];
    const vreal det = share / (dd * hh - across * across);
    const vreal sd = det * (hh * rd - across * rh), sh = det * (dd * rh - across * rd);
    lambda[0] += sd;
    lambda[1] += sh;
    for (int k = 0; k < 4; k++) total[k] = vvec3_add(vvec3_scale(sd, gd[k]), vvec3_scale(sh, gh[k]));
}

PBD_FN void vector_pair_move(const vector_args *a, size_t first, int count, const element *e, vreal size, vreal share,
                             vvec3 total[4]) {
    vreal lambda[VECTOR_PAIR];
    element moving = *e;
    for (int k = 0; k < 4; k++) total[k] = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    for (int k = 0; k < VECTOR_PAIR; k++) lambda[k] = element_entry(&a->view, a->multiplier, k, first, count);
    if (a->order == VECTOR_BOTH) {
        vector_both(a, e, size, share, lambda, total);
    } else if (a->order == VECTOR_DH) {
        vector_single(a, 0, &moving, size, share, &lambda[0], total);
        vector_single(a, 1, &moving, size, share, &lambda[1], total);
    } else {
        vector_single(a, 1, &moving, size, share, &lambda[1], total);
        vector_single(a, 0, &moving, size, share, &lambda[0], total);
    }
    for (int k = 0; k < VECTOR_PAIR; k++)
        batch_store(a->multiplier + (size_t)k * a->view.stride, first, count, lambda[k]);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

PBD_FN void vector_move(const vector_args *a, const element_view *at, size_t first, int count, element *e,
                        vvec3 gradient[4]) {
    element_load(at, 4, first, count, e);
    const vreal size = batch_load(a->view.size, first, count);
    const vreal share = a->view.share ? batch_load(a->view.share, first, count) : vreal_set(1);
    if (a->components == VECTOR_STRAINS)
        vector_strain_move(a, first, count, e, size, share, gradient);
    else
        vector_pair_move(a, first, count, e, size, share, gradient);
}

PBD_FN void vector_project(const vector_args *a, const element_view *at, size_t first, int count) {
    element e;
    vvec3 gradient[4];
    vector_move(a, at, first, count, &e, gradient);
    element_move(&e, 4, vreal_set(1), gradient);
    element_store(at, 4, first, count, &e);
}

PBD_BATCH_OF(project_vectors, vector_args, first, count, (32 + 10 + 2 * VECTOR_STRAINS) * sizeof(real) + 16, 560) {
    vector_project(a, &a->view, first, count);
}

/* Work: particles of clusters, and elements. */
typedef struct vector_cluster_args {
    vector_args of; /* all elements */
    cluster_view clusters;
} vector_cluster_args;

PBD_TILE_OVER(project_vector_clusters, vector_cluster_args, cluster, 8 * sizeof(real) + 4, 0,
              (10 + 2 * VECTOR_STRAINS) * sizeof(real) + 16, 560) {
    CLUSTER_SWEEP(&a->clusters, &a->of.view, cluster, vector_project(&a->of, &at, first, count));
}

PBD_BATCH_OF(store_vector_impulses, vector_args, first, count, (32 + 11 + 2 * VECTOR_STRAINS) * sizeof(real) + 16,
             560) {
    element e;
    vvec3 gradient[4];
    vector_move(a, &a->view, first, count, &e, gradient);
    element_store_impulse(&a->view, 4, first, count, vreal_set(1), gradient);
}

/* Rows of the system of all constraints: entry k of element e at [e + k * stride] (global_solve.h). */
typedef struct vector_row_args {
    vector_args of;
    real *gradient, *left; /* 12 and 1 per element and component */
} vector_row_args;

PBD_FN void vector_store_gradient(const element_view *v, real *out, int component, size_t first, int count, vreal scale,
                                  const vvec3 gradient[4]) {
    for (int c = 0; c < 4; c++) {
        real *to = out + (size_t)(12 * component + 3 * c) * v->stride;
        batch_store(to, first, count, scale * gradient[c].x);
        batch_store(to + v->stride, first, count, scale * gradient[c].y);
        batch_store(to + 2 * v->stride, first, count, scale * gradient[c].z);
    }
}

/* Returns B_I, with dC_I = tr(F B_I dF^T). */
PBD_FN vmat3 vector_basis(int component) {
    const real off = component < 3 ? 1 : (real)0.70710678118654752440;
    const int row = vector_row(component), column = vector_column(component);
    vreal b[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b[i][j] = vreal_set((i == row && j == column) || (i == column && j == row) ? off : 0);
    return vmat3_make(vvec3_make(b[0][0], b[1][0], b[2][0]), vvec3_make(b[0][1], b[1][1], b[2][1]),
                      vvec3_make(b[0][2], b[1][2], b[2][2]));
}

PBD_BATCH_OF(store_vector_rows, vector_row_args, first, count, (32 + 13 * VECTOR_STRAINS) * sizeof(real) + 16, 900) {
    const vector_args *of = &a->of;
    element e;
    vvec3 gradient[4];
    vreal lambda[VECTOR_STRAINS], left[VECTOR_STRAINS];
    element_load(&of->view, 4, first, count, &e);
    const vmat3 f = element_deformation_gradient(&e, 4);
    const vreal size = batch_load(of->view.size, first, count);
    for (int k = 0; k < VECTOR_STRAINS; k++)
        if (k < (int)of->components) lambda[k] = element_entry(&of->view, of->multiplier, k, first, count);
    if (of->components == VECTOR_STRAINS) vector_strain_residual(of, f, of->compliance / size, lambda, left);
    for (int k = 0; k < VECTOR_STRAINS; k++) { /* a constant trip count keeps the arrays in a GPU's registers */
        if (k >= (int)of->components) continue;
        if (of->components == VECTOR_PAIR) {
            const vector_part c = vector_part_of(of, k, f, size);
            element_gradients(&e, 4, c.p, gradient);
            left[k] = c.value + c.alpha * lambda[k];
        } else {
            element_gradients(&e, 4, vmat3_mul(f, vector_basis(k)), gradient);
            left[k] = -left[k];
        }
        batch_store(a->left + (size_t)k * of->view.stride, first, count, left[k]);
        vector_store_gradient(&of->view, a->gradient, k, first, count, vreal_set(1), gradient);
    }
}

enum { VECTOR_BLOCK = 16 };

/* Sums |C + alpha lambda|^2 over a block of tetrahedra. */
PBD_ITEM(sum_vector_residuals, vector_args, block, VECTOR_BLOCK *(26 * sizeof(real) + 16), VECTOR_BLOCK * 200) {
    const size_t end = (block + 1) * VECTOR_BLOCK < a->elements ? (block + 1) * VECTOR_BLOCK : a->elements;
    real sum = 0;
    for (size_t first = block * VECTOR_BLOCK; first < end; first += PBD_BATCH) {
        const int count = end - first < PBD_BATCH ? (int)(end - first) : PBD_BATCH;
        element e;
        vreal lambda[VECTOR_STRAINS], left[VECTOR_STRAINS], squares = vreal_set(0);
        real one[PBD_BATCH];
        element_load(&a->view, 4, first, count, &e);
        const vmat3 f = element_deformation_gradient(&e, 4);
        const vreal size = batch_load(a->view.size, first, count);
        for (int k = 0; k < VECTOR_STRAINS; k++)
            if (k < (int)a->components) lambda[k] = element_entry(&a->view, a->multiplier, k, first, count);
        if (a->components == VECTOR_STRAINS) vector_strain_residual(a, f, a->compliance / size, lambda, left);
        for (int k = 0; k < VECTOR_STRAINS; k++) {
            if (k >= (int)a->components) continue;
            if (a->components == VECTOR_PAIR) {
                const vector_part c = vector_part_of(a, k, f, size);
                left[k] = c.value + c.alpha * lambda[k];
            }
            squares += left[k] * left[k];
        }
        batch_store(one, 0, PBD_BATCH, squares);
        for (int k = 0; k < count; k++) sum += one[k];
    }
    a->out[block] = sum;
}

#endif
