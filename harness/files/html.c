/* The only place where angle brackets are written. */
#include "harness/files/html.h"

#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/files/base64.h"
#include "page_css.h"

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static bool is_utf8(const char *text) {
    json_t *checked = json_string(text); /* jansson accepts only UTF-8 */
    json_decref(checked);
    return checked != NULL;
}

/* For text and for attributes, whose values are in double quotes. */
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

/* Entities are not decoded within a script, and only < could end it. */
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
