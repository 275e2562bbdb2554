/* corrected_sph: its deformation gradients, displacements, impulses and equilibria against a direct implementation of
 * the paper's formulas, and the tests shared by all methods with a material. */
#include "harness/files/paths.h"
#include "tests/element_ladder.h"
#include "tests/sanitized.h"

enum { CLOUD = 60, FREE = 40 };

/* ---- A cloud of particles, and the paper's formulas for it ------------------------------------------------------- */

/* A jittered lattice of 4 x 5 x 3 with uneven volumes and masses; stretched, sheared and rotated at the start. */
static void make_cloud(pbd_scene *scene, double stretch) {
    static const double turn[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    uint64_t seed = 11;
    allocate_scene(scene, CLOUD, 0, 0);
    scene->particles.spacing = 0.1;
    scene->particles.volumes = calloc(CLOUD, sizeof(double));
    for (size_t p = 0; p < CLOUD; p++) {
        const double place[3] = {0.1 * (double)(p % 4), 0.1 * (double)(p / 4 % 5), 0.1 * (double)(p / 20)};
        for (size_t d = 0; d < 3; d++) scene->particles.positions[3 * p + d] = place[d] + 0.02 * noise(&seed);
        scene->particles.volumes[p] = 1e-3 * (1 + 0.3 * noise(&seed));
        scene->particles.masses[p] = 0.1 * (1.5 + noise(&seed));
    }
    for (size_t i = 0; i < 3 * CLOUD; i++) {
        const double *x = scene->particles.positions + i / 3 * 3, *r = turn[i % 3];
        scene->particles.start[i] =
            1 + r[0] * (1 + stretch) * x[0] + r[1] * x[1] + r[2] * (1 - stretch) * x[2] + stretch * 0.05 * noise(&seed);
    }
}

typedef struct formulas {
    bool kernel, gradient, displacement;
    double g[CLOUD][CLOUD][3]; /* g_ij */
} formulas;

static double poly6(double r2, double h) { return r2 < h * h ? 315 / (64 * M_PI * pow(h, 9)) * pow(h * h - r2, 3) : 0; }

static void solve3(double a[3][3], const double b[3], double out[3]) {
    const double det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                       a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                       a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    for (int k = 0; k < 3; k++) {
        double m[3][3];
        memcpy(m, a, sizeof m);
        for (int i = 0; i < 3; i++) m[i][k] = b[i];
        out[k] =
            (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
             m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
            det;
    }
}

/* The sums of claims A3. */
static void gradients_of(const pbd_scene *s, double h, formulas *f) {
    for (size_t i = 0; i < CLOUD; i++) {
        double S = 0, gamma[3] = {0}, moment[3][3] = {{0}};
        for (size_t j = 0; j < CLOUD; j++) {
            double d[3], r2 = 0;
            for (size_t k = 0; k < 3; k++)
                d[k] = s->particles.positions[3 * j + k] - s->particles.positions[3 * i + k], r2 += d[k] * d[k];
            S += s->particles.volumes[j] * poly6(r2, h);
            for (size_t k = 0; k < 3; k++) { /* the gradient with respect to X_i points to the neighbour (C-5) */
                f->g[i][j][k] = r2 < h * h ? 945 / (32 * M_PI * pow(h, 9)) * pow(h * h - r2, 2) * d[k] : 0;
                gamma[k] += s->particles.volumes[j] * f->g[i][j][k];
            }
        }
        for (size_t j = 0; j < CLOUD; j++) {
            double d[3], r2 = 0;
            for (size_t k = 0; k < 3; k++)
                d[k] = s->particles.positions[3 * j + k] - s->particles.positions[3 * i + k], r2 += d[k] * d[k];
            for (size_t k = 0; k < 3 && f->kernel; k++)
                f->g[i][j][k] = (f->g[i][j][k] - poly6(r2, h) * gamma[k] / S) / S;
            for (size_t a = 0; a < 3; a++)
                for (size_t b = 0; b < 3; b++) moment[a][b] += s->particles.volumes[j] * f->g[i][j][a] * d[b];
        }
        for (size_t j = 0; j < CLOUD && f->gradient; j++) {
            const double g[3] = {f->g[i][j][0], f->g[i][j][1], f->g[i][j][2]};
            solve3(moment, g, f->g[i][j]);
        }
    }
}

static void F_of(const pbd_scene *s, const formulas *f, const double *x, size_t i, double F[3][3]) {
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++) {
            F[a][b] = f->displacement && a == b;
            for (size_t j = 0; j < CLOUD; j++) {
                if (j == i) continue;
                double d = x[3 * j + a] - x[3 * i + a];
                if (f->displacement) d -= s->particles.positions[3 * j + a] - s->particles.positions[3 * i + a];
                F[a][b] += s->particles.volumes[j] * d * f->g[i][j][b];
            }
        }
}

/* StVK: psi of F (claims A2). */
static double psi_of(const pbd_material *m, double F[3][3]) {
    const double mu = m->E / (2 * (1 + m->nu)), lambda = m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu));
    double square = 0, trace = 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double e = -0.5 * (a == b);
            for (int k = 0; k < 3; k++) e += 0.5 * F[k][a] * F[k][b];
            square += e * e;
            if (a == b) trace += e;
        }
    return mu * square + lambda / 2 * trace * trace;
}

