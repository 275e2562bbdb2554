#include "harness/sweep/making.h"

#include <stdlib.h>
#include <string.h>

#include "harness/process/exit_codes.h"
#include "harness/process/progress.h"

static void print_run(const pbd_making *m, const pbd_plan_item *item, const pbd_result *r, bool made) {
    if (m->progress.on) fputs("\r\033[K", stderr);
    if (m->style.json) {
        char *line = pbd_result_json(r);
        puts(line ? line : "{}");
        free(line);
    } else if (!m->style.quiet) {
        printf("%.12s  %-14s  %s%s%s%s\n", r->run_id, r->state, item->label, made ? "" : "  (stored)",
               *r->says ? ": " : "", r->says);
    }
    fflush(stdout);
}

static void note_refusal(pbd_making *m, const pbd_plan_item *item, size_t total) {
    char *longer = NULL;
    m->refused++;
    pbd_tell_refusal(&m->progress, item, total);
    if (asprintf(&longer, "%s%s: %s\n", m->refusals ? m->refusals : "", item->label, item->refusal.text) < 0) return;
    free(m->refusals);
    m->refusals = longer;
}

static void observe(void *context, const pbd_plan_item *item, const pbd_result *made, size_t done, size_t total) {
    pbd_making *m = context;
    pbd_result stored = {0};
    if (item->refusal.code != PBD_OK) {
        note_refusal(m, item, total);
        return;
    }
    if (!made && m->trouble.code == PBD_OK) m->trouble = pbd_store_get(m->store, item->run_id, &stored);
    if (m->trouble.code != PBD_OK) return;
    const pbd_result *r = made ? made : &stored;
    made ? m->made++ : m->stored++;
    m->unwell +=
        strcmp(r->state, "failed") == 0 || strcmp(r->state, "diverged") == 0 || strcmp(r->state, "unphysical") == 0;
    print_run(m, item, r, made != NULL);
    pbd_progress_show(&m->progress, done, total, made != NULL, item->label);
    if (!made) pbd_result_free(&stored);
}

pbd_status pbd_make_runs(pbd_making *m, pbd_plan *plan, bool again) {
    m->trouble = pbd_ok();
    pbd_progress_begin(&m->progress, m->style.quiet);
    const pbd_status status = pbd_plan_execute_once(plan, m->store, again, observe, m);
    pbd_progress_end(&m->progress);
    return status.code != PBD_OK ? status : m->trouble;
}

void pbd_print_made(const pbd_making *m, const char *of) {
    if (m->style.json) return;
    printf("%s: %zu runs made, %zu already stored, %zu failed, diverged or unphysical", of, m->made, m->stored,
           m->unwell);
    if (m->refused > 0) printf(", %zu refused", m->refused);
    putchar('\n');
}

int pbd_made_exit(const pbd_making *m) {
    if (m->refused) return PBD_EXIT_USAGE;
    return m->unwell ? PBD_EXIT_RUN_FAILED : PBD_EXIT_OK;
}
