/* The case `mesh`: what the readers of MSH and INP make of valid files, their messages for invalid ones, that damaged
 * files do no harm, and that a run is bound to the content of its file. */
#include <jansson.h>
#include "cases/geometry/surface.h"
#include "cases/mesh/mesh_file.h"
#include "harness/catalog/resolve.h"
#include "tests/ladder.h"

#include "tests/program.h"

/* The reference tetrahedron and a second one on its slanted face: volumes 1/6 and 1/3. */
static const char two_tets_msh[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$PhysicalNames\n2\n0 5 \"tip\"\n2 7 \"the base\"\n$EndPhysicalNames\n"
    "$Entities\n1 0 1 1\n1 1 1 1 1 5\n4 0 0 0 1 1 0 1 7 0\n1 0 0 0 1 1 1 0 1 4\n$EndEntities\n"
    "$Nodes\n2 5 10 50\n0 1 0 1\n50\n1 1 1\n3 1 0 4\n10\n20\n30\n40\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"
    "$Elements\n3 4 1 4\n0 1 15 1\n1 50\n2 4 2 1\n2 10 30 20\n3 1 4 2\n3 10 20 30 40\n4 20 30 40 50\n$EndElements\n";

static const char two_tets_inp[] =
    "** made by hand\n*Heading\nany text at all\n*NODE, NSET=all\n10,0,0,0\n20, 1.0, 0., 0\n 30 ,0,1,\n40,0,0,1e0\n"
    "50,1,1,1\n*Element, type=CPS3, elset=BASE\n2, 10, 30, 20\n*ELEMENT,TYPE=c3d4\n3, 10, 20,\n 30, 40\n4,20,30,40,50\n"
    "*NSET, NSET=tip\n50\n*NSET, NSET=low, GENERATE\n10, 35, 10\n*NSET,NSET=both\nlow, tip\n*ELSET,ELSET=second\n4\n"
    "*MATERIAL, NAME=x\n*ELASTIC\n1., 0.3\n*STEP\n*NODE FILE\nU\n*END STEP\n";

/* A bar of two hexahedra, 2 x 1 x 1. */
static const char two_hexes_inp[] =
    "*NODE\n1,0,0,0\n2,1,0,0\n3,2,0,0\n4,0,1,0\n5,1,1,0\n6,2,1,0\n7,0,0,1\n8,1,0,1\n9,2,0,1\n10,0,1,1\n11,1,1,1\n"
    "12,2,1,1\n*ELEMENT, TYPE=C3D8\n1, 1,2,5,4,7,8,11,10\n2, 2,3,6,5,8,9,\n12,11\n";

static pbd_status read_text(const char *text, size_t bytes, mesh_file *out) {
    char path[] = "part.msh";
    char *copy = malloc(bytes + 1); /* of exact size, so that a sanitizer detects reads beyond the end */
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    const pbd_content content = {path, copy, bytes};
    const pbd_status status = mesh_file_read(&content, out);
    free(copy);
    return status;
}

static void expect_group(const mesh_file *mesh, const char *name, size_t nodes, const uint32_t *wanted) {
    const mesh_group *group = mesh_find_group(mesh, name);
    if (!group) fail_msg("no group '%s'", name);
    assert_int_equal(group->nodes, nodes);
    for (size_t i = 0; i < nodes; i++) assert_int_equal(group->node[i], wanted[i]);
}

static void test_both_formats_say_the_same(void **state) {
    (void)state;
    mesh_file msh, inp;
    check_ok(read_text(two_tets_msh, strlen(two_tets_msh), &msh));
    check_ok(read_text(two_tets_inp, strlen(two_tets_inp), &inp));
    assert_int_equal(msh.nodes, 5);
    assert_int_equal(inp.nodes, 5);
    assert_int_equal(msh.of[MESH_TET].count, 2);
    assert_int_equal(inp.of[MESH_TET].count, 2);
    for (size_t i = 0; i < 8; i++) /* by label: the files list the nodes in different orders */
        assert_int_equal(msh.label[msh.of[MESH_TET].node[i]], inp.label[inp.of[MESH_TET].node[i]]);
    for (size_t i = 0; i < 5; i++)
        for (size_t d = 0; d < 3; d++) /* 50 is the first node of one file and the last of the other */
            assert_true(msh.position[3 * ((i + 1) % 5) + d] == inp.position[3 * i + d]);
    expect_group(&msh, "tip", 1, (const uint32_t[]){0});
    expect_group(&msh, "the base", 3, (const uint32_t[]){1, 2, 3});
    assert_non_null(mesh_find_group(&msh, "TIP"));
    assert_null(mesh_find_group(&msh, "volume_1")); /* volume 1 is in no physical group */
    expect_group(&inp, "tip", 1, (const uint32_t[]){4});
    expect_group(&inp, "base", 3, (const uint32_t[]){0, 1, 2});
    expect_group(&inp, "low", 3, (const uint32_t[]){0, 1, 2});
    expect_group(&inp, "both", 4, (const uint32_t[]){0, 1, 2, 4});
    expect_group(&inp, "second", 4, (const uint32_t[]){1, 2, 3, 4});
    expect_group(&inp, "all", 5, (const uint32_t[]){0, 1, 2, 3, 4});
    mesh_file_free(&msh);
    mesh_file_free(&inp);
}

/* Meshes written by Gmsh 4.15.2; expected counts and volumes are from meshio 5.3.5 and numpy. */
static void test_meshes_of_gmsh(void **state) {
    (void)state;
    static const struct {
        const char *file, *root;
    } written[] = {{"meshes/plate.msh", "clamped root"}, {"meshes/plate.inp", "clamped_root"}};
    char path[PATH_MAX + 40];
    for (size_t i = 0; i < 2; i++) {
        mesh_file mesh;
        double volume = 0;
        snprintf(path, sizeof path, "%s/%s", PBD_TEST_FOLDER, written[i].file);
        const int file = open(path, O_RDONLY);
        if (file < 0) fail_msg("%s: %s", path, strerror(errno));
        char *text = slurp(file);
        check_ok(read_text(text, strlen(text), &mesh));
        free(text);
        assert_int_equal(mesh.nodes, 119);
        assert_int_equal(mesh.of[MESH_TET].count, 290);
        assert_int_equal(mesh_find_group(&mesh, written[i].root)->nodes, 11);
        assert_int_equal(mesh_find_group(&mesh, "hole")->nodes, 21);
        assert_int_equal(mesh_find_group(&mesh, "plate")->nodes, 119);
        for (size_t t = 0; t < 290; t++) {
            const uint32_t *node = mesh.of[MESH_TET].node + 4 * t;
            double d[3][3];
            for (uint32_t c = 0; c < 3; c++)
                for (uint32_t k = 0; k < 3; k++)
                    d[c][k] = mesh.position[3 * node[c + 1] + k] - mesh.position[3 * node[0] + k];
            volume +=
                (d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
                 d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0])) /
                6;
        }
        check_near("volume, m^3", volume, 0.0371436528551817, 1e-15);
        mesh_file_free(&mesh);
    }
}

