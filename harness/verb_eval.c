/* eval: the physics on rows of numbers from standard input. A calculator for people, and a door for checks from
 * outside: what is evaluated is what the methods run, in f64. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/csv_rows.h"

#define REAL double
#include "methods/physics/uniaxial.h"

typedef struct eval_options {
    const char *material;
    pbd_texts sets;
    bool uniaxial;
} eval_options;

static const pbd_option table[] = {
    PBD_OPT_CHOICE(eval_options, material, "material", 'm', "LAW",
                   "corotated|stvk|neo_hookean|stable_neo_hookean|hencky", "stress: the elastic law"),
    PBD_OPT_MANY(eval_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_NONE, "a parameter; below"),
    PBD_OPT_FLAG(eval_options, uniaxial, "uniaxial", 0,
                 "stress: rows are stretches of a bar with free sides, and answers\n"
                 "stretch, lateral stretch, nominal stress (nan: no such state)"),
    {0}};

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static const char *const laws[] = {"corotated", "stvk", "neo_hookean", "stable_neo_hookean", "hencky", NULL};
static const char *const joins[] = {"none", "printed", "continuous", "shifted", "clamp", NULL};
_Static_assert(PBD_LAW_HENCKY == 4 && PBD_JOIN_CLAMP == 4, "laws and joins are named in the order of their enums");

enum { KEY_E, KEY_NU, KEY_JOIN, KEY_THRESHOLD, KEYS };
static const pbd_param params[KEYS + 1] = {
    [KEY_E] = {"E", "Pa", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},
    [KEY_NU] = {"nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"},
    [KEY_JOIN] = {"join", "", PBD_CHOICE, "none", 0, 0, 0, joins, "what joins the law under compression and inversion"},
    [KEY_THRESHOLD] = {"threshold", "", PBD_REAL, "0.57735026918962576", 0, 1, PBD_OPEN_MAX, NULL,
                       "singular value under which the join acts"},
};

typedef struct settings {
    pbd_value value[KEYS];
    bool given[KEYS];
} settings;

static pbd_status take_setting(const char *word, settings *s) {
    const char *names[KEYS];
    for (int k = 0; k < KEYS; k++) names[k] = params[k].name;
    pbd_setting setting;
    PBD_TRY(pbd_setting_parse(word, &setting));
    int key = 0;
    while (key < KEYS && strcmp(setting.key, names[key]) != 0) key++;
    pbd_status status;
    if (key == KEYS)
        status = pbd_unknown("parameter of eval stress", setting.key, names, KEYS, "pbdbench eval --help");
    else
        status = pbd_parse_value(&params[key], setting.value, "eval stress", &s->value[key]);
    if (key < KEYS) s->given[key] = true;
    pbd_setting_free(&setting);
    return status;
}

static pbd_status find_law(const char *name, pbd_law *out) {
    if (!name)
        return pbd_error(PBD_BAD_INPUT,
                         "eval stress needs a law: --material corotated, stvk, neo_hookean, "
                         "stable_neo_hookean or hencky");
    int law = 0;
    while (strcmp(laws[law], name) != 0) law++; /* the table of options has checked it */
    *out = (pbd_law)law;
    return pbd_ok();
}

static pbd_status make_material(const eval_options *o, hyperelastic *out) {
    settings s = {0};
    pbd_law law = PBD_LAW_COROTATED;
    PBD_TRY(find_law(o->material, &law));
    for (int k = 0; k < KEYS; k++) PBD_TRY(pbd_parse_value(&params[k], params[k].preset, "eval stress", &s.value[k]));
    for (size_t i = 0; i < o->sets.count; i++) PBD_TRY(take_setting(o->sets.item[i], &s));

    const pbd_join join = (pbd_join)(int)s.value[KEY_JOIN].number;
    if (join != PBD_JOIN_NONE && join != PBD_JOIN_CLAMP &&
        (law == PBD_LAW_COROTATED || law == PBD_LAW_STABLE_NEO_HOOKEAN))
        return pbd_error(PBD_BAD_INPUT, "%s is defined for every F and needs no join; leave join=%s out", laws[law],
                         joins[join]);
    if (join == PBD_JOIN_NONE && s.given[KEY_THRESHOLD])
        return pbd_error(PBD_BAD_INPUT, "threshold goes with a join: -s join=printed, continuous, shifted or clamp");
    const double threshold = s.given[KEY_THRESHOLD] ? s.value[KEY_THRESHOLD].number : hyperelastic_threshold(law, join);
    if (threshold <= 0 && join != PBD_JOIN_NONE && join != PBD_JOIN_PRINTED &&
        (law == PBD_LAW_NEO_HOOKEAN || law == PBD_LAW_HENCKY))
        return pbd_error(PBD_BAD_INPUT,
                         "%s has no stress at a singular value of 0: join=%s needs a threshold in (0, 1)", laws[law],
                         joins[join]);
    *out = hyperelastic_make(law, join, s.value[KEY_E].number, s.value[KEY_NU].number, threshold);
    return pbd_ok();
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* 17 significant digits; NaN without the sign that some machines give it. */
static void print_row(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            printf("%snan", i ? "," : "");
        else
            printf("%s%.17g", i ? "," : "", values[i]);
    }
    putchar('\n');
}

