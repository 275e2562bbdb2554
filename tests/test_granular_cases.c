/* Cases of matter that flows and breaks: evenness of the spacing, pieces, heaps and their slopes, and the distribution
 * of mass, for states made by hand; the scenes of the cases against closed forms; what the cases refuse. */
#include "cases/scenes/granular.h"
#include "harness/figure/figure_file.h"
#include "tests/flow_values.h"
#include "tests/ladder.h"

#include "tests/trial.h"

static const double PI = 3.14159265358979323846;

/* ---- Particles made by hand -------------------------------------------------------------------------------------- */

enum { MOST = 40000 };
static double place[3 * MOST], mass[MOST];

static pbd_scene bare_scene(double spacing) {
    return (pbd_scene){.particles.spacing = spacing, .particles.positions = place, .particles.masses = mass};
}

static void add(pbd_scene *scene, double x, double y, double z) {
    double *to = place + 3 * scene->particles.count;
    to[0] = x, to[1] = y, to[2] = z;
    mass[scene->particles.count++] = 1;
    assert_true(scene->particles.count < MOST);
}

static void add_box(pbd_scene *scene, double x, double y, double z, int nx, int ny, int nz) {
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) add(scene, x + i, y + j, z + k);
}

/* ---- How evenly they lie ----------------------------------------------------------------------------------------- */

/* Wendland's C2 kernel with support radius 2: 21/(16 pi) (1 - r/2)^4 (1 + 2 r). An interior particle of a lattice of
 * spacing 1 has 6 neighbours at 1, 12 at sqrt(2), 8 at sqrt(3). */
static double wendland(double r) { return 21 / (16 * PI) * pow(1 - r / 2, 4) * (1 + 2 * r); }

static void test_evenness_of_a_lattice(void **state) {
    (void)state;
    pbd_scene scene = bare_scene(1);
    evenness e;
    add_box(&scene, 0, 0, 0, 5, 5, 5);
    check_ok(granular_evenness(&scene, place, &e));
    check_near("mean", e.mean, 1, 1e-14);
    check_near("deviation", e.deviation, 0, 1e-7); /* the square root of a difference */
    check_near("density", e.density, wendland(0) + 6 * wendland(1) + 12 * wendland(sqrt(2)) + 8 * wendland(sqrt(3)),
               1e-12);
    assert_int_equal(e.lone, 0);
    /* At half the spacing only the density changes: the same masses in an eighth of the volume. */
    const double before = e.density;
    for (size_t i = 0; i < 3 * scene.particles.count; i++) place[i] *= 0.5;
    scene.particles.spacing = 0.5;
    check_ok(granular_evenness(&scene, place, &e));
    check_near("mean", e.mean, 1, 1e-14);
    check_near("density over that before", e.density / before, 8, 1e-12);
}

/* Two particles that separate at 2 m/s each have a velocity of 2 m/s relative to their only neighbour: 2 x 1/2 x 1 kg x
 * 4 m^2/s^2. For a common motion, and for a lone particle, the energy is 0. Of three in a row the middle one has two
 * neighbours, weighted by the kernel. */
static void test_relative_energy(void **state) {
    (void)state;
    double v[9] = {-1, 0, 0, 1, 0, 0, 0, 5, 0}, energy;
    pbd_scene scene = bare_scene(1);
    add(&scene, 0, 0, 0), add(&scene, 1, 0, 0), add(&scene, 9, 0, 0);
    check_ok(granular_relative_energy(&scene, place, v, &energy));
    check_near("two that part", energy, 4, 1e-14);
    for (int i = 0; i < 9; i++) v[i] = i % 3 + 1;
    check_ok(granular_relative_energy(&scene, place, v, &energy));
    check_near("all alike", energy, 0, 1e-14);
    place[6] = 2.5; /* 1.5 from the second, outside the support of the first */
    const double w = wendland(1) / (wendland(1) + wendland(1.5)), u[9] = {0, 1, 0, 0, 0, 0, 0, 0, 0};
    check_ok(granular_relative_energy(&scene, place, u, &energy));
    check_near("one of three", energy, 0.5 * (1 + w * w), 1e-14);
}