/* ---- Bad files --------------------------------------------------------------------------------------------------- */

/* Returns a copy of the text with the first `old` replaced by `new`; the caller frees it. */
static char *changed(const char *text, const char *old, const char *new) {
    const char *at = strstr(text, old);
    char *out = NULL;
    if (!at) fail_msg("'%s' is not in the text", old);
    if (asprintf(&out, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) < 0) fail_msg("no memory");
    return out;
}

static void test_bad_files_are_explained(void **state) {
    (void)state;
    static const struct {
        const char *text, *old, *new, *line, *what;
    } bad[] = {
        {two_tets_msh, "3 10 20 30 40", "3 20 10 30 40", ", line 37:", "tetrahedron 3 is inverted"},
        {two_tets_msh, "0 0 1\n$EndNodes", "0.5 0.5 0\n$EndNodes", ", line 37:", "tetrahedron 3 has no volume"},
        {two_tets_msh, "3 10 20 30 40", "3 10 20 30 10", ", line 37:", "tetrahedron 3 has no volume"},
        {two_tets_msh, "1 1 1\n3 1", "1 nan 1\n3 1", ", line 19:", "y of node 50 is nan"},
        {two_tets_msh, "1 1 1\n3 1", "1 1e999 1\n3 1", ", line 19:", "y of node 50 is inf"},
        {two_tets_msh, "4 20 30 40 50\n", "4 20 30 40 60\n", ", line 38:", "tetrahedron 4 has node 60"},
        {two_tets_msh, "4 20 30 40 50\n", "4 20 30 10 40\n", "part.msh:", "node 50 belongs to no volume element"},
        {two_tets_msh, "3 1 4 2\n", "3 1 11 2\n", ", line 36:", "elements of type 11 are not read"},
        {two_tets_msh, "4.1 0 8", "4.1 1 8", ", line 2:", "binary"},
        {two_tets_msh, "4.1 0 8", "2.2 0 8", ", line 2:", "MSH 2.2"},
        {two_tets_msh, "2 5 10 50", "2 6 10 50", "", "6 nodes were declared, but there are 5"},
        {two_tets_msh, "3 4 1 4", "3 9 1 4", "", "9 elements were declared, but there are 4"},
        {two_tets_msh, "2 5 10 50", "2 999999999999 10 50", ", line 16:", "999999999999 cannot be a number of nodes"},
        {two_tets_msh, "2 5 10 50", "2 -5 10 50", ", line 16:", "-5 cannot be a number of nodes"},
        {two_tets_msh, "10\n20\n", "10\n10\n", "part.msh:", "node 10 is defined twice"},
        {two_tets_msh, "4 20 30 40 50\n", "3 20 30 40 50\n", "part.msh:", "element 3 is defined twice"},
        {two_tets_msh, "0 1 0\n", "0 one 0\n", ", line 27:", "'one' found where a coordinate is expected"},
        {two_tets_msh, "$EndNodes", "$EndNods", ", line 29:", "$EndNodes expected here"},
        {two_tets_msh, "\"tip\"", "tip", ", line 6:", "name in double quotes"},
        {two_tets_msh, "$Nodes", "$Knots", ", line 15:", "section $Knots has no end"},
        {two_tets_msh, "$MeshFormat", "#MeshFormat", ", line 1:", "neither a Gmsh file"},
        {two_tets_inp, "c3d4", "c3d10", ", line 12:", "elements of type 'c3d10' are not read"},
        {two_tets_inp, "3, 10, 20,\n 30, 40", "3, 20, 10, 30, 40", ", line 13:", "tetrahedron 3 is inverted"},
        {two_tets_inp, "50,1,1,1", "50,1,NaN,1", ", line 9:", "y of node 50 is nan"},
        {two_tets_inp, "50,1,1,1", "50,1,1.0D0,1", ", line 9:", "'1.0D0' found where a coordinate is expected"},
        {two_tets_inp, "50,1,1,1", "50,1,1,1,1", ", line 9:", "a node has a number and three coordinates"},
        {two_tets_inp, "4,20,30,40,50", "4,20,30,40", ", line 15:", "a number and 4 nodes, not 4 entries"},
        {two_tets_inp, "4,20,30,40,50", "4,20,30,40,50,1", ", line 15:", "a number and 4 nodes, not 6 entries"},
        {two_tets_inp, "4,20,30,40,50", "4,20,30,40,51", ", line 15:", "has node 51, which the file does not define"},
        {two_tets_inp, "NSET=tip\n50", "NSET=tip\n51", ", line 17:", "group 'tip' names node 51"},
        {two_tets_inp, "low, tip", "low, tap", ", line 21:", "'tap' is neither a number nor a set above"},
        {two_tets_inp, "10, 35, 10", "10, 35, 0", ", line 19:", "step >= 1"},
        {two_tets_inp, "10, 35, 10", "35, 10", ", line 19:", "first <= last"},
        {two_tets_inp, ", NSET=all", ", SYSTEM=C", ", line 4:", "cylindrical"},
        {two_tets_inp, "*MATERIAL, NAME=x", "*INCLUDE, INPUT=x", ", line 24:", "*INCLUDE is unsupported"},
        {two_tets_inp, "*MATERIAL, NAME=x", "*PART, NAME=x\n*PART, NAME=y", ", line 25:", "more than one part"},
        {two_tets_inp, "*Heading\nany text at all\n*NODE", "1,2,3\n*NODE", ", line 2:", "numbers without a keyword"},
        {two_hexes_inp, "1, 1,2,5,4,7,8,11,10", "1, 1,4,5,2,7,10,11,8",
         ", line 15:", "hexahedron 1 is inverted, or not convex"},
        {two_hexes_inp, "*ELEMENT", "*ELEMENT,TYPE=C3D4\n9,1,2,4,7\n*ELEMENT", "", "both tetrahedra and hexahedra"},
        {"*NODE\n", "", "", "part.msh:", "the mesh is empty: it has no nodes"},
        {"*NODE\n1,0,0,0\n", "", "", "part.msh:", "the mesh is empty: it has no tetrahedra"},
        {"", "", "", ", line 1:", "neither a Gmsh file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mesh_file mesh;
        char *text = changed(bad[i].text, bad[i].old, bad[i].new);
        const pbd_status status = read_text(text, strlen(text), &mesh);
        if (status.code != PBD_BAD_INPUT) fail_msg("'%s' for '%s' was accepted", bad[i].new, bad[i].old);
        if (strncmp(status.text, "part.msh", 8) != 0 || !strstr(status.text, bad[i].line) ||
            !strstr(status.text, bad[i].what))
            fail_msg("'%s' does not say '%s' and '%s'", status.text, bad[i].line, bad[i].what);
        assert_null(mesh.position);
        free(text);
    }
}

/* ---- Damaged files ----------------------------------------------------------------------------------------------- */

static size_t pick(uint64_t *seed, size_t below) { return (size_t)((noise(seed) + 1) / 2 * (double)below); }

/* Makes one to four changes: a byte replaced, a piece cut out or duplicated, an odd number or word inserted. */
static size_t damage(char *text, size_t bytes, size_t room, uint64_t *seed) {
    static const char *const odd[] = {"-1",          "0",       "1e999", "nan", "99999999999999999999",
                                      "$EndNodes\n", "*NODE\n", ",",     "\""};
    for (size_t n = 1 + pick(seed, 4); n > 0 && bytes > 0; n--) {
        const size_t at = pick(seed, bytes), kind = pick(seed, 4),
                     length = pick(seed, bytes - at < 40 ? bytes - at : 40);
        const char *word = odd[pick(seed, sizeof odd / sizeof *odd)];
        if (kind == 0) text[at] = (char)pick(seed, 256);
        if (kind == 1) {
            memmove(text + at, text + at + length, bytes - at - length);
            bytes -= length;
        }
        const size_t more = kind == 2 ? length : kind == 3 ? strlen(word) : 0;
        if (more == 0 || bytes + more > room) continue;
        memmove(text + at + more, text + at, bytes - at);
        if (kind == 3) memcpy(text + at, word, more);
        bytes += more;
    }
    return bytes;
}

static void test_damaged_files_do_no_harm(void **state) {
    (void)state;
    static const char *const whole[] = {two_tets_msh, two_tets_inp, two_hexes_inp};
    uint64_t seed = 1;
    size_t accepted = 0, refused = 0;
    for (int turn = 0; turn < 12000; turn++) {
        char text[4000];
        mesh_file mesh;
        size_t bytes = strlen(whole[turn % 3]);
        memcpy(text, whole[turn % 3], bytes);
        bytes = damage(text, bytes, sizeof text, &seed);
        const pbd_status status = read_text(text, bytes, &mesh);
        if (status.code == PBD_BAD_INPUT) {
            refused++;
            if (strncmp(status.text, "part.msh", 8) != 0) fail_msg("turn %d: '%s' names no file", turn, status.text);
            continue;
        }
        check_ok(status);
        accepted++;
        for (int s = 0; s < MESH_SHAPES; s++)
            for (size_t i = 0; i < mesh.of[s].count * (size_t)mesh_corners[s]; i++)
                assert_true(mesh.of[s].node[i] < mesh.nodes);
        for (size_t i = 0; i < 3 * mesh.nodes; i++) assert_true(isfinite(mesh.position[i]));
        mesh_file_free(&mesh);
    }
    print_message("    %zu refused, %zu harmless\n", refused, accepted);
    assert_true(refused > 1000 && accepted > 100);
}

/* ---- The scene --------------------------------------------------------------------------------------------------- */

static const pbd_param no_params[] = {{0}};
static const pbd_method no_method = {.name = "none", .params = no_params};

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s", name);
}

