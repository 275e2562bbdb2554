/* Films of runs, and the view and colours of pictures (harness/picture/album.h). The files that ffmpeg writes are read
 * back with ffprobe and ffmpeg; without these programs the tests of films are skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "harness/picture/album.h"
#include "program.h"
#include "share_outside.h"

static void check_ok(pbd_status status) {
    if (status.code != PBD_OK) fail_msg("%s", status.text);
}

static bool can_film(void) {
    return system("ffmpeg -version >/dev/null 2>&1 && ffprobe -version >/dev/null 2>&1") == 0;
}

/* ---- The view ---------------------------------------------------------------------------------------------------- */

enum { PARTICLES = 20000 };

/* Uniform in [0, 1), by a linear congruential generator. */
static double next_uniform(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* A cloud that moves away and spreads, with a few particles that fly off: the cloud is in the picture in every state,
 * and the outliers do not enlarge the view. */
static void test_the_view_holds_what_moves(void **unused) {
    (void)unused;
    static double x[4][3 * PARTICLES], mass[PARTICLES], force[3 * PARTICLES];
    uint64_t seed = 1;
    for (size_t s = 0; s < 4; s++)
        for (size_t i = 0; i < PARTICLES; i++)
            for (size_t d = 0; d < 3; d++)
                x[s][3 * i + d] = (double)s * (d == 0   ? 3
                                               : d == 2 ? -1
                                                        : 0) +
                                  (1 + (double)s) * (next_uniform(&seed) - 0.5) + (i % 5000 == 0 && s == 3 ? 1e4 : 0);
    for (size_t i = 0; i < PARTICLES; i++) mass[i] = 1;
    const pbd_scene scene = {.particles = {.count = PARTICLES, .positions = x[0], .masses = mass, .spacing = 0.04},
                             .loads.forces = force,
                             .extent = 1,
                             .duration = 1};
    pbd_album a;
    check_ok(pbd_album_open(&scene, NULL, &(pbd_album_plan){.colour = PBD_COLOUR_BODY, .width = 320},
                            &(pbd_seen_state){.position = x[0]}, &a));
    for (size_t s = 0; s < 4; s++) check_ok(pbd_album_see(&a, &(pbd_seen_state){.position = x[s]}));
    pbd_album_look(&a, 180);
    for (size_t s = 0; s < 4; s++) assert_true(share_outside(&a, x[s], PARTICLES) < 0.01);
    assert_true(a.camera.half_width < 20 && a.camera.half_width > 5); /* m: it moves by 9 and is 4 wide at the end */
    assert_true(fabs(a.camera.half_width / a.camera.half_height - 320 / 180.0) < 1e-12);
    pbd_album_close(&a);
}

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

/* Two spheres of different matter side by side: sand is yellow, water is blue. Elastic matter is coloured by strain. */
static void test_matter_has_its_colour(void **unused) {
    (void)unused;
    double x[6] = {-1, 0, 0, 1, 0, 0}, mass[2] = {1, 1}, force[6] = {0};
    uint8_t material[2] = {0, 1};
    pbd_scene scene = {.particles = {.count = 2, .positions = x, .masses = mass, .spacing = 1.6, .material = material},
                       .loads.forces = force,
                       .extent = 2,
                       .materials = 2,
                       .material = {{.flow = "drucker_prager"}, {.matter = PBD_FLUID}}};
    pbd_album a;
    pbd_image image;
    check_ok(pbd_album_open(&scene, NULL, &(pbd_album_plan){.colour = PBD_COLOUR_AUTO, .width = 320},
                            &(pbd_seen_state){.position = x}, &a));
    assert_int_equal(a.colour, PBD_COLOUR_MATTER);
    check_ok(pbd_album_see(&a, &(pbd_seen_state){.position = x}));
    pbd_album_look(&a, 180);
    check_ok(pbd_album_draw(&a, &(pbd_seen_state){.position = x}, &image));
    for (int k = 0; k < 2; k++) { /* the pixel that contains each centre */
        double across = 0, above = 0;
        for (int d = 0; d < 3; d++) {
            across += (x[3 * k + d] - a.camera.centre[d]) * a.camera.right[d];
            above += (x[3 * k + d] - a.camera.centre[d]) * a.camera.up[d];
        }
        const int column = (int)(160 * (1 + across / a.camera.half_width));
        const int row = (int)(90 * (1 - above / a.camera.half_height));
        const unsigned char *p = image.pixel + 3 * (320 * row + column);
        assert_true(k == 0 ? p[0] > p[2] + 30 : p[2] > p[0] + 30);
    }
    pbd_image_free(&image);
    pbd_album_close(&a);
    scene.material[0] = scene.material[1] = (pbd_material){.E = 1};
    check_ok(pbd_album_open(&scene, NULL, &(pbd_album_plan){.colour = PBD_COLOUR_AUTO, .width = 320},
                            &(pbd_seen_state){.position = x}, &a));
    assert_int_equal(a.colour, PBD_COLOUR_STRAIN);
    pbd_album_close(&a);
}

/* ---- Films ------------------------------------------------------------------------------------------------------- */

#define GOO "run", "goo_drop", "-m", "mpm", "-s", "particles=100", "-s", "duration=0.2", "-t", "1", "--no-store"

/* Runs a command and returns the first line of its output. */
static void first_line(const char *command, char out[200]) {
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    if (!fgets(out, 200, pipe)) *out = 0;
    pclose(pipe);
    out[strcspn(out, "\n")] = 0;
}

/* 0.2 s at 25 frames per second: frames at 0, 0.04 ... 0.2 s; in slow motion by a factor of 2: every 0.02 s. */
static void test_a_film_has_its_frames(void **unused) {
    (void)unused;
    if (!can_film()) skip();
    static const struct {
        const char *name, *slow;
        int frames;
    } films[] = {{"a.mp4", "1", 6}, {"b.gif", "2", 11}};
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        const char *path = in_workplace(films[i].name);
        char command[PATH_MAX + 300], said[200], wanted[60];
        told t = tell(GOO, "--film", path, "--slow", films[i].slow);
        expect_code(t, 0);
        expect_says(t.out, films[i].name);
        forget(&t);
        snprintf(
            command, sizeof command,
            "ffprobe -loglevel error -count_frames -show_entries stream=width,height,nb_read_frames -of csv=p=0 '%s'",
            path);
        first_line(command, said);
        snprintf(wanted, sizeof wanted, "1280,720,%d", films[i].frames);
        assert_string_equal(said, wanted);
    }
}

