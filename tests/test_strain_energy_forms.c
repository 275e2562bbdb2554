/* Forms of strain_energy: constraints of several components against projections by differences, and every form on the
 * ladder (moduli, rest, momentum, units, precision, order). Mutants of its rows (tests/mutants.cmake) must fail here.
 */
#define REAL double
#include "tests/element_ladder.h"
#include "tests/sanitized.h"

/* ---- Constraints with several components --------------------------------------------------------------------------
 */

/* Writes the components C of a form and the compliance matrix `soft`: C + alpha lambda = 0, alpha = soft/(V dt^2). */
static int components(const pbd_scene *scene, const char *form, const double *x, double c[6], double soft[6][6],
                      double *rest_volume) {
    element_shape shape;
    double f[3][3] = {{0}};
    const uint32_t *corner = scene->tets.corner;
    const pbd_material *m = scene->material;
    const double mu = m->E / (2 * (1 + m->nu)), lambda = m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu));
    check_ok(element_shape_of(scene, 4, 0, &shape));
    *rest_volume = shape.size;
    memset(soft, 0, 36 * sizeof(double));
    for (int column = 0; column < 3; column++)
        for (int k = 0; k < 3; k++)
            for (uint32_t i = 0; i < 3; i++)
                f[column][i] += (x[3 * corner[k] + i] - x[3 * corner[3] + i]) * shape.inverse[3 * column + k];
    if (strcmp(form, "six_strains") == 0) {
        double stiff[6][6] = {{0}};
        static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
        for (int k = 0; k < 6; k++) {
            const double *a = f[pair[k][0]], *b = f[pair[k][1]];
            c[k] = 0.5 * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - (k < 3)) * (k < 3 ? 1 : sqrt(2));
        }
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) stiff[i][j] = (i < 3 && j < 3 ? lambda : 0) + (i == j ? 2 * mu : 0);
        for (int i = 0; i < 6; i++) soft[i][i] = 1;
        for (int k = 0; k < 6; k++) /* inverse by Gauss-Jordan elimination */
            for (int i = 0; i < 6; i++) {
                const double pivot = stiff[k][k], factor = stiff[i][k] / pivot;
                if (i == k) continue;
                for (int j = 0; j < 6; j++) stiff[i][j] -= factor * stiff[k][j], soft[i][j] -= factor * soft[k][j];
            }
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) soft[i][j] /= stiff[i][i];
        return 6;
    }
    const double l = lambda + mu;
    double square = 0;
    for (int k = 0; k < 9; k++) square += f[k / 3][k % 3] * f[k / 3][k % 3];
    c[0] = sqrt(square);
    c[1] = f[0][0] * (f[1][1] * f[2][2] - f[1][2] * f[2][1]) - f[1][0] * (f[0][1] * f[2][2] - f[0][2] * f[2][1]) +
           f[2][0] * (f[0][1] * f[1][2] - f[0][2] * f[1][1]) - (1 + mu / l);
    soft[0][0] = 1 / mu;
    soft[1][1] = 1 / l;
    return 2;
}

/* (J W J^T + alpha) d lambda = -C, dx = W J^T d lambda, for components first .. end - 1, J by differences. */
static void vector_move(const pbd_scene *scene, const char *form, int first, int end, double dt, const double *x,
                        double *out) {
    double c[6], up[6], down[6], soft[6][6], j[6][12], a[6][7], rest_volume;
    components(scene, form, x, c, soft, &rest_volume);
    for (int i = 0; i < 12; i++) {
        double moved[12];
        const double eps = 1e-6;
        memcpy(moved, x, sizeof moved);
        moved[i] = x[i] + eps;
        components(scene, form, moved, up, soft, &rest_volume);
        moved[i] = x[i] - eps;
        components(scene, form, moved, down, soft, &rest_volume);
        for (int k = first; k < end; k++) j[k][i] = (up[k] - down[k]) / (2 * eps);
    }
    for (int r = first; r < end; r++) {
        for (int q = first; q < end; q++) {
            a[r][q] = soft[r][q] / (rest_volume * dt * dt);
            for (int i = 0; i < 12; i++) a[r][q] += j[r][i] * j[q][i] / scene->particles.masses[i / 3];
        }
        a[r][6] = -c[r];
    }
    for (int k = first; k < end; k++)
        for (int r = first; r < end; r++) {
            const double factor = a[r][k] / a[k][k];
            if (r == k) continue;
            for (int q = first; q < 7; q++) a[r][q] -= factor * a[k][q];
        }
    for (int i = 0; i < 12; i++) {
        out[i] = 0;
        for (int k = first; k < end; k++) out[i] += j[k][i] * a[k][6] / a[k][k] / scene->particles.masses[i / 3];
    }
}

