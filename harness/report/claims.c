/* What the papers claim, and the verdicts. */
#include <string.h>

#include "harness/report/report.h"

static json_t *paper_json(const pbd_paper *paper) {
    json_t *object = json_object();
    char *text PBD_CLEANUP(pbd_free_memory) = NULL, href[300] = "";
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    report_put_text(object, "key", paper->key);
    report_put_text(object, "title", paper->title);
    if (paper->year) report_put_count(object, "year", paper->year);
    if (out) pbd_paper_write(paper, out);
    if (out && fclose(out) == 0) report_put_text(object, "citation", text);
    if (paper->doi)
        snprintf(href, sizeof href, "https://doi.org/%.200s", paper->doi);
    else if (paper->url && strncmp(paper->url, "https://", 8) == 0)
        snprintf(href, sizeof href, "%.280s", paper->url);
    report_put_text(object, "href", href);
    return object;
}

static json_t *claim_json(const report *r, const report_figure *f, size_t i) {
    const pbd_claim_result *c = &f->claims.item[i];
    const report_verdict *v = &f->verdict[i];
    json_t *object = json_object();
    report_put_text(object, "id", c->claim->id);
    report_put_text(object, "figure", f->file->figure);
    report_put_text(object, "paper", f->entry->paper);
    report_put_text(object, "says", c->claim->says);
    report_put_text(object, "verdict", c->verdict);
    report_put_text(object, "accepted", c->accepted);
    report_put_real(object, "value", c->value);
    report_put_text(object, "note", c->note);
    report_put_text(object, "why", c->claim->notes);
    report_put_text(object, "decided", v->decided_at);
    report_put_true(object, "ours", c->claim->beyond);
    report_put_true(object, "other_sources", v->other_sources);
    report_put_true(object, "reworded", v->reworded);
    if (v->set < 0) return object;
    report_put_count(object, "set", (size_t)v->set);
    report_put_count(object, "runs", r->set[v->set].count);
    return object;
}

static pbd_status sets_json(report *r, json_t *sets) {
    for (size_t i = 0; i < r->sets; i++) {
        json_t *ids = json_array();
        json_array_append_new(sets, ids);
        for (size_t k = 0; k < r->set[i].count; k++) {
            json_array_append_new(ids, json_string(r->set[i].run_id[k]));
            PBD_TRY(report_note_run(r, r->set[i].run_id[k]));
        }
    }
    return pbd_ok();
}

pbd_status report_claims(report *r, json_t **out) {
    json_t *papers = json_array(), *claims = json_array(), *sets = json_array();
    const report_tally n = report_count(r);
    for (unsigned i = 0; i < r->papers->papers_count; i++)
        json_array_append_new(papers, paper_json(&r->papers->papers[i]));
    for (size_t i = 0; i < r->list.count; i++)
        for (size_t k = 0; k < r->figure[i].claims.count; k++)
            json_array_append_new(claims, claim_json(r, &r->figure[i], k));
    *out = json_pack("{s:{s:I, s:I, s:I, s:I}, s:o, s:o, s:o}", "tally", "reproduced", (json_int_t)n.reproduced,
                     "partly", (json_int_t)n.partly, "not_reproduced", (json_int_t)n.not_reproduced, "not_run",
                     (json_int_t)n.not_run, "papers", papers, "claims", claims, "sets", sets);
    return *out ? sets_json(r, sets) : pbd_no_memory();
}
