/* Rows of numbers by libcsv, one line at a time, so that input from a pipe is answered before the pipe ends. */
#include "harness/files/csv_rows.h"
#include "harness/files/numbers.h"

#include <csv.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 16, LONGEST_FIELD = 400 };

struct pbd_rows {
    FILE *file;
    const char *shown_as;
    struct csv_parser parser;
    size_t line;
    /* The current row. */
    double *values;
    size_t count, fields;
    bool ended;
    pbd_status status;
    char text[LONGEST_LINE];
};

static void complain(pbd_rows *r, pbd_status status) {
    if (r->status.code == PBD_OK) r->status = status;
}

static pbd_status bad_number(const pbd_rows *r, const char *text, const char *why) {
    return pbd_error(PBD_BAD_INPUT, "%s: line %zu: field %zu, '%.40s', %s", r->shown_as, r->line, r->fields + 1, text,
                     why);
}

static void on_field(void *data, size_t bytes, void *context) {
    pbd_rows *r = context;
    char text[LONGEST_FIELD + 1];
    if (r->fields < r->count && r->status.code == PBD_OK) {
        const size_t kept = bytes < LONGEST_FIELD ? bytes : LONGEST_FIELD;
        if (kept) memcpy(text, data, kept);
        text[kept] = '\0';
        char *end;
        const double value = pbd_decimal(text, &end);
        if (end == text || *end || kept < bytes)
            complain(
                r, bad_number(r, text,
                              end != text && isspace((unsigned char)*end) ? "is not a number: a comma separates fields"
                                                                          : "is not a number"));
        else if (!isfinite(value))
            complain(r, bad_number(r, text, "is not finite"));
        r->values[r->fields] = value;
    }
    r->fields++;
}

static void on_row(int terminator, void *context) {
    (void)terminator;
    ((pbd_rows *)context)->ended = true;
}

/* Reads one line with its newline into r->text; false at the end of the stream. */
static bool read_line(pbd_rows *r, size_t *bytes) {
    size_t n = 0;
    int c = 0;
    while (n + 2 < LONGEST_LINE && (c = getc(r->file)) != EOF && c != '\n') r->text[n++] = (char)c;
    if (ferror(r->file)) complain(r, pbd_error(PBD_BAD_INPUT, "%s: cannot be read: %s", r->shown_as, strerror(errno)));
    if (r->status.code != PBD_OK || (c == EOF && n == 0)) return false;
    r->line++;
    if (n + 2 >= LONGEST_LINE)
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: longer than %d characters; not a row of %zu numbers",
                              r->shown_as, r->line, LONGEST_LINE - 2, r->count));
    if (memchr(r->text, '\0', n))
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: a NUL character; expected text", r->shown_as, r->line));
    r->text[n++] = '\n';
    *bytes = n;
    return r->status.code == PBD_OK;
}

static void parse_line(pbd_rows *r, const char *line, size_t bytes) {
    r->fields = 0;
    r->ended = false;
    if (csv_parse(&r->parser, line, bytes, on_field, on_row, r) != bytes)
        complain(
            r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: %s", r->shown_as, r->line, csv_strerror(csv_error(&r->parser))));
    else if (!r->ended)
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: a quote is not closed", r->shown_as, r->line));
    else if (r->fields != r->count)
        complain(r, pbd_error(PBD_BAD_INPUT, "%s: line %zu: %zu fields; a row has %zu", r->shown_as, r->line, r->fields,
                              r->count));
}

pbd_status pbd_rows_open(FILE *file, const char *shown_as, pbd_rows **out) {
    pbd_rows *r = *out = calloc(1, sizeof *r);
    if (!r || csv_init(&r->parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        free(r);
        *out = NULL;
        return pbd_error(PBD_FAILED, "out of memory");
    }
    r->file = file;
    r->shown_as = shown_as;
    return pbd_ok();
}

pbd_status pbd_rows_next(pbd_rows *r, size_t count, double *values, bool *more) {
    size_t bytes;
    *more = false;
    r->values = values;
    r->count = count;
    while (read_line(r, &bytes)) {
        const char *line = r->text;
        if (r->line == 1 && bytes > 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) { /* byte order mark */
            line += 3;
            bytes -= 3;
        }
        if (line[0] == '#' || strspn(line, " \t\r\n") >= bytes) continue;
        parse_line(r, line, bytes);
        *more = r->status.code == PBD_OK;
        break;
    }
    return r->status;
}

void pbd_rows_close(pbd_rows *r) {
    if (r) csv_free(&r->parser);
    free(r);
}
