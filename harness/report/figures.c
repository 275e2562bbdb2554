/* Every figure: our picture, the paper's data beside it, what to know about it, and what to cite. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/figure/figure_draw.h"
#include "harness/files/csv_file.h"
#include "harness/files/numbers.h"
#include "harness/files/paths.h"
#include "harness/report/report.h"

enum { MOST_ROWS = 400 }; /* of one table of data */

/* ---- Data -------------------------------------------------------------------------------------------------------- */

static void write_field(report *r, const char *text) {
    char *end;
    const double value = pbd_decimal(text, &end);
    if (*text && *end == '\0')
        html_number(&r->html, value, 6);
    else
        html_cell(&r->html, text);
}

static void open_table(report *r, const char *caption, char *const *name, size_t count) {
    pbd_arena a PBD_ARENA;
    html_column *column = pbd_new(&a, html_column, count);
    for (size_t i = 0; column && i < count; i++) column[i].title = name[i];
    html_table_open(&r->html, NULL, caption, column, column ? count : 0);
}

static void write_row(report *r, char *const *field, size_t fields) {
    html_open(&r->html, "tr", NULL);
    for (size_t i = 0; i < fields; i++) write_field(r, field[i]);
    html_close(&r->html, "tr");
}

static pbd_status write_paper_data(report *r, const report_figure *f) {
    pbd_arena a PBD_ARENA;
    pbd_html *h = &r->html;
    const char *name = pbd_new_format(&a, "plots/%s/paper.csv", f->file->figure);
    const char *path = pbd_new_format(&a, "%s/%s", pbd_root(), name);
    const char *caption = pbd_new_format(&a, "The paper's data: %s", name);
    pbd_csv csv PBD_CLEANUP(pbd_csv_free) = {0};
    PBD_TRY(pbd_arena_check(&a));
    if (access(path, R_OK) != 0) return pbd_ok();
    const pbd_status status = pbd_csv_read(path, name, &csv);
    html_open(h, "details", "open", "", NULL);
    html_element(h, "summary", "The paper's data");
    if (status.code != PBD_OK) html_element(h, "p", status.text);
    if (status.code == PBD_OK) {
        open_table(r, caption, csv.header, csv.columns);
        for (size_t row = 0; row < csv.rows; row++) write_row(r, &csv.field[row * csv.columns], csv.columns);
        html_table_close(h);
    }
    html_close(h, "details");
    return pbd_ok();
}

/* What the picture was drawn from: the same numbers as text. Written by this program, so plain splitting at tabs is
 * enough. */
static void write_rows(report *r, FILE *file, const char *caption) {
    char *line PBD_CLEANUP(pbd_free_memory) = NULL, *field[64];
    size_t room = 0, rows = 0;
    for (; getline(&line, &room, file) > 0 && rows <= MOST_ROWS; rows++) {
        size_t fields = 0;
        line[strcspn(line, "\n")] = '\0';
        for (char *rest = line, *word; fields < 64 && (word = strsep(&rest, "\t"));) field[fields++] = word;
        if (rows == 0)
            open_table(r, caption, field, fields);
        else
            write_row(r, field, fields);
    }
    if (rows > 0) html_table_close(&r->html);
    if (rows > MOST_ROWS) html_element(&r->html, "p", "Only the first rows are shown.");
}

static pbd_status write_drawn_data(report *r, const report_figure *f) {
    pbd_arena a PBD_ARENA;
    pbd_html *h = &r->html;
    const char *folder = pbd_new_format(&a, "%s/results/plots", pbd_root());
    PBD_TRY(pbd_arena_check(&a));
    if (!r->store || r->pictures == REPORT_PICTURES_NONE || !pbd_drawn_from(folder, f->file->figure, r->store))
        return pbd_ok();
    html_open(h, "details", NULL);
    html_element(h, "summary", "The numbers drawn");
    for (unsigned i = 0; i < f->file->data_count; i++) {
        const char *path = pbd_new_format(&a, "%s/%s/%s.tsv", folder, f->file->figure, f->file->data[i].name);
        PBD_TRY(pbd_arena_check(&a));
        FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "r");
        if (file) write_rows(r, file, f->file->data[i].name);
    }
    html_close(h, "details");
    return pbd_ok();
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void write_citation(report *r, const char *key) {
    pbd_html *h = &r->html;
    const pbd_paper *paper = pbd_paper_of(r->papers, key);
    char *text PBD_CLEANUP(pbd_free_memory) = NULL, href[300] = "";
    size_t bytes = 0;
    FILE *out = paper ? open_memstream(&text, &bytes) : NULL;
    if (!out) return;
    pbd_paper_write(paper, out);
    html_open(h, "p", "class", "citation", NULL);
    if (fclose(out) == 0) html_text(h, text);
    if (paper->doi)
        snprintf(href, sizeof href, "https://doi.org/%.200s", paper->doi);
    else if (paper->url && strncmp(paper->url, "https://", 8) == 0)
        snprintf(href, sizeof href, "%.280s", paper->url);
    if (*href) {
        html_text(h, " ");
        html_open(h, "a", "href", href, "rel", "noreferrer", NULL);
        html_text(h, href);
        html_close(h, "a");
    }
    html_close(h, "p");
}

