/* projective_dynamics on the ladder: forces and moduli, its minimum and that of ADMM against Newton's method
 * (step_function.h, which test_implicit_step checks by differences), descent, rest, momentum, units, materials,
 * acceleration, precision, threads, backends, bad input. Mutants (tests/mutants.cmake) must fail here. */
#define REAL double
#include "methods/physics/matter/law_material.h"
#include "methods/physics/parts/step_function.h"
#include "tests/element_ladder.h"

#define METHOD "projective_dynamics"

/* ---- The step's function ----------------------------------------------------------------------------------------- */

static const double *start_of(const pbd_scene *scene) {
    return scene->particles.start ? scene->particles.start : scene->particles.positions;
}

/* The function G that a step of the scene minimises; to be freed by step_function_free. */
static step_function open_function(const pbd_scene *scene, double dt) {
    step_function f;
    const size_t n = 3 * scene->particles.count;
    double *v = calloc(n, sizeof *v);
    if (scene->particles.velocities) memcpy(v, scene->particles.velocities, n * sizeof *v);
    check_ok(step_function_create(scene, &f));
    step_function_begin(&f, dt, start_of(scene), v, scene->loads.gravity, scene->loads.forces);
    free(v);
    return f;
}

/* The mass-weighted distance of x from the minimum of the step, over that of the start. */
static double step_error(const pbd_scene *scene, double dt, const double *x) {
    const size_t n = 3 * scene->particles.count;
    step_function f = open_function(scene, dt);
    double *best = malloc(n * sizeof *best);
    memcpy(best, start_of(scene), n * sizeof *best);
    check_ok(step_function_minimise(&f, best, NULL));
    const double error = step_function_distance(&f, x, best) / step_function_distance(&f, start_of(scene), best);
    step_function_free(&f);
    free(best);
    return error;
}

static double error_after(const char *law, double nu, double dt, const char *words) {
    pbd_scene scene;
    make_moving(&scene, law, nu);
    double *x = march(METHOD, PBD_PRECISION_F64, 1, &scene, words, dt, 1);
    const double error = step_error(&scene, dt, x);
    free(x);
    pbd_scene_free(&scene);
    return error;
}

/* ---- One tetrahedron --------------------------------------------------------------------------------------------- */

/* Returns the volume V and writes the gradients of the shape functions. */
static double shape_of(const pbd_scene *scene, double g[4][3]) {
    element_shape shape;
    check_ok(element_shape_of(scene, 4, 0, &shape));
    for (int d = 0; d < 3; d++) {
        g[3][d] = 0;
        for (int c = 0; c < 3; c++) g[c][d] = shape.inverse[3 * d + c], g[3][d] -= g[c][d];
    }
    return shape.size;
}

/* With three corners held the matrix is the scalar m/dt^2 + V (2 mu + 3 lambda) |g|^2; for ADMM with 2 mu + lambda.
 * With either global step the first displacement of the fourth corner is -dG/dx divided by that scalar. */
static void test_one_vertex(void **unused) {
    (void)unused;
    static const char *const words[] = {"", "solve=jacobi relaxation=1", "form=admm", "form=admm admm_weight=2"};
    static const double dt = 0.02, eps = 1e-5;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        pbd_scene scene;
        uint32_t held[3] = {0, 1, 2};
        double g[4][3], size = 0, worst = 0;
        make_element(&scene, false, 7);
        scene.material->law = "projective";
        scene.particles.fixed = 3;
        scene.particles.fixed_particle = held;
        scene.loads.gravity[2] = -9.81;
        for (int i = 0; i < 12; i++) scene.loads.forces[i] = 3 * (i % 4) - 2;
        const double rest_volume = shape_of(&scene, g), mu = 3000 / 2.7, lambda = 3000 * 0.35 / (1.35 * 0.3);
        int corner = 0;
        while (scene.tets.corner[corner] != 3) corner++;
        const double *own = g[corner], square = own[0] * own[0] + own[1] * own[1] + own[2] * own[2];
        const double weight = k < 2 ? 2 * mu + 3 * lambda : (k == 3 ? 2 : 1) * (2 * mu + lambda);
        const double matrix = scene.particles.masses[3] / (dt * dt) + rest_volume * weight * square;
        step_function f = open_function(&scene, dt);
        double at[12], wanted[3];
        char text[200];
        memcpy(at, scene.particles.start, sizeof at);
        for (int d = 0; d < 3; d++) {
            const double kept = at[9 + d];
            at[9 + d] = kept + eps;
            const double up = step_function_value(&f, at);
            at[9 + d] = kept - eps;
            wanted[d] = -(up - step_function_value(&f, at)) / (2 * eps) / matrix;
            at[9 + d] = kept;
            size = fmax(size, fabs(wanted[d]));
        }
        snprintf(text, sizeof text, "iterations=1 guess=previous %s", words[k]);
        double *x = march(METHOD, PBD_PRECISION_F64, 1, &scene, text, dt, 1);
        for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(x[9 + d] - at[9 + d] - wanted[d]));
        check_near(text, worst / size, 0, 1e-6);
        free(x);
        step_function_free(&f);
        scene.particles.fixed_particle = NULL;
        pbd_scene_free(&scene);
    }
}