static double energy_of(const pbd_scene *s, const formulas *f, const double *x) {
    double sum = 0, F[3][3];
    for (size_t i = 0; i < CLOUD; i++) {
        F_of(s, f, x, i, F);
        sum += s->particles.volumes[i] * psi_of(s->material, F);
    }
    return sum;
}

/* ---- Deformation gradients --------------------------------------------------------------------------------------- */

static void words_of(const formulas *f, const char *more, char out[300]) {
    snprintf(out, 300, "kernel_correction=%s gradient_correction=%s form=%s radius=2.2 %s", f->kernel ? "on" : "off",
             f->gradient ? "on" : "off", f->displacement ? "displacement" : "position", more);
}

static formulas *formulas_for(const pbd_scene *scene, int variant) {
    formulas *f = calloc(1, sizeof *f);
    f->kernel = variant & 1;
    f->gradient = variant & 2;
    f->displacement = variant & 4;
    gradients_of(scene, 2.2 * scene->particles.spacing, f);
    return f;
}

static void test_deformation_gradients(void **unused) {
    (void)unused;
    for (int variant = 0; variant < 8; variant++) {
        pbd_scene scene;
        solver s;
        char words[300];
        make_cloud(&scene, 0.2);
        formulas *f = formulas_for(&scene, variant);
        words_of(f, "", words);
        solver_open(&s, "corrected_sph", PBD_PRECISION_F64, 1, &scene, words);
        double got[9 * CLOUD], worst = 0;
        check_ok(s.method->read(s.state, PBD_DEFORMATION_GRADIENTS, got));
        for (size_t i = 0; i < CLOUD; i++) {
            double F[3][3];
            F_of(&scene, f, scene.particles.start, i, F);
            for (int e = 0; e < 9; e++) worst = fmax(worst, fabs(got[9 * i + (size_t)e] - F[e / 3][e % 3]));
        }
        check_near(words, worst, 0, 1e-11);
        solver_close(&s);
        free(f);
        pbd_scene_free(&scene);
    }
}

/* ---- Moves and impulses ------------------------------------------------------------------------------------------ */

