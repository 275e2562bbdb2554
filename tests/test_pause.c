/* Runs made in parts (harness/run/pause.h), paused after each step, with a new case and method for each part. They must
 * report the same as a run in one part; so must a run whose paused state was damaged. */
#include <dirent.h>
#include <unistd.h>

#include "harness/catalog/plugin.h"
#include "harness/run/pause.h"
#include "harness/run/run.h"
#include "tests/ladder.h"

typedef struct row {
    const char *name, *method, *words; /* all with one thread */
} row;

/* Small versions of the demos of `reproduce --full`, with the papers' methods, and other cases that can be paused. */
static const row rows[] = {
    {"recovery", "corrected_sph",
     "particles=200 start=scaled ball=0.5 duration=0.11 dt=0.011 substeps=2 iterations=8 join=printed radius=1.9"},
    {"recovery", "corrected_sph",
     "particles=200 start=scaled ball=0.5 duration=0.11 dt=0.011 substeps=2 iterations=8 join=printed radius=1.9 "
     "solver=jacobi"},
    {"recovery", "strain_energy",
     "particles=200 start=scaled ball=0.5 duration=0.11 dt=0.011 substeps=2 iterations=8 form=xpbd join=printed"},
    {"bunny_drop", "corrected_sph", "particles=200 duration=0.125 dt=0.0125 self_contact=on"},
    {"heavy_drop", "corrected_sph", "cells=4 duration=0.05 load_time=0.01 dt=0.005 yield_strain=0.02"},
    {"sampled_towel", "corrected_sph", "across=5 length=1.5 duration=0.05 dt=0.005"},
    {"sausages", "corrected_sph", "particles_each=300 cuts=1 gap=0.05 piece=0.2 duration=0.7 dt=0.01"}, /* with a cut */
    {"extrusion", "xpbi", "particles=300 duration=0.01 dt=5e-4"},
    {"goo_thread", "xpbi", "particles=200 pour=on drop=0.02 duration=0.04 dt=2e-3"},
    {"goo_drop", "xpbi", "particles=150 flow=herschel_bulkley duration=0.02 dt=1e-3 solver=jacobi"},
    {"hourglass", "xpbi", "particles=150 duration=0.01 dt=5e-4"},
    {"candy_ant", "xpbi", "particles=150 duration=0.01 dt=5e-4"},
    {"snowball_hit", "xpbi", "particles=150 duration=0.01 dt=5e-4"},
    {"snow_dive", "xpbi", "particles=150 duration=0.01 dt=5e-4"},
    {"hand_in_fluid", "xpbi", "particles=150 duration=0.01 dt=5e-4"},
    {"dam_breach", "xpbi", "particles=150 duration=0.01 dt=5e-4"},
    {"paint_on_cloth", "xpbi", "cells=8 particles=100 duration=0.01 dt=5e-4"},
    {"extrusion", "mpm", "particles=300 duration=0.01 dt=5e-4"},
    {"sand_column", "xpbd_grains", "particles=150 duration=0.01 dt=5e-4"}};
enum { ROWS = sizeof rows / sizeof *rows };

static char folder[] = "/tmp/pbdbench-pause-XXXXXX";

static size_t files(void) {
    size_t count = 0;
    DIR *all = opendir(folder);
    for (struct dirent *entry; all && (entry = readdir(all));) count += entry->d_name[0] != '.';
    if (all) closedir(all);
    return count;
}

static void plan_row(const row *r, const char *precision, pbd_plan *plan) {
    char text[300], *save = NULL;
    pbd_setting setting[16];
    pbd_request request = {.case_name = r->name,
                           .method_name = r->method,
                           .precision = precision,
                           .threads = 1,
                           .seed = 1,
                           .setting = setting};
    snprintf(text, sizeof text, "%s", r->words);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        check_ok(pbd_setting_parse(word, &setting[request.settings++]));
    check_ok(pbd_plan_add(plan, &request, 0));
    for (size_t i = 0; i < request.settings; i++) pbd_setting_free(&setting[i]);
    assert_int_equal(plan->count, 1);
}

/* Makes the run, with a pause after each step if the folder `in` is given. Returns the number of pauses. */
static size_t make(pbd_plan_item *item, const char *in, pbd_result *out) {
    size_t pauses = 0;
    item->pause = (pbd_pausing){in, 1e-9};
    for (;;) {
        const pbd_status status = pbd_run_cell(item, out);
        if (status.code == PBD_OK) return pauses;
        if (status.code != PBD_INTERRUPTED) fail_msg("%s", status.text);
        assert_true(pbd_is_paused(item));
        pauses++;
    }
}