/* One Jacobi step of a free tetrahedron under a small strain: the forces f_a on its corners give the stress, since
 * sum_a f_a X_a^T = -V P. It is Hooke's 2 mu eps + lambda tr(eps), to a relative error of the size of the strain. */
static void test_moduli(void **unused) {
    (void)unused;
    static const double dt = 0.02, strain = 1e-6;
    uint64_t seed = 3;
    for (int n = 0; n < 4; n++) {
        pbd_scene scene;
        double g[4][3], h[3][3], found[3][3] = {{0}}, worst = 0;
        make_element(&scene, false, 7);
        scene.material->law = "projective";
        const double rest_volume = shape_of(&scene, g), mu = 3000 / 2.7, lambda = 3000 * 0.35 / (1.35 * 0.3);
        const double *X = scene.particles.positions;
        for (int i = 0; i < 9; i++) h[i / 3][i % 3] = noise(&seed);
        for (size_t p = 0; p < 4; p++)
            for (size_t d = 0; d < 3; d++)
                scene.particles.start[3 * p + d] =
                    X[3 * p + d] + strain * (h[d][0] * X[3 * p] + h[d][1] * X[3 * p + 1] + h[d][2] * X[3 * p + 2]);
        double *x =
            march(METHOD, PBD_PRECISION_F64, 1, &scene, "iterations=1 guess=previous solve=jacobi relaxation=1", dt, 1);
        for (int c = 0; c < 4; c++) {
            const size_t p = scene.tets.corner[c];
            const double square = g[c][0] * g[c][0] + g[c][1] * g[c][1] + g[c][2] * g[c][2];
            const double matrix = scene.particles.masses[p] / (dt * dt) + rest_volume * (2 * mu + 3 * lambda) * square;
            for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < 3; j++)
                    found[i][j] -= matrix * (x[3 * p + i] - scene.particles.start[3 * p + i]) * X[3 * p + j] /
                                   rest_volume / strain;
        }
        const double trace = h[0][0] + h[1][1] + h[2][2];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                worst = fmax(worst, fabs(found[i][j] - mu * (h[i][j] + h[j][i]) - (i == j ? lambda * trace : 0)));
        check_near("stress at small strain, over E", worst / 3000, 0, 2e-5);
        free(x);
        pbd_scene_free(&scene);
    }
}

/* ---- The minimum of a step --------------------------------------------------------------------------------------- */

