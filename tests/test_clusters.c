/* Clusters of tetrahedra: the plan against its definition by brute force; sweeps by clusters against sweeps by plain
 * colours, the oracle, and against a second backend. */
#define REAL double
#include "methods/physics/space/clusters.h"
#include "tests/element_ladder.h"
#include "tests/trial.h"

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

/* Marks the particles of `set`; fails if another set has marked one. `mark` has an entry per particle, initially 0. */
static void mark_apart(uint32_t *mark, const uint32_t *particle, size_t count, uint32_t set, const char *what) {
    for (size_t k = 0; k < count; k++) {
        if (mark[particle[k]] != 0 && mark[particle[k]] != set) fail_msg("%s share particle %u", what, particle[k]);
        mark[particle[k]] = set;
    }
}

static void check_cluster(const pbd_scene *scene, const cluster_plan *plan, size_t cluster, int material) {
    const uint32_t *particle = plan->particle + plan->first_particle[cluster];
    const uint32_t count = plan->first_particle[cluster + 1] - plan->first_particle[cluster];
    uint32_t mark[CLUSTER_PARTICLES];
    assert_true(count > 0 && count <= CLUSTER_PARTICLES);
    assert_true(plan->first_part[cluster] < plan->first_part[cluster + 1]);
    for (uint32_t part = plan->first_part[cluster]; part < plan->first_part[cluster + 1]; part++) {
        memset(mark, 0, sizeof mark);
        assert_true(plan->part[part] < plan->part[part + 1]);
        for (uint32_t i = plan->part[part]; i < plan->part[part + 1]; i++) {
            const uint32_t element = plan->order[i];
            for (size_t c = 0; c < 4; c++) {
                assert_true(plan->own[4 * i + c] < count);
                assert_int_equal(particle[plan->own[4 * i + c]], scene->tets.corner[4 * (size_t)element + c]);
            }
            assert_int_equal(scene->tets.material ? scene->tets.material[element] : 0, material);
            mark_apart(mark, plan->own + 4 * (size_t)i, 4, i + 1, "elements of a part");
        }
    }
}

static void check_plan(const pbd_scene *scene, const char *what) {
    pbd_arena a PBD_ARENA;
    cluster_plan plan, again;
    check_ok(cluster_plan_make(scene, &a, &plan));
    check_ok(cluster_plan_make(scene, &a, &again));
    print_message("    %s: %zu tetrahedra, %d colours of %zu clusters, %zu parts, %zu particles\n", what,
                  scene->tets.count, plan.colours, plan.clusters, plan.parts, plan.entries);
    assert_true(plan.colours > 0 && plan.colours <= 10);
    assert_memory_equal(plan.order, again.order, scene->tets.count * sizeof *plan.order);
    uint32_t *mark = calloc(scene->particles.count, sizeof *mark);
    uint8_t *seen = calloc(scene->tets.count, 1);
    size_t next = 0;
    for (size_t b = 0; b < plan.batches; b++) {
        memset(mark, 0, scene->particles.count * sizeof *mark);
        assert_int_equal(plan.batch[b].first, next);
        next += plan.batch[b].count;
        for (size_t k = plan.batch[b].first; k < next; k++) {
            check_cluster(scene, &plan, k, plan.batch[b].material);
            mark_apart(mark, plan.particle + plan.first_particle[k],
                       plan.first_particle[k + 1] - plan.first_particle[k], (uint32_t)k + 1, "clusters of a colour");
        }
    }
    assert_int_equal(next, plan.clusters);
    assert_int_equal(plan.part[0], 0);
    assert_int_equal(plan.part[plan.parts], scene->tets.count);
    assert_int_equal(plan.first_part[plan.clusters], plan.parts);
    assert_int_equal(plan.first_particle[plan.clusters], plan.entries);
    for (size_t i = 0; i < scene->tets.count; i++) seen[plan.order[i]]++;
    for (size_t e = 0; e < scene->tets.count; e++) assert_int_equal(seen[e], 1);
    free(mark);
    free(seen);
}