static void test_evenness_of_a_few(void **state) {
    (void)state;
    pbd_scene scene = bare_scene(1);
    evenness e;
    add(&scene, 0, 0, 0);
    add(&scene, 0.6, 0, 0);
    add(&scene, -1, 0, 0);
    add(&scene, 50, 0, 0);
    add(&scene, NAN, 0, 0);
    check_ok(granular_evenness(&scene, place, &e)); /* distances 0.6, 0.6, 1; two particles have no neighbour */
    check_near("mean", e.mean, 2.2 / 3, 1e-14);
    check_near("deviation", e.deviation, sqrt((0.36 + 0.36 + 1) / 3 - pow(2.2 / 3, 2)), 1e-14);
    check_near("least", e.least, 0.6, 1e-14);
    assert_int_equal(e.lone, 2);
}

/* Pairs of coincident particles, as material points may have in a grid cell, raise the density over a kernel of two
 * spacings, but hardly over one of four. */
static void test_density_over_a_wider_kernel(void **state) {
    (void)state;
    pbd_scene scene = bare_scene(1);
    double near, wide, near_before, wide_before;
    add_box(&scene, 0, 0, 0, 11, 11, 11);
    check_ok(granular_density(&scene, place, 2, &near_before));
    check_ok(granular_density(&scene, place, 4, &wide_before));
    check_near("over two", near_before, wendland(0) + 6 * wendland(1) + 12 * wendland(sqrt(2)) + 8 * wendland(sqrt(3)),
               1e-12);
    check_near("over four", wide_before, 1, 2e-3);          /* of a lattice, almost its own density */
    for (size_t i = 0; i < scene.particles.count; i += 2) { /* merges pairs along x */
        if (i % 11 == 10) i++;
        if (i + 1 < scene.particles.count && (i + 1) % 11 != 0) place[3 * (i + 1)] = place[3 * i];
    }
    check_ok(granular_density(&scene, place, 2, &near));
    check_ok(granular_density(&scene, place, 4, &wide));
    print_message("  pairs in one place: density %.2f over two spacings, %.2f over four\n", near / near_before,
                  wide / wide_before);
    assert_true(near / near_before > 1.25);
    check_near("over four spacings", wide / wide_before, 1, 0.1);
}

/* The experimental laws that plots/yu2024-nature draws: where one branch ends, the next continues within 25 %. This
 * finds a law for the whole radius that was entered as one for the run-out. */
static void test_laws_of_the_experiments_meet(void **state) {
    (void)state;
    char path[1000], line[2000], form[40], quantity[40], who[80], last[200] = "", law[200];
    snprintf(path, sizeof path, "%s/plots/yu2024-nature/paper.csv", getenv("PBDBENCH_ROOT"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    double low, high, factor, power, offset, before = NAN, until = NAN;
    int meet = 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%39[^,],%39[^,],%79[^,],%lf,%lf,%lf,%lf,%lf,", form, quantity, who, &low, &high, &factor,
                   &power, &offset) != 8)
            continue;
        snprintf(law, sizeof law, "%s %s %s", form, quantity, who);
        if (strcmp(law, last) == 0) {
            assert_true(low == until);
            print_message("  %s at a = %g: %.3g and %.3g\n", law, low, before, factor * pow(low, power) - offset);
            check_near("one over the other", (factor * pow(low, power) - offset) / before, 1, 0.25);
            meet++;
        }
        snprintf(last, sizeof last, "%s", law);
        before = factor * pow(high, power) - offset;
        until = high;
    }
    fclose(file);
    assert_int_equal(meet, 6);
}

/* ---- Verdicts on run-outs ---------------------------------------------------------------------------------------- */

/* Run-outs of columns of aspect 1 in three sizes 1 : 4 : 16, each with three seeds that differ by +-scatter, and of the
 * middle size at half the time step. */
typedef struct run_outs {
    double of_size[3], half_step, scatter;
    int sizes;
} run_outs;