static const char *const vector_forms[] = {"form=six_strains", "form=two_constraints",
                                           "form=two_constraints constraint_order=dh",
                                           "form=two_constraints constraint_order=hd"};

/* One projection against differences; linear impulse. */
static void test_vector_projections(void **unused) {
    (void)unused;
    for (int k = 0; k < 4; k++) {
        pbd_scene scene;
        double at[12], wanted[12], size = 0, worst = 0, impulse[3] = {0}, angular[3] = {0};
        const double dt = 0.01;
        make_element(&scene, false, 7);
        scene.material->law = k == 0 ? "stvk" : "macklin_neo_hookean";
        memcpy(at, scene.particles.start, sizeof at);
        const char *form = k == 0 ? "six_strains" : "two_constraints";
        if (k < 2) {
            vector_move(&scene, form, 0, k == 0 ? 6 : 2, dt, at, wanted);
        } else {
            double step[12];
            const int begin = k == 2 ? 0 : 1;
            vector_move(&scene, form, begin, begin + 1, dt, at, wanted);
            for (int i = 0; i < 12; i++) at[i] += wanted[i];
            vector_move(&scene, form, 1 - begin, 2 - begin, dt, at, step);
            for (int i = 0; i < 12; i++) wanted[i] += step[i];
        }
        char words[120];
        snprintf(words, sizeof words, "%s iterations=1", vector_forms[k]);
        double *x = march("strain_energy", PBD_PRECISION_F64, 1, &scene, words, dt, 1);
        for (int i = 0; i < 12; i++) {
            const double moved = x[i] - scene.particles.start[i];
            size = fmax(size, fabs(wanted[i]));
            worst = fmax(worst, fabs(moved - wanted[i]));
            impulse[i % 3] += scene.particles.masses[i / 3] * moved;
            const double *place = scene.particles.start + i / 3 * 3;
            const int next = (i + 1) % 3, last = (i + 2) % 3;
            angular[last] -= scene.particles.masses[i / 3] * place[next] * moved;
            angular[next] += scene.particles.masses[i / 3] * place[last] * moved;
        }
        check_near(vector_forms[k], worst / size, 0, 1e-6);
        for (int d = 0; d < 3; d++) check_near("impulse, kg m", impulse[d], 0, 1e-13);
        /* not for a sequence of constraints: the second is projected at the positions after the first */
        for (int d = 0; d < 3 && k < 2; d++) check_near("angular impulse, kg m^2", angular[d], 0, 1e-13);
        free(x);
        pbd_scene_free(&scene);
    }
}

