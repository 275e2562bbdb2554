/* Words of `-s` and `-a`. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "harness/catalog/registry.h"
#include "harness/catalog/resolve.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_WORDS = 16, MOST_CASES = 128 };

/* A case of few particles, kept for the whole process. */
typedef struct small_case {
    bool made, built;
    pbd_setting setting[8];
    size_t settings;
    pbd_values of_case, of_method;
    pbd_setup setup;
} small_case;

static bool has_parameter(const pbd_param *params, const char *name) {
    for (const pbd_param *p = params; p && p->name; p++)
        if (strcmp(p->name, name) == 0) return true;
    return false;
}

static small_case *small_case_at(size_t number) {
    static small_case all[MOST_CASES];
    static const pbd_setting few[] = {{"particles", "60"}, {"particles_each", "60"},
                                      {"cells", "2"},      {"across", "4"},
                                      {"tori", "1"},       {"nx", "3"},
                                      {"ny", "3"},         {"nz", "3"}};
    small_case *s = &all[number];
    const pbd_case *c = pbd_case_at(number);
    const pbd_method *m = pbd_method_at(0)->by_precision[PBD_PRECISION_F64];
    if (s->made) return s;
    s->made = true;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        if (has_parameter(c->params, few[i].key)) s->setting[s->settings++] = few[i];
    const pbd_scene none = {0};
    s->built = judge(pbd_resolve_in(&none, c, m, s->setting, s->settings, &s->of_case, &s->of_method)) &&
               judge(pbd_case_build(c, &s->of_case, &s->setup));
    return s;
}

/* Whether a body of these values has about as few particles as the small one: no more along an edge, no edge of
 * another length. */
static bool is_small(const small_case *s, const pbd_values *values) {
    for (size_t i = 0; i < values->count; i++) {
        const pbd_value *v = &values->item[i];
        const double x = v->number, least = s->of_case.item[i].number;
        if (v->param->kind == PBD_FILE && strcmp(v->words, s->of_case.item[i].words) != 0) return false;
        if (v->param->kind == PBD_INTEGER && x > least) return false;
        if (v->param->kind == PBD_REAL && strcmp(v->param->unit, "m") == 0 && !(x >= least / 2 && x <= 2 * least))
            return false;
    }
    return true;
}

/* Whether a body of these values was built before in this process: it would be the same. */
static bool was_built(size_t number, const pbd_values *values) {
    static XXH64_hash_t built[1 << 14]; /* by the last bits; one takes the place of another */
    XXH64_hash_t hash = number;
    for (size_t i = 0; i < values->count; i++) {
        const pbd_value *v = &values->item[i];
        const char *text = v->words ? v->words : v->text;
        hash = XXH3_64bits_withSeed(text, strlen(text) + 1, hash);
    }
    XXH64_hash_t *at = &built[hash % (sizeof built / sizeof *built)];
    const bool known = *at == hash;
    *at = hash;
    return known;
}

/* Words are resolved in a small scene of the case, since `auto` would build that of the words, which may take seconds;
 * their own is built where it is small. */
static void take_words(size_t number, const pbd_method *m, const pbd_setting *setting, size_t settings) {
    const pbd_case *c = pbd_case_at(number);
    small_case *s = small_case_at(number);
    pbd_setting all[MOST_WORDS + 8];
    pbd_values of_case, of_method;
    pbd_setup setup = {0};
    memcpy(all, s->setting, s->settings * sizeof *all);
    memcpy(all + s->settings, setting, settings * sizeof *all);
    if (!judge(pbd_resolve_in(&s->setup.scene, c, m, all, s->settings + settings, &of_case, &of_method))) return;
    if (s->built && is_small(s, &of_case) && !was_built(number, &of_case) && judge(pbd_case_build(c, &of_case, &setup)))
        pbd_case_free(c, &setup);
    pbd_values_free(&of_case);
    pbd_values_free(&of_method);
}

/* Two bytes choose case and method; then words of `-s`, or of `-a` (they begin with +), a line each. */
void fuzz_words(const uint8_t *data, size_t size) {
    if (size < 2) return;
    const pbd_method *m = pbd_method_at(data[1] % pbd_method_count())->by_precision[PBD_PRECISION_F64];
    pbd_setting setting[MOST_WORDS];
    size_t settings = 0;
    char *text = text_of(data + 2, size - 2), *rest = text;
    for (char *word; (word = strsep(&rest, "\n")) != NULL && settings < MOST_WORDS;) {
        pbd_axis axis;
        if (*word == '+') {
            if (judge(pbd_axis_parse(word + 1, &axis))) pbd_axis_free(&axis);
        } else if (judge(pbd_setting_parse(word, &setting[settings]))) {
            settings++;
        }
    }
    take_words(data[0] % pbd_case_count() % MOST_CASES, m, setting, settings);
    for (size_t i = 0; i < settings; i++) pbd_setting_free(&setting[i]);
    free(text);
}