static void run_sql(sqlite3 *sql, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text = sqlite3_vmprintf(format, values);
    va_end(values);
    if (sqlite3_exec(sql, text, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", text, sqlite3_errmsg(sql));
    sqlite3_free(text);
}

/* Result of the query of a claim for these run-outs, NaN for NULL. The experimental laws are 1.24 and 1.01, those of
 * the columns at a = 1. */
static double claimed(const pbd_figure_file *file, const pbd_claim *claim, const run_outs *r) {
    sqlite3 *sql;
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_open(":memory:", &sql), SQLITE_OK);
    run_sql(sql,
            "CREATE TABLE paper (form, quantity, experiment, low REAL, high REAL, factor REAL, power REAL,"
            " offset REAL, verified)");
    for (int k = 0; k < 4; k++)
        run_sql(sql, "INSERT INTO paper VALUES (%Q, 'run_out', %Q, 0, 100, %s, 1, 0, 'yes')",
                k < 2 ? "axisymmetric" : "plane", k % 2 ? "Lajeunesse" : "Lube", k % 2 ? "1.01" : "1.24");
    for (unsigned i = 0; i < file->runs_count; i++)
        run_sql(sql, "CREATE TABLE %s (aspect REAL, particles REAL, run_out REAL, height REAL, rest_angle REAL, state)",
                file->runs[i].name);
    for (unsigned i = 0; i < file->tables_count; i++)
        run_sql(sql, "CREATE VIEW %s AS %s", file->tables[i].name, file->tables[i].sql);
    for (int step = 0; step < 2; step++) {
        for (int k = 0; k < (step ? 1 : r->sizes); k++)
            for (int seed = -1; seed <= 1 && !(step && isnan(r->half_step)); seed++)
                run_sql(sql, "INSERT INTO %s VALUES (1, %d, %.17g, NULL, NULL, 'ok')", claim->runs[step],
                        500 << (step ? 2 : 2 * k), (step ? r->half_step : r->of_size[k]) + seed * r->scatter);
    }
    assert_int_equal(sqlite3_prepare_v2(sql, claim->sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    const double value = sqlite3_column_type(query, 0) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(sql);
    return value;
}

static unsigned values_of(const pbd_group *group, const char *key) {
    const size_t length = strlen(key);
    for (unsigned i = 0; i < group->axes_count; i++)
        if (strncmp(group->axes[i], key, length) == 0 && group->axes[i][length] == '=') {
            unsigned count = 1;
            for (const char *at = group->axes[i]; *at; at++) count += *at == ',';
            return count;
        }
    return 1;
}

static const pbd_group *group_named(const pbd_figure_file *file, const char *name) {
    for (unsigned i = 0; i < file->runs_count; i++)
        if (strcmp(file->runs[i].name, name) == 0) return &file->runs[i];
    fail_msg("no group %s", name);
    return NULL;
}

/* Run-outs that grow with the number of grains and fall with the time step, as xpbi had them (500, 2000 and 8000
 * grains; 13 % less at a shorter step), are not reproduced (a value below 1), although the finest is within a fifth of
 * the law. Converged run-outs near the law are reproduced (1), converged ones far from it are not (0). Without a third
 * size, or a second step, there is no verdict. */
static void test_verdicts_on_run_outs_need_sizes_seeds_and_steps(void **state) {
    (void)state;
    pbd_figure_file *file;
    unsigned claims = 0;
    const run_outs growing = {{0.75, 0.90, 1.02}, 0.87 * 0.90, 0.01, 3}, settled = {{1.2, 1.2, 1.2}, 1.2, 0, 3},
                   far = {{0.5, 0.5, 0.5}, 0.5, 0, 3}, uneven = {{1.2, 1.2, 1.2}, 1.2, 0.3, 3},
                   two_sizes = {{0.90, 1.02}, 0.87 * 0.90, 0.01, 2}, one_step = {{1.2, 1.2, 1.2}, NAN, 0, 3};
    check_ok(pbd_figure_load("yu2024-nature", &file));
    for (unsigned i = 0; i < file->claims_count; i++) {
        const pbd_claim *c = &file->claims[i];
        if (!strstr(c->id, "run_out") || strstr(c->id, "large_run_out")) continue; /* large: one size */
        claims++;
        assert_string_equal(c->reproduced, "= 1");
        assert_int_equal(c->runs_count, 2);
        assert_int_equal(values_of(group_named(file, c->runs[0]), "particles"), 3);
        for (unsigned k = 0; k < 2; k++) assert_int_equal(values_of(group_named(file, c->runs[k]), "seed"), 3);
        print_message("  %s: %g for run-outs that grow\n", c->id, claimed(file, c, &growing));
        assert_true(claimed(file, c, &growing) < 1);
        assert_true(claimed(file, c, &uneven) < 1);
        assert_true(claimed(file, c, &settled) == 1);
        assert_true(claimed(file, c, &far) == 0);
        assert_true(isnan(claimed(file, c, &two_sizes)) && isnan(claimed(file, c, &one_step)));
    }
    assert_int_equal(claims, 6);
    pbd_figure_file_free(file);
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

static void test_pieces(void **state) {
    (void)state;
    pbd_scene scene = bare_scene(1);
    pieces p;
    add(&scene, -9, 0, 0);
    add_box(&scene, 0, 0, 0, 3, 3, 3);
    add_box(&scene, 5, 0, 0, 4, 3, 3);
    check_ok(granular_pieces(place, scene.particles.count, 1.8, 5, &p));
    assert_int_equal(p.pieces, 2);
    assert_int_equal(p.crumbs, 1);
    assert_int_equal(p.largest, 36);
    assert_int_equal(p.main, 28); /* after the lone particle and the piece of 27 */
    assert_int_equal(p.of[63], 28);
    granular_free_pieces(&p);
    add_box(&scene, 3, 1, 1, 2, 1, 1); /* a bridge: gaps of 1 */
    check_ok(granular_pieces(place, scene.particles.count, 1.8, 5, &p));
    assert_int_equal(p.pieces, 1);
    granular_free_pieces(&p);
}

/* ---- Heaps ------------------------------------------------------------------------------------------------------- */

/* Columns of particles one spacing apart, with slightly random positions and base heights, under a slope that falls
 * from `height` at the axis or wall. (A regular lattice would interfere with the bins.) */
static void add_heap(pbd_scene *scene, heap_form form, double height, double degrees) {
    const double fall = tan(degrees * PI / 180);
    const int far = (int)(height / fall) + 1, wide = form == HEAP_PLANE ? 4 : far;
    uint64_t seed = 7;
    for (int i = form == HEAP_PLANE ? 0 : -far; i < far; i++)
        for (int j = -wide; j < wide; j++) {
            const double x = i + 0.5 * (1 + body_noise(&seed)), y = j + 0.5 * (1 + body_noise(&seed));
            const double off = form == HEAP_PLANE ? x : hypot(x, y), lowest = 0.5 * (1 + body_noise(&seed));
            for (int k = 0; k + lowest < height - fall * off; k++) add(scene, x, y, k + lowest);
        }
}

/* The highest particle of each column is at most half a spacing below the surface, uniformly, so that the slope is
 * right to about a degree. */
static void check_heap(heap_form form, double height, double degrees) {
    pbd_scene scene = bare_scene(1);
    heap h;
    add_heap(&scene, form, height, degrees);
    add(&scene, 80, 0, 30); /* in the air, not part of the heap */
    check_ok(heap_measure(&scene, place, form, NULL, &h));
    print_message("  %s, %g degrees, %zu particles\n", form == HEAP_PLANE ? "plane" : "axisymmetric", degrees,
                  scene.particles.count);
    check_near("angle, degrees", h.angle, degrees, 1.5);
    check_near("height", h.height, height, 1.5);
    check_near("reach", h.reach, height / tan(degrees * PI / 180), 2);
    check_near("reach of all", h.reach_all, 80.5, 1e-12);
    /* Within the share q of its radius a cone has the share 3 q^2 - 2 q^3 of its volume, a wedge 2 q - q^2: 0.99 at
     * q = 0.941 and 0.9. */
    check_near("99 %", h.reach_99 / (height / tan(degrees * PI / 180)), form == HEAP_PLANE ? 0.9 : 0.941, 0.03);
}

static void test_slopes(void **state) {
    (void)state;
    for (int degrees = 20; degrees <= 45; degrees += 5) {
        check_heap(HEAP_AXISYMMETRIC, 14, degrees);
        check_heap(HEAP_PLANE, 20, degrees);
    }
}

/* The flank of a block is a cliff between two bins of width 1.5: the angle is at least what such a step gives. */
static void test_a_block_is_steep(void **state) {
    (void)state;
    pbd_scene scene = bare_scene(1);
    heap h;
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 6; k++) add(&scene, i + 0.5, j - 1.5, k + 0.5);
    check_ok(heap_measure(&scene, place, HEAP_PLANE, NULL, &h));
    check_near("reach", h.reach, 12, 1e-14);
    check_near("height", h.height, 6, 1e-14);
    check_near("99 %", h.reach_99, 11.5, 1e-14);
    check_near("angle", h.angle, atan(6 / 1.5) * 180 / PI, 1e-10);
}

/* Particles whose position is NaN or infinite belong to no heap and change none. */
static void test_nowhere(void **state) {
    (void)state;
    pbd_scene scene = bare_scene(1);
    heap h;
    for (int i = 0; i < 5; i++) add(&scene, NAN, i, INFINITY);
    check_ok(heap_measure(&scene, place, HEAP_AXISYMMETRIC, NULL, &h));
    check_near("height", h.height, 0, 0);
    check_near("reach", h.reach, 0, 0);
}

/* ---- Tension ----------------------------------------------------------------------------------------------------- */

static pbd_status read_stretch(const void *state, pbd_field field, double *out) {
    (void)state;
    if (field != PBD_DEFORMATION_GRADIENTS) return pbd_error(PBD_NOT_SUPPORTED, "only F");
    /* A stretch of 1.02 along y after a quarter turn about z; and a pure pressure. */
    static const double F[18] = {0, -1.02, 0, 1, 0, 0, 0, 0, 1, 0.99, 0, 0, 0, 0.99, 0, 0, 0, 0.99};
    memcpy(out, F, sizeof F);
    return pbd_ok();
}

static void test_tension(void **state) {
    (void)state;
    static const pbd_method stretching = {.bytes = sizeof(pbd_method), .name = "stretching", .read = read_stretch};
    pbd_scene scene = {.particles.count = 2, .material[0] = {.E = 2.6, .nu = 0.3, .law = "hencky"}};
    double largest, mean;
    check_ok(granular_tension(&scene, &stretching, NULL, &largest, &mean)); /* mu = 1, lambda = 1.5 */
    check_near("largest", largest, 3.5 * log(1.02), 1e-14);
    check_near("mean", mean, 1.75 * log(1.02), 1e-14);
}

enum { STRAINED = 3000 };

/* Logarithmic strains of sand: mostly compression, some just in or out of tension, some large. */
static void principal_strains(size_t i, double h[3]) {
    uint64_t seed = i + 1;
    for (int d = 0; d < 3; d++) h[d] = 0.01 * body_noise(&seed) - 0.004;
    if (i % 3 == 0) h[0] = -0.75 * (h[1] + h[2]) / 1.75 + 1e-9 * body_noise(&seed); /* 2 mu h + lambda tr h = 0 */
    if (i % 10 == 1) h[1] *= 40;
}

/* A rotation by `angle` about the axis q, row by row (Rodrigues). */
static void make_turn(double angle, const double q[3], double out[9]) {
    const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2], c = cos(angle), s = sin(angle) / sqrt(square);
    const double cross[9] = {0, -q[2], q[1], q[2], 0, -q[0], -q[1], q[0], 0};
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            out[3 * r + k] = (r == k ? c : 0) + (1 - c) * q[r] * q[k] / square + s * cross[3 * r + k];
}

/* F = A diag(exp h) B^T with rotations A and B. */
static pbd_status read_strained(const void *state, pbd_field field, double *out) {
    (void)state;
    if (field != PBD_DEFORMATION_GRADIENTS) return pbd_error(PBD_NOT_SUPPORTED, "only F");
    for (size_t i = 0; i < STRAINED; i++) {
        const double axis[3] = {1, (double)(i % 5), (double)(i % 7) - 3};
        double a[9], b[9], h[3];
        principal_strains(i, h);
        make_turn(0.1 + 1.7 * (double)i, axis, a);
        make_turn(0.4 - 2.3 * (double)i, axis, b);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++, out++) {
                *out = 0;
                for (int d = 0; d < 3; d++) *out += a[3 * r + d] * exp(h[d]) * b[3 * k + d];
            }
    }
    return pbd_ok();
}

/* F of clearly compressed particles is not decomposed: largest and mean are those of the strains from which F was made.
 */
static void test_tension_of_many(void **state) {
    (void)state;
    static const pbd_method strained = {.bytes = sizeof(pbd_method), .name = "strained", .read = read_strained};
    pbd_scene scene = {.particles.count = STRAINED, .material[0] = {.E = 2.6, .nu = 0.3, .law = "hencky"}};
    double largest, mean, most = 0, total = 0;
    size_t pulled = 0;
    for (size_t i = 0; i < STRAINED; i++) {
        double h[3];
        principal_strains(i, h);
        const double tension = 2 * fmax(h[0], fmax(h[1], h[2])) + 1.5 * (h[0] + h[1] + h[2]);
        pulled += tension > 0;
        most = fmax(most, tension);
        total += fmax(tension, 0) / STRAINED;
    }
    assert_in_range(pulled, STRAINED / 10, STRAINED / 2);
    check_ok(granular_tension(&scene, &strained, NULL, &largest, &mean));
    check_near("largest", largest, most, 1e-14);
    check_near("mean", mean, total, 1e-15);
}

/* ---- The column -------------------------------------------------------------------------------------------------- */

static double sum(const double *x, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++) total += x[i];
    return total;
}

