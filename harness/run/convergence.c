#include "harness/run/convergence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/catalog/conditions.h"
#include "harness/run/sample_stride.h"

static const pbd_residual UNKNOWN = {.first = -1};

pbd_convergence pbd_convergence_of(const pbd_method *method, const pbd_values *values, long steps) {
    return (pbd_convergence){.method = method, .values = values, .steps = steps, .last = UNKNOWN, .worst = UNKNOWN};
}

/* number: of the step, from 1. A sample costs about as much as an iteration. */
static bool is_due(const pbd_convergence *c, long number) {
    return number == c->steps || number % pbd_sample_stride(c->steps) == 0 ||
           (number <= 64 && (number & (number - 1)) == 0);
}

static void take(pbd_convergence *c) {
    const bool measured = c->asked && c->now.first >= 0 && isfinite(c->now.first) && isfinite(c->now.last);
    c->asked = false;
    if (!measured) return;
    c->last = c->now;
    if (c->worst.first < 0 || pbd_residual_left(&c->now) > pbd_residual_left(&c->worst)) c->worst = c->now;
}

void pbd_convergence_watch(pbd_convergence *c, void *state, long step) {
    take(c);
    if (!c->method->watch || !is_due(c, step + 1)) return;
    c->asked = true;
    c->now = UNKNOWN;
    c->method->watch(state, &c->now);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* Whether the residual is above the limit and is not rounding. */
static bool is_far(const pbd_residual *r) { return pbd_residual_left(r) > PBD_NOT_CONVERGED && r->last > r->rounding; }

/* The settings that would help, of those that the method has. */
static void write_remedies(const pbd_values *values, char *out, size_t bytes) {
    const pbd_value *solver = pbd_value_named(values, "solver"), *dt = pbd_value_named(values, "dt");
    const pbd_value *iterations = pbd_value_named(values, "iterations");
    const char *const *choice = solver && strcmp(solver->text, "jacobi") == 0 ? solver->param->choices : NULL;
    while (choice && *choice && strcmp(*choice, "coloured_gs") != 0) choice++;
    snprintf(out, bytes, "%s%s%s%s%s", choice && *choice ? "use solver=coloured_gs, " : "",
             iterations ? "raise iterations above " : "", iterations ? iterations->text : "",
             iterations && dt ? ", or " : "", dt ? "reduce dt" : "");
}

static void warn(const pbd_convergence *c, pbd_recorder *recorder) {
    char remedies[160];
    const char *reason = c->method->unconverged;
    if (reason && pbd_condition_holds(reason, c->values, c->values)) return;
    if (!is_far(&c->last) && !is_far(&c->worst)) return;
    write_remedies(c->values, remedies, sizeof remedies);
    pbd_warning(recorder, PBD_UNCONVERGED,
                "%.2g of the residual is left in the last step and %.2g in the worst one, above %g: %s",
                pbd_residual_left(&c->last), pbd_residual_left(&c->worst), PBD_NOT_CONVERGED, remedies);
}

void pbd_convergence_end(pbd_convergence *c, void *state, pbd_recorder *recorder) {
    if (c->asked) c->method->watch(state, NULL);
    take(c);
    if (c->last.first < 0) return;
    pbd_metric(recorder, "residual_left", "1", PBD_STATE, pbd_residual_left(&c->last));
    pbd_metric(recorder, "worst_residual_left", "1", PBD_STATE, pbd_residual_left(&c->worst));
    warn(c, recorder);
}
