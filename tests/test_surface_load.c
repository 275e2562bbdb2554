/* Loads on edges, faces and bodies: consistent forces against closed forms; patch tests with tractions for every
 * element and every case with surface loads, also on skewed meshes. */
#define REAL double
#include "cases/scenes/loaded.h"
#include "cases/scenes/sheet.h"
#include "methods/physics/parts/surface_load.h"
#include "tests/trial.h"

#include "tests/program.h"

static const char *const elements[] = {"tet4", "tet10", "hex8", "hex27"};
static bool of_tets(size_t element) { return element < 2; }

/* ---- Shape functions --------------------------------------------------------------------------------------------- */

typedef double piece_weight[SURFACE_MOST_NODES][SURFACE_MOST_CORNERS];

static double row(const piece_weight w, int node, int corners) {
    double sum = 0;
    for (int c = 0; c < corners; c++) sum += w[node][c];
    return sum;
}

/* Integrals of quadratic shape functions: edge 1/6, 1/6, 4/6; triangle 0 and 1/3; rectangle 1/36, 4/36, 16/36. */
static void uniform_loads_by_hand(void **state) {
    (void)state;
    static const double x[SURFACE_MOST_CORNERS][3] = {{1, 1, 2}, {4, 1, 2}, {4, 3, 2}, {1, 3, 2}};
    static const double of_edge[3] = {0.5, 0.5, 2}, of_triangle[6] = {0, 0, 0, 1, 1, 1},
                        of_quad[9] = {1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0, 4 / 6.0, 4 / 6.0, 4 / 6.0, 4 / 6.0, 16 / 6.0};
    const double *const wanted[] = {of_edge, of_triangle, of_quad}, size[] = {3, 3, 6};
    for (int corners = 2; corners <= 4; corners++) {
        piece_weight w;
        double share[SURFACE_MOST_CORNERS];
        check_near("size", surface_load_weights(corners, 2, x, w), size[corners - 2], 1e-14);
        for (int a = 0; a < surface_nodes(corners, 2); a++)
            check_near("quadratic node", row(w, a, corners), wanted[corners - 2][a], 1e-14);
        check_near("size", surface_load_weights(corners, 1, x, w), size[corners - 2], 1e-14);
        check_near("shares of that", surface_load_shares(corners, x, share), size[corners - 2], 1e-14);
        for (int a = 0; a < corners; a++) {
            check_near("corner", row(w, a, corners), size[corners - 2] / corners, 1e-14);
            check_near("its share", share[a], size[corners - 2] / corners, 1e-14);
        }
    }
}

/* A density linear in x and y. Sum and moments of the forces are integrals of polynomials over a trapezium with the
 * corners (0, 0), (4, 0), (3, 2), (1, 2): area 6, centroid (2, 8/9), integrals of xx, xy, yy: 29, 32/3, 20/3. */
static void linear_loads_by_hand(void **state) {
    (void)state;
    static const double x[SURFACE_MOST_CORNERS][3] = {{0, 0, 0}, {4, 0, 0}, {3, 2, 0}, {1, 2, 0}};
    static const double nodes[SURFACE_MOST_NODES][2] = {{0, 0},   {4, 0}, {3, 2},   {1, 2}, {2, 0},
                                                        {3.5, 1}, {2, 2}, {0.5, 1}, {2, 1}};
    for (int order = 1; order <= 2; order++) {
        double sum = 0, along = 0, across = 0, share[SURFACE_MOST_CORNERS];
        piece_weight w;
        check_near("area", surface_load_weights(4, order, x, w), 6, 1e-14);
        for (int a = 0; a < surface_nodes(4, order); a++)
            for (int c = 0; c < 4; c++) {
                const double force = w[a][c] * (5 + 2 * x[c][0] - 3 * x[c][1]);
                sum += force;
                along += force * nodes[a][0];
                across += force * nodes[a][1];
            }
        check_near("force", sum, 5 * 6 + 2 * 12 - 3 * 16 / 3.0, 1e-13);
        check_near("moment by x", along, 5 * 12 + 2 * 29 - 3 * (32 / 3.0), 1e-12);
        check_near("moment by y", across, 5 * 16 / 3.0 + 2 * (32 / 3.0) - 3 * (20 / 3.0), 1e-12);
        surface_load_shares(4, x, share);
        check_near("first moment of shares by y", 2 * (share[2] + share[3]), 16 / 3.0, 1e-13);
    }
}