static void print_stress(hyperelastic m, const double f[9]) {
    const stressed s =
        stress(m, mat3_make(vec3_make(f[0], f[3], f[6]), vec3_make(f[1], f[4], f[7]), vec3_make(f[2], f[5], f[8])));
    const double row[10] = {s.p.x.x, s.p.y.x, s.p.z.x, s.p.x.y, s.p.y.y, s.p.z.y, s.p.x.z, s.p.y.z, s.p.z.z, s.psi};
    print_row(row, 10);
}

static void print_uniaxial(hyperelastic m, const double *stretch) {
    const uniaxial u = uniaxial_solve(m, *stretch);
    const double row[3] = {*stretch, u.lateral, u.nominal};
    print_row(row, 3);
}

static pbd_status eval_stress(const eval_options *o) {
    hyperelastic m;
    pbd_rows *rows = NULL;
    PBD_TRY(make_material(o, &m));
    PBD_TRY(pbd_rows_open(stdin, "standard input", &rows));
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* whoever writes a row can read its answer before the next */
    pbd_status status = pbd_ok();
    bool more = true;
    while (more && status.code == PBD_OK && !ferror(stdout)) {
        double row[9];
        status = pbd_rows_next(rows, o->uniaxial ? 1 : 9, row, &more);
        if (more && o->uniaxial) print_uniaxial(m, row);
        if (more && !o->uniaxial) print_stress(m, row);
    }
    pbd_rows_close(rows);
    return status;
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

typedef struct evaluation {
    const char *name;
    pbd_status (*run)(const eval_options *);
} evaluation;

static const evaluation evaluations[] = {{"stress", eval_stress}};
enum { EVALUATIONS = sizeof evaluations / sizeof *evaluations };

static pbd_status eval(const eval_options *o, const pbd_texts *words) {
    const char *names[EVALUATIONS];
    if (words->count != 1) return pbd_error(PBD_BAD_INPUT, "eval takes what to evaluate: pbdbench eval stress");
    for (size_t i = 0; i < EVALUATIONS; i++) {
        names[i] = evaluations[i].name;
        if (strcmp(words->item[0], names[i]) == 0) return evaluations[i].run(o);
    }
    return pbd_unknown("evaluation", words->item[0], names, EVALUATIONS, "pbdbench eval --help");
}

static int verb_main(int argc, char **argv) {
    eval_options o = {0};
    pbd_texts words;
    bool help;
    pbd_status status = pbd_options_parse("eval", table, argc, argv, &o, &words, &help);
    if (status.code == PBD_OK && !help) status = eval(&o, &words);
    pbd_texts_free(&words);
    pbd_texts_free(&o.sets);
    if (status.code != PBD_OK) return pbd_complain(status);
    return help ? pbd_verb_help(&pbd_verb_eval) : PBD_EXIT_OK;
}

const pbd_verb pbd_verb_eval = {
    .name = "eval",
    .summary = "the material laws on rows of numbers",
    .usage = "eval stress --material LAW [-s key=value]... [--uniaxial] < ROWS",
    .about =
        "Reads rows of CSV from standard input and writes one line for each, in double precision with 17 digits.\n"
        "Lines that begin with # are passed over.\n\n"
        "  stress   rows are the nine numbers of the deformation gradient F, row by row; answers are the nine of the\n"
        "           first Piola-Kirchhoff stress P (Pa), row by row, and the energy density (J/m^3). nan: the law is\n"
        "           undefined there (det F <= 0 for neo_hookean and hencky). Formulas: methods/physics/README.md",
    .more =
        "Parameters of stress:\n"
        "  E          Young's modulus, (0, inf) Pa; default 1\n"
        "  nu         Poisson's ratio, (-1, 0.5); default 0.3\n"
        "  join       none|printed|continuous|shifted|clamp: what joins the law where singular values of F are under\n"
        "             the threshold; default none, the plain law\n"
        "  threshold  [0, 1); default 1/sqrt(3), and 0 for join=printed but with stvk\n\n"
        "Example: echo 1.1,0,0,0,1,0,0,0,1 | pbdbench eval stress --material stvk -s E=3000 -s nu=0.4",
    .options = table,
    .words = PBD_WORDS_CHOICES,
    .choices = "stress",
    .main = verb_main,
};
