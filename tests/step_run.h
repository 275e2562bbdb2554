/* One run of implicit_step by strain_energy, with a step of 5 ms unless `text` sets another. Include after
 * tests/ladder.h or a similar header. */
#ifndef PBD_TESTS_STEP_RUN_H
#define PBD_TESTS_STEP_RUN_H

#include "harness/run/run.h"
#include "harness/run/run_plan.h"

/* The value of this metric of a run with these settings, separated by blanks; NAN if the run has no such metric. */
static double step_metric(const char *text, const char *metric) {
    pbd_setting setting[16];
    pbd_result result = {0};
    char words[500], *save = NULL;
    size_t count = 0;
    double found = NAN;
    snprintf(words, sizeof words, "%s%s", strstr(text, "dt=") ? "" : "dt=0.005 ", text);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        check_ok(pbd_setting_parse(word, &setting[count++]));
    pbd_plan plan = {0};
    const pbd_request request = {.case_name = "implicit_step",
                                 .method_name = "strain_energy",
                                 .threads = 1,
                                 .seed = 1,
                                 .setting = setting,
                                 .settings = count};
    check_ok(pbd_plan_add(&plan, &request, 0));
    check_ok(pbd_run_cell(&plan.item[0], &result));
    pbd_plan_free(&plan);
    for (size_t i = 0; i < result.metrics; i++)
        if (strcmp(result.metric[i].name, metric) == 0) found = result.metric[i].value;
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    pbd_result_free(&result);
    return found;
}

#endif
