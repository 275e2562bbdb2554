/* Every figure: our picture, the paper's data beside it, the numbers drawn, and what to know about it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/figure/figure_draw.h"
#include "harness/files/csv_file.h"
#include "harness/files/paths.h"
#include "harness/report/report.h"

enum { MOST_ROWS = 100, MOST_COLUMNS = 64 }; /* of one table of data */

/* ---- Data -------------------------------------------------------------------------------------------------------- */

static json_t *row_json(char *const *field, size_t fields) {
    json_t *row = json_array();
    for (size_t i = 0; i < fields; i++) json_array_append_new(row, pbd_text_json(field[i]));
    return row;
}

/* A table for the page: {"name", "header", "rows", "cut"}. */
static json_t *table_json(const char *name, char *const *header, size_t columns) {
    json_t *table = json_object();
    report_put_text(table, "name", name);
    json_object_set_new(table, "header", row_json(header, columns));
    json_object_set_new(table, "rows", json_array());
    return table;
}

static void add_row(json_t *table, char *const *field, size_t fields) {
    json_t *rows = json_object_get(table, "rows");
    if (json_array_size(rows) < MOST_ROWS)
        json_array_append_new(rows, row_json(field, fields));
    else
        report_put_true(table, "cut", true);
}

static pbd_status put_paper_data(const report_figure *f, json_t *tables) {
    pbd_arena a PBD_ARENA;
    const char *name = pbd_new_format(&a, "plots/%s/paper.csv", f->file->figure);
    const char *path = pbd_new_format(&a, "%s/%s", pbd_root(), name);
    pbd_csv csv PBD_CLEANUP(pbd_csv_free) = {0};
    PBD_TRY(pbd_arena_check(&a));
    if (access(path, R_OK) != 0) return pbd_ok();
    const pbd_status status = pbd_csv_read(path, name, &csv);
    json_t *table = table_json(name, csv.header, status.code == PBD_OK ? csv.columns : 0);
    json_array_append_new(tables, table);
    if (status.code != PBD_OK) report_put_text(table, "trouble", status.text);
    for (size_t row = 0; status.code == PBD_OK && row < csv.rows; row++)
        add_row(table, &csv.field[row * csv.columns], csv.columns);
    return pbd_ok();
}

/* Written by this program, so plain splitting at tabs is enough. */
static json_t *read_drawn(FILE *file, const char *name) {
    char *line PBD_CLEANUP(pbd_free_memory) = NULL, *field[MOST_COLUMNS];
    size_t room = 0;
    json_t *table = NULL;
    while (getline(&line, &room, file) > 0) {
        size_t fields = 0;
        line[strcspn(line, "\n")] = '\0';
        for (char *rest = line, *word; fields < MOST_COLUMNS && (word = strsep(&rest, "\t"));) field[fields++] = word;
        if (table)
            add_row(table, field, fields);
        else
            table = table_json(name, field, fields);
    }
    return table;
}

static pbd_status put_drawn_data(report *r, const report_figure *f, json_t *tables) {
    pbd_arena a PBD_ARENA;
    const char *folder = pbd_new_format(&a, "%s/results/plots", pbd_root());
    PBD_TRY(pbd_arena_check(&a));
    if (!r->store || r->pictures == REPORT_PICTURES_NONE || !pbd_drawn_from(folder, f->file->figure, r->store))
        return pbd_ok();
    for (unsigned i = 0; i < f->file->data_count; i++) {
        const char *path = pbd_new_format(&a, "%s/%s/%s.tsv", folder, f->file->figure, f->file->data[i].name);
        PBD_TRY(pbd_arena_check(&a));
        FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "r");
        json_t *table = file ? read_drawn(file, f->file->data[i].name) : NULL;
        if (table) json_array_append_new(tables, table);
    }
    return pbd_ok();
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

static pbd_status put_file(report *r, report_figure *f, json_t *object) {
    json_t *paper = json_array(), *drawn = json_array();
    json_object_set_new(object, "paper_data", paper);
    json_object_set_new(object, "drawn_data", drawn);
    report_put_text(object, "title", f->file->title ? f->file->title : f->entry->shows);
    report_put_text(object, "caption", f->file->caption ? f->file->caption : f->entry->shows);
    report_put_text(object, "notes", f->file->notes);
    PBD_TRY(report_picture(r, f, object));
    PBD_TRY(put_paper_data(f, paper));
    return put_drawn_data(r, f, drawn);
}

pbd_status report_figures(report *r, json_t **out) {
    *out = json_array();
    for (size_t i = 0; i < r->list.count; i++) {
        report_figure *f = &r->figure[i];
        json_t *object = json_object();
        json_array_append_new(*out, object);
        report_put_text(object, "id", f->entry->id);
        report_put_text(object, "paper", f->entry->paper);
        report_put_text(object, "title", f->entry->shows);
        if (!f->entry->available) report_put_text(object, "absent", *f->entry->reason ? f->entry->reason : "not yet");
        if (f->trouble.code != PBD_OK) report_put_text(object, "trouble", f->trouble.text);
        if (f->file) PBD_TRY(put_file(r, f, object));
    }
    return pbd_ok();
}
