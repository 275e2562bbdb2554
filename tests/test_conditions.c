/* When a parameter is read: the conditions at the beginning of descriptions against the scenes that cases build, and
 * what `run` and `compare` do with settings that are not read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <xxhash.h>

#include "harness/catalog/conditions.h"
#include "harness/catalog/resolve.h"
#include "harness/catalog/values.h"
#include "methods/physics/matter/flow_table.h"
#include "tests/program.h"
#include "tests/sanitized.h"

static void check_ok(pbd_status status) {
    if (status.code != PBD_OK) fail_msg("%s", status.text);
}

/* ---- The text of a condition ------------------------------------------------------------------------------------- */

static void test_text(void **unused) {
    (void)unused;
    static const struct {
        const char *doc;
        size_t length;
    } docs[] = {{"solver=jacobi: times the average", 13},
                {"mode=dynamic, duration=0: at rest when", 24},
                {"sampling=poisson or jitter>0: of the numbers", 28},
                {"fixed!=none: particles", 11},
                {"flow=von_mises|mohr_coulomb: yield stress", 27},
                {"of a body; 0: none", 0},
                {"2: a plane", 0},
                {"the longest step; steps=fixed: the step", 0},
                {"solver=jacobi:no blank", 0},
                {"solver=: nothing", 0},
                {"a!b: c", 0},
                {"", 0}};
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
        if (pbd_condition_length(docs[i].doc) != docs[i].length)
            fail_msg("'%s': %zu", docs[i].doc, pbd_condition_length(docs[i].doc));
}

/* Every condition names existing parameters and choices. A method's condition may name those of a case, but all of the
 * same case. */
static void test_tables(void **unused) {
    (void)unused;
    for (size_t i = 0; i < pbd_case_count(); i++)
        for (const pbd_param *p = pbd_case_at(i)->params; p->name; p++)
            check_ok(pbd_condition_check(p, pbd_case_at(i)->params, NULL));
    for (size_t m = 0; m < pbd_method_count(); m++) {
        const pbd_param *params = pbd_method_at(m)->by_precision[PBD_PRECISION_F64]->params;
        for (const pbd_param *p = params; p->name; p++) {
            pbd_status status = pbd_error(PBD_FAILED, "no case");
            for (size_t i = 0; i < pbd_case_count() && status.code != PBD_OK; i++)
                status = pbd_condition_check(p, pbd_case_at(i)->params, params);
            check_ok(status);
        }
    }
}

static const char *const onoff[] = {"off", "on", NULL};

static void test_wrong_tables(void **unused) {
    (void)unused;
    const pbd_param rows[] = {{"floor", "", PBD_CHOICE, "off", 0, 0, 0, onoff, "a plane"},
                              {"drop", "m", PBD_REAL, "1", 0, 1, 0, NULL, "flor=on: how far it is below"},
                              {"gap", "m", PBD_REAL, "1", 0, 1, 0, NULL, "floor=yes: how far"},
                              {"side", "m", PBD_REAL, "1", 0, 1, 0, NULL, "gap=on: how far"},
                              {0}};
    static const char *const says[] = {"names 'flor', which is no parameter", "'yes' is no value of floor",
                                       "'on' is no value of gap"};
    for (int k = 0; k < 3; k++) {
        const pbd_status status = pbd_condition_check(&rows[k + 1], rows, NULL);
        assert_int_equal(status.code, PBD_BAD_INPUT);
        expect_says(status.text, says[k]);
    }
}

/* Whether a parameter is read with a flow rule follows from the tables of the rules in flow.def, not from a separate
 * list. */
static void test_flow_rules(void **unused) {
    (void)unused;
    for (const pbd_param *p = flow_params(); p->name; p++) {
        if (strcmp(p->name, "flow") == 0) continue;
        for (const flow_entry *rule = flow_table; rule->name; rule++) {
            const pbd_param flow = {"flow", "", PBD_CHOICE, "none", 0, 0, 0, flow_params()->choices, ""};
            const pbd_value value[] = {{.param = &flow}, {.param = p}};
            pbd_value given[2] = {value[0], value[1]};
            snprintf(given[0].text, sizeof given[0].text, "%s", rule->name);
            const pbd_values values = {given, 2}, none = {0};
            const bool known = flow_place(rule->name, p->name) >= 0;
            if (pbd_is_read(p->name, &values, &none) != known) fail_msg("%s with flow=%s", p->name, rule->name);
        }
    }
}