/* sum_i w dC_i/dx dlambda_i of plain PBD with C_i = psi_i, which one Jacobi iteration applies, by differences. */
static void moves_of(const pbd_scene *scene, const formulas *f, double *out) {
    double x[3 * CLOUD], F[3][3];
    memcpy(x, scene->particles.start, sizeof x);
    memset(out, 0, 3 * CLOUD * sizeof *out);
    for (size_t i = 0; i < CLOUD; i++) {
        double gradient[3 * CLOUD], q = 0;
        for (size_t k = 0; k < 3 * CLOUD; k++) {
            const double eps = 1e-7, kept = x[k];
            x[k] = kept + eps;
            F_of(scene, f, x, i, F);
            gradient[k] = psi_of(scene->material, F);
            x[k] = kept - eps;
            F_of(scene, f, x, i, F);
            gradient[k] = (gradient[k] - psi_of(scene->material, F)) / (2 * eps);
            x[k] = kept;
            q += gradient[k] * gradient[k] / scene->particles.masses[k / 3];
        }
        F_of(scene, f, x, i, F);
        const double psi = psi_of(scene->material, F);
        for (size_t k = 0; k < 3 * CLOUD; k++) out[k] -= psi / q * gradient[k] / scene->particles.masses[k / 3];
    }
}

typedef struct impulse {
    double linear, angular; /* relative to the sum of magnitudes */
} impulse;

static impulse impulse_of(const pbd_scene *scene, const double *x) {
    double linear[3] = {0}, angular[3] = {0}, size = 0, centre[3] = {0}, reach = 0;
    for (size_t k = 0; k < 3 * CLOUD; k++) centre[k % 3] += scene->particles.start[k] / CLOUD;
    for (size_t k = 0; k < 3 * CLOUD; k++) {
        const double *at = scene->particles.start + k / 3 * 3,
                     j = (x[k] - scene->particles.start[k]) * scene->particles.masses[k / 3];
        const size_t d = k % 3, next = (d + 1) % 3, last = (d + 2) % 3;
        linear[d] += j;
        angular[next] += (at[last] - centre[last]) * j;
        angular[last] -= (at[next] - centre[next]) * j;
        size += fabs(j);
        reach = fmax(reach, fabs(at[d] - centre[d]));
    }
    return (impulse){
        sqrt(linear[0] * linear[0] + linear[1] * linear[1] + linear[2] * linear[2]) / size,
        sqrt(angular[0] * angular[0] + angular[1] * angular[1] + angular[2] * angular[2]) / (size * reach)};
}

/* One Jacobi iteration from rest: the displacements are those of the paper times one factor. Momenta are conserved,
 * except the angular momentum in the displacement form without gradient correction (C-6). */
static void test_moves_and_impulses(void **unused) {
    (void)unused;
    for (int variant = 0; variant < 8; variant++) {
        pbd_scene scene;
        char words[300];
        double wanted[3 * CLOUD], along = 0, square = 0, worst = 0, scale = 0;
        make_cloud(&scene, 0.2);
        scene.material->law = "stvk";
        formulas *f = formulas_for(&scene, variant);
        words_of(f, "constraint=pbd iterations=1 solver=jacobi relaxation=1", words);
        double *x = march("corrected_sph", PBD_PRECISION_F64, 1, &scene, words, 0.01, 1);
        moves_of(&scene, f, wanted);
        for (size_t k = 0; k < 3 * CLOUD; k++) {
            along += wanted[k] * (x[k] - scene.particles.start[k]);
            square += wanted[k] * wanted[k];
            scale = fmax(scale, fabs(wanted[k]));
        }
        const double share = along / square;
        for (size_t k = 0; k < 3 * CLOUD; k++)
            worst = fmax(worst, fabs((x[k] - scene.particles.start[k]) / share - wanted[k]) / scale);
        check_near(words, worst, 0, 1e-6);
        if (!(share > 0.01 && share < 1)) fail_msg("a share of %g of each step", share);
        const impulse j = impulse_of(&scene, x);
        check_near("linear impulse, relative", j.linear, 0, 1e-12);
        if (f->displacement && !f->gradient) {
            if (!(j.angular > 1e-4)) fail_msg("angular impulse %g: C-6 says that it is lost", j.angular);
            print_message("    angular impulse, relative: %.3g, lost as C-6 says\n", j.angular);
        } else {
            check_near("angular impulse, relative", j.angular, 0, 1e-12);
        }
        free(x);
        free(f);
        pbd_scene_free(&scene);
    }
}