/* ---- Bars -------------------------------------------------------------------------------------------------------- */

enum { LONG = 3 }; /* length of the bar in widths */

static void write_elements(FILE *file, bool tets, const size_t corner[8], size_t *element) {
    static const int six[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
    for (int e = 0; e < (tets ? 6 : 1); e++) {
        fprintf(file, "%zu", ++*element);
        for (int v = 0; v < (tets ? 4 : 8); v++) fprintf(file, ",%zu", corner[tets ? six[e][v] : v] + 1);
        fputc('\n', file);
    }
}

/* Writes a box LONG x 1 x 1 along `axis`, n elements across, as an INP file. Nodes within faces and in the interior are
 * moved by up to `skew` elements; faces stay plane. Returns the path. */
static const char *write_bar(bool tets, int axis, int n, double skew) {
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const char *path = in_workplace(tets ? "tets.inp" : "hexes.inp");
    FILE *file = fopen(path, "w");
    int cells[3] = {n, n, n};
    uint64_t seed = 11;
    size_t node = 0, element = 0;
    cells[axis] *= LONG;
    const size_t wide = (size_t)cells[0] + 1, layer = wide * ((size_t)cells[1] + 1);
    fputs("*NODE\n", file);
    for (int k = 0; k <= cells[2]; k++)
        for (int j = 0; j <= cells[1]; j++)
            for (int i = 0; i <= cells[0]; i++) {
                const int at[3] = {i, j, k};
                fprintf(file, "%zu", ++node);
                for (int d = 0; d < 3; d++)
                    fprintf(file, ",%.17g", (at[d] + (at[d] % cells[d] ? skew * noise(&seed) : 0)) / n);
                fputc('\n', file);
            }
    fprintf(file, "*ELEMENT,TYPE=%s\n", tets ? "C3D4" : "C3D8");
    for (int k = 0; k < cells[2]; k++)
        for (int j = 0; j < cells[1]; j++)
            for (int i = 0; i < cells[0]; i++) {
                size_t hex[8];
                for (int v = 0; v < 8; v++)
                    hex[v] = (size_t)(i + corner[v][0]) + wide * (size_t)(j + corner[v][1]) +
                             layer * (size_t)(k + corner[v][2]);
                write_elements(file, tets, hex, &element);
            }
    fclose(file);
    return path;
}

static void open_bar(trial *t, bool tets, int axis, int n, double skew, const char *words) {
    char all[700];
    snprintf(all, sizeof all, "file=%s %s", write_bar(tets, axis, n, skew), words);
    open_case(t, "mesh", all);
}

/* Solves for rest with this method; t->x receives the positions. */
static void solve(trial *t, const char *method, const char *words) {
    solver s;
    solver_open(&s, method, PBD_PRECISION_F64, 1, &t->scene, words);
    check_ok(s.method->solve(s.state));
    check_ok(s.method->read(s.state, PBD_POSITIONS, t->x));
    solver_close(&s);
}

/* The largest distance of a particle from its position by the displacements `wanted`. */
static double largest_error(const trial *t, void (*wanted)(const double *x, double *u)) {
    double largest = 0;
    for (size_t i = 0; i < t->scene.particles.count; i++) {
        double u[3], square = 0;
        const double *rest = t->scene.particles.positions + 3 * i;
        wanted(rest, u);
        for (size_t d = 0; d < 3; d++) square += pow(t->x[3 * i + d] - rest[d] - u[d], 2);
        largest = fmax(largest, sqrt(square));
    }
    return largest;
}

/* Pulled by 10 N at x = LONG, E = 1000, nu = 0, corotated: uniform P = E (s - 1). */
static void pulled(const double *x, double *u) { u[0] = 0.01 * x[0], u[1] = u[2] = 0; }

static const char pull[] = "nu=0 E=1000 material=corotated gravity=0 force_x=10";

static void pulled_bars_stretch_evenly(void **state) {
    (void)state;
    for (int n = 1; n <= 2; n++)
        for (size_t e = 0; e < 4; e++)
            for (int skewed = 0; skewed < n; skewed++) {
                trial t;
                char words[80];
                open_bar(&t, of_tets(e), 0, n, skewed ? 0.25 : 0, pull);
                snprintf(words, sizeof words, "element=%s", elements[e]);
                solve(&t, "fem_implicit", words);
                snprintf(words, sizeof words, "%s, %d across%s: off an even stretch, m", elements[e], n,
                         skewed ? ", skewed" : "");
                check_near(words, largest_error(&t, pulled), 0, 1e-11);
                if (!of_tets(e)) {
                    solve(&t, "fem_linear", "");
                    check_near("    fem_linear", largest_error(&t, pulled), 0, 1e-11);
                }
                close_case(&t);
            }
}

/* ---- Any constant stress, by tractions on the whole surface ------------------------------------------------------ */

/* A strain so small that all laws agree with Hooke's, E = 1000, nu = 0.3. */
static const double strain[3][3] = {{3e-8, 1e-8, -2e-8}, {1e-8, -2e-8, 1.5e-8}, {-2e-8, 1.5e-8, 1e-8}};

static void strained(const double *x, double *u) {
    for (int i = 0; i < 3; i++) u[i] = strain[i][0] * x[0] + strain[i][1] * x[1] + strain[i][2] * x[2];
}

static void traction_on(const double *a, const double *b, const double *c, double *t) {
    const double mu = 1000 / 2.6, lambda = 1000 * 0.3 / (1.3 * 0.4), trace = strain[0][0] + strain[1][1] + strain[2][2];
    double n[3], size = 0;
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        n[d] = (b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e]);
        size += n[d] * n[d];
    }
    for (int i = 0; i < 3; i++) {
        t[i] = lambda * trace * n[i] / sqrt(size);
        for (int k = 0; k < 3; k++) t[i] += 2 * mu * strain[i][k] * n[k] / sqrt(size);
    }
}

