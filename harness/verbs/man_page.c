#include "harness/verbs/man_page.h"

#include <string.h>

#include "harness/machine/environment.h"

/* Writes one character of a text. A dash is escaped so that it is not printed as a hyphen; a backslash and characters
 * outside ASCII are escaped by name. Returns the number of bytes read. */
static size_t write_letter(const char *at, FILE *out) {
    const unsigned char *c = (const unsigned char *)at;
    if (*c == '-' || *c == '\\') {
        fputs(*c == '-' ? "\\-" : "\\e", out);
        return 1;
    }
    if (*c < 0x80) {
        fputc(*c, out);
        return 1;
    }
    const size_t more = *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : 1;
    unsigned code = *c & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) code = code << 6 | (c[i] & 0x3f);
    fprintf(out, "\\[u%04X]", code);
    return 1 + more;
}

/* Escapes a dot or a quote at the beginning of a line, which would begin a macro. */
static void write_words(const char *text, size_t length, FILE *out) {
    if (length > 0 && (*text == '.' || *text == '\'')) fputs("\\&", out);
    for (size_t i = 0; i < length;) i += write_letter(text + i, out);
}

/* Writes the lines of --help. Indented ones are commands and stay as they are; the others are filled. */
static void write_text(const char *text, FILE *out) {
    bool kept = false;
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        const bool indented = *line == ' ' && length > 0;
        if (indented != kept) fputs(indented ? ".nf\n" : ".fi\n", out);
        kept = indented;
        if (length == 0)
            fputs(line[1] && line[1] != ' ' ? ".PP\n" : "", out);
        else
            write_words(line, length, out), fputc('\n', out);
        line += length + (line[length] == '\n');
    }
    if (kept) fputs(".fi\n", out);
}

static void write_option(const pbd_option *o, FILE *out) {
    fputs(".TP\n\\fB", out);
    if (o->letter) fprintf(out, "\\-%c\\fR, \\fB", o->letter);
    fputs("\\-\\-", out);
    write_words(o->name, strlen(o->name), out);
    fputs("\\fR", out);
    if (o->value) {
        fputs(" \\fI", out);
        write_words(o->value, strlen(o->value), out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    write_text(o->doc, out);
    fputc('\n', out);
}

static void write_usage(const char *usage, FILE *out) {
    fputs(".nf\n", out);
    for (const char *line = usage; *line;) {
        const size_t length = strcspn(line, "\n");
        if (*line != ' ') fputs("pbdbench ", out);
        write_words(line, length, out);
        fputc('\n', out);
        line += length + (line[length] == '\n');
    }
    fputs(".fi\n.PP\n", out);
}

static void write_verb(const pbd_verb *verb, FILE *out) {
    fprintf(out, ".SS %s: ", verb->name);
    write_words(verb->summary, strlen(verb->summary), out);
    fputc('\n', out);
    write_usage(verb->usage, out);
    write_text(verb->about, out);
    for (const pbd_option *o = verb->options; o->name; o++) write_option(o, out);
    if (!verb->more) return;
    fputs(".PP\n", out);
    write_text(verb->more, out);
}

static void write_pairs(const char *const (*pairs)[2], size_t count, FILE *out) {
    for (size_t i = 0; i < count; i++) {
        fputs(".TP\n", out);
        write_words(pairs[i][0], strlen(pairs[i][0]), out);
        fputc('\n', out);
        write_words(pairs[i][1], strlen(pairs[i][1]), out);
        fputc('\n', out);
    }
}

void pbd_man_page_write(FILE *out) {
    static const char *const variables[][2] = {
        {"COLUMNS", "columns of output lines; without it those of the terminal, at least 60; a file has no limit"},
        {"NO_COLOR", "no colour"},
        {"PBDBENCH_ROOT", "the folder with plots, cases and results; without it that of the program's sources"},
        {"PBDBENCH_PLUGINS", "shared libraries of methods, separated by colons"},
        {"PBDBENCH_ENGINES", "descriptions of engines, or folders of them, separated by colons"}};
    static const char *const files[][2] = {{"results/pbdbench.db", "the store of runs; --db names another"},
                                           {"results/plots", "pictures; --out names another folder"}};
    fprintf(out, ".TH PBDBENCH 1 \"\" \"pbdbench %s\" \"User Commands\"\n.SH NAME\npbdbench \\- ",
            pbd_this_build()->version);
    write_words(pbd_about_program, strlen(pbd_about_program), out);
    fputs(
        "\n.SH SYNOPSIS\n.nf\npbdbench \\fIVERB\\fR [\\fIoptions\\fR]\npbdbench \\fIVERB\\fR \\-\\-help\n.fi\n"
        ".SH VERBS\nEvery verb takes \\fB\\-h\\fR or \\fB\\-\\-help\\fR.\n",
        out);
    for (size_t i = 0; pbd_verbs[i]; i++) write_verb(pbd_verbs[i], out);
    fputs(".SH EXIT STATUS\n", out);
    for (const pbd_exit_meaning *e = pbd_exit_meanings; e->means; e++) {
        fprintf(out, ".TP\n%d\n", e->code);
        write_words(e->means, strlen(e->means), out);
        fputc('\n', out);
    }
    fputs(".SH ENVIRONMENT\n", out);
    write_pairs(variables, sizeof variables / sizeof *variables, out);
    fputs(".SH FILES\n", out);
    write_pairs(files, sizeof files / sizeof *files, out);
}
