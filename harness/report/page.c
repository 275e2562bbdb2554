/* The frame of the page: what comes before and after the sections, and in which order these are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/report/report.h"
#include "report_css.h"
#include "report_js.h"

static const struct {
    const char *id, *title;
    pbd_status (*write)(report *r);
} sections[] = {
    {"claims", "Claims", report_claims},
    {"figures", "Figures", report_figures},
    {"work-precision", "Work-precision", report_work_precision},
    {"timings", "Timings by machine", report_timings},
    {"comparisons", "Comparisons", report_comparisons},
    {"history", "History", report_history},
    {"environment", "Environment", report_environment},
    {"runs", "Runs", report_runs},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static void write_masthead(report *r) {
    pbd_html *h = &r->html;
    const pbd_build *build = pbd_this_build();
    char date[40];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%-d %B %Y, %H:%M UTC", &utc);
    html_open(h, "header", "class", "masthead", NULL);
    html_element(h, "h1", "pbdbench report");
    html_open(h, "p", "class", "byline", NULL);
    html_textf(h, "Position-based and particle-based solids against the papers they come from. Written %s by pbdbench ",
               date);
    html_textf(h, "%s, commit %.12s%s.", build->version, build->git_sha, build->dirty ? " with changes" : "");
    html_close(h, "p");
    report_summary(r);
    html_close(h, "header");
}

static void write_navigation(report *r) {
    pbd_html *h = &r->html;
    html_open(h, "nav", "aria-label", "Sections", NULL);
    html_open(h, "ul", NULL);
    for (size_t i = 0; i < SECTIONS; i++) {
        html_open(h, "li", NULL);
        html_link(h, sections[i].id, sections[i].title);
        html_close(h, "li");
    }
    html_close(h, "ul");
    html_close(h, "nav");
}

static pbd_status write_sections(report *r) {
    pbd_html *h = &r->html;
    for (size_t i = 0; i < SECTIONS; i++) {
        char heading[40];
        snprintf(heading, sizeof heading, "%s-heading", sections[i].id);
        html_open(h, "section", "id", sections[i].id, "aria-labelledby", heading, NULL);
        html_open(h, "h2", "id", heading, NULL);
        html_text(h, sections[i].title);
        html_close(h, "h2");
        PBD_TRY(sections[i].write(r));
        html_close(h, "section");
    }
    return pbd_ok();
}

static void write_footer(report *r) {
    pbd_html *h = &r->html;
    html_open(h, "footer", NULL);
    html_open(h, "p", NULL);
    html_text(h, "This page is one self-contained file. It was written by ");
    html_element(h, "code", "./pbdbench report");
    html_text(h, " from stored runs; runs are never changed after they are stored. ");
    html_link(h, "top", "Back to the top");
    html_close(h, "p");
    html_close(h, "footer");
}

pbd_status report_write(report *r, FILE *out) {
    pbd_html *h = &r->html;
    *h = (pbd_html){.out = out};
    fputs("<!DOCTYPE html>\n", out);
    html_open(h, "html", "lang", "en", NULL);
    html_head(&r->html, "pbdbench report", NULL, pbd_report_css);
    html_open(h, "body", "id", "top", NULL);
    html_open(h, "a", "class", "skip", "href", "#main", NULL);
    html_text(h, "Skip to the claims");
    html_close(h, "a");
    write_masthead(r);
    write_navigation(r);
    html_open(h, "main", "id", "main", "tabindex", "-1", NULL);
    PBD_TRY(write_sections(r));
    html_close(h, "main");
    write_footer(r);
    html_asset(h, "script", pbd_report_js);
    html_close(h, "body");
    html_close(h, "html");
    fputc('\n', out);
    if (h->unbalanced || h->depth > 0)
        return pbd_error(PBD_FAILED, "the report is not well-formed: an error of pbdbench");
    if (fflush(out) != 0 || ferror(out)) return pbd_error(PBD_BAD_INPUT, "%s", strerror(errno ? errno : EIO));
    return pbd_ok();
}

/* ---- What sections share ----------------------------------------------------------------------------------------- */

const char *report_verdict_words(const char *verdict) {
    if (strcmp(verdict, "not_reproduced") == 0) return "not reproduced";
    return strcmp(verdict, "not_run") == 0 ? "not run" : verdict;
}

void report_verdict_mark(report *r, const char *verdict) {
    pbd_html *h = &r->html;
    char class[40];
    snprintf(class, sizeof class, "verdict %s", verdict);
    html_open(h, "span", "class", class, NULL);
    html_text(h, report_verdict_words(verdict));
    html_close(h, "span");
}

void report_command(report *r, const char *command) {
    html_open(&r->html, "pre", "class", "command", NULL);
    html_element(&r->html, "code", command);
    html_close(&r->html, "pre");
}

void report_spell_seconds(double seconds, char out[32]) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "\u00b5s"}, {1e-9, "ns"}};
    size_t i = 0;
    while (i < 3 && seconds < units[i].unit) i++;
    if (seconds >= 0)
        snprintf(out, 32, "%.3g %s", seconds / units[i].unit, units[i].name);
    else
        snprintf(out, 32, "\u2014");
}