/* Builds the scene from a file in the workplace and settings; free_scene frees it. */
static pbd_status build_scene(const char *name, const char *const *words, pbd_setup *setup) {
    const pbd_case *c;
    pbd_values of_case, of_method;
    pbd_setting setting[12] = {{"file", in_workplace(name)}};
    size_t count = 1;
    *setup = (pbd_setup){0};
    check_ok(pbd_find_case("mesh", &c));
    for (; *words; words++) check_ok(pbd_setting_parse(*words, &setting[count++]));
    pbd_status status = pbd_resolve(c, &no_method, setting, count, &of_case, &of_method);
    while (count > 1) pbd_setting_free(&setting[--count]);
    if (status.code != PBD_OK) return status;
    status = pbd_case_build(c, &of_case, setup);
    pbd_values_free(&of_case);
    pbd_values_free(&of_method);
    return status;
}
#define BUILD(name, setup, ...) build_scene(name, (const char *const[]){__VA_ARGS__, NULL}, setup)

static void free_scene(pbd_setup *setup) {
    const pbd_case *c;
    check_ok(pbd_find_case("mesh", &c));
    pbd_case_free(c, setup);
}

/* ---- Large on purpose -------------------------------------------------------------------------------------------- */

enum { PATIENCE = 60 }; /* s; reading takes less than 1 s */