static void test_columns(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sand_column", "column_radius=0.2 aspect=3 particles=3000 sampling=poisson density=1500");
    assert_int_equal(t.scene.particles.count, 3000);
    check_near("mass", sum(t.scene.particles.masses, 3000), 1500 * PI * 0.04 * 0.6, 1e-9);
    check_near("duration", t.scene.duration, 5 * sqrt(0.6 / 9.81), 1e-12);
    assert_int_equal(t.scene.colliders.count, 1);
    assert_string_equal(t.scene.material->flow, "drucker_prager");
    check_near("friction angle", flow_value_of(t.scene.material, "friction_angle"), 30, 0);
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "deepest_in_walls", 0, 0); /* nothing is pushed at the start */
    check_metric(&t, "nn_std_change", 0, 0);
    check_metric(&t, "density_max", 1, 0);
    check_metric(&t, "run_out", 0, 0.04); /* a spacing is 0.15 radii; the sampling ends 0.3 spacings from the surface */
    check_metric(&t, "height_left", 1, 0.03);
    close_case(&t);
}

/* Jitter moves particles by at most a tenth of a spacing along each axis, depends on the seed, and moves none into the
 * floor. */
static void test_jitter(void **state) {
    (void)state;
    trial even, t, other;
    const char *words = "spacing=0.02 jitter=0.1 seed=3";
    open_case(&even, "sand_column", "spacing=0.02");
    open_case(&t, "sand_column", words);
    open_case(&other, "sand_column", "spacing=0.02 jitter=0.1 seed=4");
    assert_int_equal(t.scene.particles.count, even.scene.particles.count);
    double most = 0, apart = 0, mean = 0;
    for (size_t i = 0; i < 3 * t.scene.particles.count; i++) {
        most = fmax(most, fabs(t.x[i] - even.x[i]));
        mean += (t.x[i] - even.x[i]) / (3 * (double)t.scene.particles.count);
        apart = fmax(apart, fabs(t.x[i] - other.x[i]));
    }
    check_near("most", most, 0.002, 2e-5);
    check_near("mean", mean, 0, 1e-4);
    assert_true(apart > 0.003);
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "deepest_in_walls", 0, 1e-12);
    close_case(&even);
    close_case(&t);
    close_case(&other);
}

