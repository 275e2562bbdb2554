/* strain_energy on the ladder: corrections against finite differences of the energy, impulses, rotation, units, order,
 * precision, threads, backends, bad meshes. Mutants of its kernels (tests/mutants.cmake) must fail here. */
#define REAL double
#include "harness/files/paths.h"
#include "methods/physics/matter/law_material.h"
#include "tests/element_ladder.h"

/* ---- The energy, and its gradient by differences ----------------------------------------------------------------- */

/* |F b| / |b|. */
static double stretch_of(mat3 F, const double b[3]) {
    const vec3 image = mat3_apply(F, vec3_make(b[0], b[1], b[2]));
    return sqrt(vec3_dot(image, image) / (b[0] * b[0] + b[1] * b[1] + b[2] * b[2]));
}

/* Stretch of a direction in triangle 0, computed without a local frame: its projection onto the plane at rest is
 * p a + q b with the edges a and b. Returns the length with the current edges over that with the rest edges. */
static double lying_stretch(const pbd_scene *scene, const double *x, const double direction[3]) {
    const uint32_t *c = scene->triangles.corner;
    const double *rest = scene->particles.positions;
    double aa = 0, ab = 0, bb = 0, af = 0, bf = 0, before = 0, after = 0;
    for (uint32_t d = 0; d < 3; d++) {
        const double a = rest[3 * c[0] + d] - rest[3 * c[2] + d], b = rest[3 * c[1] + d] - rest[3 * c[2] + d];
        aa += a * a, ab += a * b, bb += b * b, af += a * direction[d], bf += b * direction[d];
    }
    const double det = aa * bb - ab * ab, p = (bb * af - ab * bf) / det, q = (aa * bf - ab * af) / det;
    for (uint32_t d = 0; d < 3; d++) {
        const double *at[2] = {rest + d, x + d};
        double length[2];
        for (int now = 0; now < 2; now++)
            length[now] = p * (at[now][3 * c[0]] - at[now][3 * c[2]]) + q * (at[now][3 * c[1]] - at[now][3 * c[2]]);
        before += length[0] * length[0];
        after += length[1] * length[1];
    }
    return sqrt(after / before);
}

/* psi of element 0 of the scene at x, by the plain law in f64 (which test_materials checks against values by hand). */
static double energy_density(const pbd_scene *scene, const double *x) {
    const double(*d)[3];
    double edge[3][3], f[3][3] = {{0}};
    element_shape shape;
    const int corners = scene->tets.count ? 4 : 3;
    const uint32_t *c = scene->tets.count ? scene->tets.corner : scene->triangles.corner;
    check_ok(element_shape_of(scene, corners, 0, &shape));
    for (int k = 0; k < corners - 1; k++)
        for (int i = 0; i < 3; i++) edge[k][i] = x[3 * c[k] + (uint32_t)i] - x[3 * c[corners - 1] + (uint32_t)i];
    d = (const double(*)[3])edge;
    for (int column = 0; column < corners - 1; column++)
        for (int k = 0; k < corners - 1; k++)
            for (int i = 0; i < 3; i++) f[column][i] += d[k][i] * shape.inverse[(corners - 1) * column + k];
    mat3 F = mat3_make(vec3_make(f[0][0], f[0][1], f[0][2]), vec3_make(f[1][0], f[1][1], f[1][2]),
                       vec3_make(f[2][0], f[2][1], f[2][2]));
    const pbd_material *m = scene->material;
    hyperelastic law = law_plain(m);
    if (corners == 3) {
        vec3 n = vec3_cross(F.x, F.y);
        F.z = vec3_scale(1 / sqrt(vec3_dot(n, n)), n);
        law.lambda = m->E * m->nu / (1 - m->nu * m->nu);
    }
    double psi = stress(law, F).psi;
    for (int k = 0; k < PBD_MOST_FIBRES; k++) {
        if (!(m->fibre_stiffness[k] > 0)) continue;
        const double xi = corners == 3 ? lying_stretch(scene, x, m->fibre[k]) : stretch_of(F, m->fibre[k]);
        psi += m->fibre_stiffness[k] * ((xi * xi - 1) / 2 - log(xi));
    }
    return psi;
}

