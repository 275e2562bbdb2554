/* Measurements of particles and their neighbours where the state of a method is: the `survey` of methods whose
 * particles are rows on a device. On every backend, in the method's precision. */
#ifndef PBD_PARTICLE_SURVEY_H
#define PBD_PARTICLE_SURVEY_H

#include "harness/exec/exec.h"
#include "harness/exec/real.h"

PBD_PRECISE(particle_survey)

/* Where a method keeps its particles. */
typedef struct survey_of {
    pbd_exec *exec;
    size_t particles;
    const real *x, *v, *F;               /* device: the first number of the first row; v, F: NULL if there are none */
    size_t x_stride, v_stride, F_stride; /* numbers from one row to the next */
    size_t F_across;                     /* from F_ij to F_i,j+1; F_i+1,j is the next number */
    const uint32_t *number;              /* by row: the scene's particle; NULL: the same */
    bool number_on_host;                 /* `number` is host memory, otherwise device memory */
} survey_of;

/* Memory is allocated for the call only; if there is too little, PBD_NOT_SUPPORTED. Waits. No result depends on the
 * number of threads. */
pbd_status particle_survey(const survey_of *at, const pbd_survey *asked, pbd_surveyed *out);

#endif