/* A slab is filled without gaps, between frictionless walls at its sides and its back. */
static void test_slab(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sand_column", "shape=plane column_radius=0.4 aspect=0.5 particles=1200 layers=6 floor_friction=0.7");
    assert_int_equal(t.scene.particles.count, 20 * 10 * 6); /* spacing sqrt(0.4 0.2 6/1200) = 0.02 m */
    check_near("spacing", t.scene.particles.spacing, 0.02, 1e-15);
    assert_int_equal(t.scene.colliders.count, 4);
    check_near("floor", t.scene.colliders.item[0].friction, 0.7, 0);
    check_near("back", t.scene.colliders.item[1].axis[2][0], 1, 0);
    for (int side = 2; side < 4; side++) {
        check_near("side", fabs(t.scene.colliders.item[side].centre[1]), 0.06, 1e-15);
        check_near("side points inwards",
                   t.scene.colliders.item[side].centre[1] * t.scene.colliders.item[side].axis[2][1], -0.06, 1e-15);
        check_near("smooth", t.scene.colliders.item[side].friction, 0, 0);
    }
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "deepest_in_walls", 0, 1e-12);
    check_metric(&t, "run_out", 0, 1e-12);
    check_metric(&t, "run_out_99", -0.025, 1e-12); /* the outermost particles are 0.025 lengths inside the edge */
    check_metric(&t, "height", 0.5, 1e-12);
    check_metric(&t, "sampled_volume_ratio", 1, 1e-12);
    /* Twice as long and half as high: the same volume of sand; one particle is below the floor. */
    for (size_t i = 0; i < t.scene.particles.count; i++) {
        t.x[3 * i] *= 2;
        t.x[3 * i + 2] *= 0.5;
    }
    t.x[2] = -0.05;
    observe(&t, 0.1);
    measure(&t);
    check_metric(&t, "run_out_farthest", 1 - 0.025, 1e-12); /* the half spacing at the edge did not grow */
    check_metric(&t, "lost_particles", 1, 0);
    check_metric(&t, "deepest_in_walls", 0.06, 1e-12);
    check_metric(&t, "nn_mean", 0.5, 2e-3); /* except for the lost particle */
    close_case(&t);
}

