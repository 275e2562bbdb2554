/* Cuts: a blade through a bar gives the right number of pieces, and conserves mass, momentum and particles. */
#include "methods/physics/parts/particle_cut.h"
#include "methods/physics/space/particle_layout.h"
#include "tests/element_ladder.h"

enum { ALONG = 12, ACROSS = 4, BAR = ALONG * ACROSS * ACROSS };
static const double EDGE = 0.05;

/* A lattice bar along x, free and without load. */
static void make_bar(pbd_scene *scene) {
    allocate_scene(scene, BAR, 0, 0);
    scene->particles.spacing = EDGE;
    scene->particles.volumes = calloc(BAR, sizeof(double));
    scene->particles.velocities = calloc(3 * BAR, sizeof(double));
    scene->material->E = 5e3;
    for (size_t p = 0; p < BAR; p++) {
        scene->particles.positions[3 * p] = EDGE * (double)(p / (ACROSS * ACROSS));
        scene->particles.positions[3 * p + 1] = EDGE * (double)(p / ACROSS % ACROSS);
        scene->particles.positions[3 * p + 2] = EDGE * (double)(p % ACROSS);
        scene->particles.volumes[p] = EDGE * EDGE * EDGE;
        scene->particles.masses[p] = 100 * scene->particles.volumes[p];
    }
    memcpy(scene->particles.start, scene->particles.positions, 3 * BAR * sizeof(double));
}

/* Adds a blade across the bar at x, from above, that comes down by `depth` of the bar's height and stays until 1 s. */
static void add_blade(pbd_scene *scene, double x, double depth) {
    scene->blades.item = realloc(scene->blades.item, (scene->blades.count + 1) * sizeof *scene->blades.item);
    const double height = EDGE * ACROSS, down = depth * height;
    scene->blades.item[scene->blades.count++] = (pbd_blade){.corner = {x, -1, height},
                                                            .edge = {{0, 2, 0}, {0, 0, 2}},
                                                            .velocity = {0, 0, -down / 0.05},
                                                            .begin = 0.0,
                                                            .end = 0.05};
}

static void steps(solver *s, int count) {
    for (int i = 0; i < count; i++) check_ok(s->method->step(s->state, 0.005));
}

static void momenta(const solver *s, const pbd_scene *scene, double linear[3], double *fastest) {
    double v[3 * BAR];
    check_ok(s->method->read(s->state, PBD_VELOCITIES, v));
    linear[0] = linear[1] = linear[2] = *fastest = 0;
    for (size_t i = 0; i < 3 * BAR; i++) {
        linear[i % 3] += scene->particles.masses[i / 3] * v[i];
        *fastest = fmax(*fastest, fabs(v[i]));
    }
}

static double pieces_of(const solver *s) {
    for (size_t i = 0; i < s->result.metrics; i++)
        if (strcmp(s->result.metric[i].name, "pieces") == 0) return s->result.metric[i].value;
    return 1;
}

static const char *const variants[] = {"iterations=5 solver=jacobi", "iterations=5 solver=coloured_gs radius=1.8",
                                       "iterations=3 solver=jacobi radius=1.6"};

static void test_pieces(void **unused) {
    (void)unused;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (int blades = 0; blades < 4; blades++) {
            pbd_scene scene;
            solver s;
            double linear[3], fastest;
            make_bar(&scene);
            for (int b = 0; b < blades; b++) add_blade(&scene, EDGE * (2.5 + 3 * b), 1.2);
            solver_open(&s, "corrected_sph", PBD_PRECISION_F64, 1, &scene, variants[v]);
            steps(&s, 40);
            check_near("pieces", pieces_of(&s), 1 + blades, 0.5);
            momenta(&s, &scene, linear, &fastest);
            /* A body at rest stays at rest while it is cut: F stays exact, so no stress appears. */
            check_near("speed after the cut, m/s", fastest, 0, 1e-10);
            solver_close(&s);
            pbd_scene_free(&scene);
        }
}