/* Loads every outside face with stress times normal; three corners of the box are fixed at their final positions. */
static void load_all_sides(trial *t, int corners) {
    pbd_scene *s = &t->scene;
    const size_t n = s->particles.count;
    bool *marked = malloc(n * sizeof *marked);
    memset(marked, 1, n);
    check_ok(loaded_list(s, marked));
    free(marked);
    const pbd_loaded *faces = surface_load_pieces(s, corners);
    for (size_t f = 0; f < faces->count; f++) {
        double x[SURFACE_MOST_CORNERS][3], density[3];
        surface_load_corners(s, corners, f, x);
        traction_on(x[0], x[1], x[2], density);
        for (int c = 0; c < corners; c++)
            memcpy(faces->density + 3 * (f * (size_t)corners + (size_t)c), density, sizeof density);
    }
    loaded_apply(s);
    s->particles.start = malloc(3 * n * sizeof(double));
    memcpy(s->particles.start, s->particles.positions, 3 * n * sizeof(double));
    s->particles.fixed = 0;
    for (size_t i = 0; i < n; i++) {
        const double *x = s->particles.positions + 3 * i;
        const bool first = x[0] + x[1] + x[2] == 0, along = x[0] == LONG && x[1] + x[2] == 0,
                   across = x[1] == 1 && x[0] + x[2] == 0;
        double u[3];
        if (!first && !along && !across) continue;
        strained(x, u);
        for (size_t d = 0; d < 3; d++) s->particles.start[3 * i + d] += u[d];
        s->particles.fixed_particle[s->particles.fixed++] = (uint32_t)i;
    }
    assert_int_equal(s->particles.fixed, 3);
}