static void test_minimum_of_its_own_energy(void **unused) {
    (void)unused;
    static const char *const words[] = {"iterations=600",
                                        "iterations=600 guess=inertia acceleration=chebyshev plain_sweeps=10",
                                        "iterations=100 acceleration=anderson guess=previous",
                                        "iterations=6000 solve=jacobi",
                                        "iterations=2000 solve=jacobi acceleration=chebyshev plain_sweeps=10",
                                        "iterations=400 solve=jacobi acceleration=anderson guess=velocity"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        check_near(words[k], error_after("projective", 0.35, 0.02, words[k]), 0, 1e-9);
}

static void test_admm_ends_at_the_minimum_of_any_law(void **unused) {
    (void)unused;
    for (int law = 0; law < LAW_KINDS; law++)
        for (int heavy = 0; heavy < 2; heavy++) {
            char text[100];
            snprintf(text, sizeof text, "iterations=600 form=admm admm_weight=%d", heavy ? 3 : 1);
            check_near(law_names[law], error_after(law_names[law], 0.35, 0.02, text), 0, 1e-9);
        }
}

/* G after k iterations from the same start never rises with k. Jacobi sweeps, scaled by the bound, cannot raise it
 * either. */
static void test_descent(void **unused) {
    (void)unused;
    static const char *const words[] = {"", "solve=jacobi", "acceleration=chebyshev",
                                        "solve=jacobi acceleration=anderson"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (int stiff = 0; stiff < 2; stiff++) {
            pbd_scene scene;
            make_moving(&scene, "projective", stiff ? 0.49 : 0.3);
            step_function f = open_function(&scene, 0.02);
            double before = INFINITY, rise = 0;
            for (int k = 1; k <= 25; k++) {
                char text[100];
                snprintf(text, sizeof text, "iterations=%d guess=inertia %s", k, words[w]);
                double *x = march(METHOD, PBD_PRECISION_F64, 1, &scene, text, 0.02, 1);
                const double g = step_function_value(&f, x);
                rise = fmax(rise, (g - before) / fabs(g));
                before = g;
                free(x);
            }
            char what[100];
            snprintf(what, sizeof what, "%s: largest relative rise of G", words[w]);
            check_near(what, fmax(rise, 0), 0, 1e-13);
            step_function_free(&f);
            pbd_scene_free(&scene);
        }
}

/* ---- Rest, momentum ---------------------------------------------------------------------------------------------- */

/* A body that starts at the equilibrium found by finite elements stays there with any number of iterations, but not
 * with guess=inertia. */
static void test_rest_is_a_fixed_point(void **unused) {
    (void)unused;
    static const char *const forms[] = {"", "solve=jacobi", "form=admm"};
    static const char *const guesses[] = {"guess=adaptive", "guess=velocity", "guess=previous", "guess=inertia"};
    for (int form = 0; form < 3; form++) {
        pbd_scene scene;
        make_mesh(&scene, false, 1e4);
        scene.material->law = form == 2 ? "neo_hookean" : "projective";
        memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
        for (size_t i = 0; i < scene.particles.count; i++) scene.loads.forces[3 * i + 2] = -0.5;
        scene.solved = true;
        solver s;
        solver_open(&s, "fem_implicit", PBD_PRECISION_F64, 1, &scene, "element=tet4 newton_tolerance=0");
        check_ok(s.method->solve(s.state));
        scene.particles.start = positions_of(&s, scene.particles.count);
        solver_close(&s);
        scene.solved = false;
        const double sag = largest_difference(scene.particles.start, scene.particles.positions, scene.particles.count);
        for (int g = 0; g < 4; g++)
            for (int k = 1; k <= 5; k += 2) {
                char text[100];
                snprintf(text, sizeof text, "iterations=%d %s %s", k, guesses[g], forms[form]);
                double *x = march(METHOD, PBD_PRECISION_F64, 1, &scene, text, 0.02, 10);
                const double moved = largest_difference(x, scene.particles.start, scene.particles.count) / sag;
                if (g < 3) check_near(text, moved, 0, 1e-9);
                if (g == 3 && !(moved > 1e-3)) fail_msg("%s: moves by %g of the sag only", text, moved);
                free(x);
            }
        pbd_scene_free(&scene);
    }
}

/* The columns of the matrix without inertia sum to 0, so the direct global step conserves linear momentum for any
 * number of iterations. Jacobi sweeps conserve it only when converged. */
static void test_momentum(void **unused) {
    (void)unused;
    static const struct {
        const char *words;
        bool kept;
    } run[] = {{"iterations=1", true},
               {"iterations=10", true},
               {"iterations=1 form=admm", true},
               {"iterations=10 form=admm", true},
               {"iterations=1 solve=jacobi", false},
               {"iterations=10 solve=jacobi", false},
               {"iterations=3000 solve=jacobi", true}};
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        pbd_scene scene;
        make_moving(&scene, "projective", 0.35);
        scene.particles.fixed = 0;
        memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
        double change[3] = {0}, size = 0, drift = 0;
        double *x = march(METHOD, PBD_PRECISION_F64, 1, &scene, run[k].words, 0.02, 1);
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            const double v = (x[i] - scene.particles.positions[i]) / 0.02, m = scene.particles.masses[i / 3];
            change[i % 3] += m * (v - scene.particles.velocities[i]);
            size += m * fabs(v);
        }
        for (int d = 0; d < 3; d++) drift = fmax(drift, fabs(change[d]) / size);
        if (run[k].kept)
            check_near(run[k].words, drift, 0, 1e-12);
        else if (!(drift > 1e-7))
            fail_msg("%s: a drift of %g, which cannot be", run[k].words, drift);
        else
            print_message("    %s: momentum drifts by %.2g of its size\n", run[k].words, drift);
        free(x);
        pbd_scene_free(&scene);
    }
}