/* With strict_string_checks ASan scans the rest of the line at each number, so that the time for a line is quadratic in
 * its length. */
#if defined(__SANITIZE_ADDRESS__)
enum { MANY = 10000, SETS = 5000, NODES = 4000, LINES = 6000 };
#else
enum { MANY = 400000, SETS = 150000, NODES = 40000, LINES = 60000 };
#endif

/* Reads the mesh that was written to `out`; SIGALRM ends the program if that takes too long. */
static pbd_status read_stream(FILE *out, char **text, const size_t *bytes, mesh_file *mesh) {
    assert_int_equal(fclose(out), 0);
    alarm(PATIENCE);
    const pbd_status status = read_text(*text, *bytes, mesh);
    alarm(0);
    free(*text);
    return status;
}

/* A large number of physical names of one entity, whose elements come in several blocks. */
static void test_many_groups_of_one_entity(void **state) {
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    mesh_file mesh;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n%d\n", MANY);
    for (int i = 1; i <= MANY; i++) fprintf(out, "3 %d \"group %d\"\n", i, i);
    fprintf(out, "$EndPhysicalNames\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 %d", MANY);
    for (int i = 1; i <= MANY; i++) fprintf(out, " %d", i);
    fprintf(out,
            " 0\n$EndEntities\n$Nodes\n1 5 1 5\n3 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n"
            "$EndNodes\n$Elements\n2 2 1 2\n3 1 4 1\n1 1 2 3 4\n3 1 4 1\n2 2 3 4 5\n$EndElements\n");
    check_ok(read_stream(out, &text, &bytes, &mesh));
    assert_int_equal(mesh.groups, MANY);
    expect_group(&mesh, "group 1", 5, (const uint32_t[]){0, 1, 2, 3, 4});
    char last[32];
    snprintf(last, sizeof last, "GROUP %d", MANY);
    expect_group(&mesh, last, 5, (const uint32_t[]){0, 1, 2, 3, 4});
    mesh_file_free(&mesh);
}