static void test_vectors_elsewhere(void **unused) {
    (void)unused;
    pbd_scene scene;
    for (int k = 0; k < 4; k++)
        for (int jacobi = 0; jacobi < 2; jacobi++) {
            const pbd_material material = {
                .E = 1e4, .nu = 0.3, .density = 100, .law = k == 0 ? "stvk" : "macklin_neo_hookean"};
            char words[120];
            snprintf(words, sizeof words, "%s iterations=3%s", vector_forms[k], jacobi ? " solver=jacobi" : "");
            expect_backends_agree_with("strain_energy", words, false, &material);
        }
    make_mesh(&scene, false, 1e4);
    expect_refused("strain_energy", &scene, "form=six_strains", PBD_NOT_SUPPORTED, "material=stvk");
    expect_refused("strain_energy", &scene, "form=two_constraints", PBD_NOT_SUPPORTED, "material=macklin_neo_hookean");
    scene.material->law = "stvk";
    expect_refused("strain_energy", &scene, "form=six_strains join=clamp", PBD_NOT_SUPPORTED, "join");
    pbd_scene_free(&scene);
    make_mesh(&scene, true, 1e4);
    scene.material->law = "stvk";
    expect_refused("strain_energy", &scene, "form=six_strains", PBD_NOT_SUPPORTED, "triangles");
    pbd_scene_free(&scene);
}

/* ---- The forms at small strain, and what holds of every form ----------------------------------------------------- */

static const struct form {
    const char *words, *law;
} all_forms[] = {{"form=xpbd_root", "neo_hookean"},
                 {"form=six_strains", "stvk"},
                 {"form=two_constraints", "macklin_neo_hookean"},
                 {"form=two_constraints constraint_order=dh", "macklin_neo_hookean"},
                 {"form=two_constraints constraint_order=hd", "macklin_neo_hookean"},
                 {"form=xpbd_root solve=global", "neo_hookean"},
                 {"form=six_strains solve=global", "stvk"},
                 {"form=two_constraints solve=global", "macklin_neo_hookean"}};
enum { ROOT_GLOBAL = 5, FORMS = sizeof all_forms / sizeof *all_forms };
static bool is_strains(int form) { return strstr(all_forms[form].words, "six_strains") != NULL; }
static bool is_sequence(int form) { return strstr(all_forms[form].words, "constraint_order") != NULL; }
static bool is_global(int form) { return strstr(all_forms[form].words, "global") != NULL; }

/* Green strains of all tetrahedra of a free bar at rest under `pull`, Pa, on both ends; to be freed. */
static double *strains_under(double pull, const struct form *form, double dt, int steps) {
    pbd_scene scene;
    char words[160];
    make_cubes(&scene, (const int[]){3, 2, 2}, 3000);
    const double *X = scene.particles.positions;
    for (size_t p = 0; p < scene.particles.count; p++) { /* interior nodes keep their jitter */
        const double i = round(X[3 * p] / 0.1), j = round(X[3 * p + 1] / 0.1), k = round(X[3 * p + 2] / 0.1);
        if (i > 0 && i < 3 && j == 1 && k == 1) continue;
        scene.particles.positions[3 * p] = 0.1 * i;
        scene.particles.positions[3 * p + 1] = 0.1 * j;
        scene.particles.positions[3 * p + 2] = 0.1 * k;
    }
    memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
    scene.particles.fixed = 0;
    scene.material->law = form->law;
    pull_end(&scene, 0.3, pull);
    pull_end(&scene, 0, -pull);
    snprintf(words, sizeof words, "%s iterations=%d damping=20", form->words, strstr(form->words, "global") ? 3 : 30);
    double *x = march("strain_energy", PBD_PRECISION_F64, 1, &scene, words, dt, steps);
    double *out = malloc(6 * scene.tets.count * sizeof *out);
    for (size_t e = 0; e < scene.tets.count; e++) green_strain_of(&scene, e, x, out + 6 * e);
    free(x);
    pbd_scene_free(&scene);
    return out;
}

/* Largest error of the strains of all tetrahedra under uniform uniaxial stress, over sigma/E: half the difference of
 * tension and compression, which has no second-order term. */
static double patch_error(const struct form *form, double dt, int steps) {
    const double E = 3000, nu = 0.35, pull = 1e-4 * E;
    double *out = strains_under(pull, form, dt, steps), *in = strains_under(-pull, form, dt, steps), worst = 0;
    for (size_t k = 0; k < (size_t)(6 * 6 * 12); k++) {
        const double wanted = k % 6 == 0 ? 1 : k % 6 < 3 ? -nu : 0;
        worst = fmax(worst, fabs(0.5 * (out[k] - in[k]) / (pull / E) - wanted));
    }
    free(out);
    free(in);
    return worst;
}