static void any_stress_is_reproduced(void **state) {
    (void)state;
    for (size_t e = 0; e < 4; e++) {
        trial t;
        char words[80];
        open_bar(&t, of_tets(e), 0, 2, 0.25, "nu=0.3 E=1000 gravity=0");
        load_all_sides(&t, of_tets(e) ? 3 : 4);
        snprintf(words, sizeof words, "element=%s newton_tolerance=0", elements[e]);
        solve(&t, "fem_implicit", words);
        snprintf(words, sizeof words, "%s, skewed: off constant strain, m of 1e-7", elements[e]);
        check_near(words, largest_error(&t, strained), 0, 1e-13);
        close_case(&t);
    }
}

/* ---- The cases --------------------------------------------------------------------------------------------------- */

/* 1000 Pa on E = 1e5, nu = 0. The scene has hexahedra and tetrahedra on the same nodes. */
static void hung(const double *x, double *u) { u[0] = u[1] = 0, u[2] = 0.01 * x[2]; }

static void material_sweep_stretches_evenly(void **state) {
    (void)state;
    for (int n = 1; n <= 3; n++)
        for (size_t e = 0; e < 4; e++) {
            trial t;
            char words[120];
            snprintf(words, sizeof words, "load=surface traction=1000 nu=0 material=corotated cells=%d", n);
            open_case(&t, "material_sweep", words);
            snprintf(words, sizeof words, "element=%s", elements[e]);
            solve(&t, "fem_implicit", words);
            snprintf(words, sizeof words, "material_sweep, %s, %d across: off an even stretch, m", elements[e], n);
            check_near(words, largest_error(&t, hung), 0, 1e-11);
            close_case(&t);
        }
}

/* strain_energy on tetrahedra, in short steps until rest. */
static void tetrahedra_of_constraints_stretch_evenly(void **state) {
    (void)state;
    trial t;
    solver s;
    open_case(&t, "material_sweep",
              "load=surface traction=1000 nu=0 material=corotated cells=1 length=0.4 mode=dynamic");
    solver_open(&s, "strain_energy", PBD_PRECISION_F64, 1, &t.scene,
                "form=xpbd_root iterations=20 damping=60 dt=0.000125 solver=coloured_gs");
    for (int step = 0; step < 2400; step++) check_ok(s.method->step(s.state, 0.000125));
    check_ok(s.method->read(s.state, PBD_POSITIONS, t.x));
    check_near("material_sweep, strain_energy: off an even stretch, m of 0.004", largest_error(&t, hung), 0, 2e-6);
    solver_close(&s);
    close_case(&t);
}

/* A torsional traction r x n on a face of three elements across, edge 2, h = 2/3, here t = (-y, x): the corner (1, 1)
 * gets h^2 (-7/36, 7/36), the node beside it at (1/3, 1) h^2 (-7/18, 1/6). Ratios of these are checked. */
static void torsion_is_consistent(void **state) {
    (void)state;
    trial t;
    double moment = 0;
    open_case(&t, "cube_torsion", "loads=consistent cells=3 edge=2");
    const cube_detail *detail = t.setup.detail;
    const double *forces = t.scene.loads.forces, *corner = forces + 3 * (size_t)detail->top[0],
                 *beside = forces + 3 * (size_t)detail->top[1];
    check_near("corner, y over x", corner[1] / corner[0], -1, 1e-12);
    check_near("beside it over the corner, x", beside[0] / corner[0], 2, 1e-12);
    check_near("beside it, y over x", beside[1] / beside[0], -3 / 7.0, 1e-12);
    const pbd_loaded *quads = &t.scene.surface_load.quads;
    assert_int_equal(quads->count, 9);
    const double size = hypot(quads->density[0], quads->density[1]) / sqrt(2); /* at (-1, -1): density over radius */
    for (size_t i = 0; i < detail->top_count; i++) {
        const double *x = t.scene.particles.positions + 3 * (size_t)detail->top[i],
                     *f = forces + 3 * (size_t)detail->top[i];
        moment += x[0] * f[1] - x[1] * f[0];
    }
    check_near("moment over the integral of r^2", moment / (size * 16 / 6), 1, 1e-12);
    close_case(&t);
}

