/* Every method on every case that it can run, on a GPU: the result must be that of the CPU, and equal to the bit when
 * repeated.
 *
 *   gpu_against_cpu [cuda|emu] [METHOD]... [CASE]...
 *
 * Bodies are small and steps few. The effect of another order of sums is measured: the bound in f32 is MARGIN times the
 * distance of f32 from f64 on the CPU after the same steps, and at least a few units in the last place of the largest
 * number. In f64 it is SHARE_OF_F64 of that, far above rounding, as steps amplify it, and far below the effect of any
 * error in the code. It applies to positions and velocities. Exit code 77: there is no GPU; the message says why.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/resolve.h"
#include "harness/catalog/scene_check.h"
#include "harness/catalog/values.h"
#include "harness/exec/backend.h"
#include "harness/plan/record.h"

enum { SKIPPED = 77, MOST_WORDS = 16 };

/* The emulation is slow and checks dependence on the order itself: fewer steps, and no second run. */
enum { STEPS = 4, EMULATED_STEPS = 1 };

/* Under ThreadSanitizer each emulated CUDA thread is a pthread. One iteration in one precision, with each order of
 * projection, covers the same kernels. */
#if defined(__SANITIZE_THREAD__)
enum { SPARING = 1 };
#else
enum { SPARING = 0 };
#endif
static const double MARGIN = 8, SHARE_OF_F64 = 1e-5;

/* ---- One march --------------------------------------------------------------------------------------------------- */

typedef struct march {
    const pbd_case *c;
    const pbd_method_entry *method;
    const char *variant; /* "key=value" of case or method, or "" */
    int steps;
} march;

/* Writes the settings, among those that the case knows, that make bodies small. Returns their number. */
static size_t settings_of(const march *m, pbd_setting *setting) {
    static const char *const words[] = {"cells=2",     "particles=300", "mode=dynamic",     "reference=none",
                                        "across=3",    "tori=2",        "sausages=1",       "particles_each=200",
                                        "stretch=1.1", "length=1.5",    "start_jitter=0.05"};
    size_t count = 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        for (const pbd_param *p = m->c->params; p->name; p++) {
            const size_t length = strlen(p->name);
            if (strcmp(p->name, "particles") == 0 && k == 1 && m->steps == EMULATED_STEPS) {
                if (pbd_setting_parse("particles=100", &setting[count]).code == PBD_OK) count++;
                continue;
            }
            if (strncmp(words[k], p->name, length) == 0 && words[k][length] == '=' &&
                pbd_setting_parse(words[k], &setting[count]).code == PBD_OK)
                count++;
        }
    /* Methods with flow rules need a law in Hencky strain, those of cloth that of Saint Venant and Kirchhoff. */
    const pbd_method *method = m->method->by_precision[1];
    const char *material = method->takes & PBD_TAKES_FLOW        ? "material=hencky"
                           : method->needs & PBD_NEEDS_TRIANGLES ? "material=stvk"
                                                                 : NULL;
    for (const pbd_param *p = m->c->params; material && p->name; p++)
        if (strcmp(p->name, "material") == 0 && pbd_setting_parse(material, &setting[count]).code == PBD_OK) count++;
    for (const pbd_param *p = method->params; SPARING && p->name; p++)
        if (strcmp(p->name, "iterations") == 0 && pbd_setting_parse("iterations=1", &setting[count]).code == PBD_OK)
            count++;
    if (*m->variant && pbd_setting_parse(m->variant, &setting[count]).code == PBD_OK) count++;
    return count;
}

enum { PLACES, SPEEDS, FIELDS };

typedef struct answer {
    pbd_status status;
    size_t particles;
    double *of[FIELDS]; /* positions, velocities; to be freed. Velocities NULL: not provided */
    double scale[FIELDS];
} answer;

static void free_answer(answer *a) {
    for (int f = 0; f < FIELDS; f++) free(a->of[f]);
}

static double step_of(const pbd_values *values) {
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->item[i].param->name, "dt") == 0 && values->item[i].number > 0) return values->item[i].number;
    return 1e-3;
}