/* Bars, a cow and a bar on its corner: at most ten colours. Plain colouring of the same meshes takes 30 to 40. */
static void test_plans(void **unused) {
    (void)unused;
    static const char *const cases[][2] = {{"cantilever", "cells=8"},      {"cantilever", "cells=5"},
                                           {"twist", "cells=6"},           {"bounce", "cells=6 pose=corner"},
                                           {"recovery", "particles=4000"}, {"recovery", "particles=9000"},
                                           {"heavy_drop", "cells=4"},      {"uniaxial", "cells=7"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trial t;
        char what[80];
        snprintf(what, sizeof what, "%s %s", cases[i][0], cases[i][1]);
        open_case(&t, cases[i][0], cases[i][1]);
        check_plan(&t.scene, what);
        close_case(&t);
    }
}

static void give_materials(pbd_scene *scene) {
    scene->materials = 2;
    scene->material[1] = scene->material[0];
    scene->material[1].E *= 3;
    scene->tets.material = calloc(scene->tets.count, 1);
    for (size_t e = 0; e < scene->tets.count; e++) scene->tets.material[e] = e % 5 == 0;
}

/* A perturbed mesh of two mixed materials; a bar of one cluster; a mesh with nearly all particles in one box. */
static void test_odd_plans(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cubes(&scene, (const int[]){9, 5, 4}, 1e4);
    check_plan(&scene, "uneven cubes");
    give_materials(&scene);
    check_plan(&scene, "two materials");
    pbd_scene_free(&scene);
    make_cubes(&scene, (const int[]){1, 1, 1}, 1e4);
    check_plan(&scene, "a cube");
    pbd_scene_free(&scene);
    make_cubes(&scene, (const int[]){12, 12, 12}, 1e4);
    for (size_t i = 0; i < 3 * scene.particles.count; i++)
        scene.particles.positions[i] = exp(9 * scene.particles.positions[i]);
    pbd_arena a PBD_ARENA;
    cluster_plan plan;
    check_ok(cluster_plan_make(&scene, &a, &plan));
    print_message("    edges from 1 to 50000: %d colours\n", plan.colours);
    if (plan.colours > 0) check_plan(&scene, "edges from 1 to 50000");
    if (plan.colours == 0) expect_refused("strain_energy", &scene, "clusters=on", PBD_NOT_SUPPORTED, "no clusters");
    scene.particles.positions[0] = (double)NAN;
    check_ok(cluster_plan_make(&scene, &a, &plan));
    assert_int_equal(plan.colours, 0);
    pbd_scene_free(&scene);
}

/* ---- Sweeps ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *method, *form, *law;
    double share; /* limit of the difference between two orders, over the displacement: test_strain_energy_forms */
} sweeps[] = {{"strain_energy", "form=xpbd_root", "neo_hookean", 0.02},
              {"strain_energy", "form=six_strains", "stvk", 2e-4},
              {"strain_energy", "form=two_constraints", "macklin_neo_hookean", 0.02},
              {"strain_based", "form=xpbd", "neo_hookean", 0.02}};
enum { SWEEPS = sizeof sweeps / sizeof *sweeps };

static void test_the_answer_of_colours(void **unused) {
    (void)unused;
    for (int k = 0; k < SWEEPS; k++) {
        double *x[2];
        char words[160];
        pbd_scene scene;
        make_cubes(&scene, (const int[]){6, 3, 3}, 1e5);
        scene.material->law = sweeps[k].law;
        for (int on = 0; on < 2; on++) {
            snprintf(words, sizeof words, "%s iterations=500 clusters=%s", sweeps[k].form, on ? "on" : "off");
            x[on] = march(sweeps[k].method, PBD_PRECISION_F64, 1, &scene, words, 1e-3, 3);
        }
        const double size = largest_difference(x[0], scene.particles.positions, scene.particles.count);
        const double off = largest_difference(x[0], x[1], scene.particles.count);
        snprintf(words, sizeof words, "%s %s: by clusters, of the displacement", sweeps[k].method, sweeps[k].form);
        check_near(words, off / size, 0, sweeps[k].share);
        assert_true(off > 0); /* the order does differ */
        free(x[0]);
        free(x[1]);
        pbd_scene_free(&scene);
    }
}

/* Several clusters per colour. Under ThreadSanitizer, where each lane is a pthread, one step. */
static void test_emu(void **unused) {
    (void)unused;
    static const double limit[] = {1e-5, 1e-13};
    for (int k = 0; k < SWEEPS; k++)
        for (int precision = 0; precision < EMULATED_PRECISIONS; precision++) {
            double *x[3];
            char words[160];
            pbd_scene scene;
            make_cubes(&scene, (const int[]){6, 3, 3}, 1e4);
            scene.material->law = sweeps[k].law;
            give_materials(&scene);
            snprintf(words, sizeof words, "%s iterations=2 clusters=on", sweeps[k].form);
            for (int run = 0; run < 3; run++)
                x[run] = march_on(run > 0 ? PBD_EMU : PBD_CPU, sweeps[k].method, (pbd_precision)precision, 1, &scene,
                                  words, 0.005, EMULATED_STEPS);
            check_near("emu against cpu, m", largest_difference(x[0], x[1], scene.particles.count), 0,
                       limit[precision]);
            expect_same_bits("emu, once more", x[1], x[2], scene.particles.count);
            for (int run = 0; run < 3; run++) free(x[run]);
            pbd_scene_free(&scene);
        }
}

