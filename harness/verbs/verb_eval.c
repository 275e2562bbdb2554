/* eval: the physics on rows of numbers from standard input, with the methods' code in f64: a calculator, and an
 * interface for checks by other programs. */
#include <string.h>

#include "harness/verbs/cli.h"
#include "harness/verbs/evaluate.h"

static const pbd_option table[] = {
    PBD_OPT_CHOICE(pbd_eval_options, material, "material", 'm', "LAW", PBD_EVAL_LAWS, "stress: the elastic law"),
    PBD_OPT_CHOICE(pbd_eval_options, rule, "rule", 0, "RULE", PBD_EVAL_RULES, "flow: the flow rule"),
    PBD_OPT_CHOICE(pbd_eval_options, kernel, "kernel", 0, "KERNEL", "poly6|cubic_spline|wendland_c2|spiky",
                   "kernel: the smoothing kernel"),
    PBD_OPT_MANY(pbd_eval_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_NONE, "a parameter; below"),
    PBD_OPT_FLAG(pbd_eval_options, uniaxial, "uniaxial", 0,
                 "stress: rows are stretches of a bar with free sides; output is\n"
                 "stretch, lateral stretch, nominal stress (nan: no such state)"),
    {0}};

typedef struct evaluation {
    const char *name;
    pbd_status (*run)(const pbd_eval_options *);
} evaluation;

static const evaluation evaluations[] = {
    {"stress", pbd_eval_stress}, {"flow", pbd_eval_flow}, {"kernel", pbd_eval_kernel}};
enum { EVALUATIONS = sizeof evaluations / sizeof *evaluations };

/* Refuses an option that belongs to another evaluation. */
static pbd_status refuse_foreign(const char *name, const pbd_eval_options *o) {
    const struct {
        const char *option, *owner;
        bool given;
    } one[] = {{"material", "stress", o->material != NULL},
               {"uniaxial", "stress", o->uniaxial},
               {"rule", "flow", o->rule != NULL},
               {"kernel", "kernel", o->kernel != NULL}};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (one[i].given && strcmp(one[i].owner, name) != 0)
            return pbd_error(PBD_BAD_INPUT, "--%s is an option of eval %s, not of eval %s", one[i].option, one[i].owner,
                             name);
    return pbd_ok();
}

static pbd_status act(void *options, pbd_call *call) {
    const pbd_eval_options *o = options;
    const pbd_texts *words = call->words;
    const char *names[EVALUATIONS];
    if (call->help) {
        pbd_verb_help(&pbd_verb_eval);
        pbd_eval_flow_help();
        return pbd_ok();
    }
    if (words->count != 1)
        return pbd_error(PBD_BAD_INPUT, "eval needs what to evaluate: pbdbench eval stress, flow or kernel");
    for (size_t i = 0; i < EVALUATIONS; i++) {
        names[i] = evaluations[i].name;
        if (strcmp(words->item[0], names[i]) != 0) continue;
        PBD_TRY(refuse_foreign(names[i], o));
        return evaluations[i].run(o);
    }
    return pbd_unknown("evaluation", words->item[0], names, EVALUATIONS, "pbdbench eval --help");
}

static int verb_main(int argc, char **argv) {
    pbd_eval_options o = {0};
    return pbd_verb_call(&pbd_verb_eval, argc, argv, &o, act);
}

const pbd_verb pbd_verb_eval = {
    .name = "eval",
    .summary = "material laws, flow rules and kernels on rows of numbers",
    .usage =
        "eval stress --material LAW [-s key=value]... [--uniaxial] < ROWS\n"
        "eval flow --rule RULE [-s key=value]... < ROWS\n"
        "eval kernel --kernel KERNEL -s radius=R < ROWS",
    .about =
        "Reads rows of CSV from standard input and writes one line for each, in double precision with 17 digits.\n"
        "Lines that begin with # are skipped. Formulas: methods/physics/README.md\n"
        "\n"
        "  stress   rows are the nine numbers of the deformation gradient F, row by row; output is the nine of the\n"
        "           first Piola-Kirchhoff stress P (Pa), row by row, and the energy density (J/m^3). nan: the law is\n"
        "           undefined there (det F <= 0 for laws of log J)\n"
        "  flow     rows are the nine numbers of a trial F; output is the nine of the elastic F after flow, then the\n"
        "           hardening state of rules that have one. Every F has a result: stretches below 1e-4 (collapsed\n"
        "           or reflected F) count as 1e-4, and no result is reflected\n"
        "  kernel   rows are a distance r (m); output is W (1/m^3; 1/m^2 in a plane) and dW/dr (1/m^4)",
    .more =
        "Parameters of stress (E and nu are those of flow too: Hencky's law, but nacc Wolper's own):\n"
        "  E          Young's modulus, (0, inf) Pa; default 1\n"
        "  nu         Poisson's ratio, (-1, 0.5); default 0.3\n"
        "  join       none|printed|continuous|shifted|clamp: continuation of the law where singular values of F are\n"
        "             below the threshold; default none\n"
        "  threshold  [0, 1); default 1/sqrt(3), and 0 for join=printed except with stvk\n"
        "\n"
        "Parameters of kernel: one of\n"
        "  radius     (0, inf) m, the papers' h or r: the support is that (poly6) or twice that (the others)\n"
        "  support    (0, inf) m\n"
        "and dimensions=1|2|3, in which the kernel is normalised; default 3\n"
        "\n"
        "Examples: echo 1.1,0,0,0,1,0,0,0,1 | pbdbench eval stress --material stvk -s E=3000 -s nu=0.4\n"
        "          echo 1.1,0,0,0,1,0,0,0,1 | pbdbench eval flow --rule von_mises -s E=1e4 -s yield_stress=100\n"
        "          seq 0 0.01 0.1 | pbdbench eval kernel --kernel poly6 -s radius=0.1",
    .options = table,
    .words = PBD_WORDS_CHOICES,
    .choices = "stress|flow|kernel",
    .prints_help = true,
    .main = verb_main,
};