static void test_many_sets(void **state) {
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    mesh_file mesh;
    FILE *out = open_memstream(&text, &bytes);
    fputs(two_hexes_inp, out);
    for (int i = 0; i < SETS; i++) fprintf(out, "*NSET, NSET=s%d\n%d\n", i, i % 12 + 1);
    check_ok(read_stream(out, &text, &bytes, &mesh));
    assert_int_equal(mesh.groups, SETS);
    expect_group(&mesh, "s25", 1, (const uint32_t[]){1});
    char last[32];
    snprintf(last, sizeof last, "S%d", SETS - 1);
    expect_group(&mesh, last, 1, (const uint32_t[]){(SETS - 1) % 12});
    mesh_file_free(&mesh);
}

/* Short lines that each name all nodes: refused, because the groups would not fit into memory. */
static void test_groups_that_grow_too_large(void **state) {
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    mesh_file mesh;
    FILE *out = open_memstream(&text, &bytes);
    fputs(two_hexes_inp, out);
    fputs("*NODE, NSET=n\n", out);
    for (int i = 0; i < NODES; i++) fprintf(out, "%d\n", 100 + i);
    for (int i = 0; i < LINES; i++) fprintf(out, "*NSET, NSET=s%d\nn\n", i);
    pbd_status status = read_stream(out, &text, &bytes, &mesh);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "more entries than the file has letters");
    out = open_memstream(&text, &bytes);
    fputs(two_hexes_inp, out);
    fputs("*NODE\n", out);
    for (int i = 0; i < NODES; i++) fprintf(out, "%d\n", 100 + i);
    for (int i = 0; i < LINES; i++) fprintf(out, "*NSET, NSET=s%d, GENERATE\n1, 99999999\n", i);
    status = read_stream(out, &text, &bytes, &mesh);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "the groups have more than");
}

