/* CSV by libcsv. Comment lines, which CSV does not have, are removed before parsing. */
#include "harness/files/csv_file.h"

#include <csv.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_FILE = 16 << 20, MOST_COLUMNS = 500 }; /* bytes; more than any digitised table */

/* State of the callbacks. `fields` counts those of the current row. */
typedef struct reader {
    const char *shown_as;
    pbd_csv *csv;
    size_t line, fields;
    bool in_header;
    bool ended; /* a row ended on this line */
    pbd_status status;
} reader;

static void complain(reader *r, pbd_status status) {
    if (r->status.code == PBD_OK) r->status = status;
}

/* Appends a copy of a field, which libcsv does not end with NUL, to a list of `used` entries. */
static bool append(pbd_arena *a, char ***list, size_t used, const char *text, size_t bytes) {
    char *copy = pbd_new(a, char, bytes + 1);
    if (!copy || !pbd_arena_more(a, list, used, sizeof **list)) return false;
    if (bytes) memcpy(copy, text, bytes);
    (*list)[used] = copy;
    return true;
}

static void on_field(void *text, size_t bytes, void *context) {
    reader *r = context;
    pbd_csv *csv = r->csv;
    if (r->status.code != PBD_OK) return;
    if (r->in_header) {
        if (append(&csv->owned, &csv->header, csv->columns, text, bytes)) csv->columns++;
    } else if (r->fields >= csv->columns || /* on_row reports it */
               append(&csv->owned, &csv->field, csv->rows * csv->columns + r->fields, text, bytes)) {
        r->fields++;
    }
    complain(r, pbd_arena_check(&csv->owned));
}

static void end_header(reader *r) {
    pbd_csv *csv = r->csv;
    r->in_header = false;
    if (csv->columns > MOST_COLUMNS) {
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: %zu columns; at most %d are allowed", r->shown_as, r->line,
                              csv->columns, MOST_COLUMNS));
        return;
    }
    for (size_t i = 0; i < csv->columns; i++) {
        if (!csv->header[i][0])
            complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: column %zu has no name", r->shown_as, r->line, i + 1));
        for (size_t k = 0; k < i; k++)
            if (strcasecmp(csv->header[i], csv->header[k]) == 0)
                complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: two columns are named '%.60s'", r->shown_as,
                                      r->line, csv->header[i]));
    }
}

static void on_row(int terminator, void *context) {
    reader *r = context;
    (void)terminator;
    r->ended = true;
    if (r->status.code != PBD_OK) return;
    if (r->in_header) {
        end_header(r);
        return;
    }
    if (r->fields != r->csv->columns) {
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: %zu fields; the header has %zu", r->shown_as, r->line,
                              r->fields, r->csv->columns));
        return;
    }
    r->csv->rows++;
    r->fields = 0;
}

static pbd_status parse_error(const reader *r, int code) {
    if (code == CSV_EPARSE)
        return pbd_error(PBD_BAD_INPUT, "%s: line %zu: a quote inside a field; double it and quote the field",
                         r->shown_as, r->line);
    return pbd_error(PBD_FAILED, "%s: line %zu: %s", r->shown_as, r->line, csv_strerror(code));
}

/* Whether the line is to be parsed. Removes the byte order mark that a text editor may have put before the first. */
static bool check_line(reader *r, char *line, size_t *bytes) {
    if (r->line == 1 && *bytes >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) memmove(line, line + 3, *bytes -= 3);
    if (memchr(line, '\0', *bytes))
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: a NUL character; expected text", r->shown_as, r->line));
    return r->status.code == PBD_OK && *bytes > 0 && line[0] != '#';
}

static bool is_blank(const char *line, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (!strchr(" \t\r\n", line[i])) return false;
    return true;
}

/* A quote must close on its own line; otherwise it would swallow the following lines, except comments. */
static void parse_line(struct csv_parser *parser, reader *r, const char *line, size_t bytes) {
    r->ended = false;
    if (csv_parse(parser, line, bytes, on_field, on_row, r) != bytes) {
        complain(r, parse_error(r, csv_error(parser)));
        return;
    }
    if (!r->ended && line[bytes - 1] == '\n' && !is_blank(line, bytes))
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: a quote is not closed", r->shown_as, r->line));
}

static void parse(FILE *file, reader *r) {
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        complain(r, pbd_error(PBD_FAILED, "%s: out of memory", r->shown_as));
        return;
    }
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t got; r->status.code == PBD_OK && (got = getline(&line, &capacity, file)) >= 0;) {
        size_t bytes = (size_t)got;
        r->line++;
        if (check_line(r, line, &bytes)) parse_line(&parser, r, line, bytes);
    }
    if (r->status.code == PBD_OK && ferror(file))
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: cannot be read: %s", r->shown_as, strerror(errno)));
    if (r->status.code == PBD_OK && csv_fini(&parser, on_field, on_row, r) != 0)
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: a quote is not closed", r->shown_as, r->line));
    if (r->status.code == PBD_OK && r->in_header)
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: has no header line", r->shown_as));
    free(line);
    csv_free(&parser);
}

/* Only regular files are read: the data of a device may never end, and a folder has none. */
static pbd_status check_file(FILE *file, const char *shown_as) {
    struct stat about;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode))
        return pbd_error(PBD_BAD_INPUT, "%s: cannot be read: it is not a regular file", shown_as);
    if (about.st_size > LARGEST_FILE)
        return pbd_error(PBD_BAD_INPUT, "%s: larger than %d MiB; too large for a reference table", shown_as,
                         LARGEST_FILE >> 20);
    return pbd_ok();
}

/* Closes the file. */
static pbd_status read_table(FILE *file, const char *shown_as, pbd_status allowed, pbd_csv *out) {
    reader r = {.shown_as = shown_as, .csv = out, .in_header = true, .status = allowed};
    if (r.status.code == PBD_OK) parse(file, &r);
    fclose(file);
    if (r.status.code != PBD_OK) pbd_csv_free(out);
    return r.status;
}

pbd_status pbd_csv_read(const char *path, const char *shown_as, pbd_csv *out) {
    *out = (pbd_csv){0};
    FILE *file = fopen(path, "r");
    if (!file) return pbd_error(PBD_BAD_INPUT, "%s: cannot be read: %s", shown_as, strerror(errno));
    return read_table(file, shown_as, check_file(file, shown_as), out);
}

pbd_status pbd_csv_parse(const char *text, const char *shown_as, pbd_csv *out) {
    *out = (pbd_csv){0};
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r"); /* "r": the text is not written to */
    if (!file) return pbd_error(PBD_FAILED, "%s: cannot be read: %s", shown_as, strerror(errno));
    return read_table(file, shown_as, pbd_ok(), out);
}

void pbd_csv_free(pbd_csv *csv) {
    pbd_arena_free(&csv->owned);
    *csv = (pbd_csv){0};
}

size_t pbd_csv_column(const pbd_csv *csv, const char *name) {
    size_t i = 0;
    while (i < csv->columns && strcmp(csv->header[i], name) != 0) i++;
    return i;
}