/* ---- Conditions against scenes ----------------------------------------------------------------------------------- */

static void add(XXH3_state_t *hash, const void *data, size_t bytes) {
    if (data && bytes) XXH3_128bits_update(hash, data, bytes);
}

static void add_word(XXH3_state_t *hash, const char *word) {
    if (word) add(hash, word, strlen(word) + 1);
}

static void add_material(XXH3_state_t *hash, const pbd_material *m) {
    const double number[] = {
        m->E,       m->nu,        m->density,   m->yield_strain,   m->yield_strain > 0 ? m->creep : 0,
        m->bending, m->thickness, m->viscosity, (double)m->matter, (double)m->convention};
    add(hash, number, sizeof number);
    for (int k = 0; k < PBD_MOST_FIBRES; k++)
        if (m->fibre_stiffness[k] > 0) add(hash, m->fibre[k], sizeof m->fibre[k]);
    add(hash, m->fibre_stiffness, sizeof m->fibre_stiffness);
    add_word(hash, m->law);
    add_word(hash, m->flow);
    for (int k = 0; m->flow && flow_table[flow_number(m->flow)].parameter[k].param.name; k++)
        add(hash, &m->flow_value[k], sizeof m->flow_value[k]);
}

static void add_cells(XXH3_state_t *hash, const pbd_cells *cells, size_t corners) {
    add(hash, &cells->count, sizeof cells->count);
    add(hash, cells->corner, corners * cells->count * sizeof *cells->corner);
    add(hash, cells->material, cells->material ? cells->count : 0);
}

static void add_colliders(XXH3_state_t *hash, const pbd_colliders *all) {
    for (size_t i = 0; i < all->count; i++) {
        const pbd_collider *c = &all->item[i];
        const double number[] = {(double)c->shape, c->container, c->begin, c->end, c->friction, (double)c->mesh};
        add(hash, number, sizeof number);
        add(hash, c->centre, sizeof c->centre);
        add(hash, c->axis, sizeof c->axis);
        add(hash, c->half, sizeof c->half);
        add(hash, c->velocity, sizeof c->velocity);
        add(hash, c->spin, sizeof c->spin);
    }
    for (size_t i = 0; i < all->meshes; i++) {
        const pbd_collider_mesh *m = &all->mesh[i];
        add(hash, m->vertex, 3 * m->vertices * sizeof *m->vertex);
        add(hash, m->triangle, 3 * m->triangles * sizeof *m->triangle);
        add(hash, &m->thickness, sizeof m->thickness);
    }
}

/* Hash of everything that a method can see of a scene, and of how it is driven. */
static XXH128_hash_t print_of(const pbd_setup *setup) {
    const pbd_scene *s = &setup->scene;
    const pbd_particles *p = &s->particles;
    const size_t n = p->count;
    XXH3_state_t *hash = XXH3_createState();
    XXH3_128bits_reset(hash);
    for (size_t k = 0; k < (s->materials ? s->materials : 1); k++) add_material(hash, &s->material[k]);
    const double *const rows[] = {p->positions, p->start, p->velocities, s->loads.forces};
    for (int k = 0; k < 4; k++) add(hash, rows[k], rows[k] ? 3 * n * sizeof **rows : 0);
    add(hash, p->masses, n * sizeof *p->masses);
    add(hash, p->volumes, p->volumes ? n * sizeof *p->volumes : 0);
    add(hash, p->material, p->material ? n : 0);
    add(hash, p->body, p->body ? n * sizeof *p->body : 0);
    add(hash, p->fixed_particle, p->fixed * sizeof *p->fixed_particle);
    add_cells(hash, &s->hexes, 8);
    add_cells(hash, &s->tets, 4);
    add_cells(hash, &s->triangles, 3);
    add_colliders(hash, &s->colliders);
    const bool meet = s->contact.between_bodies || s->contact.self_distance > 0 || s->colliders.count > 0;
    if (meet) add(hash, s->contact.radius, s->contact.radius ? n * sizeof *s->contact.radius : 0);
    for (size_t k = 0; k < s->blades.count; k++) add(hash, &s->blades.item[k], sizeof s->blades.item[k]);
    const double number[] = {p->spacing,
                             s->contact.between_bodies,
                             s->contact.self_distance,
                             meet ? s->contact.friction : 0,
                             s->loads.forces_end,
                             (double)s->hints.fixing,
                             (double)s->hints.shared,
                             s->extent,
                             s->duration,
                             s->solved,
                             setup->settle.window > 0 ? setup->settle.tolerance : 0,
                             setup->settle.window > 0 ? (double)setup->settle.most_steps : 0,
                             (double)setup->settle.watched,
                             setup->observe_every};
    add(hash, number, sizeof number);
    add(hash, s->loads.gravity, sizeof s->loads.gravity);
    const XXH128_hash_t print = XXH3_128bits_digest(hash);
    XXH3_freeState(hash);
    return print;
}

