/* Tables as text, each format by its own rules. */
#include "harness/files/text_table.h"

#include <csv.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Filling in -------------------------------------------------------------------------------------------------- */

void pbd_text_table_free(pbd_text_table *t) {
    pbd_arena_free(&t->owned);
    *t = (pbd_text_table){0};
}

pbd_status pbd_text_table_column(pbd_text_table *t, const char *name, const char *unit) {
    if (!pbd_arena_more(&t->owned, &t->column, t->columns, sizeof *t->column)) return pbd_arena_check(&t->owned);
    t->column[t->columns++] = (pbd_table_column){pbd_new_text(&t->owned, name), pbd_new_text(&t->owned, unit)};
    return pbd_arena_check(&t->owned);
}

static pbd_status append(pbd_text_table *t, pbd_entry entry) {
    if (!pbd_arena_more(&t->owned, &t->entry, t->entries, sizeof *t->entry)) return pbd_arena_check(&t->owned);
    t->entry[t->entries++] = entry;
    return pbd_arena_check(&t->owned);
}

pbd_status pbd_text_table_none(pbd_text_table *t) { return append(t, (pbd_entry){.kind = PBD_ENTRY_NONE}); }

pbd_status pbd_text_table_text(pbd_text_table *t, const char *text) {
    return append(t, (pbd_entry){.kind = PBD_ENTRY_TEXT, .text = pbd_new_text(&t->owned, text)});
}

pbd_status pbd_text_table_integer(pbd_text_table *t, long long value) {
    return append(t, (pbd_entry){.kind = PBD_ENTRY_INTEGER, .integer = value});
}

pbd_status pbd_text_table_real(pbd_text_table *t, double value) {
    if (isnan(value)) return pbd_text_table_none(t);
    return append(t, (pbd_entry){.kind = PBD_ENTRY_REAL, .real = value});
}

/* ---- What the formats share -------------------------------------------------------------------------------------- */

static size_t rows_of(const pbd_text_table *t) { return t->columns > 0 ? t->entries / t->columns : 0; }

static const pbd_entry *entry_at(const pbd_text_table *t, size_t row, size_t column) {
    return &t->entry[row * t->columns + column];
}

/* Whether a column holds a number or nothing in every row; such columns are flush right. */
static bool is_numeric(const pbd_text_table *t, size_t column) {
    bool any = false;
    for (size_t r = 0; r < rows_of(t); r++) {
        const pbd_entry *e = entry_at(t, r, column);
        if (e->kind == PBD_ENTRY_TEXT) return false;
        any = any || e->kind != PBD_ENTRY_NONE;
    }
    return any;
}

static bool has_unit(const pbd_table_column *c) { return *c->unit && strcmp(c->unit, "1") != 0; }

