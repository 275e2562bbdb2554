#include "harness/catalog/time_step.h"

#include <math.h>
#include <stdio.h>

#include "harness/process/interrupt.h"

/* Downwards; but 0.005, which is no sum of powers of two, stays 0.005. */
static void two_digits(double x, char *text, size_t bytes) {
    const double power = floor(log10(x)) - 1;
    snprintf(text, bytes, "%.0fe%.0f", floor(x / pow(10, power) * (1 + 1e-12)), power);
}

pbd_status pbd_auto_dt(const pbd_case *c, const pbd_values *case_values, const pbd_method *method,
                       const pbd_values *method_values, char *text, size_t bytes) {
    pbd_setup setup = {0};
    pbd_interrupt_ends("the scene was built");
    const pbd_status built = pbd_case_build(c, case_values, &setup);
    pbd_interrupt_ends(NULL);
    if (built.code == PBD_FAILED) return built;
    const double dt = method->auto_dt(&setup.scene, method_values);
    pbd_case_free(c, &setup);
    if (!(dt > 0) || !isfinite(dt))
        return pbd_error(PBD_BAD_INPUT, "method %s chooses no time step for this scene: set dt", method->name);
    two_digits(dt, text, bytes);
    return pbd_ok();
}