static void test_half_a_cut(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_bar(&scene);
    add_blade(&scene, EDGE * 5.5, 0.6);
    solver_open(&s, "corrected_sph", PBD_PRECISION_F64, 1, &scene, "radius=1.8");
    steps(&s, 20);
    check_near("pieces", pieces_of(&s), 1, 0.5);
    /* Neighbours within 1.8 spacings are at most one lattice place apart along each axis. Across the plane there are 10
     * choices of y, y' (4 equal, 6 not), and 4 of z, z' whose midpoint is at layer 2 or above: 22, 23, 32, 33. */
    check_near("pairs cut", metric_of(&s, "pairs_cut"), 10 * 4, 0.5);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* A spinning, stretched bar under plastic flow: the pieces fly apart with the total momenta of the bar. */
static void test_momentum(void **unused) {
    (void)unused;
    for (size_t v = 0; v < 2; v++)
        for (int precision = 0; precision < 2; precision++) {
            pbd_scene scene;
            solver s;
            double before[3], after[3], fastest;
            make_bar(&scene);
            add_blade(&scene, EDGE * 5.5, 1.2);
            scene.material->law = "stvk";
            scene.material->yield_strain = 0.05;
            scene.material->creep = 20;
            for (size_t p = 0; p < BAR; p++) {
                scene.particles.start[3 * p] = 1.1 * (scene.particles.positions[3 * p] - 5.5 * EDGE) + 5.5 * EDGE;
                scene.particles.velocities[3 * p + 1] = 2 * (scene.particles.positions[3 * p] - 5.5 * EDGE) + 0.3;
            }
            solver_open(&s, "corrected_sph", (pbd_precision)precision, 1, &scene, variants[v]);
            momenta(&s, &scene, before, &fastest);
            const double fastest_before = fastest;
            steps(&s, 60);
            momenta(&s, &scene, after, &fastest);
            check_near("pieces", pieces_of(&s), 2, 0.5);
            for (int d = 0; d < 3; d++) check_near("momentum, kg m/s", after[d], before[d], precision ? 1e-12 : 2e-5);
            if (!(fastest < 4 * fastest_before + 2)) fail_msg("a particle of %g m/s after the cut", fastest);
            solver_close(&s);
            pbd_scene_free(&scene);
        }
}

/* A state saved before the cut and loaded after it is whole again, and continues bitwise the same way. */
static void test_saved_before(void **unused) {
    (void)unused;
    for (size_t v = 0; v < 2; v++) {
        pbd_scene scene;
        solver s;
        size_t bytes;
        make_bar(&scene);
        add_blade(&scene, EDGE * 5.5, 1.2);
        for (size_t p = 0; p < BAR; p++) scene.particles.velocities[3 * p + 1] = scene.particles.positions[3 * p];
        solver_open(&s, "corrected_sph", PBD_PRECISION_F64, 1, &scene, variants[v]);
        check_ok(s.method->save(s.state, NULL, &bytes));
        void *blob = malloc(bytes);
        check_ok(s.method->save(s.state, blob, &bytes));
        steps(&s, 20);
        double *first = positions_of(&s, BAR);
        check_ok(s.method->load(s.state, blob, bytes));
        check_near("pieces after loading", pieces_of(&s), 1, 0.5);
        steps(&s, 20);
        double *second = positions_of(&s, BAR);
        expect_same_bits("the same way again", first, second, BAR);
        free(first);
        free(second);
        free(blob);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* A stretched, spinning bar with plastic flow, cut in two, whose particles touch each other and the floor: all features
 * at once. radius: BAR values. */
static void make_meeting_bar(pbd_scene *scene, pbd_collider *floor, double *radius) {
    *floor = (pbd_collider){
        .shape = PBD_PLANE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .centre = {0, 0, -EDGE / 2}, .friction = 0.4};
    make_bar(scene);
    add_blade(scene, EDGE * 5.5, 1.2);
    scene->blades.item->velocity[2] *= 3;
    scene->material->law = "stvk";
    scene->material->yield_strain = 0.05;
    scene->material->creep = 20;
    scene->loads.gravity[2] = -9.81;
    scene->colliders.count = 1;
    scene->colliders.item = floor;
    scene->contact = (pbd_contact){.radius = radius, .between_bodies = true, .friction = 0.3};
    for (size_t p = 0; p < BAR; p++) {
        radius[p] = 0.55 * EDGE;
        scene->particles.start[3 * p] = 1.1 * (scene->particles.positions[3 * p] - 5.5 * EDGE) + 5.5 * EDGE;
        scene->particles.velocities[3 * p + 1] = 2 * (scene->particles.positions[3 * p] - 5.5 * EDGE) + 0.3;
        scene->particles.velocities[3 * p + 2] = -1;
    }
}

/* Under ThreadSanitizer each of the 192 particles is a pthread in every launch. There one or two steps of one iteration
 * suffice: the first already cuts the uppermost layer. */
static void test_backends_agree(void **unused) {
    (void)unused;
#if defined(__SANITIZE_THREAD__)
    static const int count[] = {2, 1};
    static const char *const words[] = {"iterations=1", "iterations=1 solver=coloured_gs radius=1.2"};
#else
    static const int count[] = {4, 3};
    static const char *const words[] = {"iterations=2", "iterations=2 solver=coloured_gs radius=1.6"};
#endif
    static const int backends[] = {PBD_CPU, PBD_EMU};
    for (size_t v = 0; v < 2; v++) {
        pbd_scene scene;
        pbd_collider floor;
        double *x[2], cut[2], radius[BAR];
        make_meeting_bar(&scene, &floor, radius);
        for (int b = 0; b < 2; b++) {
            solver s;
            check_ok(try_open_on(backends[b], &s, "corrected_sph", PBD_PRECISION_F64, 1, &scene, words[v]));
            steps(&s, count[v]);
            x[b] = positions_of(&s, BAR);
            cut[b] = metric_of(&s, "pairs_cut");
            solver_close(&s);
        }
        assert_true(cut[0] > 0);
        check_near("pairs cut", cut[1], cut[0], 0);
        check_near("emu against cpu, m", largest_difference(x[0], x[1], BAR), 0, 1e-12);
        free(x[0]);
        free(x[1]);
        scene.colliders.item = NULL;
        scene.contact.radius = NULL;
        pbd_scene_free(&scene);
    }
}

/* ---- Only what a cut has changed is made again ------------------------------------------------------------------- */

static void expect_bytes(const char *what, const void *got, const void *wanted, size_t bytes) {
    if (memcmp(got, wanted, bytes) != 0) fail_msg("%s differs from that of a layout made whole again", what);
}

static void expect_same_layout(const particle_layout *a, const particle_layout *b) {
    const size_t entries = a->rows * PARTICLE_SLICE, size = sizeof(double);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->slots, b->slots);
    assert_int_equal(a->colours, b->colours);
    assert_int_equal(a->stages, b->stages);
    assert_int_equal(a->few, b->few);
    assert_int_equal(a->deficient, b->deficient);
    expect_bytes("own", a->own, b->own, a->slots * sizeof *a->own);
    expect_bytes("slice", a->slice, b->slice, (a->slots / PARTICLE_SLICE + 1) * sizeof *a->slice);
    expect_bytes("neighbour", a->neighbour, b->neighbour, entries * sizeof *a->neighbour);
    expect_bytes("gradient", a->gradient, b->gradient, 3 * entries * size);
    expect_bytes("sum", a->sum, b->sum, 3 * a->slots * size);
    expect_bytes("weight", a->weight, b->weight, 6 * a->slots * size);
    assert_int_equal(a->offset == NULL, b->offset == NULL);
    if (a->offset) expect_bytes("offset", a->offset, b->offset, 9 * a->slots * size);
    if (a->jacobi) expect_bytes("reverse", a->reverse, b->reverse, 3 * entries * size);
    if (a->jacobi) expect_bytes("largest", &a->largest, &b->largest, size);
    if (a->jacobi) expect_bytes("power", a->power, b->power, a->particles * size);
}

/* Checks l->reverse of every pair against the gradient of its reversed pair, found by search. */
static void expect_reverse(const particle_layout *l) {
    for (size_t i = 0; i < l->particles; i++)
        for (size_t r = 0; r < l->near.first[i + 1] - l->near.first[i]; r++) {
            const size_t j = l->near.particle[l->near.first[i] + r];
            size_t back = 0;
            while (l->near.particle[l->near.first[j] + back] != i) back++;
            const size_t row = l->slice[i / PARTICLE_SLICE] + r, other = l->slice[j / PARTICLE_SLICE] + back;
            for (size_t d = 0; d < 3; d++)
                expect_bytes("the reverse of a pair", l->reverse + (3 * row + d) * PARTICLE_SLICE + i % PARTICLE_SLICE,
                             l->gradient + (3 * other + d) * PARTICLE_SLICE + j % PARTICLE_SLICE, sizeof(double));
        }
}

/* Constraints of a stage share no particle, and each place has one constraint. */
static void expect_stages(const particle_layout *l, size_t least) {
    size_t moved[BAR] = {0}, seen[BAR] = {0};
    assert_true(l->stages >= least);
    for (size_t s = 0; s < l->stages; s++)
        for (size_t slot = l->stage_slot[s]; slot < l->stage_slot[s] + l->stage_count[s]; slot++) {
            const uint32_t own = l->own[slot];
            seen[own]++;
            for (size_t k = l->near.first[own]; k <= l->near.first[own + 1]; k++) {
                const uint32_t place = k < l->near.first[own + 1] ? l->near.particle[k] : own;
                assert_true(moved[place] < s + 1);
                moved[place] = s + 1;
            }
        }
    for (size_t i = 0; i < l->particles; i++) assert_int_equal(seen[i], 1);
}

static void cut_layout(const pbd_scene *scene, double time, const uint32_t *full, double radius, particle_layout *l,
                       bool *changed) {
    particle_cuts cuts;
    check_ok(particle_cuts_make(scene, &cuts));
    check_ok(particle_cut(&cuts, time, l->rest, l->rest, radius, full, &l->near, changed));
    particle_cuts_free(&cuts);
}

static void test_remake(void **unused) {
    (void)unused;
    for (int way = 0; way < 3; way++)
        for (int linear = 0; linear < 2; linear++) {
            const bool jacobi = way == 2;
            const size_t block = way == 1 ? 50 : 0, least = way == 1 ? BAR / block : 1;
            const shape_choice choice = {
                .radius = 1.8 * EDGE, .kernel_correction = !linear, .gradient_correction = !linear, .linear = linear};
            pbd_scene scene, whole;
            particle_layout some, all;
            uint32_t full[BAR];
            make_bar(&scene);
            add_blade(&scene, EDGE * 5.5, 1.2);
            whole = scene;
            whole.blades.count = 0; /* without blades nothing is kept for rebuilding, so everything is rebuilt */
            check_ok(particle_layout_make(&scene, &choice, jacobi, block, NULL, &some));
            check_ok(particle_layout_make(&whole, &choice, jacobi, block, NULL, &all));
            assert_true(some.keeps && !all.keeps);
            for (size_t i = 0; i < BAR; i++) full[i] = (uint32_t)(some.near.first[i + 1] - some.near.first[i]);
            int cuts = 0;
            for (int k = 0; k <= 10; k++) {
                bool changed, other;
                cut_layout(&scene, 0.005 * k, full, choice.radius, &some, &changed);
                cut_layout(&scene, 0.005 * k, full, choice.radius, &all, &other);
                assert_int_equal(changed, other);
                if (!changed) continue;
                cuts++;
                check_ok(particle_layout_remake(&some, &choice));
                check_ok(particle_layout_remake(&all, &choice));
                expect_same_layout(&some, &all);
                if (jacobi) expect_reverse(&some);
                if (!jacobi) expect_stages(&some, least);
            }
            assert_true(cuts >= 3);
            particle_layout_free(&some);
            particle_layout_free(&all);
            pbd_scene_free(&scene);
        }
}

static void test_bad_blades(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_bar(&scene);
    add_blade(&scene, EDGE * 5.5, 1.2);
    memset(scene.blades.item->edge[1], 0, sizeof scene.blades.item->edge[1]);
    expect_refused("corrected_sph", &scene, "", PBD_BAD_INPUT, "blade 0 has an area of 0");
    scene.blades.item->edge[1][2] = 1;
    scene.blades.item->end = -1;
    expect_refused("corrected_sph", &scene, "", PBD_BAD_INPUT, "before it begins");
    scene.blades.item->end = 1;
    scene.blades.item->velocity[0] = (double)NAN;
    expect_refused("corrected_sph", &scene, "", PBD_BAD_INPUT, "a non-finite position");
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),       cmocka_unit_test(test_half_a_cut),     cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_saved_before), cmocka_unit_test(test_backends_agree), cmocka_unit_test(test_remake),
        cmocka_unit_test(test_bad_blades),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
