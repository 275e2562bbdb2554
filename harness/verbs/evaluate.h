/* The evaluations of `eval`, one function for each, and what they share. Each row of numbers on standard input is
 * answered by one line, always in f64. */
#ifndef PBD_EVALUATE_H
#define PBD_EVALUATE_H

#include <stdbool.h>

#include "harness/verbs/options.h"

typedef struct pbd_eval_options {
    const char *material; /* of eval stress */
    const char *rule;     /* of eval flow */
    const char *kernel;   /* of eval kernel */
    pbd_texts sets;
    bool uniaxial; /* of eval stress */
} pbd_eval_options;

/* The elastic laws and the flow rules as the table of options takes them: a|b|c. */
extern const char pbd_eval_law_words[], pbd_eval_rule_words[]; /* each with a | in front */
#define PBD_EVAL_LAWS (pbd_eval_law_words + 1)
#define PBD_EVAL_RULES (pbd_eval_rule_words + 1)

pbd_status pbd_eval_stress(const pbd_eval_options *o);
pbd_status pbd_eval_flow(const pbd_eval_options *o);
pbd_status pbd_eval_kernel(const pbd_eval_options *o);
void pbd_eval_flow_help(void); /* the parameters of every flow rule */

/* Sets value[] from the presets of `params` (a NULL name ends the list), then from `sets` («key=value»), and given[]
 * to whether `sets` has the parameter. A parameter whose preset is "" is 0 unless given. `where` names the evaluation
 * in error messages. */
pbd_status pbd_eval_settings(const pbd_param *params, const pbd_texts *sets, const char *where, double *value,
                             bool *given);

/* Reads rows of `columns` numbers (at most 9) from standard input to its end. Calls `print` for each, which answers
 * with pbd_eval_print_row. */
pbd_status pbd_eval_rows(size_t columns, void (*print)(const void *with, const double *row), const void *with);
/* Prints 17 significant digits, and NaN without the sign that some machines give it. */
void pbd_eval_print_row(const double *values, size_t count);

#endif