/* The last frame is not of a single colour: it shows something darker than the background. */
static void test_a_film_shows_the_body(void **unused) {
    (void)unused;
    if (!can_film()) skip();
    const char *path = in_workplace("c.mp4");
    char command[PATH_MAX + 300], said[200];
    told t = tell(GOO, "--film", path, "--json");
    expect_code(t, 0);
    forget(&t);
    snprintf(command, sizeof command,
             "ffmpeg -loglevel error -i '%s' -vf 'select=eq(n\\,5)' -frames:v 1 -f rawvideo -pix_fmt gray - | od -An "
             "-tu1 -v | "
             "awk '{ for (k = 1; k <= NF; k++) n += $k < 150 } END { print n }'",
             path);
    first_line(command, said);
    assert_true(atoi(said) > 1000); /* of 921600 pixels */
}

/* Two stored runs that differ in one setting, side by side: 2 x 960 pixels wide, synchronous, until the longer one
 * ends. Below is the caption, dark letters on white. */
static void test_runs_stand_side_by_side(void **unused) {
    (void)unused;
    if (!can_film()) skip();
    const char *path = in_workplace("pair.mp4"), *store = in_workplace("pair.db");
    char command[PATH_MAX + 300], said[200], id[2][40] = {{0}};
    for (int k = 0; k < 2; k++) {
        told t = tell("run", "goo_drop", "-m", "mpm", "-s", "particles=100", "-s", k ? "duration=0.12" : "duration=0.2",
                      "-t", "1", "--db", store, "--json");
        expect_code(t, 0);
        const char *at = strstr(t.out, "\"run_id\"");
        assert_non_null(at);
        assert_int_equal(sscanf(at + strlen("\"run_id\""), " : \"%39[0-9a-f]\"", id[k]) == 1 ||
                             sscanf(at + strlen("\"run_id\""), ": \"%39[0-9a-f]\"", id[k]) == 1,
                         1);
        forget(&t);
    }
    told t = tell("film", id[0], id[1], "--db", store, "-o", path, "--colour", "speed", "-q");
    expect_code(t, 0);
    assert_string_equal(t.out, "");
    forget(&t);
    snprintf(command, sizeof command,
             "ffprobe -loglevel error -count_frames -show_entries stream=width,height,nb_read_frames -of csv=p=0 '%s'",
             path);
    first_line(command, said);
    assert_string_equal(said, "1920,720,6");
    snprintf(command, sizeof command,
             "ffmpeg -loglevel error -i '%s' -frames:v 1 -vf 'crop=1920:36:0:622' -f rawvideo -pix_fmt gray - | od -An "
             "-tu1 -v | awk '{ for (k = 1; k <= NF; k++) n += $k < 128 } END { print n }'",
             path);
    first_line(command, said);
    assert_in_range(atoi(said), 200, 10000);
    t = tell("film", id[0], "--db", store, "-o", path, "--colour", "damage", "-q");
    expect_code(t, 0);
    forget(&t);
    t = tell("film", id[0], "--db", store, "-o", path, "--colour", "pressure", "-q");
    expect_code(t, 2);
    expect_says(t.err, "--colour may be: auto, strain, matter, body, speed, density");
    forget(&t);
    t = tell("film", "--db", store);
    expect_code(t, 2);
    expect_says(t.err, "film needs a run");
    forget(&t);
}

static void test_what_is_no_film_is_refused(void **unused) {
    (void)unused;
    told t = tell(GOO, "--film", in_workplace("a.avi"));
    expect_code(t, 2);
    expect_says(t.err, ".mp4, .webm or .gif");
    forget(&t);
    t = tell(GOO, "--slow", "2");
    expect_code(t, 2);
    expect_says(t.err, "--film");
    forget(&t);
    t = tell(GOO, "--film", in_workplace("no/such/folder/a.mp4"));
    expect_code(t, 2);
    expect_says(t.err, "cannot write the film");
    forget(&t);
    if (!can_film()) return;
    t = tell(GOO, "--film", in_workplace("a.mp4"), "-a", "E=1e4,2e4");
    expect_code(t, 2);
    expect_says(t.err, "one run");
    forget(&t);
    t = tell("run", "cube_shear", "-m", "fem_linear", "--no-store", "--film", in_workplace("a.mp4"));
    expect_code(t, 2);
    expect_says(t.err, "static");
    forget(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_view_holds_what_moves), cmocka_unit_test(test_matter_has_its_colour),
        cmocka_unit_test(test_a_film_has_its_frames),     cmocka_unit_test(test_a_film_shows_the_body),
        cmocka_unit_test(test_runs_stand_side_by_side),   cmocka_unit_test(test_what_is_no_film_is_refused),
    };
    return cmocka_run_group_tests_name("film", tests, NULL, remove_workplace);
}