static void test_threads(void **unused) {
    (void)unused;
    for (int k = 0; k < SWEEPS; k++) {
        char words[160];
        snprintf(words, sizeof words, "%s iterations=5 clusters=on", sweeps[k].form);
        expect_same_on_threads_of(sweeps[k].method, words, false, sweeps[k].law);
    }
}

/* Linear momentum of a free, moving, strained body, on both backends. */
static void test_linear_momentum(void **unused) {
    (void)unused;
    for (int k = 0; k < SWEEPS; k++)
        for (int emulated = 0; emulated < 2; emulated++) {
            pbd_scene scene;
            solver s;
            char words[160];
            double sum[3] = {0}, size = 0;
            make_moving(&scene, sweeps[k].law, 0.35);
            memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
            scene.particles.fixed = 0;
            snprintf(words, sizeof words, "%s iterations=3 clusters=on", sweeps[k].form);
            check_ok(
                try_open_on(emulated ? PBD_EMU : PBD_CPU, &s, sweeps[k].method, PBD_PRECISION_F64, 1, &scene, words));
            for (int i = 0; i < (emulated ? EMULATED_STEPS : 20); i++) check_ok(s.method->step(s.state, 1e-3));
            double *v = calloc(3 * scene.particles.count, sizeof *v);
            check_ok(s.method->read(s.state, PBD_VELOCITIES, v));
            for (size_t i = 0; i < 3 * scene.particles.count; i++) {
                const double m = scene.particles.masses[i / 3];
                sum[i % 3] += m * (v[i] - scene.particles.velocities[i]);
                size += fabs(m * v[i]);
            }
            for (int d = 0; d < 3; d++) check_near("momentum gained, relative", sum[d] / size, 0, 1e-12);
            free(v);
            solver_close(&s);
            pbd_scene_free(&scene);
        }
}

/* ---- Where they are used ----------------------------------------------------------------------------------------- */

static bool has_clusters(int backend, const pbd_scene *scene, const char *words) {
    solver s;
    bool has = false;
    check_ok(try_open_on(backend, &s, "strain_energy", PBD_PRECISION_F32, 1, scene, words));
    for (size_t i = 0; i < s.result.metrics; i++) has = has || strcmp(s.result.metric[i].name, "clusters") == 0;
    solver_close(&s);
    return has;
}

/* Clusters are used where they are requested; with auto on a GPU if the mesh is large. */
static void test_where(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_mesh(&scene, false, 1e4);
    assert_false(has_clusters(PBD_EMU, &scene, "clusters=auto"));
    assert_false(has_clusters(PBD_CPU, &scene, "clusters=auto"));
    assert_true(has_clusters(PBD_EMU, &scene, "clusters=on"));
    assert_true(has_clusters(PBD_CPU, &scene, "clusters=on"));
    expect_refused("strain_energy", &scene, "clusters=on solve=global", PBD_NOT_SUPPORTED, "clusters=on");
    pbd_scene_free(&scene);
    make_cubes(&scene, (const int[]){12, 8, 8}, 1e4);
    assert_true(has_clusters(PBD_EMU, &scene, "clusters=auto"));
    assert_false(has_clusters(PBD_EMU, &scene, ""));
    assert_false(has_clusters(PBD_EMU, &scene, "clusters=auto solver=jacobi"));
    assert_false(has_clusters(PBD_CPU, &scene, "clusters=auto"));
    pbd_scene_free(&scene);
    make_mesh(&scene, true, 1e4);
    expect_refused("strain_energy", &scene, "clusters=on", PBD_NOT_SUPPORTED, "triangles");
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans), cmocka_unit_test(test_odd_plans), cmocka_unit_test(test_the_answer_of_colours),
        cmocka_unit_test(test_emu),   cmocka_unit_test(test_threads),   cmocka_unit_test(test_linear_momentum),
        cmocka_unit_test(test_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
