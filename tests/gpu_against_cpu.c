/* Every method on every case that it can run, on a GPU: it gives the CPU's answer, and the same answer to the bit when
 * it runs once more.
 *
 *   gpu_against_cpu [cuda|emu] [METHOD]...
 *
 * Bodies are small and steps few. What two orders of sums may do to a motion is measured and not guessed: the bound in
 * f32 is MARGIN times the distance of f32 from f64 on the CPU after the same steps, with a few units in the last place
 * of the body's extent at least; in f64 it is a thousandth of that in the same proportion, since a cut-off that falls
 * to the other side (a contact, a yield surface) does not shrink with the precision. Exit code 77 says that there is no
 * GPU, and why. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/backend.h"
#include "harness/record.h"
#include "harness/scene_check.h"
#include "harness/values.h"

enum { SKIPPED = 77, STEPS = 4, MOST_WORDS = 16 };
static const double MARGIN = 8, SHARE_OF_F64 = 1e-3;

/* ---- One march --------------------------------------------------------------------------------------------------- */

typedef struct march {
    const pbd_case *c;
    const pbd_method_entry *method;
    const char *variant; /* "key=value" of case or method, or "" */
} march;

/* Settings that make bodies small, of those that the case knows. */
static size_t settings_of(const march *m, pbd_setting *setting) {
    static const char *const words[] = {"cells=2",     "particles=300", "mode=dynamic",  "reference=none",
                                        "across=3",    "tori=2",        "sausages=1",    "particles_each=200",
                                        "stretch=1.1", "length=1.5",    "duration=0.01", "stir=0.05"};
    size_t count = 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        for (const pbd_param *p = m->c->params; p->name; p++) {
            const size_t length = strlen(p->name);
            if (strncmp(words[k], p->name, length) == 0 && words[k][length] == '=' &&
                pbd_setting_parse(words[k], &setting[count]).code == PBD_OK)
                count++;
        }
    if (*m->variant && pbd_setting_parse(m->variant, &setting[count]).code == PBD_OK) count++;
    return count;
}

typedef struct answer {
    pbd_status status;
    size_t particles;
    double extent;
    double *x; /* to be freed */
} answer;

static double step_of(const pbd_values *values) {
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->item[i].param->name, "dt") == 0 && values->item[i].number > 0) return values->item[i].number;
    return 1e-3;
}

static pbd_status go(const pbd_method *method, const pbd_scene *scene, const pbd_values *values, pbd_exec *exec,
                     pbd_recorder *recorder, void **state, answer *out) {
    PBD_TRY(pbd_check_scene(scene, method));
    PBD_TRY(method->create(scene, values, exec, recorder, state));
    for (int i = 0; i < STEPS; i++) PBD_TRY(method->step(*state, step_of(values)));
    out->particles = scene->particles;
    out->extent = scene->extent;
    out->x = malloc((3 * scene->particles + 1) * sizeof *out->x);
    return out->x ? method->read(*state, PBD_POSITIONS, out->x) : pbd_error(PBD_FAILED, "out of memory");
}

static answer march_on(const march *m, int backend, pbd_precision precision) {
    const pbd_method *method = m->method->by_precision[precision];
    answer out = {0};
    pbd_setting setting[MOST_WORDS];
    pbd_values of_case = {0}, of_method = {0};
    pbd_scene scene = {0};
    pbd_exec *exec = NULL;
    void *state = NULL;
    pbd_result result = {0};
    pbd_recorder *recorder = pbd_recorder_create(&result, NULL);
    const size_t count = settings_of(m, setting);
    out.status = pbd_resolve(m->c, method, setting, count, &of_case, &of_method);
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    if (out.status.code == PBD_OK) out.status = m->c->build(&of_case, &scene);
    if (out.status.code == PBD_OK) out.status = pbd_exec_create(backend, 1, &exec);
    if (out.status.code == PBD_OK) out.status = go(method, &scene, &of_method, exec, recorder, &state, &out);
    method->destroy(state);
    pbd_exec_destroy(exec);
    m->c->free_scene(&scene);
    pbd_values_free(&of_case);
    pbd_values_free(&of_method);
    pbd_recorder_destroy(recorder);
    pbd_result_free(&result);
    return out;
}