/* nu = 0: a uniform stretch of 5 %. */
static void lifted(const double *x, double *u) { u[0] = u[1] = 0, u[2] = 0.05 * x[2]; }

static void traction_on_the_cube_stretches_evenly(void **state) {
    (void)state;
    trial t;
    open_case(&t, "cube_traction", "loads=consistent cells=3 nu=0 density=1");
    solve(&t, "fem_linear", "");
    check_near("fem_linear: off an even stretch, m", largest_error(&t, lifted), 0, 1e-12);
    solve(&t, "fem_implicit", "element=hex27");
    check_near("hex27: off an even stretch, m", largest_error(&t, lifted), 0, 1e-11);
    close_case(&t);
}

/* The case computes these forces with its own formula, compared here with consistent loads on edges. */
static void towel_pulls_its_edges_consistently(void **state) {
    (void)state;
    trial t;
    open_case(&t, "towel", "pull=3 length=2 width=0.7 cells=3");
    pbd_scene *s = &t.scene;
    const size_t n = s->particles.count;
    bool *marked = malloc(n * sizeof *marked);
    double *own = s->loads.forces, largest = 0;
    s->loads.forces = calloc(3 * n, sizeof(double));
    for (size_t side = 0; side < 4; side++) {
        double density[3] = {0};
        density[side / 2] = side % 2 ? 3 : -3;
        double end = side % 2 ? -INFINITY : INFINITY;
        for (size_t i = 0; i < n; i++) {
            const double x = s->particles.positions[3 * i + side / 2];
            end = side % 2 ? fmax(end, x) : fmin(end, x);
        }
        for (size_t i = 0; i < n; i++) marked[i] = fabs(s->particles.positions[3 * i + side / 2] - end) < 1e-12;
        check_ok(loaded_list(s, marked));
        loaded_uniform(s, density);
        loaded_apply(s);
        assert_true(s->surface_load.edges.count > 0 && s->surface_load.triangles.count == 0);
        free(s->surface_load.edges.corner);
        free(s->surface_load.edges.density);
        free(s->surface_load.triangles.corner);
        free(s->surface_load.triangles.density);
        s->surface_load = (pbd_surface_load){0};
    }
    for (size_t i = 0; i < 3 * n; i++) largest = fmax(largest, fabs(own[i] - s->loads.forces[i]));
    check_near("towel: off the edges' consistent forces, N", largest, 0, 1e-14);
    free(own);
    free(marked);
    close_case(&t);
}

/* ---- Edges and points -------------------------------------------------------------------------------------------- */

/* Two squares of cloth, 1 x 1 and 2 x 1 along x, as four triangles. */
static const char cloth[] =
    "*NODE\n1,0,0,0\n2,1,0,0\n3,3,0,0\n4,0,1,0\n5,1,1,0\n6,3,1,0\n"
    "*ELEMENT,TYPE=S3\n1,1,2,5\n2,1,5,4\n3,2,3,6\n4,2,6,5\n";

static void edges_bear_by_their_length(void **state) {
    (void)state;
    trial t;
    char words[400];
    static const double wanted[6] = {0, 0, 0, 0.5, 1.5, 1};
    const char *path = in_workplace("cloth.inp");
    FILE *file = fopen(path, "w");
    fputs(cloth, file);
    fclose(file);
    snprintf(words, sizeof words, "file=%s fixed=none loaded=y_max force_y=3", path);
    open_case(&t, "mesh", words);
    for (size_t i = 0; i < 6; i++) check_near("edge y_max, N", t.scene.loads.forces[3 * i + 1], wanted[i], 1e-14);
    assert_int_equal(t.scene.surface_load.edges.count, 2);
    close_case(&t);
    snprintf(words, sizeof words, "file=%s fixed=none loaded=x_max,x_min,y_max force_z=3", path); /* all but node 2 */
    open_case(&t, "mesh", words);
    check_near("faces, N", t.scene.loads.forces[5], 0, 0);
    assert_int_equal(t.scene.surface_load.triangles.count, 1);
    close_case(&t);
}

