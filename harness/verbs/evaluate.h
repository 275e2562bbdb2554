/* What `eval` evaluates: one function for each of its words, and what they share. Rows of numbers come from standard
 * input and are answered one line for one line, always in f64. */
#ifndef PBD_EVALUATE_H
#define PBD_EVALUATE_H

#include <stdbool.h>

#include "harness/verbs/options.h"

typedef struct pbd_eval_options {
    const char *material; /* stress */
    const char *rule;     /* flow */
    const char *kernel;   /* kernel */
    pbd_texts sets;
    bool uniaxial; /* stress */
} pbd_eval_options;

/* The elastic laws and the flow rules as the table of options takes them: a|b|c. */
extern const char pbd_eval_law_words[], pbd_eval_rule_words[]; /* each with a | in front */
#define PBD_EVAL_LAWS (pbd_eval_law_words + 1)
#define PBD_EVAL_RULES (pbd_eval_rule_words + 1)

pbd_status pbd_eval_stress(const pbd_eval_options *o);
pbd_status pbd_eval_flow(const pbd_eval_options *o);
pbd_status pbd_eval_kernel(const pbd_eval_options *o);
void pbd_eval_flow_help(void); /* the parameters of every flow rule */

/* Sets value[] from the presets of `params` (NULL ends them) and from the words «key=value», and given[] to what came
 * by words. A parameter whose preset is "" stays 0 unless given. `where` names the evaluation in sentences. */
pbd_status pbd_eval_settings(const pbd_param *params, const pbd_texts *sets, const char *where, double *value,
                             bool *given);

/* Reads rows of `columns` numbers (9 at most) to the end, and has each answered by `print`, which calls
 * pbd_eval_print_row. */
pbd_status pbd_eval_rows(size_t columns, void (*print)(const void *with, const double *row), const void *with);
/* 17 significant digits; NaN without the sign that some machines give it. */
void pbd_eval_print_row(const double *values, size_t count);

#endif