static pbd_status go(int steps, const pbd_method *method, const pbd_scene *scene, const pbd_values *values,
                     pbd_exec *exec, pbd_recorder *recorder, void **state, answer *out) {
    PBD_TRY(pbd_check_scene(scene, method));
    PBD_TRY(pbd_method_create(method, scene, values, exec, recorder, state));
    for (int i = 0; i < steps; i++) PBD_TRY(method->step(*state, step_of(values)));
    static const pbd_field fields[FIELDS] = {PBD_POSITIONS, PBD_VELOCITIES};
    const size_t n = 3 * scene->particles.count;
    out->particles = scene->particles.count;
    for (int f = 0; f < FIELDS; f++) {
        out->of[f] = calloc(n + 1, sizeof(double));
        if (!out->of[f]) return pbd_error(PBD_FAILED, "out of memory");
        const pbd_status status = method->read(*state, fields[f], out->of[f]);
        if (status.code != PBD_OK && status.code != PBD_NOT_SUPPORTED) return status;
        for (size_t k = 0; k < n; k++) {
            if (!isfinite(out->of[f][k])) return pbd_error(PBD_DIVERGED, "its answer is not finite");
            out->scale[f] = fmax(out->scale[f], fabs(out->of[f][k]));
        }
    }
    return pbd_ok();
}

static answer march_on(const march *m, int backend, pbd_precision precision) {
    const pbd_method *method = m->method->by_precision[precision];
    answer out = {0};
    pbd_setting setting[MOST_WORDS];
    pbd_values of_case = {0}, of_method = {0};
    pbd_setup setup = {0};
    pbd_exec *exec = NULL;
    void *state = NULL;
    pbd_result result = {0};
    pbd_recorder *recorder = pbd_recorder_create(&result, NULL);
    const size_t count = settings_of(m, setting);
    out.status = pbd_resolve(m->c, method, setting, count, &of_case, &of_method);
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    if (out.status.code == PBD_OK) out.status = pbd_case_build(m->c, &of_case, &setup);
    if (out.status.code == PBD_OK) out.status = pbd_exec_create(backend, 1, &exec);
    if (out.status.code == PBD_OK)
        out.status = go(m->steps, method, &setup.scene, &of_method, exec, recorder, &state, &out);
    method->destroy(state);
    pbd_exec_destroy(exec);
    pbd_case_free(m->c, &setup);
    pbd_values_free(&of_case);
    pbd_values_free(&of_method);
    pbd_recorder_destroy(recorder);
    pbd_result_free(&result);
    return out;
}

