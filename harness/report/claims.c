/* What the papers claim, and the verdicts: the bars at the top of the page and the table of claims. */
#include <math.h>
#include <string.h>

#include "harness/report/report.h"

/* ---- The summary ------------------------------------------------------------------------------------------------- */

static size_t total_of(const report_tally *t) { return t->reproduced + t->partly + t->not_reproduced + t->not_run; }

/* Hidden from screen readers: the words beside a bar give the same numbers. */
static void write_bar(report *r, const report_tally *t) {
    pbd_html *h = &r->html;
    const struct {
        const char *class;
        size_t count;
    } part[] = {{"bar-reproduced", t->reproduced},
                {"bar-partly", t->partly},
                {"bar-not_reproduced", t->not_reproduced},
                {"bar-not_run", t->not_run}};
    html_open(h, "div", "class", "bar", "aria-hidden", "true", NULL);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        char style[40];
        snprintf(style, sizeof style, "flex-grow:%zu", part[i].count);
        if (part[i].count == 0) continue;
        html_open(h, "span", "class", part[i].class, "style", style, NULL);
        html_textf(h, "%zu", part[i].count);
        html_close(h, "span");
    }
    html_close(h, "div");
}

static void count_figures(const report *r, const char *paper, size_t *listed, size_t *available) {
    *listed = *available = 0;
    for (size_t i = 0; i < r->list.count; i++)
        if (strcmp(r->list.item[i].paper, paper) == 0) {
            ++*listed;
            *available += r->list.item[i].available;
        }
}

static void write_paper(report *r, const pbd_paper *paper) {
    pbd_html *h = &r->html;
    const report_tally t = report_count(r, paper->key);
    size_t listed, available;
    count_figures(r, paper->key, &listed, &available);
    html_open(h, "li", NULL);
    html_open(h, "div", "class", "paper", NULL);
    html_element(h, "strong", paper->key);
    if (paper->year)
        html_elementf(h, "span", "muted", "%u, %s", paper->year, paper->title);
    else
        html_elementf(h, "span", "muted", "%s", paper->title);
    html_close(h, "div");
    if (total_of(&t) > 0) {
        write_bar(r, &t);
        html_elementf(h, "p", "muted", "%zu reproduced, %zu partly, %zu not reproduced, %zu not run", t.reproduced,
                      t.partly, t.not_reproduced, t.not_run);
    } else if (listed > 0) {
        html_elementf(h, "p", "muted", "%zu of its %zu figures and tables can be reproduced so far; no claims yet",
                      available, listed);
    } else {
        html_elementf(h, "p", "muted", "no figures or tables");
    }
    html_close(h, "li");
}

void report_summary(report *r) {
    pbd_html *h = &r->html;
    const report_tally t = report_count(r, NULL);
    const struct {
        const char *verdict;
        size_t count;
    } part[] = {{"reproduced", t.reproduced},
                {"partly", t.partly},
                {"not_reproduced", t.not_reproduced},
                {"not_run", t.not_run}};
    html_open(h, "p", "class", "summary", NULL);
    html_elementf(h, "strong", NULL, "%zu claim%s", total_of(&t), total_of(&t) == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        char class[40];
        snprintf(class, sizeof class, "verdict %s", part[i].verdict);
        html_text(h, " ");
        html_elementf(h, "span", class, "%zu %s", part[i].count, report_verdict_words(part[i].verdict));
    }
    html_close(h, "p");
    html_open(h, "ul", "class", "papers", NULL);
    for (unsigned i = 0; i < r->papers->papers_count; i++) write_paper(r, &r->papers->papers[i]);
    html_close(h, "ul");
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* «poly_ke» of «rodero2016-fig4.poly_ke»: the rest is in other columns. */
static const char *short_id(const char *id) {
    const char *dot = strchr(id, '.');
    return dot && dot[1] ? dot + 1 : id;
}

/* For sorting, the best first. */
static double rank_of(const char *verdict) {
    static const char *const order[] = {"reproduced", "partly", "not_reproduced", "not_run"};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(order[i], verdict) == 0) return (double)i;
    return 4;
}

/* One note above the table is enough then. */
static bool all_others(const report *r) {
    const report_tally t = report_count(r, NULL);
    return r->judged_elsewhere == total_of(&t);
}

enum { SHORT_NOTE = 140 }; /* characters; longer ones are folded away */

static void write_note(report *r, const char *note) { html_elementf(&r->html, "span", "note", "%s", note); }

static void write_sentence(report *r, const pbd_claim_result *c, const report_verdict *v) {
    pbd_html *h = &r->html;
    html_open(h, "td", "class", "says", NULL);
    html_text(h, c->claim->says);
    const char *note = c->note ? c->note : "", *why = c->claim->notes ? c->claim->notes : "";
    const bool folded = strlen(note) > SHORT_NOTE;
    if (*note && !folded) write_note(r, note);
    if (v->other_sources && !all_others(r)) write_note(r, "Judged with other sources.");
    if (v->reworded) write_note(r, "The sentence has changed since it was judged.");
    if (folded || *why) {
        html_open(h, "details", NULL);
        html_element(h, "summary", *why ? "Why this result" : "In full");
        if (folded) html_element(h, "p", note);
        if (*why) html_element(h, "p", why);
        html_close(h, "details");
    }
    html_close(h, "td");
}