/* Expected displacements of one projection: formulas of the kernel's first comment, gradients by differences. */
static void expected_move(const pbd_scene *scene, const char *form, double dt, const double *x, double *out) {
    const int corners = scene->tets.count ? 4 : 3;
    double h[12], q = 0;
    element_shape shape;
    check_ok(element_shape_of(scene, corners, 0, &shape));
    for (int i = 0; i < 3 * corners; i++) {
        double moved[12];
        const double eps = 1e-5;
        memcpy(moved, x, sizeof(double) * 3 * (size_t)corners);
        moved[i] = x[i] + eps;
        const double up = energy_density(scene, moved);
        moved[i] = x[i] - eps;
        h[i] = (up - energy_density(scene, moved)) / (2 * eps);
        q += h[i] * h[i] / scene->particles.masses[i / 3];
    }
    const double psi = energy_density(scene, x), c = sqrt(2 * psi);
    const double size = shape.size * (corners == 3 ? scene->material->thickness : 1);
    double s = -psi / q;
    if (strcmp(form, "xpbd") == 0) s = -psi / (q + 1 / (dt * dt));
    if (strcmp(form, "xpbd_root") == 0) s = -c / (q / (c * c) + 1 / (size * dt * dt)) / c;
    for (int i = 0; i < 3 * corners; i++) out[i] = s * h[i] / scene->particles.masses[i / 3];
}

/* Fibre directions, used as none, one, and several of which not all have a stiffness. */
static const double fibre[3][3] = {{0.6, 0.1, -0.5}, {-0.3, 2, 0.4}, {0.5, 0.2, 0.9}};
static const double fibre_stiffness[4][3] = {{0}, {700}, {0, 700, 300}, {700, 200, 400}};
static const char *const fibre_names[4] = {"no fibre", "a fibre", "the second and third fibre", "three fibres"};

static void one_projection(bool triangle, int fibres, law_kind law, const char *form) {
    pbd_scene scene;
    double wanted[12], *x, scale = 0;
    char words[100];
    const double dt = 0.01;
    const int n = triangle ? 9 : 12;
    make_element(&scene, triangle, 7);
    scene.material->law = law_names[law];
    memcpy(scene.material->fibre_stiffness, fibre_stiffness[fibres], sizeof scene.material->fibre_stiffness);
    memcpy(scene.material->fibre, fibre, sizeof fibre);
    snprintf(words, sizeof words, "form=%s iterations=1 dt=%g", form, dt);
    expected_move(&scene, form, dt, scene.particles.start, wanted);
    solver s;
    solver_open(&s, "strain_energy", PBD_PRECISION_F64, 1, &scene, words);
    check_ok(s.method->step(s.state, dt));
    x = positions_of(&s, scene.particles.count);
    for (int i = 0; i < n; i++) scale = fmax(scale, fabs(wanted[i]));
    double worst = 0, impulse[3] = {0}, angular[3] = {0}, size = 0, rounding = 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(x[i] - scene.particles.start[i] - wanted[i]));
    for (int p = 0; p < n / 3; p++) {
        const double *at = scene.particles.start + 3 * p, m = scene.particles.masses[p];
        double j[3];
        for (int d = 0; d < 3; d++) j[d] = m * (x[3 * p + d] - at[d]);
        for (int d = 0; d < 3; d++) {
            impulse[d] += j[d];
            angular[d] += at[(d + 1) % 3] * j[(d + 2) % 3] - at[(d + 2) % 3] * j[(d + 1) % 3];
            size += fabs(j[d]);
            rounding += 2.3e-16 * m * fabs(at[d]);
        }
    }
    char what[200];
    snprintf(what, sizeof what, "%s %s %s, %s: move against differences, relative",
             triangle ? "triangle" : "tetrahedron", law_names[law], form, fibre_names[fibres]);
    check_near(what, worst / scale, 0, 1e-6);
    /* A displacement is the difference of two positions and carries their rounding. */
    const double limit = fmax(1e-12, rounding / size);
    for (int d = 0; d < 3; d++) check_near("linear impulse, relative", impulse[d] / size, 0, limit);
    for (int d = 0; d < 3; d++) check_near("angular impulse, relative", angular[d] / size, 0, limit);
    free(x);
    solver_close(&s);
    pbd_scene_free(&scene);
}

static void test_projections(void **unused) {
    (void)unused;
    static const char *const forms[] = {"pbd", "xpbd", "xpbd_root"};
    for (int triangle = 0; triangle < 2; triangle++)
        for (int law = 0; law < LAW_KINDS; law++)
            for (int form = 0; form < 3; form++)
                for (int fibres = 0; fibres < 4; fibres++) one_projection(triangle, fibres, (law_kind)law, forms[form]);
}