/* Whether the value depends on sums over colliders. Loading a state restarts them, so they add up in another order. */
static bool is_summed(const char *name) {
    static const char *const names[] = {"collider_work", "contact_dissipation", "pour_work",
                                        "energy_gain",   "momentum_drift",      "energy_balance"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static size_t differences;

static void expect_same(const row *r, const char *name, double once, double parts, double scale) {
    const double off = is_summed(name) ? 1e-9 * fmax(fabs(scale), fabs(once)) : 0;
    if (memcmp(&once, &parts, sizeof once) == 0 || once == parts || fabs(once - parts) <= off) return;
    print_error("%s %s: %s is %.17g in one part, %.17g in several\n", r->name, r->method, name, once, parts);
    differences++;
}

static double scale_of(const pbd_series_item *s) {
    double most = 0;
    for (size_t k = 0; k < s->count; k++) most = fmax(most, fabs(s->values[k]));
    return most;
}

static void compare(const row *r, const pbd_result *once, const pbd_result *parts) {
    assert_string_equal(once->state, parts->state);
    for (size_t i = 0; i < once->metrics; i++) {
        const pbd_metric_item *m = &once->metric[i], *other = NULL;
        if (m->kind == PBD_COST || strstr(m->name, "_searches")) continue; /* a loaded state repeats its search */
        for (size_t k = 0; k < parts->metrics; k++)
            if (strcmp(parts->metric[k].name, m->name) == 0) other = &parts->metric[k];
        if (!other) fail_msg("%s %s: %s is missing", r->name, r->method, m->name);
        expect_same(r, m->name, m->value, other->value, 1);
    }
    assert_int_equal(once->series_count, parts->series_count);
    for (size_t i = 0; i < once->series_count; i++) {
        const pbd_series_item *s = &once->series[i], *other = &parts->series[i];
        assert_string_equal(s->name, other->name);
        assert_string_equal(s->component, other->component);
        assert_int_equal(s->count, other->count);
        for (size_t k = 0; k < s->count; k++) expect_same(r, s->name, s->values[k], other->values[k], scale_of(s));
    }
}

static void check_parts(const row *r, const char *precision) {
    pbd_plan plan = {0};
    pbd_result once = {0}, parts = {0};
    plan_row(r, precision, &plan);
    assert_int_equal(make(&plan.item[0], NULL, &once), 0);
    const size_t pauses = make(&plan.item[0], folder, &parts);
    print_message("    %s %s: %zu pauses, %s\n", r->name, r->method, pauses, parts.state);
    assert_true(pauses >= 8);
    compare(r, &once, &parts);
    assert_int_equal(once.warnings, parts.warnings);
    pbd_pause_forget(&plan.item[0]);
    assert_int_equal(files(), 0);
    pbd_result_free(&once);
    pbd_result_free(&parts);
    pbd_plan_free(&plan);
}

static void a_run_in_parts_is_the_same(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) check_parts(&rows[i], "f32");
    assert_int_equal(differences, 0);
}

/* Each part starts a new process of the engine, so it loads a state without having saved one. */
static void a_run_of_an_engine_in_parts_is_the_same(void **state) {
    (void)state;
    static const row springs = {"recovery", "springs", "particles=200 start=scaled ball=0.9 duration=0.02 dt=1e-3"};
    char path[] = "/tmp/pbdbench-pause-XXXXXX.yaml";
    const char *file = path;
    const pbd_texts engines = {&file, 1};
    const int fd = mkstemps(path, 5);
    FILE *yaml = fd < 0 ? NULL : fdopen(fd, "w");
    assert_non_null(yaml);
    fprintf(yaml,
            "name: springs\nwhat: an engine of a test\nsource: tests\nlicence: MIT\ncommand: [%s]\ninstall: make it\n",
            PBD_TEST_SPRINGS);
    assert_int_equal(fclose(yaml), 0);
    check_ok(pbd_engines_load(&engines));
    check_parts(&springs, "f64");
    assert_int_equal(differences, 0);
    remove(path);
}

/* This case keeps sums in arrays that are not saved, so its run is made in one part. */
static void what_cannot_be_paused_is_made_at_once(void **state) {
    (void)state;
    static const row water = {"still_water", "pbf", "cells=5 duration=0.01"};
    pbd_plan plan = {0};
    pbd_result result = {0};
    plan_row(&water, "f32", &plan);
    assert_int_equal(make(&plan.item[0], folder, &result), 0);
    assert_int_equal(files(), 0);
    pbd_result_free(&result);
    pbd_plan_free(&plan);
}

/* ---- A file that is of no use ------------------------------------------------------------------------------------ */

typedef enum damage_kind { CUT, FLIPPED, LONGER } damage_kind;
typedef struct damage {
    damage_kind kind;
    double share;     /* position as a fraction of the file's length */
    long byte;        /* offset from there */
    const char *says; /* part of the warning */
} damage;

/* The header has 56 bytes: 8 for the format, 40 for the build, 8 for the hash of the rest. */
static const damage damages[] = {{CUT, 0, 0, "cut short"},
                                 {CUT, 0, 20, "cut short"},
                                 {CUT, 0, 56, "damaged"},
                                 {CUT, 0, 100, "damaged"},
                                 {CUT, 0.5, 0, "damaged"},
                                 {CUT, 1, -1, "damaged"},
                                 {FLIPPED, 0, 3, "of another build"},
                                 {FLIPPED, 0, 10, "of another build"},
                                 {FLIPPED, 0, 50, "damaged"},
                                 {FLIPPED, 0, 57, "damaged"},
                                 {FLIPPED, 0.25, 0, "damaged"},
                                 {FLIPPED, 0.5, 0, "damaged"},
                                 {FLIPPED, 0.75, 0, "damaged"},
                                 {FLIPPED, 1, -1, "damaged"},
                                 {LONGER, 1, 0, "damaged"}};

static void name_file(char *path, size_t size) {
    DIR *all = opendir(folder);
    *path = 0;
    for (struct dirent *entry; all && (entry = readdir(all));)
        if (entry->d_name[0] != '.') snprintf(path, size, "%s/%s", folder, entry->d_name);
    if (all) closedir(all);
}

static void spoil(const char *path, const damage *d) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long at = (long)(d->share * (double)ftell(file)) + d->byte;
    if (d->kind == CUT) assert_int_equal(ftruncate(fileno(file), at), 0);
    if (d->kind == LONGER) fputc(0, file);
    if (d->kind == FLIPPED) {
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        const int was = fgetc(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        fputc(was ^ 4, file);
    }
    assert_int_equal(fclose(file), 0);
}

static void expect_warning(const pbd_result *result, const char *path, const char *says) {
    for (size_t i = 0; i < result->warnings; i++) {
        const pbd_warning_item *w = &result->warning[i];
        if (strcmp(w->name, "pause_lost") == 0 && strstr(w->says, path) && strstr(w->says, says)) return;
    }
    fail_msg("no warning tells of '%s' that it is '%s'", path, says);
}

static void a_damaged_file_is_a_fresh_start(void **state) {
    (void)state;
    static const row grains = {"sand_column", "xpbd_grains", "particles=150 duration=0.003 dt=5e-4"};
    pbd_plan plan = {0};
    pbd_result once = {0}, again = {0}, part = {0};
    char path[400];
    plan_row(&grains, "f32", &plan);
    pbd_plan_item *item = &plan.item[0];
    make(item, NULL, &once);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        item->pause = (pbd_pausing){folder, 1e-9};
        for (int k = 0; k < 2; k++) assert_int_equal(pbd_run_cell(item, &part).code, PBD_INTERRUPTED);
        name_file(path, sizeof path);
        spoil(path, &damages[i]);
        item->pause.seconds = 1e9;
        check_ok(pbd_run_cell(item, &again));
        expect_warning(&again, path, damages[i].says);
        assert_int_equal(again.warnings, once.warnings + 1);
        compare(&grains, &once, &again);
        pbd_result_free(&again);
        pbd_pause_forget(item);
    }
    assert_int_equal(files(), 0);
    assert_int_equal(differences, 0);
    pbd_result_free(&once);
    pbd_plan_free(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_in_parts_is_the_same), cmocka_unit_test(a_run_of_an_engine_in_parts_is_the_same),
        cmocka_unit_test(what_cannot_be_paused_is_made_at_once), cmocka_unit_test(a_damaged_file_is_a_fresh_start)};
    if (!mkdtemp(folder)) return 1;
    const int failed = cmocka_run_group_tests_name("pause", tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