enum { MOST_SETTINGS = 12 };
typedef struct trial {
    pbd_setting setting[MOST_SETTINGS];
    char word[MOST_SETTINGS][60]; /* values of the settings */
    size_t count;
} trial;

static void set(trial *t, const char *key, const char *value) {
    assert_true(t->count < MOST_SETTINGS);
    snprintf(t->word[t->count], sizeof t->word[0], "%s", value);
    t->setting[t->count] = (pbd_setting){key, NULL};
    t->count++;
}

static const pbd_param *param_named(const pbd_case *c, const char *name) {
    for (const pbd_param *p = c->params; p->name; p++)
        if (strcmp(p->name, name) == 0) return p;
    return NULL;
}

/* Settings for small bodies, as far as the case has these parameters. */
static trial small(const pbd_case *c) {
    static const char *const words[][2] = {
        {"particles", "60"}, {"cells", "2"}, {"reference", "none"}, {"across", "3"}, {"particles_each", "60"}};
    trial t = {.count = 0};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const pbd_param *p = param_named(c, words[k][0]);
        if (p && p->kind != PBD_FILE) set(&t, words[k][0], words[k][1]);
    }
    return t;
}

/* Builds the case, and hashes it to *print. Returns false if it refuses these settings, which is not an error here. */
static bool build(const pbd_case *c, const trial *t, const char *looked, XXH128_hash_t *print, bool *read) {
    static const pbd_param none[] = {{0}};
    const pbd_method nobody = {.name = "nobody", .params = none};
    pbd_values values, of_method;
    pbd_setup setup = {0};
    pbd_setting setting[MOST_SETTINGS];
    for (size_t i = 0; i < t->count; i++) setting[i] = (pbd_setting){t->setting[i].key, t->word[i]};
    if (pbd_resolve(c, &nobody, setting, t->count, &values, &of_method).code != PBD_OK) return false;
    const bool built = pbd_case_build(c, &values, &setup).code == PBD_OK;
    if (built) *print = print_of(&setup);
    if (looked) *read = pbd_is_read(looked, &values, &of_method);
    if (built) pbd_case_free(c, &setup);
    pbd_values_free(&values);
    pbd_values_free(&of_method);
    return built;
}

/* Writes another value of a parameter than `has`; returns false if there is none to try. */
static bool other_value(const pbd_param *p, const char *has, int which, char out[60]) {
    if (p->kind == PBD_CHOICE) {
        int choices = 0, at = 0;
        while (p->choices[choices]) choices++;
        while (at < choices - 1 && strcmp(p->choices[at], has) != 0) at++;
        snprintf(out, 60, "%s", p->choices[(at + 1 + which) % choices]);
        return 1 + which < choices;
    }
    if (p->kind != PBD_REAL && p->kind != PBD_INTEGER) return false;
    const double x = strtod(has, NULL), step = p->kind == PBD_INTEGER ? 1 : x != 0 ? 0.1 * fabs(x) : 0.1;
    const double next = x + step <= p->max ? x + step : x - step;
    snprintf(out, 60, "%.17g", next);
    return which == 0 && next >= p->min && next != x;
}

