/* The only place where angle brackets are written. */
#include "harness/files/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/files/base64.h"
#include "page_css.h"

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static bool is_utf8(const char *text) {
    json_t *checked = json_string(text); /* jansson takes nothing else */
    json_decref(checked);
    return checked != NULL;
}

/* Both in text and in attributes, which stand in double quotes. */
static void write_escaped(FILE *out, const char *text) {
    const bool whole = is_utf8(text);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '&')
            fputs("&amp;", out);
        else if (*c == '<')
            fputs("&lt;", out);
        else if (*c == '>')
            fputs("&gt;", out);
        else if (*c == '"')
            fputs("&quot;", out);
        else if ((*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7f || (*c >= 0x80 && !whole))
            fputc('?', out);
        else
            fputc(*c, out);
    }
}

void html_text(pbd_html *h, const char *text) {
    if (text) write_escaped(h->out, text);
}

static void write_formatted(pbd_html *h, const char *format, va_list arguments) {
    char *text PBD_CLEANUP(pbd_free_memory) = NULL;
    if (vasprintf(&text, format, arguments) >= 0) html_text(h, text);
}

void html_textf(pbd_html *h, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_formatted(h, format, arguments);
    va_end(arguments);
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static void write_tag(pbd_html *h, const char *name, va_list attributes) {
    fprintf(h->out, "<%s", name);
    for (const char *key = va_arg(attributes, const char *); key; key = va_arg(attributes, const char *)) {
        const char *value = va_arg(attributes, const char *);
        if (!value) continue;
        fprintf(h->out, " %s=\"", key);
        write_escaped(h->out, value);
        fputc('"', h->out);
    }
    fputc('>', h->out);
}

void html_open(pbd_html *h, const char *name, ...) {
    va_list attributes;
    va_start(attributes, name);
    write_tag(h, name, attributes);
    va_end(attributes);
    if (h->depth < HTML_DEEPEST)
        h->open[h->depth++] = name;
    else
        h->unbalanced = true;
}

void html_close(pbd_html *h, const char *name) {
    if (h->depth > 0 && strcmp(h->open[h->depth - 1], name) == 0)
        h->depth--;
    else
        h->unbalanced = true;
    fprintf(h->out, "</%s>", name);
    /* Lines of a sensible length, where a line break means nothing. */
    static const char *const blocks[] = {"tr", "p", "section", "table", "thead", "details", "h2", "h3", "dl", "figure"};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (strcmp(name, blocks[i]) == 0) fputc('\n', h->out);
}

void html_void(pbd_html *h, const char *name, ...) {
    va_list attributes;
    va_start(attributes, name);
    write_tag(h, name, attributes);
    va_end(attributes);
}

void html_element(pbd_html *h, const char *name, const char *text) {
    html_open(h, name, NULL);
    html_text(h, text);
    html_close(h, name);
}

void html_elementf(pbd_html *h, const char *name, const char *class, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    html_open(h, name, "class", class, NULL);
    write_formatted(h, format, arguments);
    html_close(h, name);
    va_end(arguments);
}

void html_link(pbd_html *h, const char *id, const char *text) {
    char href[300];
    snprintf(href, sizeof href, "#%s", id);
    html_open(h, "a", "href", href, NULL);
    html_text(h, text);
    html_close(h, "a");
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

void html_table_open(pbd_html *h, const char *id, const char *caption, const html_column *column, size_t columns) {
    html_open(h, "div", "class", "scroll", "role", "region", "aria-label", caption, "tabindex", "0", NULL);
    html_open(h, "table", "class", "sortable", "id", id, NULL);
    html_element(h, "caption", caption);
    html_open(h, "thead", NULL);
    html_open(h, "tr", NULL);
    for (size_t i = 0; i < columns; i++) {
        html_open(h, "th", "scope", "col", "class", column[i].number ? "number" : NULL, NULL);
        html_text(h, column[i].title);
        html_close(h, "th");
    }
    html_close(h, "tr");
    html_close(h, "thead");
    html_open(h, "tbody", NULL);
}

void html_table_close(pbd_html *h) {
    html_close(h, "tbody");
    html_close(h, "table");
    html_close(h, "div");
}

void html_cell(pbd_html *h, const char *text) { html_element(h, "td", text); }

void html_cell_open(pbd_html *h, double sorted_by, bool number) {
    char key[40] = "";
    if (!isnan(sorted_by)) snprintf(key, sizeof key, "%.17g", sorted_by);
    html_open(h, "td", "class", number ? "number" : NULL, "data-sort", key, NULL);
}

void html_cellf(pbd_html *h, double sorted_by, bool number, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    html_cell_open(h, sorted_by, number);
    write_formatted(h, format, arguments);
    html_close(h, "td");
    va_end(arguments);
}

void html_number(pbd_html *h, double value, int digits) {
    if (isnan(value))
        html_cellf(h, value, true, "\u2014");
    else
        html_cellf(h, value, true, "%.*g", digits, value);
}

/* ---- What is embedded -------------------------------------------------------------------------------------------- */

void html_asset(pbd_html *h, const char *name, const char *text) {
    html_open(h, name, NULL);
    if (strstr(text, "</")) /* would end the element */
        h->unbalanced = true;
    else
        fputs(text, h->out);
    html_close(h, name);
}

void html_markup(pbd_html *h, const char *text) { fputs(text, h->out); }

void html_head(pbd_html *h, const char *title, const char *policy, const char *style) {
    html_open(h, "head", NULL);
    html_void(h, "meta", "charset", "utf-8", NULL);
    if (policy) html_void(h, "meta", "http-equiv", "Content-Security-Policy", "content", policy, NULL);
    html_void(h, "meta", "name", "viewport", "content", "width=device-width, initial-scale=1", NULL);
    html_void(h, "meta", "name", "color-scheme", "content", "light dark", NULL);
    html_void(h, "meta", "name", "generator", "content", title, NULL);
    html_element(h, "title", title);
    html_asset(h, "style", pbd_page_css);
    html_asset(h, "style", style);
    html_close(h, "head");
}

/* Within a script entities are not read, and only < could end it. */
pbd_status html_json(pbd_html *h, const char *id, const json_t *json) {
    char *text PBD_CLEANUP(pbd_free_memory) = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (!text) return pbd_no_memory();
    html_open(h, "script", "type", "application/json", "id", id, NULL);
    for (const char *c = text; *c; c++)
        if (*c == '<')
            fputs("\\u003c", h->out);
        else
            fputc(*c, h->out);
    html_close(h, "script");
    return pbd_ok();
}

void html_base64(pbd_html *h, const unsigned char *byte, size_t count) { pbd_base64_write(h->out, byte, count); }

enum { MOST_IMAGE_BYTES = 16 << 20, PNG_HEAD = 24 };

/* malloc: 16 MiB that are mostly not touched need not be zeroed. */
static pbd_status read_image(const char *path, unsigned char **byte, size_t *count) {
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "rb");
    if (!file) return pbd_error(PBD_BAD_INPUT, "the picture %s cannot be read: %s", path, strerror(errno));
    *byte = malloc(MOST_IMAGE_BYTES);
    if (!*byte) return pbd_error(PBD_FAILED, "out of memory for a picture");
    *count = fread(*byte, 1, MOST_IMAGE_BYTES, file);
    const bool whole = !ferror(file) && feof(file);
    if (whole && *count > PNG_HEAD && memcmp(*byte, "\x89PNG\r\n\x1a\n", 8) == 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "the picture %s is no PNG of at most 16 MiB", path);
}

static void spell_big_endian(const unsigned char *byte, char out[16]) {
    snprintf(out, 16, "%u",
             (unsigned)byte[0] << 24 | (unsigned)byte[1] << 16 | (unsigned)byte[2] << 8 | (unsigned)byte[3]);
}

/* Width and height are in the file's first chunk (PNG specification, 11.2.2); with them the page is laid out once. */
pbd_status html_png(pbd_html *h, const char *path, const char *alt) {
    unsigned char *byte PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t count = 0; /* gcc under ThreadSanitizer does not see that read_image sets it */
    char width[16], height[16];
    PBD_TRY(read_image(path, &byte, &count));
    spell_big_endian(byte + 16, width);
    spell_big_endian(byte + 20, height);
    fprintf(h->out, "<img src=\"data:image/png;base64,");
    html_base64(h, byte, count);
    fprintf(h->out, "\" width=\"%s\" height=\"%s\" alt=\"", width, height);
    write_escaped(h->out, alt);
    fputs("\">", h->out);
    return pbd_ok();
}