static void write_verdict(report *r, const report_figure *f, const pbd_claim_result *c) {
    pbd_html *h = &r->html;
    html_cell_open(h, rank_of(c->verdict), false);
    report_verdict_mark(r, c->verdict);
    if (strcmp(c->verdict, "not_run") == 0)
        html_elementf(h, "code", "small", "./pbdbench reproduce %s", f->file->figure);
    html_close(h, "td");
}

static void write_accepted(report *r, const pbd_claim_result *c) {
    pbd_html *h = &r->html;
    html_cell_open(h, *c->accepted ? rank_of(c->accepted) : (double)NAN, false);
    if (!*c->accepted)
        html_text(h, "none yet");
    else if (strcmp(c->accepted, c->verdict) == 0)
        html_text(h, "the same");
    else
        report_verdict_mark(r, c->accepted);
    html_close(h, "td");
}

static void write_claim(report *r, const report_figure *f, size_t i) {
    pbd_html *h = &r->html;
    const pbd_claim_result *c = &f->claims.item[i];
    const report_verdict *v = &f->verdict[i];
    char id[200], figure[200], number[40];
    snprintf(id, sizeof id, "claim-%s", c->claim->id);
    snprintf(figure, sizeof figure, "figure-%s", f->file->figure);
    html_open(h, "tr", "data-verdict", c->verdict, NULL);
    html_cell(h, f->entry->paper);
    html_open(h, "td", NULL);
    const size_t key = strlen(f->entry->paper);
    const bool named = key > 0 && strncmp(f->file->figure, f->entry->paper, key) == 0 && f->file->figure[key] == '-';
    html_link(h, figure, f->file->figure + (named ? key + 1 : 0));
    html_close(h, "td");
    html_open(h, "th", "scope", "row", "id", id, NULL);
    html_text(h, short_id(c->claim->id));
    if (c->claim->beyond) html_text(h, " (ours)");
    html_close(h, "th");
    write_verdict(r, f, c);
    html_cell_open(h, c->value, true);
    if (isnan(c->value)) {
        html_text(h, "\u2014");
    } else {
        snprintf(number, sizeof number, "%.4g", c->value);
        report_set_link(r, v->set, number);
    }
    html_close(h, "td");
    write_sentence(r, c, v);
    write_accepted(r, c);
    const size_t runs = v->set >= 0 ? r->set[v->set].count : 0;
    html_cell_open(h, (double)runs, true);
    snprintf(number, sizeof number, "%zu", runs);
    report_set_link(r, v->set, number);
    html_close(h, "td");
    html_close(h, "tr");
}

/* Verdicts on runs of other sources do not include changes to the code since. */
static void write_other_sources(report *r) {
    if (r->judged_elsewhere == 0) return;
    pbd_html *h = &r->html;
    html_open(h, "p", "class", "trouble", NULL);
    if (all_others(r))
        html_text(h, "All verdicts were computed");
    else
        html_textf(h, "%zu verdict%s, marked so, %s computed", r->judged_elsewhere, r->judged_elsewhere == 1 ? "" : "s",
                   r->judged_elsewhere == 1 ? "was" : "were");
    html_text(h, " on runs of other sources than this build's: ");
    html_element(h, "code", "./pbdbench reproduce all");
    html_text(h, " computes new ones.");
    html_close(h, "p");
}

/* Hidden until the script, which it needs, shows it. */
static void write_filter(report *r) {
    static const char *const verdicts[] = {"reproduced", "partly", "not_reproduced", "not_run"};
    pbd_html *h = &r->html;
    html_open(h, "form", "class", "filter", "id", "claim-filter", "hidden", "", "role", "search", NULL);
    html_open(h, "label", NULL);
    html_text(h, "Find ");
    html_void(h, "input", "type", "search", "id", "claim-words", "placeholder", "shear, fig8, poly\u2026", NULL);
    html_close(h, "label");
    html_open(h, "label", NULL);
    html_text(h, "Verdict ");
    html_open(h, "select", "id", "claim-verdict", NULL);
    html_open(h, "option", "value", "", NULL);
    html_text(h, "all");
    html_close(h, "option");
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        html_open(h, "option", "value", verdicts[i], NULL);
        html_text(h, report_verdict_words(verdicts[i]));
        html_close(h, "option");
    }
    html_close(h, "select");
    html_close(h, "label");
    html_open(h, "output", "id", "claim-count", "for", "claim-words claim-verdict", NULL);
    html_close(h, "output");
    html_close(h, "form");
}

/* At this point, because the builds that made them are listed before the runs. */
static pbd_status note_runs(report *r) {
    bool noted;
    for (size_t i = 0; i < r->sets; i++)
        for (size_t k = 0; k < r->set[i].count; k++) PBD_TRY(report_note_run(r, r->set[i].run_id[k], &noted));
    return pbd_ok();
}

pbd_status report_claims(report *r) {
    pbd_html *h = &r->html;
    static const html_column columns[] = {
        {"Paper", false},        {"Figure", false},           {"Claim", false}, {"Verdict", false}, {"Value", true},
        {"What it says", false}, {"Accepted verdict", false}, {"Runs", true}};
    html_element(h, "p",
                 "Each sentence is one checkable claim of a paper. The value comes from stored runs and links to them; "
                 "the verdict is the result of a query over them. The accepted verdict is stored with the figure: "
                 "where the two differ, something changed.");
    write_other_sources(r);
    write_filter(r);
    html_table_open(h, "claim-table", "Every claim that can be checked so far", columns,
                    sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->list.count; i++)
        for (size_t k = 0; k < r->figure[i].claims.count; k++) write_claim(r, &r->figure[i], k);
    html_table_close(h);
    return note_runs(r);
}