static void write_verdicts(report *r, const report_figure *f) {
    pbd_html *h = &r->html;
    if (f->claims.count == 0) return;
    html_open(h, "ul", "class", "verdicts", NULL);
    for (size_t i = 0; i < f->claims.count; i++) {
        const pbd_claim_result *c = &f->claims.item[i];
        char id[200];
        snprintf(id, sizeof id, "claim-%s", c->claim->id);
        html_open(h, "li", NULL);
        report_verdict_mark(r, c->verdict);
        html_text(h, " ");
        html_link(h, id, c->claim->id);
        html_close(h, "li");
    }
    html_close(h, "ul");
}

static pbd_status write_body(report *r, report_figure *f) {
    pbd_html *h = &r->html;
    char command[300];
    snprintf(command, sizeof command, "./pbdbench reproduce %.200s", f->file->figure);
    html_open(h, "div", "class", "beside", NULL);
    html_open(h, "figure", NULL);
    PBD_TRY(report_picture(r, f));
    html_element(h, "figcaption", f->file->caption ? f->file->caption : f->entry->shows);
    html_close(h, "figure");
    html_open(h, "div", NULL);
    write_verdicts(r, f);
    PBD_TRY(write_paper_data(r, f));
    PBD_TRY(write_drawn_data(r, f));
    if (f->file->notes) {
        html_open(h, "details", "open", "", NULL);
        html_element(h, "summary", "Notes");
        html_element(h, "p", f->file->notes);
        html_close(h, "details");
    }
    html_close(h, "div");
    html_close(h, "div");
    report_command(r, command);
    write_citation(r, f->entry->paper);
    return pbd_ok();
}

static pbd_status write_figure(report *r, report_figure *f) {
    pbd_html *h = &r->html;
    char id[200];
    snprintf(id, sizeof id, "figure-%s", f->entry->id);
    html_open(h, "article", "class", "card", "id", id, NULL);
    html_open(h, "h3", NULL);
    html_elementf(h, "span", "muted", "%s", f->entry->id);
    html_text(h, " ");
    html_text(h, f->file && f->file->title ? f->file->title : f->entry->shows);
    html_close(h, "h3");
    if (f->trouble.code != PBD_OK) html_elementf(h, "p", "trouble", "%s", f->trouble.text);
    if (f->file) PBD_TRY(write_body(r, f));
    html_close(h, "article");
    return pbd_ok();
}

static void write_missing(report *r) {
    static const html_column columns[] = {{"Figure or table", false}, {"Paper", false}, {"What it shows", false}};
    size_t missing = 0;
    for (size_t i = 0; i < r->list.count; i++) missing += !r->list.item[i].available;
    if (missing == 0) return;
    pbd_html *h = &r->html;
    html_open(h, "details", NULL);
    html_elementf(h, "summary", NULL, "%zu figures and tables of the papers that cannot be reproduced yet", missing);
    html_table_open(h, "missing-table", "Not yet", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->list.count; i++) {
        const pbd_figure_entry *e = &r->list.item[i];
        if (e->available) continue;
        html_open(h, "tr", NULL);
        html_cell(h, e->id);
        html_cell(h, e->paper);
        html_cell(h, e->shows);
        html_close(h, "tr");
    }
    html_table_close(h);
    html_close(h, "details");
}

pbd_status report_figures(report *r) {
    html_element(
        &r->html, "p",
        "Drawn from stored runs. Beside each picture are the numbers that the paper prints, where it prints any.");
    for (size_t i = 0; i < r->list.count; i++)
        if (r->figure[i].entry->available) PBD_TRY(write_figure(r, &r->figure[i]));
    write_missing(r);
    return pbd_ok();
}
