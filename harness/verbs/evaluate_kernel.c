/* eval kernel: evaluates a smoothing kernel at distances, one per row. */
#include <math.h>
#include <string.h>

#include "harness/catalog/values.h"
#include "harness/verbs/evaluate.h"

#define REAL double
#include "methods/physics/space/sph_kernel.h"

static const char *const kernels[] = SPH_KERNEL_NAMES;

/* The size of the kernel is given by the radius as the papers define it, or by the support radius. */
enum { KEY_RADIUS, KEY_SUPPORT, KEY_DIMENSIONS, KEYS };
static const pbd_param params[KEYS + 1] = {
    [KEY_RADIUS] = {"radius", "m", PBD_REAL, "", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL,
                    "h or r of the papers"},
    [KEY_SUPPORT] = {"support", "m", PBD_REAL, "", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL,
                     "the support: the kernel is 0 beyond it"},
    [KEY_DIMENSIONS] = {"dimensions", "", PBD_INTEGER, "3", 1, 3, 0, NULL,
                        "of the space in which the kernel is normalised"},
};

typedef struct kernel_evaluation {
    sph_kernel kernel;
    int dimensions;
    double support;
} kernel_evaluation;

static void print_kernel(const void *evaluation, const double *distance) {
    const kernel_evaluation *e = evaluation;
    const double r = fabs(*distance);
    const sph_value at = sph_kernel_in(e->kernel, e->dimensions, r * r, e->support);
    double slope = at.slope * r;
    /* sph_kernel_in returns (dW/dr)/r, which does not exist at 0 for the spiky kernel. There dW/dr is -3 W/R, the limit
     * from the right. */
    if (e->kernel == SPH_SPIKY && r == 0) slope = -3 * at.w / e->support;
    const double row[2] = {at.w, slope + 0.0}; /* no -0 */
    pbd_eval_print_row(row, 2);
}

pbd_status pbd_eval_kernel(const pbd_eval_options *o) {
    double value[KEYS];
    bool given[KEYS];
    if (!o->kernel)
        return pbd_error(PBD_BAD_INPUT,
                         "eval kernel needs a kernel: --kernel poly6, cubic_spline, wendland_c2 or spiky");
    int kernel = 0;
    while (strcmp(kernels[kernel], o->kernel) != 0) kernel++; /* the table of options has checked it */
    PBD_TRY(pbd_eval_settings(params, &o->sets, "eval kernel", value, given));
    if (given[KEY_RADIUS] == given[KEY_SUPPORT])
        return pbd_error(PBD_BAD_INPUT, "eval kernel needs one of -s radius=..., m, and -s support=..., m%s",
                         given[KEY_RADIUS] ? ", not both" : "");
    kernel_evaluation e = {(sph_kernel)kernel, (int)value[KEY_DIMENSIONS], value[KEY_SUPPORT]};
    if (given[KEY_RADIUS]) e.support = kernel == SPH_POLY6 ? value[KEY_RADIUS] : 2 * value[KEY_RADIUS];
    return pbd_eval_rows(1, print_kernel, &e);
}