/* Expected masses and forces by hand: the tetrahedra have volumes 1/6 and 1/3. */
static void test_masses_and_loads(void **state) {
    (void)state;
    pbd_setup setup;
    write_file("two.msh", two_tets_msh);
    check_ok(BUILD("two.msh", &setup, "density=12", "fixed=z_min", "loaded=tip", "force_y=3", "scale=2"));
    const double wanted[5] = {8, 4, 12, 12, 12}; /* node 50 first; 8 x 12 x (1/24, 1/12, or their sum) */
    for (size_t i = 0; i < 5; i++) check_near("mass, kg", setup.scene.particles.masses[i], wanted[i], 1e-12);
    check_near("extent, m", setup.scene.extent, 2, 0);
    assert_int_equal(setup.scene.particles.fixed, 3);
    for (size_t i = 0; i < 3; i++) assert_int_equal(setup.scene.particles.fixed_particle[i], i + 1);
    for (size_t i = 0; i < 15; i++)
        assert_true(setup.scene.loads.forces[i] == (i == 1 ? 3 : 0)); /* no surface: a nodal force */
    assert_true(setup.scene.loads.gravity[2] == -9.81 && setup.scene.duration == 0 && setup.settle.window == 0);
    for (size_t t = 0; t < 2; t++) { /* method.h: det [x1-x4, x2-x4, x3-x4] > 0 */
        double d[3][3];
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t k = 0; k < 3; k++)
                d[c][k] = setup.scene.particles.positions[3 * setup.scene.tets.corner[4 * t + c] + k] -
                          setup.scene.particles.positions[3 * setup.scene.tets.corner[4 * t + 3] + k];
        const double det = d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
                           d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
                           d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
        check_near("6 V, m^3", det, t == 0 ? 8 : 16, 1e-12);
    }
    free_scene(&setup);
}