/* The bound holds for any directions of the gradients: a plain iteration with nearly twice the inverse of the bound
 * never adds energy to a small deformation. */
static void test_jacobi_does_not_overshoot(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloud(&scene, 0.01);
    scene.material->law = "stvk";
    formulas *f = formulas_for(&scene, 3);
    double last = energy_of(&scene, f, scene.particles.start);
    for (int n = 1; n <= 64; n *= 2) {
        char words[300], more[80];
        snprintf(more, sizeof more, "constraint=pbd iterations=%d solver=jacobi relaxation=1.99", n);
        words_of(f, more, words);
        double *x = march("corrected_sph", PBD_PRECISION_F64, 1, &scene, words, 0.01, 1);
        const double now = energy_of(&scene, f, x);
        print_message("    %d iterations: energy %.3g J, before %.3g J\n", n, now, last);
        if (!(now <= last * (1 + 1e-9))) fail_msg("energy grows from %g to %g J in %d iterations", last, now, n);
        last = now;
        free(x);
    }
    free(f);
    pbd_scene_free(&scene);
}

/* In equilibrium under a load, with XPBD of the root, the gradient of the energy, computed here by differences, equals
 * the load. Jacobi, whose steps take ten times as long, starts from the equilibrium of Gauss-Seidel. */
static void test_equilibrium(void **unused) {
    (void)unused;
    skip_if_sanitized();
    static const char *const solvers[] = {"solver=coloured_gs iterations=12", "solver=jacobi iterations=120"};
    static const int steps[] = {6000, 600};
    double *stands = NULL;
    for (int k = 0; k < 2; k++) {
        pbd_scene scene;
        char words[300], more[120];
        uint32_t held[CLOUD - FREE];
        make_cloud(&scene, 0);
        scene.material->law = "stvk";
        memcpy(scene.particles.start, stands ? stands : scene.particles.positions, 3 * CLOUD * sizeof(double));
        for (uint32_t i = 0; i < CLOUD - FREE; i++) held[i] = i;
        scene.particles.fixed = CLOUD - FREE;
        scene.particles.fixed_particle = held;
        for (size_t i = 3 * scene.particles.fixed; i < 3 * CLOUD; i++)
            scene.loads.forces[i] = i % 3 == 2 ? -0.01 : 0.004;
        formulas *f = formulas_for(&scene, 3);
        snprintf(more, sizeof more, "constraint=xpbd_root damping=6 %s", solvers[k]);
        words_of(f, more, words);
        double *x = march("corrected_sph", PBD_PRECISION_F64, 1, &scene, words, 5e-4, steps[k]), worst = 0;
        for (size_t i = 3 * scene.particles.fixed; i < 3 * CLOUD; i++) {
            const double eps = 1e-6, kept = x[i];
            x[i] = kept + eps;
            const double up = energy_of(&scene, f, x);
            x[i] = kept - eps;
            const double force = (up - energy_of(&scene, f, x)) / (2 * eps);
            x[i] = kept;
            worst = fmax(worst, fabs(force - scene.loads.forces[i]));
        }
        check_near(solvers[k], worst / 0.01, 0, 2e-3);
        free(stands);
        stands = x;
        free(f);
        scene.particles.fixed_particle = NULL;
        pbd_scene_free(&scene);
    }
    free(stands);
}

/* ---- Hourglass control ------------------------------------------------------------------------------------------- */