/* Rungs: moduli at F = I, patch test. E and nu of every form, by the strain of each tetrahedron of an uneven mesh under
 * uniform stress. The form with six strains is exact, as its gradients rotate only at second order. The gradients of
 * the others rotate on the way back from the predicted positions, however small the strain, while multipliers keep
 * their directions. Their moduli depend on the step, with an error of order dt^2. */
static void test_moduli_and_patch(void **unused) {
    (void)unused;
    skip_if_sanitized();
    for (int k = 0; k < FORMS; k++) {
        const double error = patch_error(&all_forms[k], 0.005, 800), finer = patch_error(&all_forms[k], 0.0025, 1600);
        print_message("    %s: %.3g at 5 ms, %.3g at 2.5 ms\n", all_forms[k].words, error, finer);
        if (is_strains(k)) check_near(all_forms[k].words, error, 0, 1e-6);
        if (!(finer <= fmax(0.3 * error, 1e-6))) fail_msg("moduli do not converge");
    }
}

/* m; largest displacement of a free body at rest after 50 ms. */
static double rest_drift(const struct form *form, int iterations, double dt) {
    pbd_scene scene;
    char words[160];
    make_mesh_of(&scene, false, 1e4, form->law);
    memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
    scene.particles.fixed = 0;
    snprintf(words, sizeof words, "%s iterations=%d", form->words, iterations);
    double *x = march("strain_energy", PBD_PRECISION_F64, 1, &scene, words, dt, (int)lround(0.05 / dt));
    const double off = largest_difference(x, scene.particles.positions, scene.particles.count);
    free(x);
    pbd_scene_free(&scene);
    return off;
}

/* Rung: a body at rest stays there, with any number of iterations. Two constraints in sequence do not keep it, since
 * the second undoes the first with gradients at other positions. This drift decreases with the step. */
static void test_rest_stays(void **unused) {
    (void)unused;
    for (int k = 0; k < FORMS; k++)
        for (int iterations = 1; iterations <= 5; iterations += 2) {
            const double off = rest_drift(&all_forms[k], iterations, 0.005);
            if (!is_sequence(k)) {
                check_near(all_forms[k].words, off, 0, 1e-13);
                continue;
            }
            const double finer = rest_drift(&all_forms[k], iterations, 0.0025);
            print_message("    %s, %d iterations: %.3g m at 5 ms, %.3g m at 2.5 ms\n", all_forms[k].words, iterations,
                          off, finer);
            if (!(finer <= 0.5 * off)) fail_msg("rest is not kept as steps get shorter");
        }
}