/* The end face of a bar of hexahedra, 1 x 1: each of its corners gets a quarter of a uniform traction. */
static void test_a_traction_is_uniform(void **state) {
    (void)state;
    pbd_setup setup;
    write_file("two.inp", two_hexes_inp);
    check_ok(BUILD("two.inp", &setup, "force_x=6", "gravity=0"));
    double sum = 0, moment[3] = {0};
    for (size_t i = 0; i < setup.scene.particles.count; i++) {
        const double *x = setup.scene.particles.positions + 3 * i, *f = setup.scene.loads.forces + 3 * i;
        check_near("force on a node, N", f[0], x[0] < 2 ? 0 : 1.5, 1e-12);
        sum += f[0];
        for (size_t d = 0; d < 3; d++) moment[d] += x[d] * f[0];
    }
    check_near("force, N", sum, 6, 1e-12);
    check_near("its centre, y", moment[1] / sum, 0.5, 1e-12);
    check_near("its centre, z", moment[2] / sum, 0.5, 1e-12);
    assert_int_equal(setup.scene.particles.fixed, 4);
    free_scene(&setup);
}

static void test_an_outside_is_closed(void **state) {
    (void)state;
    static const struct {
        const char *file, *text;
        size_t triangles;
        double volume;
    } bodies[] = {{"two.msh", two_tets_msh, 6, 0.5}, {"two.inp", two_hexes_inp, 20, 2}};
    for (size_t b = 0; b < 2; b++) {
        pbd_setup setup;
        surface outside;
        double volume = 0;
        write_file(bodies[b].file, bodies[b].text);
        check_ok(BUILD(bodies[b].file, &setup, "fixed=none"));
        check_ok(surface_of(&setup.scene, &outside));
        assert_int_equal(outside.triangles, bodies[b].triangles);
        for (size_t t = 0; t < outside.triangles; t++) { /* volume by Gauss's theorem: all faces point outwards */
            const double *p = setup.scene.particles.positions + 3 * outside.triangle[3 * t],
                         *q = setup.scene.particles.positions + 3 * outside.triangle[3 * t + 1],
                         *r = setup.scene.particles.positions + 3 * outside.triangle[3 * t + 2];
            volume += (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
                       p[2] * (q[0] * r[1] - q[1] * r[0])) /
                      6;
        }
        check_near("volume, m^3", volume, bodies[b].volume, 1e-12);
        surface_free(&outside);
        free_scene(&setup);
    }
}

static void expect_no_scene(pbd_status status, const char *what) {
    assert_int_equal(status.code, PBD_BAD_INPUT);
    if (!strstr(status.text, what)) fail_msg("'%s' does not say '%s'", status.text, what);
}

static void test_bad_settings_are_explained(void **state) {
    (void)state;
    pbd_setup setup;
    write_file("two.msh", two_tets_msh);
    expect_no_scene(BUILD("two.msh", &setup, "nu=0.5"), "nu=0.5 is out of range");
    expect_no_scene(BUILD("two.msh", &setup, "fixed=the bas"), "its groups 'tip', 'the base'");
    expect_no_scene(BUILD("two.msh", &setup, "fixed=x_min,x_max"), "fixed contains all 5 nodes");
    expect_no_scene(BUILD("two.msh", &setup, "loaded=none", "force_z=1"), "`loaded` contains no node");
    expect_no_scene(BUILD("two.msh", &setup, "fixed="), "fixed is empty");
    expect_no_scene(BUILD("no.msh", &setup, "nu=0"), "No such file");
    expect_no_scene(BUILD("plots", &setup, "nu=0"), "is not a file with content");
}

/* ---- As a person runs it ----------------------------------------------------------------------------------------- */

/* A bar of E = 100 and nu = 0 under a traction of 3 N/m^2: linear elements are exact, u = sigma x / E. */
static void test_a_bar_is_drawn_out(void **state) {
    (void)state;
    write_file("two.inp", two_hexes_inp);
    char file[PATH_MAX + 400];
    snprintf(file, sizeof file, "file=%s", in_workplace("two.inp"));
    told answer = tell("run", "mesh", "-m", "fem_linear", "-s", file, "-s", "E=100", "-s", "nu=0", "-s", "gravity=0",
                       "-s", "force_x=3", "--json", "--no-store");
    expect_code(answer, 0);
    json_t *run = json_loads(answer.out, 0, NULL);
    json_t *metrics = json_object_get(run, "metrics");
#define METRIC(name) json_number_value(json_object_get(json_object_get(metrics, name), "value"))
    check_near("largest displacement, m", METRIC("largest_displacement"), 0.06, 1e-12);
    check_near("mean displacement, m", METRIC("mean_displacement"), 0.03, 1e-12);
    check_near("volume ratio", METRIC("volume_ratio"), 1.03, 1e-12);
    check_near("least volume ratio", METRIC("least_volume_ratio"), 1.03, 1e-12);
    json_decref(run);
    forget(&answer);
}