/* ---- Stiffness cancels in plain PBD (T-1) ------------------------------------------------------------------------ */

static void test_modulus_cancels_in_plain_pbd(void **unused) {
    (void)unused;
    for (int precision = 0; precision < 2; precision++)
        for (int law = 0; law < LAW_KINDS; law++) {
            double *x[2];
            size_t particles = 0;
            for (int stiff = 0; stiff < 2; stiff++) {
                pbd_scene scene;
                make_mesh(&scene, false, 100);
                scene.material->law = law_names[law];
                if (stiff) scene.material->E *= 1048576; /* 2^20 */
                particles = scene.particles.count;
                x[stiff] = march("strain_energy", (pbd_precision)precision, 1, &scene,
                                 "form=pbd iterations=3 join=none", 0.01, 25);
                pbd_scene_free(&scene);
            }
            expect_same_bits(law_names[law], x[0], x[1], particles);
            free(x[0]);
            free(x[1]);
        }
}

static void test_units_do_not_matter(void **unused) {
    (void)unused;
    expect_units_do_not_matter("strain_energy", "form=pbd iterations=5");
    expect_units_do_not_matter("strain_energy", "form=xpbd_root iterations=5");
    expect_units_do_not_matter("strain_energy", "form=xpbd_root iterations=5 solver=jacobi");
}

/* ---- Rest: forces balance ---------------------------------------------------------------------------------------- */

/* A tetrahedron with three corners held and a load on the fourth, with heavy damping: at rest the gradient of the
 * energy equals the load. */
static void expect_load_is_balanced(const char *law, const char *words, double dt, int steps) {
    pbd_scene scene;
    uint32_t held[3] = {0, 1, 2};
    make_element(&scene, false, 3);
    free(scene.particles.start);
    scene.particles.start = NULL;
    scene.material->law = law;
    scene.particles.fixed = 3;
    scene.particles.fixed_particle = held;
    const double load[3] = {2, -3, 4};
    memcpy(scene.loads.forces + 9, load, sizeof load);
    double *x = march("strain_energy", PBD_PRECISION_F64, 1, &scene, words, dt, steps);
    element_shape shape;
    check_ok(element_shape_of(&scene, 4, 0, &shape));
    for (int d = 0; d < 3; d++) {
        const double eps = 1e-6, kept = x[9 + d];
        x[9 + d] = kept + eps;
        const double up = energy_density(&scene, x);
        x[9 + d] = kept - eps;
        const double force = shape.size * (up - energy_density(&scene, x)) / (2 * eps);
        x[9 + d] = kept;
        check_near(words, force, load[d], 5e-3); /* of 5.4 N */
    }
    free(x);
    scene.particles.fixed_particle = NULL;
    pbd_scene_free(&scene);
}

static void test_rest_balances_the_load(void **unused) {
    (void)unused;
    for (int law = 0; law < LAW_KINDS; law++)
        expect_load_is_balanced(law_names[law], "form=xpbd_root iterations=30 damping=60", 1e-3, 4000);
}

/* The order hd needs the shorter step: at 1 ms its error is 0.011 N for any number of iterations, at half the step a
 * quarter of that. */
static void test_vectors_at_rest(void **unused) {
    (void)unused;
    static const char *const form[] = {"six_strains", "two_constraints", "two_constraints constraint_order=dh",
                                       "two_constraints constraint_order=hd"};
    for (int k = 0; k < 4; k++) {
        char words[120];
        snprintf(words, sizeof words, "form=%s iterations=30 damping=60", form[k]);
        expect_load_is_balanced(k == 0 ? "stvk" : "macklin_neo_hookean", words, 5e-4, 8000);
    }
}

/* ---- Plastic flow ------------------------------------------------------------------------------------------------ */

/* A stretched tetrahedron is released with heavy damping. Elastic, it returns to its rest shape; with von Mises
 * plasticity it keeps a strain without trace; with plasticity of the whole strain, one with a trace. */