static const char *value_in(const trial *t, const pbd_param *p) {
    const char *value = p->preset;
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->setting[i].key, p->name) == 0) value = t->word[i];
    return value;
}

/* In this variant of a case, fails if a parameter that is declared as not read changes the scene. Appends to `mute`
 * those that are read but do not change it. */
static void check_variant(const pbd_case *c, const trial *variant, size_t *unread, char *mute, size_t bytes) {
    XXH128_hash_t before, after;
    if (!build(c, variant, NULL, &before, NULL)) return;
    for (const pbd_param *p = c->params; p->name; p++) {
        trial changed = *variant;
        char value[60];
        bool read;
        if (!other_value(p, value_in(variant, p), 0, value)) continue;
        set(&changed, p->name, value);
        if (!build(c, &changed, p->name, &after, &read)) continue;
        const bool same = XXH128_isEqual(before, after) != 0;
        *unread += !read;
        if (!read && !same)
            fail_msg("%s: %s=%s is not read, but changes the scene (variant %s=%s)", c->name, p->name, value,
                     variant->setting[variant->count - 1].key, variant->word[variant->count - 1]);
        char word[80];
        snprintf(word, sizeof word, " %s ", p->name);
        if (read && same && !strstr(mute, word) && strlen(mute) + strlen(word) < bytes) strcat(mute, word);
    }
}

/* Parameters that are read in some variant without changing the scene: by the case's metrics, by methods that take them
 * from the case's values, by contact within methods; or whose change is too small for so few particles. */
static const char *const mute_rows[][2] = {
    {"blocks_collide", " floor_friction contact_radius "},
    {"cantilever", " same_mesh "},
    {"bunny_drop", " self_distance contact_layers "},
    {"heavy_drop", " object_radius "},
    {"liquid_drop", " h kernel k c rest_density "},
    {"notched_block", " notch "},
    {"paint_on_cloth", " friction "},
    {"particle_pairs", " dimensions kernel k c jitter rest_density "},
    {"rotation", " radius "},
    {"sampled_shape", " fixed_depth contact_layers "},
    {"sampled_towel", " length "},
    {"sand_column", " particles "},
    {"sausages", " contact_layers "},
    {"still_water", " width "},
    {"tool_cut", " h kernel k c "},
    {"tori", " room contact_layers "},
};

static bool may_be_mute(const char *name, const char *word) {
    for (size_t i = 0; i < sizeof mute_rows / sizeof *mute_rows; i++)
        if (strcmp(mute_rows[i][0], name) == 0 && strstr(mute_rows[i][1], word)) return true;
    return false;
}

static void check_case(const pbd_case *c, size_t *unread) {
    char mute[2000] = " ", value[60];
    const trial plain = small(c);
    check_variant(c, &plain, unread, mute, sizeof mute);
    for (const pbd_param *p = c->params; p->name; p++)
        for (int k = 0; p->kind == PBD_CHOICE && other_value(p, p->preset, k, value); k++) {
            trial variant = plain;
            set(&variant, p->name, value);
            check_variant(c, &variant, unread, mute, sizeof mute);
        }
    for (const pbd_param *p = c->params; p->name; p++) {
        char word[80];
        snprintf(word, sizeof word, " %s ", p->name);
        if (strstr(mute, word) && !may_be_mute(c->name, word))
            fail_msg("%s: %s is read by no part of the scene in some variant: give it a condition", c->name, p->name);
    }
}

/* Sanitizers take ten times as long: only every fifth case. */
enum { CASE_STEP = SANITIZED ? 5 : 1 };