/* Runs the bar and returns its run id and the canonical value of `file`: path and hash. */
static void run_and_take(char id[40], char value[PATH_MAX + 64]) {
    char file[PATH_MAX + 400];
    snprintf(file, sizeof file, "file=%s", in_workplace("bar.inp"));
    told answer = tell("run", "mesh", "-m", "fem_linear", "-s", file, "-s", "gravity=0", "-s", "force_x=3", "--json");
    expect_code(answer, 0);
    json_t *run = json_loads(answer.out, 0, NULL);
    snprintf(id, 40, "%s", json_string_value(json_object_get(run, "run_id")));
    snprintf(value, PATH_MAX + 64, "file=%s",
             json_string_value(json_object_get(json_object_get(run, "params"), "file")));
    json_decref(run);
    forget(&answer);
}

static void test_a_run_is_tied_to_the_content(void **state) {
    (void)state;
    char first[40], again[40], other[40], pinned[PATH_MAX + 64], unused[PATH_MAX + 64];
    write_file("bar.inp", two_hexes_inp);
    run_and_take(first, pinned);
    run_and_take(again, unused);
    assert_string_equal(first, again); /* already in the store */
    char *longer = changed(two_hexes_inp, "12,2,1,1", "12,2,1,1.5");
    write_file("bar.inp", longer);
    free(longer);
    run_and_take(other, unused);
    assert_string_not_equal(first, other);
    told answer = tell("run", "mesh", "-m", "fem_linear", "-s", pinned);
    expect_code(answer, 2);
    expect_says(answer.err, "was requested");
    forget(&answer);
    answer = tell("show", first); /* the command that repeats the run requires the original content */
    expect_code(answer, 0);
    expect_says(answer.out, pinned);
    forget(&answer);
}

static void test_bad_meshes_leave_no_run(void **state) {
    (void)state;
    char file[PATH_MAX + 400], db[PATH_MAX + 400];
    char *flat = changed(two_hexes_inp, "12,2,1,1", "12,1,1,1");
    write_file("flat.inp", flat);
    free(flat);
    snprintf(file, sizeof file, "file=%s", in_workplace("flat.inp"));
    snprintf(db, sizeof db, "--db=%s", in_workplace("none.db"));
    told answer = tell("run", "mesh", "-m", "fem_linear", "-s", file, db);
    expect_code(answer, 2);
    expect_says(answer.err, "hexahedron 2");
    forget(&answer);
    answer = tell("list", "runs", "--json", db);
    expect_code(answer, 0);
    assert_string_equal(answer.out, "[]\n");
    forget(&answer);
    answer = tell("run", "mesh", "-m", "fem_linear");
    expect_code(answer, 2);
    expect_says(answer.err, "mesh needs file");
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_formats_say_the_same),
        cmocka_unit_test(test_meshes_of_gmsh),
        cmocka_unit_test(test_bad_files_are_explained),
        cmocka_unit_test(test_damaged_files_do_no_harm),
        cmocka_unit_test(test_masses_and_loads),
        cmocka_unit_test(test_a_traction_is_uniform),
        cmocka_unit_test(test_an_outside_is_closed),
        cmocka_unit_test(test_bad_settings_are_explained),
        cmocka_unit_test(test_a_bar_is_drawn_out),
        cmocka_unit_test(test_a_run_is_tied_to_the_content),
        cmocka_unit_test(test_bad_meshes_leave_no_run),
        cmocka_unit_test(test_many_groups_of_one_entity),
        cmocka_unit_test(test_many_sets),
        cmocka_unit_test(test_groups_that_grow_too_large),
    };
    return cmocka_run_group_tests_name("mesh", tests, NULL, remove_workplace);
}