/* sum_ij xi/2 E V_i V_j |W'_ij|/|X_ij| |F_i X_ij - x_ij|^2 */
static double control_energy(const pbd_scene *s, const formulas *f, double xi, const double *x) {
    const double h = 2.2 * s->particles.spacing;
    double sum = 0, F[3][3];
    for (size_t i = 0; i < CLOUD; i++) {
        F_of(s, f, x, i, F);
        for (size_t j = 0; j < CLOUD; j++) {
            double X[3], r2 = 0, square = 0;
            for (size_t k = 0; k < 3; k++)
                X[k] = s->particles.positions[3 * j + k] - s->particles.positions[3 * i + k], r2 += X[k] * X[k];
            if (j == i || r2 >= h * h) continue;
            for (size_t k = 0; k < 3; k++) {
                const double by = F[k][0] * X[0] + F[k][1] * X[1] + F[k][2] * X[2],
                             off = by - x[3 * j + k] + x[3 * i + k];
                square += off * off;
            }
            sum += xi / 2 * s->material->E * s->particles.volumes[i] * s->particles.volumes[j] * 945 /
                   (32 * M_PI * pow(h, 9)) * pow(h * h - r2, 2) * square;
        }
    }
    return sum;
}

/* Forces from one short step from rest, which moves a particle by dt^2/m times its force; Richardson extrapolation
 * removes the error in dt^2. */
static void forces_by(const pbd_scene *scene, const char *words, double *out) {
    double *x[2];
    for (int k = 0; k < 2; k++) {
        const double dt = 1e-4 / (1 << k);
        x[k] = march("corrected_sph", PBD_PRECISION_F64, 1, scene, words, dt, 1);
        for (size_t i = 0; i < 3 * CLOUD; i++)
            x[k][i] = (x[k][i] - scene->particles.start[i]) * scene->particles.masses[i / 3] / (dt * dt);
    }
    for (size_t i = 0; i < 3 * CLOUD; i++) out[i] = (4 * x[1][i] - x[0][i]) / 3;
    free(x[0]);
    free(x[1]);
}

/* With kernel correction F is not a least-squares fit, so the derivative of F contributes to the gradient. */
static void test_control_is_a_gradient(void **unused) {
    (void)unused;
    for (int corrected = 0; corrected < 2; corrected++) {
        pbd_scene scene;
        char words[300];
        double got[3 * CLOUD], x[3 * CLOUD], worst = 0, most = 0, momentum[3 * CLOUD];
        make_cloud(&scene, 0.2);
        scene.material->law = "stvk";
        formulas *f = formulas_for(&scene, corrected ? 3 : 2);
        words_of(f, "iterations=1 hourglass=2", words);
        forces_by(&scene, words, got);
        memcpy(x, scene.particles.start, sizeof x);
        for (size_t k = 1; k < 3 * CLOUD; k += 5) {
            const double eps = 1e-6, kept = x[k];
            x[k] = kept + eps;
            const double up = energy_of(&scene, f, x) + control_energy(&scene, f, 2, x);
            x[k] = kept - eps;
            const double wanted = -(up - energy_of(&scene, f, x) - control_energy(&scene, f, 2, x)) / (2 * eps);
            x[k] = kept;
            worst = fmax(worst, fabs(got[k] - wanted));
            most = fmax(most, fabs(wanted));
        }
        check_near(words, worst / most, 0, 1e-6);
        for (size_t k = 0; k < 3 * CLOUD; k++)
            momentum[k] = scene.particles.start[k] + 1e-6 * got[k] / scene.particles.masses[k / 3];
        check_near("angular impulse of all forces, relative", impulse_of(&scene, momentum).angular, 0, 1e-6);
        double *moved = march("corrected_sph", PBD_PRECISION_F64, 1, &scene, words, 0.01, 5);
        check_near("linear impulse of five steps, relative", impulse_of(&scene, moved).linear, 0, 1e-12);
        free(moved);
        free(f);
        pbd_scene_free(&scene);
    }
}