/* Rung: linear momentum, of a free body that moves and is strained. */
static void test_linear_momentum(void **unused) {
    (void)unused;
    for (int k = 0; k < FORMS; k++) {
        pbd_scene scene;
        solver s;
        char words[160];
        double sum[3] = {0}, size = 0;
        make_moving(&scene, all_forms[k].law, 0.35);
        memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
        scene.particles.fixed = 0;
        snprintf(words, sizeof words, "%s iterations=3", all_forms[k].words);
        solver_open(&s, "strain_energy", PBD_PRECISION_F64, 1, &scene, words);
        for (int i = 0; i < 20; i++) check_ok(s.method->step(s.state, 1e-3));
        double *v = calloc(3 * scene.particles.count, sizeof *v);
        check_ok(s.method->read(s.state, PBD_VELOCITIES, v));
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            const double m = scene.particles.masses[i / 3];
            sum[i % 3] += m * (v[i] - scene.particles.velocities[i]);
            size += fabs(m * v[i]);
        }
        for (int d = 0; d < 3; d++) check_near(words, sum[d] / size, 0, 1e-12);
        free(v);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* Rungs: units; E and masses times 2^10; threads; f32 against f64; a rotated scene; order in time. */
static void test_forms_as_all_others(void **unused) {
    (void)unused;
    for (int k = 0; k < FORMS; k++) {
        const char *law = all_forms[k].law;
        char words[160];
        /* at 5 ms a sequence amplifies rounding to 1e-7 m in 40 steps, hence the substeps */
        snprintf(words, sizeof words, "%s iterations=5 substeps=%d", all_forms[k].words, is_sequence(k) ? 5 : 1);
        print_message("  %s\n", words);
        /* an unstrained element's gradient has the direction of rounding, which the global solve would constrain */
        if (k != ROOT_GLOBAL) {
            expect_units_do_not_matter_of("strain_energy", words, law);
            expect_rotation_invariance_of("strain_energy", words, true, law);
        }
        if (!is_global(k)) { /* the global solve is f64 only; test_global_solve tests its threads */
            expect_scale_does_not_matter("strain_energy", words, law);
            expect_same_on_threads_of("strain_energy", words, false, law);
            expect_precisions_agree_of("strain_energy", words, false, 2e-5, law);
        }
        if (SANITIZED) continue;
        snprintf(words, sizeof words, "%s iterations=%d", all_forms[k].words, is_global(k) ? 10 : 60);
        const double order = order_in_time("strain_energy", words, law);
        if (!is_sequence(k)) check_near("order in time", order, 1, 0.15);
        print_message("    order in time: %.3g\n", order);
        assert_true(order > 0.85); /* higher for a sequence, whose own error is of order dt^2 */
    }
}

/* Rung: colours reversed. Tetrahedra in reverse order get other colours and another order of sweeps. Converged results
 * agree up to path dependence, which is none for the global solve, decreases with the displacement for six strains, and
 * is of the order of a per cent at any displacement for the others (README.md). */
static void test_order_of_elements(void **unused) {
    (void)unused;
    skip_if_sanitized();
    static const double load[] = {1, 1e-3};
    for (int k = 0; k < FORMS; k++) {
        double off[2];
        for (int small = 0; small < 2; small++) {
            double *x[2], size = 0;
            for (int back = 0; back < 2; back++) {
                pbd_scene scene;
                char words[160];
                make_mesh_of(&scene, false, 1e5, all_forms[k].law);
                for (int d = 0; d < 3; d++) scene.loads.gravity[d] *= load[small];
                const size_t n = scene.tets.count;
                uint32_t *c = scene.tets.corner, kept[4];
                for (size_t e = 0; e < n / 2 && back; e++) {
                    memcpy(kept, c + 4 * e, sizeof kept);
                    memcpy(c + 4 * e, c + 4 * (n - 1 - e), sizeof kept);
                    memcpy(c + 4 * (n - 1 - e), kept, sizeof kept);
                }
                snprintf(words, sizeof words, "%s iterations=%d", all_forms[k].words, is_global(k) ? 10 : 2000);
                x[back] = march("strain_energy", PBD_PRECISION_F64, 1, &scene, words, 1e-3, 3);
                size = largest_difference(x[back], scene.particles.positions, scene.particles.count);
                off[small] = back ? largest_difference(x[0], x[1], scene.particles.count) / size : 0;
                pbd_scene_free(&scene);
            }
            free(x[0]);
            free(x[1]);
        }
        print_message("    %s: %.2g of the displacement, %.2g of a thousandth of it\n", all_forms[k].words, off[0],
                      off[1]);
        if (is_sequence(k)) continue; /* its drift at rest is as large as this displacement */
        check_near("of the displacement", off[0], 0, is_global(k) ? 1e-9 : is_strains(k) ? 2e-4 : 0.02);
        if (is_global(k) || is_strains(k)) check_near("of a thousandth of it", off[1], 0, 2e-7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_projections), cmocka_unit_test(test_vectors_elsewhere),
        cmocka_unit_test(test_moduli_and_patch),   cmocka_unit_test(test_rest_stays),
        cmocka_unit_test(test_linear_momentum),    cmocka_unit_test(test_forms_as_all_others),
        cmocka_unit_test(test_order_of_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
