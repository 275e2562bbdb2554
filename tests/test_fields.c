/* Every method, asked for every field, writes exactly as many numbers as the contract says, or returns
 * PBD_NOT_SUPPORTED. */
#include "harness/catalog/resolve.h"
#include "tests/ladder.h"

static const struct {
    pbd_field field;
    size_t by_particle, fixed; /* numbers */
} fields[] = {{PBD_POSITIONS, 3, 0},   {PBD_VELOCITIES, 3, 0}, {PBD_PREDICTED, 3, 0}, {PBD_DEFORMATION_GRADIENTS, 9, 0},
              {PBD_MEAN_STRESS, 0, 9}, {PBD_PRESSURES, 1, 0},  {PBD_EXCHANGE, 3, 0},  {(pbd_field)99, 0, 0}};

static const double SENTINEL = -12345.678;

static void check_fields(const solver *s, size_t particles) {
    const size_t room = 9 * particles + 64;
    double *out = malloc(room * sizeof *out);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        const size_t wanted = fields[f].by_particle * particles + fields[f].fixed;
        for (size_t i = 0; i < room; i++) out[i] = SENTINEL;
        const pbd_status status = s->method->read(s->state, fields[f].field, out);
        const size_t given = status.code == PBD_OK ? wanted : 0;
        if (status.code != PBD_OK && status.code != PBD_NOT_SUPPORTED) fail_msg("%s", status.text);
        if (status.code == PBD_OK && wanted == 0) fail_msg("%s has a field that there is not", s->method->name);
        for (size_t i = given; i < room; i++)
            if (out[i] != SENTINEL)
                fail_msg("%s, field %d: number %zu is written, %zu is the end", s->method->name, (int)fields[f].field,
                         i, given);
    }
    free(out);
}

/* Checks the fields of a method on a small body of a case. Returns false if the method refuses the scene. */
static bool try_case(const char *method, const pbd_method *m, const pbd_case *c) {
    static const char *const words[] = {"cells=2", "mode=dynamic", "stretch=1.1", "material=stvk", "fibre_stiffness=0"};
    const size_t words_count = strcmp(c->name, "towel") == 0 ? 5 : 3; /* cloth: the only law, without fibres */
    pbd_setting setting[5];
    size_t count = 0;
    solver s;
    pbd_setup setup = {0};
    pbd_values values = {0}, unused = {0};
    for (size_t k = 0; k < words_count; k++)
        for (const pbd_param *p = c->params; p->name; p++)
            if (strncmp(words[k], p->name, strlen(p->name)) == 0 && words[k][strlen(p->name)] == '=' &&
                !(k == 1 && !m->step))
                check_ok(pbd_setting_parse(words[k], &setting[count++]));
    check_ok(pbd_resolve(c, m, setting, count, &values, &unused));
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    pbd_values_free(&unused);
    check_ok(pbd_case_build(c, &values, &setup));
    pbd_status status = try_open(&s, method, PBD_PRECISION_F64, 1, &setup.scene, "");
    if (status.code == PBD_OK) check_fields(&s, setup.scene.particles.count);
    const bool done = status.code == PBD_OK;
    if (!done) s.state = NULL;
    solver_close(&s);
    pbd_case_free(c, &setup);
    pbd_values_free(&values);
    return done;
}

static void test_fields(void **unused) {
    (void)unused;
    static const char *const cases[] = {"uniaxial", "towel", "hex_fit", "sand_column", "still_water"};
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_method *m = pbd_method_at(i)->by_precision[PBD_PRECISION_F64];
        size_t done = 0;
        for (size_t k = 0; k < sizeof cases / sizeof *cases && !done; k++) {
            const pbd_case *c;
            check_ok(pbd_find_case(cases[k], &c));
            if (!pbd_missing_needs(m, c)) done = try_case(m->name, m, c);
        }
        if (!done) fail_msg("no case was found that %s runs on", m->name);
        print_message("    %s\n", m->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
