/* Writes HTML that is well-formed and escaped by construction: text reaches the page through html_text and through the
 * values of attributes only, and both escape. Only html_asset and html_markup write text as it is: the program's own
 * style, script and markup.
 *
 * The stream keeps its failures: check ferror when the page is done. */
#ifndef PBD_HTML_H
#define PBD_HTML_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "methods/method.h"

enum { HTML_DEEPEST = 32 };

typedef struct pbd_html {
    FILE *out;
    const char *open[HTML_DEEPEST]; /* names of the elements that are open, the outermost first */
    int depth;
    bool unbalanced; /* an element was closed that was not the innermost open one: an error of this program */
} pbd_html;

/* Elements. After the name come names and values of attributes, ended by NULL; a value NULL leaves its attribute out.
 */
void html_open(pbd_html *h, const char *name, ...) __attribute__((sentinel));
void html_close(pbd_html *h, const char *name);
void html_void(pbd_html *h, const char *name, ...) __attribute__((sentinel)); /* meta, input, br */

/* Text. Control characters and bytes that are no UTF-8 become '?'. */
void html_text(pbd_html *h, const char *text); /* NULL: nothing */

/* <name>text</name>, without attributes. */
void html_element(pbd_html *h, const char *name, const char *text);

/* <head>: `title`, also as the page's generator, the colours of all pages and a page's own style. policy: a content
 * security policy; NULL: none. */
void html_head(pbd_html *h, const char *title, const char *policy, const char *style);
/* The program's own style or script, as it is; `name` is "style" or "script". */
void html_asset(pbd_html *h, const char *name, const char *text);
/* The program's own markup, as it is. */
void html_markup(pbd_html *h, const char *text);
/* Data for a script: an element with this id whose text is JSON. */
pbd_status html_json(pbd_html *h, const char *id, const json_t *json);
/* Bytes as base64 (RFC 4648), which needs no escape. */
void html_base64(pbd_html *h, const unsigned char *byte, size_t count);

#endif
