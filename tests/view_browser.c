/* The viewer in headless Chromium, with WebGL 2 in software. Screenshots of a scene with known bodies (viewed_scene.h)
 * are evaluated pixel by pixel. Skipped (exit 77) without Chromium. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <png.h>

#include "program.h"
#include "viewed_scene.h"

enum { WIDTH = 800, HEIGHT = 600 };

static const char *browser;

static void check_ok(pbd_status status) {
    if (status.code != PBD_OK) fail_msg("%s", status.text);
}

/* ---- Pages and their screenshots --------------------------------------------------------------------------------- */

/* Writes a page of one or two runs; in the second the spheres rise twice as far. */
static void write_page(const char *path, size_t runs) {
    const pbd_scene scene = viewed_scene();
    const pbd_result result = viewed_result();
    pbd_view_run run[2];
    int file[2];
    for (size_t i = 0; i < runs; i++) {
        pbd_spool *spool;
        check_ok(pbd_spool_file(path, &file[i]));
        check_ok(viewed_keep(&scene, i == 0 ? 0.5 : 1, file[i], &spool));
        run[i] = (pbd_view_run){&result, "pbdbench", &scene, &viewed_method, spool};
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    check_ok(pbd_view_write(run, runs, PBD_COLOUR_AUTO, out));
    assert_int_equal(fclose(out), 0);
    for (size_t i = 0; i < runs; i++) {
        pbd_spool_close(run[i].spool);
        close(file[i]);
    }
}

/* The stage of the page, the rows above the controls, as RGB. */
typedef struct stage {
    int height;
    unsigned char pixel[3 * WIDTH * HEIGHT];
} stage;

static const unsigned char *pixel_at(const stage *s, int x, int y) { return s->pixel + 3 * (y * WIDTH + x); }

/* Finds the end of the stage: the border of the controls spans the whole width below it. */
static void find_height(stage *s) {
    for (s->height = HEIGHT - 1; s->height > 100; s->height--) {
        bool even = true;
        for (int x = 1; x < WIDTH; x++)
            even = even && memcmp(pixel_at(s, x, s->height), pixel_at(s, 0, s->height), 3) == 0;
        if (even && memcmp(pixel_at(s, 0, s->height), pixel_at(s, 0, s->height - 1), 3) != 0 &&
            memcmp(pixel_at(s, 0, s->height), pixel_at(s, 0, s->height + 1), 3) != 0 && s->height < HEIGHT - 60)
            return;
    }
    fail_msg("the page has no controls");
}

static void shoot(const char *page, const char *address, bool dark, stage *out) {
    char command[3 * PATH_MAX];
    const char *picture = in_workplace("shot.png");
    remove(picture);
    snprintf(command, sizeof command,
             "timeout 100 '%s' --headless=new --no-sandbox --disable-dev-shm-usage --hide-scrollbars "
             "--use-angle=swiftshader --enable-unsafe-swiftshader --user-data-dir='%s/profile' --window-size=%d,%d "
             "--force-device-scale-factor=1 --blink-settings=preferredColorScheme=%d --virtual-time-budget=20000 "
             "--screenshot='%s' 'file://%s#%s' >'%s/browser.log' 2>&1",
             browser, workplace(), WIDTH, HEIGHT, dark ? 0 : 1, picture, page, address, workplace());
    assert_int_equal(system(command), 0);
    png_image png = {.version = PNG_IMAGE_VERSION};
    assert_int_not_equal(png_image_begin_read_from_file(&png, picture), 0);
    png.format = PNG_FORMAT_RGB;
    assert_int_equal(png.width, WIDTH);
    assert_int_equal(png.height, HEIGHT);
    assert_int_not_equal(png_image_finish_read(&png, NULL, out->pixel, 0, NULL), 0);
    find_height(out);
}

/* ---- What is in a picture ---------------------------------------------------------------------------------------- */

/* Pixels of one hue between two columns. */
typedef struct blob {
    int count;
    double x, y; /* their centre */
    int left, right;
} blob;

typedef bool (*hue)(const unsigned char *rgb);
static bool is_sand(const unsigned char *p) {
    return p[0] > p[2] + 40 && p[1] > p[2] + 20 && p[0] - p[1] < p[1] - p[2];
}
static bool is_liquid(const unsigned char *p) { return p[2] > p[0] + 40; }
static bool is_cloth(const unsigned char *p) { return p[0] > p[1] + 40 && p[2] >= p[1]; }
static bool is_dark_red(const unsigned char *p) { return p[0] > p[1] + 40 && p[0] < 150 && p[1] < 60; }
static bool is_body(const unsigned char *p) { return is_sand(p) || is_liquid(p) || is_cloth(p); }

static blob find(const stage *s, hue is, int from, int to) {
    blob b = {.left = WIDTH};
    for (int y = 0; y < s->height; y++)
        for (int x = from; x < to; x++) {
            if (!is(pixel_at(s, x, y))) continue;
            b.count++;
            b.x += x;
            b.y += y;
            if (x < b.left) b.left = x;
            if (x > b.right) b.right = x;
        }
    b.x /= b.count > 0 ? b.count : 1;
    b.y /= b.count > 0 ? b.count : 1;
    return b;
}

/* ---- One run ----------------------------------------------------------------------------------------------------- */

/* Two spheres, 2 m apart, with a diameter of 0.8 m, rise by 1 m until the last state above a cloth of 2 m. */
static void test_bodies_are_where_they_are(void **unused) {
    (void)unused;
    static stage first, last;
    const char *page = in_workplace("one.html");
    write_page(page, 1);
    shoot(page, "view=front", false, &first);
    assert_memory_equal(pixel_at(&first, 3, first.height - 3), ((unsigned char[]){0xfb, 0xfb, 0xf9}), 3);
    const blob sand = find(&first, is_sand, 0, WIDTH), liquid = find(&first, is_liquid, 0, WIDTH);
    assert_true(sand.count > 1000 && liquid.count > 1000);
    assert_true(sand.right < WIDTH / 2 && liquid.left > WIDTH / 2);
    const double metre = (liquid.x - sand.x) / 2, diameter = sand.right - sand.left;
    assert_true(fabs(diameter / metre - 0.8) < 0.06);
    assert_true(fabs(0.5 * (liquid.x + sand.x) - 0.5 * WIDTH) < 0.05 * metre);
    const double disc = M_PI / 4 * 0.8 * 0.8 * metre * metre;
    assert_true(fabs(sand.count / disc - 1) < 0.12);

    shoot(page, "view=front&step=last", true, &last);
    assert_memory_equal(pixel_at(&last, 3, last.height - 3), ((unsigned char[]){0x15, 0x17, 0x1a}), 3);
    const blob raised = find(&last, is_sand, 0, WIDTH);
    assert_true(fabs((sand.y - raised.y) / metre - 1) < 0.08);
    assert_true(fabs(raised.x - sand.x) < 0.05 * metre);
}

/* The cloth is a square of 2 m and covers 4 m^2 as seen from above. A section across x in its middle leaves one half
 * and one sphere; flipped, it leaves the others. */
static void test_a_section_removes_half(void **unused) {
    (void)unused;
    static stage whole, left, right;
    const char *page = in_workplace("one.html");
    shoot(page, "view=top", false, &whole);
    const blob sand = find(&whole, is_sand, 0, WIDTH), liquid = find(&whole, is_liquid, 0, WIDTH);
    const blob cloth = find(&whole, is_cloth, 0, WIDTH);
    assert_true(cloth.count > 5000 && sand.count > 1000 && liquid.count > 1000);
    shoot(page, "view=top&section=x:0.5", false, &left);
    const blob rest = find(&left, is_cloth, 0, WIDTH);
    assert_true(fabs(rest.count / (double)cloth.count - 0.5) < 0.05);
    assert_true(fabs(find(&left, is_sand, 0, WIDTH).count / (double)sand.count - 1) < 0.02);
    assert_int_equal(find(&left, is_liquid, WIDTH / 2 + 10, WIDTH).count, 0);
    shoot(page, "view=top&section=x:0.5&flip", false, &right);
    assert_int_equal(find(&right, is_sand, 0, WIDTH / 2 - 10).count, 0);
    assert_true(fabs(find(&right, is_liquid, WIDTH / 2 + 10, WIDTH).count / (double)liquid.count - 1) < 0.02);
}

/* Coloured by speed, the right sphere, at 2 m/s, has the darkest colour of the scale, the left one, at rest, the
 * lightest. */
static void test_colours_tell_the_speed(void **unused) {
    (void)unused;
    static stage s;
    shoot(in_workplace("one.html"), "view=front&colour=speed", false, &s);
    assert_int_equal(find(&s, is_sand, 0, WIDTH).count + find(&s, is_liquid, 0, WIDTH).count, 0);
    const blob fast = find(&s, is_dark_red, 0, WIDTH);
    assert_true(fast.count > 1000 && fast.left > WIDTH / 2);
}

/* ---- Two runs ---------------------------------------------------------------------------------------------------- */

/* Each run fills half of the stage. With the same camera, the spheres of the second end 1 m higher. */
static void test_two_runs_are_beside_each_other(void **unused) {
    (void)unused;
    static stage s;
    const char *page = in_workplace("two.html");
    write_page(page, 2);
    shoot(page, "view=front&step=last", false, &s);
    const blob sand[2] = {find(&s, is_sand, 0, WIDTH / 2), find(&s, is_sand, WIDTH / 2, WIDTH)};
    const blob liquid[2] = {find(&s, is_liquid, 0, WIDTH / 2), find(&s, is_liquid, WIDTH / 2, WIDTH)};
    for (int k = 0; k < 2; k++) {
        assert_true(sand[k].count > 300 && liquid[k].count > 300);
        assert_true(find(&s, is_body, k * WIDTH / 2, (k + 1) * WIDTH / 2).count > sand[k].count + liquid[k].count);
    }
    const double metre = (liquid[0].x - sand[0].x) / 2;
    assert_true(fabs(sand[1].x - sand[0].x - WIDTH / 2) < 0.05 * metre);
    assert_true(fabs((sand[0].y - sand[1].y) / metre - 1) < 0.12);
}

int main(void) {
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_are_where_they_are),
        cmocka_unit_test(test_a_section_removes_half),
        cmocka_unit_test(test_colours_tell_the_speed),
        cmocka_unit_test(test_two_runs_are_beside_each_other),
    };
    for (size_t i = 0; i < 3 && !browser; i++) {
        char command[80];
        snprintf(command, sizeof command, "command -v %s >/dev/null", names[i]);
        if (system(command) == 0) browser = names[i];
    }
    if (!browser) {
        puts("skipped: there is no chromium here (sudo apt-get install chromium)");
        return 77;
    }
    return cmocka_run_group_tests_name("view_browser", tests, NULL, remove_workplace);
}