/* ---- Units, materials, inversion --------------------------------------------------------------------------------- */

static const char *const variants[] = {"iterations=4", "iterations=8 solve=jacobi",
                                       "iterations=8 solve=jacobi acceleration=chebyshev",
                                       "iterations=8 solve=jacobi acceleration=anderson", "iterations=4 form=admm"};
enum { VARIANTS = sizeof variants / sizeof *variants };
static const pbd_material matters[] = {{.E = 1e4, .nu = 0.3, .density = 100, .law = "projective"},
                                       {.E = 1e4, .nu = 0.3, .density = 100, .law = "neo_hookean"}};

/* SuperLU, too, scales only by powers of two. */
static void test_scaled_matter(void **unused) {
    (void)unused;
    for (int v = 0; v < VARIANTS; v++) expect_scale_does_not_matter(METHOD, variants[v], "projective");
}

/* In metres and in centimetres. */
static void test_units_do_not_matter(void **unused) {
    (void)unused;
    for (int v = 0; v < VARIANTS; v++) {
        double *x[2], worst = 0;
        size_t particles = 0;
        for (int small = 0; small < 2; small++) {
            pbd_scene scene;
            make_moving(&scene, "projective", 0.35);
            particles = scene.particles.count;
            for (size_t i = 0; i < 3 * particles && small; i++)
                scene.particles.positions[i] *= 100, scene.particles.velocities[i] *= 100;
            for (int d = 0; d < 3 && small; d++) scene.loads.gravity[d] *= 100;
            if (small) scene.material->E /= 100;
            x[small] = march(METHOD, PBD_PRECISION_F64, 1, &scene, variants[v], 0.005, 20);
            pbd_scene_free(&scene);
        }
        for (size_t i = 0; i < 3 * particles; i++) worst = fmax(worst, fabs(x[1][i] / 100 - x[0][i]));
        check_near(variants[v], worst, 0, 1e-10);
        free(x[0]);
        free(x[1]);
    }
}

/* Two identical materials act as one, also when they alternate; two different ones give the minimum with both. */
static void test_materials(void **unused) {
    (void)unused;
    for (int v = 0; v < VARIANTS; v++) {
        pbd_scene scene;
        make_moving(&scene, "projective", 0.35);
        double *one = march(METHOD, PBD_PRECISION_F64, 1, &scene, variants[v], 0.02, 3);
        scene.material[1] = scene.material[0];
        scene.materials = 2;
        scene.tets.material = calloc(scene.tets.count + 1, 1);
        for (size_t t = 0; t < scene.tets.count; t++) scene.tets.material[t] = t % 2;
        double *two = march(METHOD, PBD_PRECISION_F64, 1, &scene, variants[v], 0.02, 3);
        check_near(variants[v], largest_difference(one, two, scene.particles.count), 0, 1e-13);
        scene.material[1].E *= 4;
        char text[100];
        snprintf(text, sizeof text, "%s iterations=4000", strchr(variants[v], ' ') ? strchr(variants[v], ' ') : "");
        double *stiff = march(METHOD, PBD_PRECISION_F64, 1, &scene, text, 0.02, 1);
        check_near("two materials: distance from the minimum", step_error(&scene, 0.02, stiff), 0, 1e-9);
        free(stiff);
        free(one);
        free(two);
        pbd_scene_free(&scene);
    }
}