static void test_plastic_strain_stays(void **unused) {
    (void)unused;
    static const char *const words[] = {"plastic_flow=von_mises", "plastic_flow=von_mises", "plastic_flow=whole"};
    for (int kind = 0; kind < 3; kind++) {
        pbd_scene scene;
        make_element(&scene, false, 11);
        scene.material->law = "stvk";
        scene.material->nu = 0.3;
        scene.material->yield_strain = kind == 0 ? 10 : 0.02;
        scene.material->creep = 1e6;
        for (int i = 0; i < 12; i++) scene.particles.start[i] = scene.particles.positions[i] * (i % 3 == 0 ? 1.4 : 1);
        char text[120];
        snprintf(text, sizeof text, "%s iterations=20 damping=40", words[kind]);
        double *x = march("strain_energy", PBD_PRECISION_F64, 1, &scene, text, 1e-3, 6000), e[6];
        green_strain(&scene, x, e);
        const double trace = e[0] + e[1] + e[2];
        double norm = 0;
        for (int k = 0; k < 6; k++) norm += (k < 3 ? 1 : 2) * e[k] * e[k];
        norm = sqrt(norm);
        if (kind == 0) check_near("elastic: strain left", norm, 0, 1e-6);
        if (kind == 1) check_near("von Mises: trace left", trace, 0, 1e-6);
        if (kind > 0 && !(norm > 0.05)) fail_msg("plastic: a strain of %g is left of 0.48", norm);
        if (kind == 2 && !(trace > 0.05)) fail_msg("whole: a trace of %g is left", trace);
        free(x);
        pbd_scene_free(&scene);
    }
}

/* ---- What all solvers of elements share -------------------------------------------------------------------------- */

static const char *const variants[] = {"form=pbd iterations=2", "form=xpbd iterations=2", "form=xpbd_root iterations=4",
                                       "form=xpbd_root iterations=4 solver=jacobi",
                                       "form=xpbd_root iterations=4 join=continuous"};

static void test_rotation(void **unused) {
    (void)unused;
    for (int at_rest = 0; at_rest < 2; at_rest++) {
        expect_rotation_invariance("strain_energy", "form=xpbd_root iterations=4", at_rest);
        expect_rotation_invariance("strain_energy", "form=xpbd_root iterations=4 solver=jacobi", at_rest);
        expect_rotation_invariance("strain_energy", "form=pbd iterations=2", at_rest);
    }
}
static void test_threads(void **unused) {
    (void)unused;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        expect_same_on_threads("strain_energy", variants[v], false);
    expect_same_on_threads("strain_energy", variants[2], true);
}
static void test_precisions_and_backends(void **unused) {
    (void)unused;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (int triangles = 0; triangles < 2; triangles++) {
            expect_precisions_agree("strain_energy", variants[v], triangles, 2e-5);
            expect_backends_agree("strain_energy", variants[v], triangles);
        }
}
/* Fibres and plastic flow on the emulated device: flow has separate kernels, several fibres of triangles a separate
 * code path. */
static void test_fibres_and_flow_emulated(void **unused) {
    (void)unused;
    const pbd_material material = {.E = 1e4,
                                   .nu = 0.3,
                                   .density = 100,
                                   .law = "stvk",
                                   .fibre = {{1, 0.2, 0}, {0, 1, 0.1}, {1, -1, 1}},
                                   .fibre_stiffness = {2e4, 1e4, 5e3},
                                   .yield_strain = 1e-4,
                                   .creep = 50,
                                   .thickness = 0.01};
    for (int triangles = 0; triangles < 2; triangles++)
        expect_backends_agree_with("strain_energy", "iterations=2", triangles, &material);
}
static void test_order_in_time(void **unused) {
    (void)unused;
    expect_first_order("strain_energy", "form=xpbd_root iterations=60");
}
static void test_bad_meshes(void **unused) {
    (void)unused;
    expect_bad_meshes_refused("strain_energy");
}

