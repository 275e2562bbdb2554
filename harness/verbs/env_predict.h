/* `env --predict METHOD`: the model of harness/bench/predict.h for every kernel of a step, beside the time measured on
 * this machine. */
#ifndef PBD_ENV_PREDICT_H
#define PBD_ENV_PREDICT_H

#include "harness/bench/limits/limits.h"
#include "harness/files/texts.h"

typedef struct pbd_predict_request {
    const char *method, *case_name; /* case NULL: the first case that the method fits */
    const char *on;                 /* cpu, or a published device; NULL: cpu */
    const char *precision;          /* NULL: f32 */
    int threads;                    /* of the measured step, and of the model of `cpu` */
    const pbd_texts *settings;      /* key=value */
    bool json;
} pbd_predict_request;

/* Prints to standard output. Runs four steps on this machine, and measures the launches of the fourth. */
pbd_status pbd_env_predict(const pbd_predict_request *request, const pbd_limits *limits);

#endif