static const char *spell_number(const pbd_entry *e, int digits, char text[64]) {
    if (e->kind == PBD_ENTRY_INTEGER)
        snprintf(text, 64, "%lld", e->integer);
    else
        snprintf(text, 64, "%.*g", digits, e->real + 0.0); /* no minus before 0 */
    return text;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* libcsv quotes every field. Numbers and plain words are left unquoted, since some programs take quoted numbers for
 * text. */
static void write_csv_field(FILE *out, const char *text) {
    const size_t bytes = strlen(text);
    const bool plain = bytes > 0 && strcspn(text, ",\"\r\n") == bytes && text[0] != ' ' && text[bytes - 1] != ' ';
    if (plain)
        fputs(text, out);
    else
        csv_fwrite(out, text, bytes);
}

static void write_csv(const pbd_text_table *t, int digits, FILE *out) {
    for (size_t c = 0; c < t->columns; c++) {
        char *title = NULL;
        const pbd_table_column *column = &t->column[c];
        if (c > 0) fputc(',', out);
        if (has_unit(column) && asprintf(&title, "%s [%s]", column->name, column->unit) < 0) title = NULL;
        write_csv_field(out, title ? title : column->name);
        free(title);
    }
    fputs("\r\n", out);
    for (size_t r = 0; r < rows_of(t); r++) {
        for (size_t c = 0; c < t->columns; c++) {
            const pbd_entry *e = entry_at(t, r, c);
            char text[64];
            if (c > 0) fputc(',', out);
            if (e->kind != PBD_ENTRY_NONE)
                write_csv_field(out, e->kind == PBD_ENTRY_TEXT ? e->text : spell_number(e, digits, text));
        }
        fputs("\r\n", out);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *entry_json(const pbd_entry *e) {
    switch (e->kind) {
        case PBD_ENTRY_TEXT:
            return json_string(e->text);
        case PBD_ENTRY_INTEGER:
            return json_integer(e->integer);
        case PBD_ENTRY_REAL:
            return isinf(e->real) ? json_string(e->real > 0 ? "inf" : "-inf") : json_real(e->real + 0.0);
        case PBD_ENTRY_NONE:
            break;
    }
    return json_null();
}

/* Rows are built and written one by one, each on a line, since a table may be long. */
static pbd_status write_json(const pbd_text_table *t, int digits, FILE *out) {
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION((size_t)digits);
    bool good = true;
    fputs("{\"columns\":[", out);
    for (size_t c = 0; c < t->columns && good; c++) {
        json_t *about = json_pack("{s:s, s:s}", "name", t->column[c].name, "unit", t->column[c].unit);
        if (c > 0) fputc(',', out);
        good = about && json_dumpf(about, out, flags) == 0;
        json_decref(about);
    }
    fputs("],\n\"rows\":[", out);
    for (size_t r = 0; r < rows_of(t) && good; r++) {
        json_t *row = json_object();
        for (size_t c = 0; c < t->columns && good; c++)
            good = json_object_set_new(row, t->column[c].name, entry_json(entry_at(t, r, c))) == 0;
        fputs(r > 0 ? ",\n" : "\n", out);
        good = good && json_dumpf(row, out, flags) == 0;
        json_decref(row);
    }
    fputs("]}\n", out);
    return good || ferror(out) ? pbd_ok()
                               : pbd_error(PBD_BAD_INPUT, "a table's text is not UTF-8: choose --format csv");
}

/* ---- Markdown ---------------------------------------------------------------------------------------------------- */

/* A bar would end the cell, a line break the row, a backslash would escape the bar's escape, and the others are markup.
 */
static char *markdown_text(pbd_arena *a, const char *text) {
    char *out = pbd_new(a, char, 2 * strlen(text) + 1), *end = out;
    if (!out) return NULL;
    for (const char *p = text; *p; p++) {
        if (strchr("|\\<*`", *p)) *end++ = '\\';
        *end++ = (unsigned char)*p < ' ' ? ' ' : *p;
    }
    *end = '\0';
    return out;
}

static char *markdown_title(pbd_arena *a, const pbd_table_column *c) {
    const char *title = has_unit(c) ? pbd_new_format(a, "%s [%s]", c->name, c->unit) : c->name;
    return title ? markdown_text(a, title) : NULL;
}

static char *markdown_entry(pbd_arena *a, const pbd_entry *e, int digits) {
    char text[64] = "";
    if (e->kind == PBD_ENTRY_TEXT) return markdown_text(a, e->text);
    return pbd_new_text(a, e->kind == PBD_ENTRY_NONE ? text : spell_number(e, digits, text));
}

/* Characters, not bytes. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

typedef struct markdown_column {
    int width;
    bool right; /* flush right */
} markdown_column;

static void write_padded(FILE *out, const char *text, const markdown_column *column) {
    const int blanks = column->width - width_of(text);
    fprintf(out, "| %*s%s%*s ", column->right ? blanks : 0, "", text, column->right ? 0 : blanks, "");
}

/* Formats all cells, the header's first: their widths must be known before the first is written. */
static pbd_status spell_markdown(const pbd_text_table *t, int digits, pbd_arena *a, char **cell,
                                 markdown_column *column) {
    for (size_t c = 0; c < t->columns; c++) {
        column[c] = (markdown_column){.width = 3, .right = is_numeric(t, c)};
        for (size_t r = 0; r <= rows_of(t); r++) {
            char *text = r == 0 ? markdown_title(a, &t->column[c]) : markdown_entry(a, entry_at(t, r - 1, c), digits);
            cell[r * t->columns + c] = text;
            PBD_TRY(pbd_arena_check(a));
            if (width_of(text) > column[c].width) column[c].width = width_of(text);
        }
    }
    return pbd_ok();
}

static void write_markdown_rule(const markdown_column *column, size_t columns, FILE *out) {
    for (size_t c = 0; c < columns; c++) {
        fputs("| ", out);
        for (int i = 0; i < column[c].width - column[c].right; i++) fputc('-', out);
        fputs(column[c].right ? ": " : " ", out);
    }
    fputs("|\n", out);
}

static pbd_status write_markdown(const pbd_text_table *t, int digits, FILE *out) {
    const size_t cells = (rows_of(t) + 1) * t->columns;
    pbd_arena a PBD_ARENA;
    char **cell = pbd_new(&a, char *, cells);
    markdown_column *column = pbd_new(&a, markdown_column, t->columns);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(spell_markdown(t, digits, &a, cell, column));
    for (size_t i = 0; i < cells; i++) {
        const size_t c = i % t->columns;
        write_padded(out, cell[i], &column[c]);
        if (c + 1 < t->columns) continue;
        fputs("|\n", out);
        if (i + 1 == t->columns) write_markdown_rule(column, t->columns, out);
    }
    return pbd_ok();
}

/* ---- LaTeX ------------------------------------------------------------------------------------------------------- */

/* Characters that are special in TeX, and those for which pdflatex has no glyph. */
static const struct {
    const char *text, *tex;
} tex_words[] = {
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"$", "\\$"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"%", "\\%"},
    {"_", "\\_"},
    {"^", "\\textasciicircum{}"},
    {"~", "\\textasciitilde{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "''"},
    {"[", "{[}"}, /* after the end of a row it would open an argument */
    {"]", "{]}"},
    {"*", "{*}"}, /* likewise */
    {"\u2264", "$\\leq$"},
    {"\u2265", "$\\geq$"},
    {"\u00b1", "$\\pm$"},
    {"\u00d7", "$\\times$"},
    {"\u00b7", "$\\cdot$"},
    {"\u00b5", "$\\mu$"},
    {"\u03bc", "$\\mu$"},
    {"\u03bd", "$\\nu$"},
    {"\u03a8", "$\\Psi$"},
    {"\u0394", "$\\Delta$"},
    {"\u221a", "$\\surd$"},
    {"\u221e", "$\\infty$"},
    {"\u00b0", "$^{\\circ}$"},
    {"\u00b2", "$^{2}$"},
    {"\u00b3", "$^{3}$"},
    {"\u2013", "--"},
    {"\u2212", "$-$"},
};

static void write_tex(FILE *out, const char *text) {
    while (*text) {
        size_t w = 0, used = 1;
        while (w < sizeof tex_words / sizeof *tex_words &&
               strncmp(text, tex_words[w].text, strlen(tex_words[w].text)) != 0)
            w++;
        if (w < sizeof tex_words / sizeof *tex_words) {
            fputs(tex_words[w].tex, out);
            used = strlen(tex_words[w].text);
        } else {
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
        text += used;
    }
}

/* Writes N/m^2 with the power as a superscript. */
static void write_tex_unit(FILE *out, const char *unit) {
    const char *power = strchr(unit, '^');
    if (!power || strspn(power + 1, "-0123456789") == 0) {
        write_tex(out, unit);
        return;
    }
    const size_t digits = strspn(power + 1, "-0123456789");
    char *base = strndup(unit, (size_t)(power - unit));
    if (base) write_tex(out, base);
    free(base);
    fprintf(out, "$^{%.*s}$", (int)digits, power + 1);
    write_tex_unit(out, power + 1 + digits);
}

/* Writes 1.25e-05 as 1.25 times ten to the power of -5. */
static void write_tex_number(FILE *out, const pbd_entry *e, int digits) {
    char text[64];
    if (e->kind == PBD_ENTRY_REAL && isinf(e->real)) {
        fprintf(out, "$%s\\infty$", e->real < 0 ? "-" : "");
        return;
    }
    spell_number(e, digits, text);
    char *exponent = strchr(text, 'e');
    if (!exponent) {
        fprintf(out, "$%s$", text);
        return;
    }
    *exponent = '\0';
    fprintf(out, "$%s\\times 10^{%ld}$", text, strtol(exponent + 1, NULL, 10));
}

static void write_tex_row(const pbd_text_table *t, size_t row, int digits, FILE *out) {
    fputs("    ", out);
    for (size_t c = 0; c < t->columns; c++) {
        const pbd_entry *e = entry_at(t, row, c);
        if (c > 0) fputs(" & ", out);
        if (e->kind == PBD_ENTRY_NONE)
            fputs("--", out);
        else if (e->kind == PBD_ENTRY_TEXT)
            write_tex(out, e->text);
        else
            write_tex_number(out, e, digits);
    }
    fputs(" \\\\\n", out);
}

static void write_latex(const pbd_text_table *t, int digits, FILE *out) {
    fputs(
        "% needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n  \\caption{CAPTION}\n  \\label{tab:LABEL}\n"
        "  \\begin{tabular}{",
        out);
    for (size_t c = 0; c < t->columns; c++) fputc(is_numeric(t, c) ? 'r' : 'l', out);
    fputs("}\n    \\toprule\n    ", out);
    for (size_t c = 0; c < t->columns; c++) {
        if (c > 0) fputs(" & ", out);
        write_tex(out, t->column[c].name);
        if (!has_unit(&t->column[c])) continue;
        fputs(" {[}", out);
        write_tex_unit(out, t->column[c].unit);
        fputs("{]}", out);
    }
    fputs(" \\\\\n    \\midrule\n", out);
    for (size_t r = 0; r < rows_of(t); r++) write_tex_row(t, r, digits, out);
    fputs("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n", out);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

pbd_status pbd_text_table_write(const pbd_text_table *t, pbd_table_format format, int digits, FILE *out) {
    static const int usual[] = {[PBD_CSV] = 17, [PBD_JSON] = 17, [PBD_MARKDOWN] = 6, [PBD_LATEX] = 4};
    if (digits == 0) digits = usual[format];
    pbd_status status = pbd_ok();
    errno = 0;
    switch (format) {
        case PBD_CSV:
            write_csv(t, digits, out);
            break;
        case PBD_JSON:
            status = write_json(t, digits, out);
            break;
        case PBD_MARKDOWN:
            status = write_markdown(t, digits, out);
            break;
        case PBD_LATEX:
            write_latex(t, digits, out);
            break;
    }
    if (status.code == PBD_OK && (fflush(out) != 0 || ferror(out)))
        status = pbd_error(PBD_BAD_INPUT, "the table cannot be written: %s: free some space or write it elsewhere",
                           strerror(errno));
    return status;
}