/* The largest distance along an axis; infinite where one has no number. */
static double distance(const answer *a, const answer *b) {
    double most = 0;
    for (size_t k = 0; k < 3 * a->particles; k++) {
        const double off = fabs(a->x[k] - b->x[k]);
        most = off > most || isnan(off) ? (isnan(off) ? (double)INFINITY : off) : most;
    }
    return most;
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

typedef struct tally {
    int compared, failed, left_out;
} tally;

static void complain(tally *t, const march *m, const char *what, const char *more) {
    printf("FAILED  %s on %s %s: %s%s\n", m->method->by_precision[1]->name, m->c->name, m->variant, what, more);
    t->failed++;
}

static void compare_precision(tally *t, const march *m, int backend, pbd_precision precision, const answer *cpu,
                              double bound) {
    answer first = march_on(m, backend, precision), second = march_on(m, backend, precision);
    const char *name = pbd_precision_name(precision);
    if (first.status.code != PBD_OK || second.status.code != PBD_OK) {
        complain(t, m, name, first.status.code != PBD_OK ? first.status.text : second.status.text);
    } else {
        const double off = distance(cpu, &first);
        printf("%s  %-14s %-18s %-24s %s  %.2g m off, %.2g of the bound\n", off <= bound ? "ok    " : "FAILED",
               m->method->by_precision[1]->name, m->c->name, m->variant, name, off, off / bound);
        t->failed += !(off <= bound);
        if (memcmp(first.x, second.x, 3 * first.particles * sizeof *first.x) != 0)
            complain(t, m, name, ": the second run has another answer");
    }
    t->compared++;
    free(first.x);
    free(second.x);
}

static void compare(tally *t, const march *m, int backend) {
    answer f32 = march_on(m, PBD_CPU, PBD_PRECISION_F32), f64 = march_on(m, PBD_CPU, PBD_PRECISION_F64);
    if (f32.status.code != PBD_OK || f64.status.code != PBD_OK) {
        const pbd_status *why = f64.status.code != PBD_OK ? &f64.status : &f32.status;
        printf("left out  %s on %s %s: %s\n", m->method->by_precision[1]->name, m->c->name, m->variant, why->text);
        t->left_out++;
    } else {
        const double least = 16 * FLT_EPSILON * f64.extent, grown = distance(&f32, &f64);
        const double bound = MARGIN * (grown > least ? grown : least);
        compare_precision(t, m, backend, PBD_PRECISION_F32, &f32, bound);
        compare_precision(t, m, backend, PBD_PRECISION_F64, &f64, SHARE_OF_F64 * bound);
    }
    fflush(stdout);
    free(f32.x);
    free(f64.x);
}

static const pbd_param *choice_named(const pbd_param *params, const char *name) {
    for (const pbd_param *p = params; p->name; p++)
        if (p->kind == PBD_CHOICE && strcmp(p->name, name) == 0) return p;
    return NULL;
}

/* The method's orders of projection, and, where it takes them, the case's flow rules. */
static void compare_variants(tally *t, march *m, int backend) {
    const pbd_method *method = m->method->by_precision[1];
    const pbd_param *axis[] = {choice_named(method->params, "solver"),
                               method->takes & PBD_TAKES_FLOW ? choice_named(m->c->params, "flow") : NULL};
    char words[80];
    int variants = 0;
    for (size_t a = 0; a < 2; a++)
        for (size_t k = 0; axis[a] && axis[a]->choices[k]; k++) {
            snprintf(words, sizeof words, "%s=%s", axis[a]->name, axis[a]->choices[k]);
            m->variant = words;
            compare(t, m, backend);
            variants++;
        }
    m->variant = "";
    if (variants == 0) compare(t, m, backend);
}

static bool is_wanted(const char *name, char **names) {
    if (!*names) return true;
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

/* What holds no particles of a scene is for the case's own tests: a file that must be given, say. */
static bool must_be_given(const pbd_case *c) {
    for (const pbd_param *p = c->params; p->name; p++)
        if (pbd_param_is_asked(p)) return true;
    return false;
}

static tally compare_all(int backend, char **names) {
    tally t = {0};
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_method_entry *entry = pbd_method_at(i);
        const pbd_method *method = entry->by_precision[1];
        if (!is_wanted(method->name, names)) continue;
        if (!(method->backends & (unsigned)backend) || !method->step) {
            printf("left out  %s: %s\n", method->name, method->step ? "it runs on the CPU alone" : "it takes no steps");
            t.left_out++;
            continue;
        }
        for (size_t k = 0; k < pbd_case_count(); k++) {
            march m = {pbd_case_at(k), entry, ""};
            if (!pbd_missing_needs(method, m.c) && !must_be_given(m.c)) compare_variants(&t, &m, backend);
        }
    }
    return t;
}

int main(int argc, char **argv) {
    const bool emu = argc > 1 && strcmp(argv[1], "emu") == 0, named = argc > 1 && (emu || strcmp(argv[1], "cuda") == 0);
    if (!emu && *pbd_cuda_missing()) {
        printf("skipped: %s\n", pbd_cuda_missing());
        return SKIPPED;
    }
    const tally t = compare_all(emu ? PBD_EMU : PBD_CUDA, argv + (named ? 2 : 1));
    printf("%d compared, %d failed, %d left out\n", t.compared, t.failed, t.left_out);
    return t.failed > 0 || t.compared == 0;
}