/* The energy of hourglass control in the energy balance. */
static void test_control_energy(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    char words[300];
    double energy = 0;
    make_cloud(&scene, 0.2);
    formulas *f = formulas_for(&scene, 2);
    words_of(f, "iterations=1 hourglass=2", words);
    solver_open(&s, "corrected_sph", PBD_PRECISION_F64, 1, &scene, words);
    check_ok(s.method->read(s.state, PBD_INTERNAL_ENERGY, &energy));
    check_near("energy of control, relative", energy / control_energy(&scene, f, 2, scene.particles.start), 1, 1e-12);
    solver_close(&s);
    free(f);
    pbd_scene_free(&scene);
}

static void test_control_of_affine_motion(void **unused) {
    (void)unused;
    static const double map[3][3] = {{0.5, 0.48, -0.7}, {-0.9, 0.7, 0.1}, {0.48, 0.64, 0.6}};
    pbd_scene scene;
    double plain[3 * CLOUD], held[3 * CLOUD], most = 0;
    make_cloud(&scene, 0);
    for (size_t k = 0; k < 3 * CLOUD; k++) {
        const double *x = scene.particles.positions + k / 3 * 3, *row = map[k % 3];
        scene.particles.start[k] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    }
    forces_by(&scene, "iterations=1", plain);
    forces_by(&scene, "iterations=1 hourglass=2", held);
    for (size_t k = 0; k < 3 * CLOUD; k++) most = fmax(most, fabs(plain[k]));
    check_near("control of an affine motion, over the forces", largest_difference(plain, held, CLOUD) / most, 0, 1e-6);
    expect_refused("corrected_sph", &scene, "hourglass=1 gradient_correction=off", PBD_NOT_SUPPORTED,
                   "an F that is exact for affine motions");
    pbd_scene_free(&scene);
}

/* ---- What all methods share -------------------------------------------------------------------------------------- */

static const char *const variants[] = {
    "iterations=3 solver=jacobi", "iterations=3 solver=coloured_gs",
    "iterations=3 solver=jacobi constraint=xpbd kernel=wendland_c2",
    "iterations=2 solver=jacobi constraint=pbd gradient_correction=off form=displacement",
    "iterations=3 solver=coloured_gs hourglass=1"};

static void test_rotation(void **unused) {
    (void)unused;
    expect_rotation_invariance("corrected_sph", "iterations=4 solver=jacobi", true);
    expect_rotation_invariance("corrected_sph", "iterations=4 solver=coloured_gs", false);
    expect_rotation_invariance("corrected_sph", "iterations=4 solver=coloured_gs hourglass=1", false);
}
static void test_units_do_not_matter(void **unused) {
    (void)unused;
    /* With C = psi the problem depends on the units (C-1): the printed form is left out. */
    expect_units_do_not_matter("corrected_sph", variants[0]);
    expect_units_do_not_matter("corrected_sph", variants[1]);
    expect_units_do_not_matter("corrected_sph", variants[3]);
    expect_units_do_not_matter("corrected_sph", variants[4]);
}
static void test_threads(void **unused) {
    (void)unused;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        expect_same_on_threads("corrected_sph", variants[v], false);
}
static void test_precisions_and_backends(void **unused) {
    (void)unused;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        expect_precisions_agree("corrected_sph", variants[v], false, 2e-5);
        expect_backends_agree("corrected_sph", variants[v], false);
    }
}
static void test_order_in_time(void **unused) {
    (void)unused;
    expect_first_order("corrected_sph", "solver=coloured_gs iterations=60");
}

/* Timed solves measure nothing that is not recorded: the sample of the first step takes one more launch per colour. */
static void test_what_is_not_kept_is_not_measured(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    uint64_t launches[2];
    make_cloud(&scene, 0.1);
    for (int muted = 0; muted < 2; muted++) {
        solver_open(&s, "corrected_sph", PBD_PRECISION_F64, 1, &scene, "solver=jacobi iterations=1 dt=1e-3");
        pbd_recorder_mute(s.recorder, muted);
        const uint64_t before = pbd_exec_read_totals(s.exec).launches;
        check_ok(s.method->step(s.state, 1e-3));
        launches[muted] = pbd_exec_read_totals(s.exec).launches - before;
        solver_close(&s);
    }
    assert_int_equal(launches[0], launches[1] + 1);
    pbd_scene_free(&scene);
}