/* The largest difference of a component; infinite if one is not a number. */
static double distance(const answer *a, const answer *b, int field) {
    double most = 0;
    for (size_t k = 0; k < 3 * a->particles; k++) {
        const double off = fabs(a->of[field][k] - b->of[field][k]);
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
                              const double bound[FIELDS]) {
    const bool twice = backend != PBD_EMU;
    answer first = march_on(m, backend, precision), second = {0};
    if (twice) second = march_on(m, backend, precision);
    const char *name = pbd_precision_name(precision);
    if (first.status.code != PBD_OK || second.status.code != PBD_OK) {
        complain(t, m, name, first.status.code != PBD_OK ? first.status.text : second.status.text);
    } else {
        const double off[FIELDS] = {distance(cpu, &first, PLACES), distance(cpu, &first, SPEEDS)};
        const bool fine = off[PLACES] <= bound[PLACES] && off[SPEEDS] <= bound[SPEEDS];
        printf("%s  %-14s %-18s %-24s %s  %.2g m, %.2g m/s off, %.2g and %.2g of the bounds\n",
               fine ? "ok    " : "FAILED", m->method->by_precision[1]->name, m->c->name, m->variant, name, off[PLACES],
               off[SPEEDS], off[PLACES] / bound[PLACES], off[SPEEDS] / bound[SPEEDS]);
        t->failed += !fine;
        for (int f = 0; twice && f < FIELDS; f++)
            if (memcmp(first.of[f], second.of[f], 3 * first.particles * sizeof(double)) != 0)
                complain(t, m, name, ": the second run has another answer");
    }
    t->compared++;
    free_answer(&first);
    free_answer(&second);
}

static void compare(tally *t, const march *m, int backend) {
    answer f32 = march_on(m, PBD_CPU, PBD_PRECISION_F32), f64 = march_on(m, PBD_CPU, PBD_PRECISION_F64);
    if (f32.status.code != PBD_OK || f64.status.code != PBD_OK) {
        const pbd_status *why = f64.status.code != PBD_OK ? &f64.status : &f32.status;
        printf("left out  %s on %s %s: %s\n", m->method->by_precision[1]->name, m->c->name, m->variant, why->text);
        t->left_out++;
    } else {
        double bound[FIELDS], small[FIELDS];
        for (int f = 0; f < FIELDS; f++) {
            const double least = 16 * FLT_EPSILON * f64.scale[f] + 1e-30, grown = distance(&f32, &f64, f);
            bound[f] = MARGIN * (grown > least ? grown : least);
            small[f] = SHARE_OF_F64 * bound[f];
        }
        compare_precision(t, m, backend, PBD_PRECISION_F32, &f32, bound);
        if (!SPARING) compare_precision(t, m, backend, PBD_PRECISION_F64, &f64, small);
    }
    fflush(stdout);
    free_answer(&f32);
    free_answer(&f64);
}

static const pbd_param *choice_named(const pbd_param *params, const char *name) {
    for (const pbd_param *p = params; p->name; p++)
        if (p->kind == PBD_CHOICE && strcmp(p->name, name) == 0) return p;
    return NULL;
}

/* Compares with each of the method's solvers and clusters, and of the case's flow rules if the method takes them. */
static void compare_variants(tally *t, march *m, int backend) {
    const pbd_method *method = m->method->by_precision[1];
    const pbd_param *axis[] = {choice_named(method->params, "solver"), choice_named(method->params, "clusters"),
                               method->takes & PBD_TAKES_FLOW && !SPARING ? choice_named(m->c->params, "flow") : NULL};
    char words[80];
    int variants = 0;
    for (size_t a = 0; a < 3; a++)
        for (size_t k = 0; axis[a] && axis[a]->choices[k]; k++) {
            snprintf(words, sizeof words, "%s=%s", axis[a]->name, axis[a]->choices[k]);
            m->variant = words;
            compare(t, m, backend);
            variants++;
        }
    m->variant = "";
    if (variants == 0) compare(t, m, backend);
}

/* Whether the name is among the words, or no word is of its kind (`of_kind`). */
static bool is_wanted(const char *name, char **words, bool (*of_kind)(const char *)) {
    bool any = false;
    for (; *words; words++) {
        any = any || of_kind(*words);
        if (strcmp(*words, name) == 0) return true;
    }
    return !any;
}

static bool names_method(const char *word) {
    const pbd_method_entry *entry;
    return pbd_find_method(word, &entry).code == PBD_OK;
}

static bool names_case(const char *word) {
    const pbd_case *c;
    return pbd_find_case(word, &c).code == PBD_OK;
}

/* Whether the case has a required parameter, such as a file; such cases are left to their own tests. */
static bool must_be_given(const pbd_case *c) {
    for (const pbd_param *p = c->params; p->name; p++)
        if (pbd_param_is_asked(p)) return true;
    return false;
}

static tally compare_all(int backend, char **words) {
    tally t = {0};
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_method_entry *entry = pbd_method_at(i);
        const pbd_method *method = entry->by_precision[1];
        if (!is_wanted(method->name, words, names_method)) continue;
        if (!(method->backends & (unsigned)backend) || !method->step) {
            printf("left out  %s: %s\n", method->name, method->step ? "it runs on the CPU alone" : "it takes no steps");
            t.left_out++;
            continue;
        }
        for (size_t k = 0; k < pbd_case_count(); k++) {
            march m = {pbd_case_at(k), entry, "", backend == PBD_EMU ? EMULATED_STEPS : STEPS};
            if (!is_wanted(m.c->name, words, names_case) || pbd_missing_needs(method, m.c) || must_be_given(m.c))
                continue;
            compare_variants(&t, &m, backend);
        }
    }
    return t;
}

int main(int argc, char **argv) {
    const bool emu = argc > 1 && strcmp(argv[1], "emu") == 0, named = argc > 1 && (emu || strcmp(argv[1], "cuda") == 0);
    for (char **word = argv + (named ? 2 : 1); *word; word++)
        if (!names_method(*word) && !names_case(*word)) {
            fprintf(stderr, "gpu_against_cpu: '%s' is neither a method nor a case\n", *word);
            return 2;
        }
    if (!emu && *pbd_cuda_missing()) {
        printf("skipped: %s\n", pbd_cuda_missing());
        return SKIPPED;
    }
    const tally t = compare_all(emu ? PBD_EMU : PBD_CUDA, argv + (named ? 2 : 1));
    printf("%d compared, %d failed, %d left out\n", t.compared, t.failed, t.left_out);
    return t.failed > 0 || t.compared == 0;
}
