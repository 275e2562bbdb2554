/* The view of the pictures of every case: in no state do more than 1 % of the particles project outside the picture.
 * Bodies are small and solved by the first method that runs the case; moving cases are spooled as for a film. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "harness/catalog/registry.h"
#include "harness/query/run_again.h"
#include "harness/run/run.h"
#include "program.h"
#include "share_outside.h"
#include "tests/sanitized.h"

enum { FRAMES = 8, MOST_SETTINGS = 3 };
static const double OUTSIDE = 0.01;

static void check_ok(const char *what, pbd_status status) {
    if (status.code != PBD_OK) fail_msg("%s: %s", what, status.text);
}

/* Settings that make a case small and its motion short. */
typedef struct small_case {
    const char *name;
    pbd_setting setting[MOST_SETTINGS];
} small_case;

static const small_case small[] = {{"cantilever", {{"cells", "2"}}},
                                   {"material_sweep", {{"cells", "2"}}},
                                   {"twist", {{"cells", "2"}}},
                                   {"uniaxial", {{"cells", "2"}}},
                                   {"cube_shear", {{"cells", "3"}}},
                                   {"cube_torsion", {{"cells", "3"}}},
                                   {"cube_traction", {{"cells", "3"}}},
                                   {"bounce", {{"cells", "2"}, {"duration", "0.2"}}},
                                   {"collapse", {{"cells", "2"}, {"duration", "0.05"}}},
                                   {"spinning_bar", {{"cells", "2"}, {"duration", "0.1"}}},
                                   {"vibrating_bar", {{"cells", "1"}, {"periods", "3"}, {"E", "1e7"}}},
                                   {"hanging_sheet", {{"cells", "4"}, {"duration", "0.1"}}},
                                   {"towel", {{"cells", "4"}, {"duration", "0.1"}}},
                                   {"heavy_drop", {{"cells", "4"}, {"duration", "0.02"}, {"load_time", "0.01"}}},
                                   {"dam_break", {{"cells", "5"}, {"end", "1"}}},
                                   {"still_water", {{"cells", "5"}, {"duration", "0.05"}}},
                                   {"held_body", {{"particles", "300"}, {"frames", "1"}}},
                                   {"liquid_drop", {{"duration", "0.1"}}},
                                   {"rotation", {{"nx", "5"}, {"ny", "5"}, {"nz", "5"}}},
                                   {"sampled_towel", {{"across", "8"}, {"duration", "0.02"}}},
                                   {"sausages", {{"particles_each", "200"}, {"duration", "0.02"}}},
                                   {"tori", {{"tori", "2"}, {"duration", "0.02"}}},
                                   {"paint_on_cloth", {{"cells", "8"}, {"particles", "100"}, {"duration", "0.01"}}},
                                   {"wheel_press", {{"particles", "300"}}},
                                   {"tool_cut", {{"settle", "0.1"}, {"tool_speed", "5"}}},
                                   {"affine_flow", {{"particles", "216"}, {"duration", "0.01"}}}};

/* Whether the case needs a file from the user, which this test does not have. */
static bool needs_file(const pbd_case *c) {
    for (const pbd_param *p = c->params; p && p->name; p++)
        if (p->kind == PBD_FILE && !*p->preset) return true;
    return false;
}

static bool has_param(const pbd_case *c, const char *name) {
    for (const pbd_param *p = c->params; p && p->name; p++)
        if (strcmp(p->name, name) == 0) return true;
    return false;
}

static size_t settings_of(const pbd_case *c, pbd_setting *out) {
    size_t n = 0;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        if (strcmp(small[i].name, c->name) != 0) continue;
        for (; n < MOST_SETTINGS && small[i].setting[n].key; n++) out[n] = small[i].setting[n];
        return n;
    }
    if (has_param(c, "particles")) out[n++] = (pbd_setting){"particles", "150"};
    if (has_param(c, "duration")) out[n++] = (pbd_setting){"duration", "0.03"};
    return n;
}

/* Runs the case with the first method that completes it, and opens the spooled states; false if no method does. */
static bool make_run(const pbd_case *c, int file, pbd_plan *plan, pbd_kept_run *kept) {
    pbd_setting setting[MOST_SETTINGS];
    const size_t settings = settings_of(c, setting);
    for (size_t m = 0; m < pbd_method_count(); m++) {
        const pbd_method_entry *entry = pbd_method_at(m);
        const pbd_method *method = entry->by_precision[0] ? entry->by_precision[0] : entry->by_precision[1];
        const pbd_request request = {.case_name = c->name,
                                     .method_name = method->name,
                                     .threads = 1,
                                     .seed = 1,
                                     .setting = setting,
                                     .settings = settings,
                                     .spool = {.file = file, .frames = FRAMES}};
        pbd_result result = {0};
        const bool fits = pbd_plan_add(plan, &request, 0).code == PBD_OK;
        const bool made = fits && pbd_run_cell(plan->item, &result).code == PBD_OK &&
                          pbd_kept_open(plan->item, kept).code == PBD_OK && strcmp(result.state, "ok") == 0;
        pbd_result_free(&result);
        if (made) return true;
        pbd_kept_close(kept);
        pbd_plan_free(plan);
    }
    return false;
}

/* Returns the largest share of particles outside the picture over all states, for a picture of this height: wide as a
 * film, or of its own shape as on a sheet. */
static double check_view(const pbd_kept_run *kept, int height) {
    const pbd_scene *scene = &kept->setup.scene;
    const size_t n = scene->particles.count, states = pbd_spool_states(kept->spool);
    const pbd_album_plan plan = {.width = 320};
    double *x = malloc(3 * n * sizeof *x), most = 0;
    const pbd_seen_state state = {.position = x};
    pbd_album a;
    check_ok("first state", pbd_spool_read(kept->spool, 0, PBD_POSITIONS, x));
    check_ok("album", pbd_album_open(scene, pbd_cell_method(kept->cell), &plan, &state, &a));
    for (size_t i = 0; i < states; i++) {
        check_ok("state", pbd_spool_read(kept->spool, i, PBD_POSITIONS, x));
        check_ok("album", pbd_album_see(&a, &state));
    }
    pbd_album_look(&a, height);
    for (size_t i = 0; i < states; i++) {
        check_ok("state", pbd_spool_read(kept->spool, i, PBD_POSITIONS, x));
        most = fmax(most, share_outside(&a, x, n));
    }
    pbd_album_close(&a);
    free(x);
    return most;
}

static void test_every_case_stays_in_its_picture(void **unused) {
    (void)unused;
    skip_if_sanitized();
    for (size_t i = 0; i < pbd_case_count(); i++) {
        const pbd_case *c = pbd_case_at(i);
        int file = 0;
        pbd_plan plan = {0};
        pbd_kept_run kept = {0};
        if (needs_file(c)) continue;
        check_ok("spool", pbd_spool_file(in_workplace("framing"), &file));
        if (!make_run(c, file, &plan, &kept)) fail_msg("%s: no method runs it", c->name);
        const double film = check_view(&kept, 180), sheet = check_view(&kept, 0);
        print_message("    %s by %s: %zu states, %.2f %% outside of a film, %.2f %% of a sheet\n", c->name,
                      kept.cell ? pbd_cell_method(kept.cell)->name : "", pbd_spool_states(kept.spool), 100 * film,
                      100 * sheet);
        assert_true(film <= OUTSIDE && sheet <= OUTSIDE);
        pbd_kept_close(&kept);
        pbd_plan_free(&plan);
        close(file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_case_stays_in_its_picture)};
    return cmocka_run_group_tests_name("framing", tests, NULL, remove_workplace);
}