/* Half the sum of the differences of mass per cell: 0 for equal states, 1 if all mass is in other cells. */
static void test_mass_moves(void **state) {
    (void)state;
    pbd_scene scene = bare_scene(1);
    pbd_result result = {0};
    pbd_recorder *recorder = pbd_recorder_create(&result, NULL);
    const mass_box box = {{0, 0, 0}, {4, 2, 1}, {4, 2, 1}};
    add(&scene, 0.5, 0.5, 0.5);
    add(&scene, 3.5, 1.5, 0.5);
    add(&scene, 9, -3, 7); /* outside: counts for the cell at the edge, x 3, y 0 */
    mass[2] = 2;
    granular_record_mass(&scene, place, &box, recorder);
    granular_record_slice(&scene, place, recorder); /* only the first is within 0.75 spacings of y = 0 */
    assert_int_equal(result.series_count, 3);
    assert_int_equal(result.series[1].count, 1);
    check_near("x in the slice", result.series[1].values[0], 0.5, 0);
    assert_int_equal(result.series[0].count, 8);
    static const double wanted[8] = {0.25, 0, 0, 0.5, 0, 0, 0, 0.25};
    for (int i = 0; i < 8; i++) check_near("share", result.series[0].values[i], wanted[i], 1e-15);
    pbd_recorder_destroy(recorder);
    pbd_result_free(&result);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* The blocks fly until they are two spacings apart, then one slows down: contact_distance is that distance. */
static void test_where_blocks_meet(void **state) {
    (void)state;
    trial t;
    open_case(&t, "blocks_collide", "size=1 particles=512 gap=8 speed=2 drop=0.25");
    const size_t n = t.scene.particles.count;
    assert_int_equal(n, 1024);
    check_near("spacing", t.scene.particles.spacing, 0.125, 1e-15);
    memcpy(t.v, t.scene.particles.velocities, 3 * n * sizeof *t.v);
    observe(&t, 0);
    for (size_t i = 0; i < n; i++)
        t.x[3 * i] += (t.scene.particles.body[i] ? -3.5 : 3.5) * 0.125; /* 9 spacings minus 7 */
    observe(&t, 0.2);
    measure(&t);
    assert_null(find_metric(&t, "contact_distance"));
    for (size_t i = 0; i < n; i++) t.v[3 * i] *= t.scene.particles.body[i] ? 1 : 0.9;
    observe(&t, 0.3);
    for (size_t i = 0; i < n; i++) t.x[3 * i] += t.scene.particles.body[i] ? -0.01 : 0.01;
    observe(&t, 0.4);
    measure(&t);
    check_metric(&t, "contact_distance", 2, 1e-12);
    check_metric(&t, "contact_time", 0.3, 0);
    close_case(&t);
}

/* ---- Drops ------------------------------------------------------------------------------------------------------- */

static void test_drop_spreads_and_rises(void **state) {
    (void)state;
    trial t;
    open_case(&t, "goo_drop", "shape=cube size=0.5 particles=1000 drop=0.1 flow=herschel_bulkley power=0.3");
    check_near("power", flow_value_of(t.scene.material, "power"), 0.3, 0);
    check_near("lowest", t.x[2], 0.1 + 0.025, 1e-15);
    observe(&t, 0);
    for (size_t i = 0; i < t.scene.particles.count; i++) {
        t.x[3 * i] *= 1.5, t.x[3 * i + 1] *= 1.5;
        t.x[3 * i + 2] = (t.x[3 * i + 2] - 0.1) * 0.5; /* centre of mass at 0.125 m */
    }
    observe(&t, 0.1);
    for (size_t i = 0; i < t.scene.particles.count; i++) t.x[3 * i + 2] += 0.2;
    observe(&t, 0.2);
    for (size_t i = 0; i < t.scene.particles.count; i++) t.x[3 * i + 2] -= 0.2;
    observe(&t, 0.3);
    measure(&t);
    check_metric(&t, "spread", 1.5, 1e-12);
    check_metric(&t, "rebound", 0.4, 1e-12);
    check_metric(&t, "height_left", 0.525,
                 1e-12); /* half the height, half a spacing of 0.05 m: squeezed to a quarter */
    check_metric(&t, "fragments", 1, 0);
    for (size_t i = 0; i < t.scene.particles.count; i++) t.x[3 * i] += t.x[3 * i] > 0 ? 0.2 : -0.2;
    measure(&t);
    check_metric(&t, "fragments", 2, 0);
    check_metric(&t, "largest_fragment", 0.5, 0);
    close_case(&t);
}

/* The walls touch the outermost particles: they are half a spacing of 0.05 m outside them, at the sides of the cube. */
static void test_confined(void **state) {
    (void)state;
    trial t;
    open_case(&t, "goo_drop", "shape=cube size=0.5 particles=1000 drop=0 confined=on");
    assert_int_equal(t.scene.colliders.count, 5);
    for (size_t k = 1; k < 5; k++) {
        const pbd_collider *wall = &t.scene.colliders.item[k];
        const size_t d = (k - 1) / 2;
        check_near("distance from the middle", fabs(wall->centre[d]), 0.25, 1e-12);
        check_near("faces the middle", wall->centre[d] * wall->axis[2][d], -0.25, 1e-12);
        check_near("friction", wall->friction, 0, 0);
    }
    check_near("two sides", t.scene.colliders.item[1].centre[0] + t.scene.colliders.item[2].centre[0], 0, 1e-12);
    close_case(&t);
    open_case(&t, "goo_drop", "shape=cube size=0.5 particles=1000 drop=0");
    assert_int_equal(t.scene.colliders.count, 1);
    close_case(&t);
}

static void test_notch(void **state) {
    (void)state;
    trial t;
    open_case(&t, "notched_block", "size=1 spacing=0.05 notch=0.4 notch_height=0.6 density=10");
    assert_int_equal(t.scene.particles.count, 20 * 10 * 10 - 8 * 10 * 6);
    check_near("mass", sum(t.scene.particles.masses, t.scene.particles.count), 10 * (0.25 - 0.4 * 0.5 * 0.3), 1e-12);
    for (size_t i = 0; i < t.scene.particles.count; i++)
        assert_true(fabs(t.x[3 * i]) > 0.2 || t.x[3 * i + 2] > 0.02 + 0.3);
    close_case(&t);
}

/* ---- The press --------------------------------------------------------------------------------------------------- */

/* Rim from 0.8 to 1, hub up to 0.2, four spokes of width 0.2 from 0.2 to 0.8, filled with a lattice of 1/100 of the
 * radius. The ends of the spokes are rounded by hub and rim, which is less than half a percent. */
static void test_wheel(void **state) {
    (void)state;
    trial t;
    open_case(&t, "wheel_press", "size=2 rim=0.1 spokes=4 width=0.1 spacing=0.02 squeeze=0.5 speed=4");
    const double area = PI * (1 - 0.64) + PI * 0.04 + 4 * 0.2 * 0.6;
    check_near("volume over the closed form's", sum(t.scene.particles.volumes, t.scene.particles.count) / (0.2 * area),
               1, 0.02);
    assert_int_equal(t.scene.colliders.count, 2);
    check_near("plate", t.scene.colliders.item[1].centre[2], 2, 1e-15);
    check_near("plate's speed", t.scene.colliders.item[1].velocity[2], -4, 0);
    check_near("until", t.scene.colliders.item[1].end, 0.25, 1e-15);
    check_near("faces down", t.scene.colliders.item[1].axis[2][2], -1, 0);
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "deepest_in_walls", 0, 1e-12);
    check_metric(&t, "fragments", 1, 0);
    check_metric(&t, "length", 1, 0.011);
    close_case(&t);
    open_case(&t, "wheel_press", "spokes=0 rim=0.1 spacing=0.005");
    check_near("a ring's volume",
               sum(t.scene.particles.volumes, t.scene.particles.count) / (0.05 * PI * (0.01 - 0.0064)), 1, 0.02);
    close_case(&t);
}

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static void test_refusals(void **state) {
    (void)state;
    static const char *const bad[][3] = {{"sand_column", "gravity=0", "set a duration"},
                                         {"sand_column", "particles=0", "particles"},
                                         {"sand_column", "friction_angle=90", "friction_angle"},
                                         {"wheel_press", "squeeze=0 hold=0", "nothing would happen"},
                                         {"blocks_collide", "flow=drucker", "drucker_prager"}};
    check_refusals(bad, sizeof bad / sizeof *bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evenness_of_a_lattice),
        cmocka_unit_test(test_relative_energy),
        cmocka_unit_test(test_evenness_of_a_few),
        cmocka_unit_test(test_density_over_a_wider_kernel),
        cmocka_unit_test(test_laws_of_the_experiments_meet),
        cmocka_unit_test(test_verdicts_on_run_outs_need_sizes_seeds_and_steps),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_a_block_is_steep),
        cmocka_unit_test(test_nowhere),
        cmocka_unit_test(test_tension),
        cmocka_unit_test(test_tension_of_many),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_slab),
        cmocka_unit_test(test_mass_moves),
        cmocka_unit_test(test_where_blocks_meet),
        cmocka_unit_test(test_drop_spreads_and_rises),
        cmocka_unit_test(test_confined),
        cmocka_unit_test(test_notch),
        cmocka_unit_test(test_wheel),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