/* A free body recovers when it starts flat or inverted. */
static void test_inverted_elements(void **unused) {
    (void)unused;
    static const char *const words[] = {"iterations=20 damping=20", "iterations=60 damping=20 solve=jacobi",
                                        "iterations=20 damping=20 form=admm"};
    for (int w = 0; w < 3; w++) {
        pbd_scene scene;
        make_mesh(&scene, false, 1e4);
        scene.material->law = "projective";
        scene.particles.fixed = 0;
        memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
        const size_t n = 3 * scene.particles.count;
        scene.particles.start = malloc(n * sizeof(double));
        for (size_t i = 0; i < n; i++)
            scene.particles.start[i] = scene.particles.positions[i] * (i % 3 == 2 ? -0.5 : 1);
        double *x = march(METHOD, PBD_PRECISION_F64, 1, &scene, words[w], 0.01, 300);
        step_function f = open_function(&scene, 1e6);
        check_near(words[w], step_function_value(&f, x), 0, 1e-6); /* J: elastic energy; inertia is negligible */
        step_function_free(&f);
        free(x);
        pbd_scene_free(&scene);
    }
}

/* ADMM continues in states where the law's energy is undefined, with a warning. */
static void test_undefined_energy_is_told(void **unused) {
    (void)unused;
    static const char *const laws[] = {"stvk", "hencky", "neo_hookean"};
    for (int k = 0; k < 3; k++) {
        pbd_scene scene;
        solver s;
        make_mesh(&scene, false, 1e4);
        scene.material->law = laws[k];
        const size_t n = 3 * scene.particles.count;
        scene.particles.start = malloc(n * sizeof(double));
        for (size_t i = 0; i < n; i++)
            scene.particles.start[i] = scene.particles.positions[i] * (i % 3 == 2 ? -0.5 : 1);
        solver_open(&s, METHOD, PBD_PRECISION_F64, 1, &scene, "form=admm");
        check_ok(s.method->step(s.state, 1e-3));
        bool told = false;
        for (size_t i = 0; i < s.result.warnings; i++)
            told = told || strcmp(s.result.warning[i].name, "undefined_energy") == 0;
        assert_int_equal(told, k > 0);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* ---- Acceleration ------------------------------------------------------------------------------------------------ */

/* The error after 60 sweeps, plain and accelerated with the spectral radius that the plain sweeps show. */
static void test_acceleration_is_faster(void **unused) {
    (void)unused;
    const double plain = error_after("projective", 0.35, 0.02, "iterations=60 solve=jacobi");
    const double radius = pow(plain / error_after("projective", 0.35, 0.02, "iterations=40 solve=jacobi"), 0.05);
    char words[160];
    snprintf(words, sizeof words, "iterations=60 solve=jacobi acceleration=chebyshev spectral_radius=%.4f", radius);
    const double known = error_after("projective", 0.35, 0.02, words);
    const double measured =
        error_after("projective", 0.35, 0.02, "iterations=60 solve=jacobi acceleration=chebyshev plain_sweeps=10");
    const double mixed = error_after("projective", 0.35, 0.02, "iterations=60 solve=jacobi acceleration=anderson");
    print_message("    radius %.4f: plain %.2g, chebyshev %.2g, with the measured radius %.2g, anderson %.2g\n", radius,
                  plain, known, measured, mixed);
    if (!(known < 0.33 * plain)) fail_msg("%s is not faster", words);
    if (!(measured < plain)) fail_msg("a measured radius: not faster");
    if (!(mixed < 0.33 * plain)) fail_msg("anderson is not faster");
}

/* ---- What all solvers of elements share -------------------------------------------------------------------------- */

/* The scenes of the ladder have another law; ADMM supports any. */
static void test_rotation(void **unused) {
    (void)unused;
    for (int at_rest = 0; at_rest < 2; at_rest++) expect_rotation_invariance(METHOD, "form=admm iterations=4", at_rest);
}

static void test_threads(void **unused) {
    (void)unused;
    static const int threads[] = {3, 8};
    for (int precision = 0; precision < 2; precision++)
        for (int v = 0; v < VARIANTS; v++) {
            pbd_scene scene;
            make_moving(&scene, "projective", 0.35);
            double *one = march(METHOD, (pbd_precision)precision, 1, &scene, variants[v], 0.005, 10);
            for (int t = 0; t < 2; t++) {
                double *x = march(METHOD, (pbd_precision)precision, threads[t], &scene, variants[v], 0.005, 10);
                expect_same_bits(variants[v], one, x, scene.particles.count);
                free(x);
            }
            free(one);
            pbd_scene_free(&scene);
        }
}

static void test_precisions(void **unused) {
    (void)unused;
    for (int v = 0; v < VARIANTS; v++) {
        pbd_scene scene;
        make_moving(&scene, "projective", 0.35);
        double *wide = march(METHOD, PBD_PRECISION_F64, 1, &scene, variants[v], 0.005, 10);
        double *narrow = march(METHOD, PBD_PRECISION_F32, 1, &scene, variants[v], 0.005, 10);
        check_near(variants[v], largest_difference(wide, narrow, scene.particles.count), 0, 2e-5);
        free(wide);
        free(narrow);
        pbd_scene_free(&scene);
    }
}

static void test_backends(void **unused) {
    (void)unused;
    for (int v = 0; v < VARIANTS; v++)
        for (int m = 0; m < 2; m++)
            if (m == 0 || strstr(variants[v], "admm"))
                expect_backends_agree_with(METHOD, variants[v], false, &matters[m]);
}

static void test_order_in_time(void **unused) {
    (void)unused;
    expect_first_order(METHOD, "form=admm iterations=60");
}

static void test_bad_input(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_mesh(&scene, false, 1e4);
    expect_refused(METHOD, &scene, "", PBD_NOT_SUPPORTED, "set material=projective, not neo_hookean");
    expect_refused(METHOD, &scene, "form=admm solve=jacobi", PBD_NOT_SUPPORTED, "set solve=direct");
    expect_refused(METHOD, &scene, "form=admm acceleration=anderson", PBD_NOT_SUPPORTED, "acceleration=none");
    scene.material->law = "projective";
    scene.material->nu = 0.5;
    expect_refused(METHOD, &scene, "", PBD_BAD_INPUT, "below 0.5");
    scene.material->nu = -0.1;
    expect_refused(METHOD, &scene, "", PBD_NOT_SUPPORTED, "at least 0");
    scene.material->nu = 0.3;
    scene.material->yield_strain = 0.1;
    expect_refused(METHOD, &scene, "", PBD_NOT_SUPPORTED, "yield_strain=0");
    scene.material->yield_strain = 0;
    scene.material[1] = scene.material[0];
    scene.material[1].law = "stvk";
    scene.materials = 2;
    expect_refused(METHOD, &scene, "form=admm", PBD_NOT_SUPPORTED, "one law");
    scene.materials = 1;
    const uint32_t kept = scene.tets.corner[4 * 7];
    scene.tets.corner[4 * 7] = scene.tets.corner[4 * 7 + 1];
    expect_refused(METHOD, &scene, "", PBD_BAD_INPUT, "tetrahedron 7 has no volume");
    scene.tets.corner[4 * 7] = kept;
    scene.tets.count = 0;
    expect_refused(METHOD, &scene, "", PBD_BAD_INPUT, "no tetrahedra");
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_vertex),
        cmocka_unit_test(test_moduli),
        cmocka_unit_test(test_minimum_of_its_own_energy),
        cmocka_unit_test(test_admm_ends_at_the_minimum_of_any_law),
        cmocka_unit_test(test_descent),
        cmocka_unit_test(test_rest_is_a_fixed_point),
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_scaled_matter),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_inverted_elements),
        cmocka_unit_test(test_undefined_energy_is_told),
        cmocka_unit_test(test_acceleration_is_faster),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_precisions),
        cmocka_unit_test(test_backends),
        cmocka_unit_test(test_order_in_time),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