/* ---- Bad and poor bodies ----------------------------------------------------------------------------------------- */

static bool warned(const solver *s, const char *name) {
    for (size_t i = 0; i < s->result.warnings; i++)
        if (strcmp(s->result.warning[i].name, name) == 0) return true;
    return false;
}

static void test_bad_bodies(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloud(&scene, 0.1);
    scene.particles.positions[3 * 17 + 1] = (double)NAN;
    expect_refused("corrected_sph", &scene, "", PBD_BAD_INPUT, "particle 17 is at");
    scene.particles.positions[3 * 17 + 1] = 0.1;
    scene.particles.volumes[5] = 0;
    expect_refused("corrected_sph", &scene, "", PBD_BAD_INPUT, "stands for a volume of 0");
    scene.particles.volumes[5] = 1e-3;
    scene.particles.spacing = 0;
    expect_refused("corrected_sph", &scene, "", PBD_BAD_INPUT, "no spacing is given");
    scene.particles.spacing = 0.1;
    scene.material->nu = 0.5;
    expect_refused("corrected_sph", &scene, "dt=1e-3", PBD_BAD_INPUT, "nu=0.5");
    pbd_scene_free(&scene);
}

/* A sheet of one layer, a thread and lone particles: correction matrices are singular, but nothing becomes NaN. A lone
 * particle falls freely. */
static void test_poor_bodies(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 3; kind++)
        for (int precision = 0; precision < 2; precision++) {
            pbd_scene scene;
            solver s;
            make_cloud(&scene, 0);
            for (size_t p = 0; p < CLOUD; p++) {
                const double place[3][3] = {{0.1 * (double)(p % 8), 0.1 * (double)(p / 8), 0},
                                            {0.1 * (double)p, 0, 0},
                                            {10.0 * (double)p, 0, 0}};
                memcpy(scene.particles.positions + 3 * p, place[kind], sizeof place[kind]);
            }
            memcpy(scene.particles.start, scene.particles.positions, 3 * CLOUD * sizeof(double));
            scene.loads.gravity[2] = -10;
            solver_open(&s, "corrected_sph", (pbd_precision)precision, 1, &scene, "constraint=xpbd_root");
            assert_true(warned(&s, "singular_correction"));
            for (int n = 0; n < 20; n++) check_ok(s.method->step(s.state, 0.01));
            double *x = positions_of(&s, CLOUD);
            for (size_t i = 0; i < 3 * CLOUD; i++)
                check_near_(kind == 0   ? "sheet, m"
                            : kind == 1 ? "thread, m"
                                        : "lone particles, m",
                            x[i], scene.particles.positions[i] + (i % 3 == 2 ? -10 * 0.01 * 0.01 * 20 * 21 / 2 : 0),
                            precision ? 1e-9 : 1e-3, __FILE__, __LINE__);
            free(x);
            solver_close(&s);
            pbd_scene_free(&scene);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control_energy),
        cmocka_unit_test(test_deformation_gradients),
        cmocka_unit_test(test_moves_and_impulses),
        cmocka_unit_test(test_jacobi_does_not_overshoot),
        cmocka_unit_test(test_equilibrium),
        cmocka_unit_test(test_control_is_a_gradient),
        cmocka_unit_test(test_control_of_affine_motion),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_precisions_and_backends),
        cmocka_unit_test(test_order_in_time),
        cmocka_unit_test(test_what_is_not_kept_is_not_measured),
        cmocka_unit_test(test_bad_bodies),
        cmocka_unit_test(test_poor_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