static void test_bad_materials(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_element(&scene, false, 1);
    scene.material->yield_strain = 0.1;
    expect_refused("strain_energy", &scene, "", PBD_NOT_SUPPORTED, "stvk");
    scene.material->yield_strain = 0;
    scene.material->fibre_stiffness[1] = 10;
    memset(scene.material->fibre, 0, sizeof scene.material->fibre);
    expect_refused("strain_energy", &scene, "", PBD_BAD_INPUT, "no direction");
    pbd_scene_free(&scene);
    make_element(&scene, true, 1);
    double normal[3], a[3], b[3];
    for (int d = 0; d < 3; d++) a[d] = scene.particles.positions[3 + d] - scene.particles.positions[d];
    for (int d = 0; d < 3; d++) b[d] = scene.particles.positions[6 + d] - scene.particles.positions[d];
    for (int d = 0; d < 3; d++) normal[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
    memcpy(scene.material->fibre[0], a, sizeof a);
    memcpy(scene.material->fibre[2], normal, sizeof normal);
    scene.material->fibre_stiffness[0] = scene.material->fibre_stiffness[2] = 10;
    expect_refused("strain_energy", &scene, "", PBD_BAD_INPUT, "perpendicular to triangle 0");
    pbd_scene_free(&scene);
}

/* ---- Several solids ---------------------------------------------------------------------------------------------- */

/* A bar of cubes without jitter; every cell beyond `middle`, m, is of the second material. */
static void make_two_bars(pbd_scene *scene, double middle, double E, double other) {
    make_cubes(scene, (const int[]){6, 1, 1}, E);
    for (size_t i = 0; i < 3 * scene->particles.count; i++)
        scene->particles.positions[i] = 0.1 * round(scene->particles.positions[i] / 0.1);
    memset(scene->loads.gravity, 0, sizeof scene->loads.gravity);
    scene->material->nu = 0;
    scene->material->law = "stvk";
    scene->material[1] = scene->material[0];
    scene->material[1].E = other;
    scene->materials = 2;
    scene->tets.material = calloc(scene->tets.count + 1, 1);
    for (size_t t = 0; t < scene->tets.count; t++) {
        double x = 0;
        for (int c = 0; c < 4; c++) x += scene->particles.positions[3 * scene->tets.corner[4 * t + (size_t)c]] / 4;
        scene->tets.material[t] = x > middle;
    }
}

/* Two bars in series carry the same stress: the elongation is sigma (L1/E1 + L2/E2). With few iterations nodes of a
 * section differ by a per cent, so their mean is tested. */
static void test_bars_in_series(void **unused) {
    (void)unused;
    const double E = 1000, other = 4000, pull = 0.5;
    pbd_scene scene;
    make_two_bars(&scene, 0.2, E, other);
    pull_end(&scene, 0.6, pull);
    const char *const solvers[] = {"solver=coloured_gs iterations=60 damping=5",
                                   "solver=jacobi iterations=300 damping=5"};
    for (size_t k = 0; k < 2; k++) {
        double *x = march("strain_energy", PBD_PRECISION_F64, 1, &scene, solvers[k], 0.02, 400);
        for (size_t p = 0; p < scene.particles.count; p += 4) { /* four nodes in each section */
            const double rest = scene.particles.positions[3 * p];
            const double wanted = pull * (fmin(rest, 0.2) / E + fmax(rest - 0.2, 0) / other);
            double mean = 0;
            for (size_t q = p; q < p + 4; q++) mean += (x[3 * q] - rest) / 4;
            check_near("mean displacement, m", mean, wanted, 5e-3 * pull * (0.2 / E + 0.4 / other));
        }
        free(x);
    }
    pbd_scene_free(&scene);
}

/* Two identical materials act as one. */
static void test_equal_materials_are_one(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_two_bars(&scene, 0.3, 3000, 3000);
    scene.loads.gravity[2] = -9.81;
    scene.material[0].yield_strain = scene.material[1].yield_strain = 0.01;
    scene.material[0].creep = scene.material[1].creep = 5;
    for (int k = 0; k < 2; k++) {
        const char *words = k ? "solver=jacobi" : "solver=coloured_gs";
        double *two = march("strain_energy", PBD_PRECISION_F64, 1, &scene, words, 0.01, 20);
        uint8_t *material = scene.tets.material;
        scene.tets.material = NULL;
        double *one = march("strain_energy", PBD_PRECISION_F64, 1, &scene, words, 0.01, 20);
        scene.tets.material = material;
        if (k == 0)
            expect_same_bits("one material and two", one, two, scene.particles.count);
        else
            check_near("m", largest_difference(one, two, scene.particles.count), 0, 1e-13); /* another order of sums */
        free(one);
        free(two);
    }
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_projections),
        cmocka_unit_test(test_modulus_cancels_in_plain_pbd),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_rest_balances_the_load),
        cmocka_unit_test(test_vectors_at_rest),
        cmocka_unit_test(test_plastic_strain_stays),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_precisions_and_backends),
        cmocka_unit_test(test_fibres_and_flow_emulated),
        cmocka_unit_test(test_order_in_time),
        cmocka_unit_test(test_bad_meshes),
        cmocka_unit_test(test_bad_materials),
        cmocka_unit_test(test_bars_in_series),
        cmocka_unit_test(test_equal_materials_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
