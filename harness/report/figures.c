/* Every figure: our picture, the paper's data beside it, what to know about it, and what to cite. */
#include <stdlib.h>
#include <string.h>

#include "harness/figure/figure_draw.h"
#include "harness/files/csv_file.h"
#include "harness/files/paths.h"
#include "harness/report/report.h"

enum { MOST_ROWS = 400 }; /* of one table of data */

/* ---- Data -------------------------------------------------------------------------------------------------------- */

static void write_field(report *r, const char *text) {
    char *end;
    const double value = strtod(text, &end);
    if (*text && *end == '\0')
        html_number(&r->html, value, 6);
    else
        html_cell(&r->html, text);
}

/* The columns of a header; false without memory. Free *columns. */
static bool columns_of(char *const *name, size_t count, html_column **columns) {
    *columns = calloc(count + 1, sizeof **columns);
    for (size_t i = 0; *columns && i < count; i++) (*columns)[i].title = name[i];
    return *columns != NULL;
}

static void write_csv(report *r, const pbd_csv *csv, const char *figure) {
    char caption[300];
    html_column *columns;
    if (!columns_of(csv->header, csv->columns, &columns)) return;
    snprintf(caption, sizeof caption, "The paper's data: plots/%.200s/paper.csv", figure);
    html_table_open(&r->html, NULL, caption, columns, csv->columns);
    for (size_t row = 0; row < csv->rows; row++) {
        html_open(&r->html, "tr", NULL);
        for (size_t c = 0; c < csv->columns; c++) write_field(r, csv->field[row * csv->columns + c]);
        html_close(&r->html, "tr");
    }
    html_table_close(&r->html);
    free(columns);
}

static pbd_status write_paper_data(report *r, const report_figure *f) {
    pbd_html *h = &r->html;
    char relative[300];
    snprintf(relative, sizeof relative, "plots/%.200s/paper.csv", f->file->figure);
    char *path = pbd_root_path(relative);
    if (!path) return pbd_error(PBD_FAILED, "out of memory");
    FILE *there = fopen(path, "r");
    pbd_csv csv;
    if (there) {
        fclose(there);
        const pbd_status status = pbd_csv_read(path, relative, &csv);
        html_open(h, "details", "open", "", NULL);
        html_element(h, "summary", "The paper's data");
        if (status.code == PBD_OK)
            write_csv(r, &csv, f->file->figure);
        else
            html_element(h, "p", status.text);
        html_close(h, "details");
        if (status.code == PBD_OK) pbd_csv_free(&csv);
    }
    free(path);
    return pbd_ok();
}

/* What the picture was drawn from: the same numbers for those who cannot see it, or want them. Written by this program,
 * so plain splitting at tabs is enough. */
static void write_rows(report *r, FILE *file, const char *caption) {
    char *line = NULL, *field[64];
    size_t room = 0, rows = 0;
    for (ssize_t length; (length = getline(&line, &room, file)) > 0 && rows <= MOST_ROWS; rows++) {
        size_t fields = 0;
        line[strcspn(line, "\n")] = '\0';
        for (char *rest = line, *word; fields < 64 && (word = strsep(&rest, "\t"));) field[fields++] = word;
        html_column *columns = NULL;
        if (rows == 0) {
            if (!columns_of(field, fields, &columns)) break;
            html_table_open(&r->html, NULL, caption, columns, fields);
            free(columns);
            continue;
        }
        html_open(&r->html, "tr", NULL);
        for (size_t i = 0; i < fields; i++) write_field(r, field[i]);
        html_close(&r->html, "tr");
    }
    if (rows > 0) html_table_close(&r->html);
    if (rows > MOST_ROWS) html_element(&r->html, "p", "Only the first rows are shown.");
    free(line);
}

static void write_drawn_data(report *r, const report_figure *f) {
    char *folder = pbd_plots_folder(NULL, false);
    if (!folder || !r->store || r->pictures == REPORT_PICTURES_NONE ||
        !pbd_drawn_from(folder, f->file->figure, r->store)) {
        free(folder);
        return;
    }
    pbd_html *h = &r->html;
    html_open(h, "details", NULL);
    html_element(h, "summary", "The numbers drawn");
    for (unsigned i = 0; i < f->file->data_count; i++) {
        char *path = NULL;
        FILE *file = asprintf(&path, "%s/%s/%s.tsv", folder, f->file->figure, f->file->data[i].name) < 0
                         ? NULL
                         : fopen(path, "r");
        if (file) {
            write_rows(r, file, f->file->data[i].name);
            fclose(file);
        }
        free(path);
    }
    html_close(h, "details");
    free(folder);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void write_citation(report *r, const char *key) {
    pbd_html *h = &r->html;
    const pbd_paper *paper = pbd_paper_of(r->papers, key);
    char *text = NULL, href[300] = "";
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
    free(text);
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
    write_drawn_data(r, f);
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
    html_open(h, "span", "class", "muted", NULL);
    html_text(h, f->entry->id);
    html_close(h, "span");
    html_text(h, " ");
    html_text(h, f->file && f->file->title ? f->file->title : f->entry->shows);
    html_close(h, "h3");
    if (f->trouble.code != PBD_OK) {
        html_open(h, "p", "class", "trouble", NULL);
        html_text(h, f->trouble.text);
        html_close(h, "p");
    }
    const pbd_status status = f->file ? write_body(r, f) : pbd_ok();
    html_close(h, "article");
    return status;
}

static void write_missing(report *r) {
    static const html_column columns[] = {{"Figure or table", false}, {"Paper", false}, {"What it shows", false}};
    size_t missing = 0;
    for (size_t i = 0; i < r->list.count; i++) missing += !r->list.item[i].available;
    if (missing == 0) return;
    pbd_html *h = &r->html;
    html_open(h, "details", NULL);
    html_open(h, "summary", NULL);
    html_textf(h, "%zu figures and tables of the papers that cannot be reproduced yet", missing);
    html_close(h, "summary");
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