static void a_piece_of_no_element_is_refused(void **state) {
    (void)state;
    trial t;
    solver s;
    open_bar(&t, false, 0, 1, 0, pull);
    t.scene.surface_load.quads.corner[0] = 0;
    t.scene.surface_load.quads.corner[2] = 1;
    const pbd_status status = try_open(&s, "fem_implicit", PBD_PRECISION_F64, 1, &t.scene, "");
    print_message("    %s\n", status.text);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_non_null(strstr(status.text, "belongs to no element"));
    s.state = NULL;
    solver_close(&s);
    close_case(&t);
}

/* ---- Weight ------------------------------------------------------------------------------------------------------ */

/* Masses lumped by shape functions give the body's mass and centre on any mesh. */
static void masses_have_the_centre_of_the_body(void **state) {
    (void)state;
    static const double centre[3] = {LONG / 2.0, 0.5, 0.5};
    for (int tets = 0; tets < 2; tets++) {
        trial t;
        double mass = 0, moment[3] = {0};
        open_bar(&t, tets, 0, 2, 0.25, "density=50");
        for (size_t i = 0; i < t.scene.particles.count; i++) {
            mass += t.scene.particles.masses[i];
            for (size_t d = 0; d < 3; d++)
                moment[d] += t.scene.particles.masses[i] * t.scene.particles.positions[3 * i + d];
        }
        check_near("mass, kg", mass, 50 * LONG, 1e-12);
        for (int d = 0; d < 3; d++) check_near("centre, m", moment[d] / mass, centre[d], 1e-14);
        close_case(&t);
    }
}

/* Hung at z = LONG, E = 1000, nu = 0, density 1, 10 m/s^2, corotated: u = -(rho g/E) (L - z) (L + z)/2. Quadratic
 * elements hold it exactly. */
static void weighed(const double *x, double *u) { u[0] = u[1] = 0, u[2] = -0.005 * (LONG - x[2]) * (LONG + x[2]); }

static void hanging_bars_are_exact_at_nodes(void **state) {
    (void)state;
    for (size_t e = 1; e < 4; e += 2)
        for (int skewed = 0; skewed < 2; skewed++) {
            trial t;
            char words[80];
            open_bar(&t, of_tets(e), 2, skewed ? 2 : 1, skewed ? 0.1 : 0,
                     "nu=0 E=1000 material=corotated density=1 gravity=10 fixed=z_max loaded=none");
            snprintf(words, sizeof words, "element=%s", elements[e]);
            solve(&t, "fem_implicit", words);
            snprintf(words, sizeof words, "%s%s: off the closed form, m of 0.045", elements[e],
                     skewed ? ", skewed" : "");
            check_near(words, largest_error(&t, weighed), 0, 1e-11);
            close_case(&t);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(uniform_loads_by_hand),
                                       cmocka_unit_test(linear_loads_by_hand),
                                       cmocka_unit_test(pulled_bars_stretch_evenly),
                                       cmocka_unit_test(any_stress_is_reproduced),
                                       cmocka_unit_test(material_sweep_stretches_evenly),
                                       cmocka_unit_test(tetrahedra_of_constraints_stretch_evenly),
                                       cmocka_unit_test(torsion_is_consistent),
                                       cmocka_unit_test(traction_on_the_cube_stretches_evenly),
                                       cmocka_unit_test(towel_pulls_its_edges_consistently),
                                       cmocka_unit_test(edges_bear_by_their_length),
                                       cmocka_unit_test(a_piece_of_no_element_is_refused),
                                       cmocka_unit_test(masses_have_the_centre_of_the_body),
                                       cmocka_unit_test(hanging_bars_are_exact_at_nodes)};
    return cmocka_run_group_tests_name("surface_load", tests, NULL, remove_workplace);
}
