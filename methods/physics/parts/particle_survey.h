/* Measurements of particles and their neighbours where the state of a method is: the `survey` of methods whose
 * particles are rows on a device. On every backend, in the method's precision. */
#ifndef PBD_PARTICLE_SURVEY_H
#define PBD_PARTICLE_SURVEY_H

#include "harness/exec/exec.h"
#include "harness/exec/real.h"

PBD_PRECISE(particle_survey)

/* Where a method keeps its particles: rows of numbers on the device, one row for each. */
typedef struct survey_source {
    pbd_exec *exec;
    size_t particles;
    const real *x, *v, *F;               /* the first row; x, v: its first number. v, F: NULL if there are none */
    size_t x_stride, v_stride, F_stride; /* numbers from one row to the next */
    const size_t *F_column;              /* of F_11, F_12, ... in a row; NULL: 0, 1, ... */
    const uint32_t *number;              /* by row: the scene's particle; NULL: the same */
    bool number_on_host;                 /* `number` is host memory, otherwise device memory */
} survey_source;

/* Memory is allocated for the call only; if there is too little, PBD_NOT_SUPPORTED. Waits. No result depends on the
 * number of threads. */
pbd_status particle_survey(const survey_source *at, const pbd_survey *asked, pbd_surveyed *out);

#endif