static void test_scenes(void **unused) {
    (void)unused;
    size_t unread = 0;
    for (size_t i = 0; i < pbd_case_count(); i += CASE_STEP)
        if (!pbd_param_asked(pbd_case_at(i)->params)) check_case(pbd_case_at(i), &unread);
    assert_true(CASE_STEP > 1 || unread > 500);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static size_t stored_runs(const char *db) {
    told t = tell("list", "runs", "--json", "--db", db);
    size_t runs = 0;
    for (const char *at = t.out; (at = strstr(at, "\"run_id\"")) != NULL; at++) runs++;
    forget(&t);
    return runs;
}

/* The two commands of issue 22, N9, which used to be accepted silently. */
static void test_refused(void **unused) {
    (void)unused;
    char db[PATH_MAX + 320];
    snprintf(db, sizeof db, "%s", in_workplace("refused.db"));
    told t = tell("run", "goo_drop", "-m", "xpbi", "-a", "yield_stress=50,500", "-s", "particles=30", "-s",
                  "duration=1e-3", "-q", "--db", db);
    expect_code(t, 2);
    expect_says(t.err, "yield_stress is not read with flow=snow, only with flow=von_mises|");
    expect_says(t.err, "set that, or remove yield_stress");
    forget(&t);
    t = tell("run", "goo_drop", "-m", "mpm", "-s", "spacing=.02", "-s", "particles=50", "-q", "--db", db);
    expect_code(t, 2);
    expect_says(t.err, "particles is not read with spacing=0.02, only with spacing=0: set that, or remove particles");
    forget(&t);
    t = tell("run", "cube_shear", "-m", "pbd_distance", "-s", "k_edge=0.1", "-q", "--db", db);
    expect_code(t, 2);
    expect_says(t.err, "k_edge is not read with stiffness=fitted, only with stiffness=fixed");
    forget(&t);
    assert_int_equal(access(db, F_OK), -1);
}

/* stiffness=polynomial does not read k_edge: its two values give one run; with fixed they give two. */
static void test_folded(void **unused) {
    (void)unused;
    char db[PATH_MAX + 320];
    snprintf(db, sizeof db, "%s", in_workplace("folded.db"));
    told t = tell("run", "cube_shear", "-m", "pbd_distance", "-a", "stiffness=polynomial,fixed", "-a",
                  "k_edge=0.05,0.1", "--db", db);
    expect_code(t, 0);
    expect_says(t.err, "1 point of the axes left out");
    forget(&t);
    assert_int_equal(stored_runs(db), 3);
    /* A setting that only one of several variants reads. */
    t = tell("run", "cube_shear", "-m", "pbd_distance", "-a", "stiffness=polynomial,fixed", "-s", "k_face=0.2", "-q",
             "--db", db);
    expect_code(t, 0);
    forget(&t);
    assert_int_equal(stored_runs(db), 5);
}

/* The command of a stored run sets all parameters: it is accepted, and gives the same cell. */
static void test_stored_command(void **unused) {
    (void)unused;
    char db[PATH_MAX + 320], command[8000];
    snprintf(db, sizeof db, "%s", in_workplace("command.db"));
    told t = tell("run", "cube_shear", "-m", "pbd_distance", "-a", "stiffness=polynomial,fixed", "-s", "k_face=0.2",
                  "-q", "--json", "--db", db);
    expect_code(t, 0);
    char *first = strtok(t.out, "\n"), id[33] = "", again[33] = "";
    assert_non_null(strstr(first, "\"polynomial\""));
    sscanf(strstr(first, "\"run_id\":\"") + 10, "%32[0-9a-f]", id);
    told show = tell("show", id, "--db", db);
    expect_code(show, 0);
    const char *at = strstr(show.out, "pbdbench run cube_shear");
    assert_non_null(at);
    snprintf(command, sizeof command, "\"$PBDBENCH_PROGRAM\" %.*s -q --json --no-store", (int)strcspn(at + 9, "\n"),
             at + 9);
    FILE *pipe = popen(command, "r");
    char line[20000] = "";
    assert_non_null(fgets(line, sizeof line, pipe));
    assert_int_equal(pclose(pipe), 0);
    char *cell = strstr(line, "\"cell_id\":\""), *was = strstr(first, "\"cell_id\":\"");
    assert_true(cell && was);
    snprintf(again, sizeof again, "%.32s", cell + 11);
    assert_int_equal(strncmp(again, was + 11, 32), 0);
    forget(&show);
    forget(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),       cmocka_unit_test(test_tables),         cmocka_unit_test(test_wrong_tables),
        cmocka_unit_test(test_flow_rules), cmocka_unit_test(test_scenes),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_folded),     cmocka_unit_test(test_stored_command),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
