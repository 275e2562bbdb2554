/* A strict look at an HTML page as text: what a browser would silently repair is an error here. Include after
 * <cmocka.h>.
 *
 * Tags are balanced, attributes are quoted, ids are unique, links within the page lead somewhere, nothing is loaded
 * from anywhere, and every '<' and '&' of the text is escaped. */
#ifndef PBD_TESTS_PAGE_CHECK_H
#define PBD_TESTS_PAGE_CHECK_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct page_words { /* ids, or targets of links */
    char **word;
    size_t count, capacity;
} page_words;

typedef struct page_check {
    const char *at; /* where it is */
    char *open[64];
    size_t depth;
    page_words ids, targets;
    size_t images, links;
} page_check;

/* Sanitizers look through the whole of what strncmp and strndup are given, and a page is long. */
static inline bool page_begins(const char *text, const char *with) {
    while (*with && *text == *with) text++, with++;
    return !*with;
}

static inline char *page_copy(const char *begin, const char *end) {
    char *copy = calloc((size_t)(end - begin) + 1, 1);
    if (!copy) abort();
    return memcpy(copy, begin, (size_t)(end - begin));
}

static inline void page_fail(const page_check *p, const char *why) { fail_msg("%s at: %.200s", why, p->at); }

static inline void page_keep(page_words *words, const char *text) {
    if (words->count == words->capacity) {
        words->capacity = words->capacity ? 2 * words->capacity : 256;
        words->word = realloc(words->word, words->capacity * sizeof *words->word);
        if (!words->word) abort();
    }
    words->word[words->count++] = strdup(text);
}

static inline bool page_is_one_of(const char *word, const char *const *list) {
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

/* One of the four escapes that this program writes; moves behind it. */
static inline void page_escape(page_check *p) {
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", NULL};
    for (size_t i = 0; known[i]; i++)
        if (page_begins(p->at, known[i])) {
            p->at += strlen(known[i]);
            return;
        }
    page_fail(p, "a bare &");
}

static inline char *page_name(page_check *p) {
    const char *begin = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '-') p->at++;
    if (p->at == begin) page_fail(p, "no name");
    return page_copy(begin, p->at);
}

/* Between double quotes; not unescaped. */
static inline char *page_value(page_check *p) {
    if (*p->at != '"') page_fail(p, "a value without quotes");
    const char *begin = ++p->at;
    while (*p->at && *p->at != '"') {
        if (*p->at == '<' || *p->at == '>') page_fail(p, "a bracket in an attribute");
        if (*p->at == '&')
            page_escape(p);
        else
            p->at++;
    }
    if (!*p->at) page_fail(p, "an attribute without end");
    char *value = page_copy(begin, p->at);
    p->at++;
    return value;
}

/* Only the text of a link may lead out of the page, and only when it is clicked on. */
static inline void page_attribute(page_check *p, const char *tag, const char *name, const char *value) {
    const bool is_link = strcmp(tag, "a") == 0 && strcmp(name, "href") == 0;
    if (strcmp(name, "id") == 0) page_keep(&p->ids, value);
    if (is_link && *value == '#') page_keep(&p->targets, value + 1);
    if (is_link && *value != '#' && strncmp(value, "https://", 8) != 0) page_fail(p, "a link to another place");
    if (strcmp(name, "src") == 0 && strncmp(value, "data:image/png;base64,", 22) != 0)
        page_fail(p, "a picture elsewhere");
    if (!is_link && strcmp(name, "href") == 0) page_fail(p, "something is loaded");
    if (strncmp(name, "on", 2) == 0) page_fail(p, "script in an attribute");
    p->links += is_link;
}

static inline void page_close(page_check *p) {
    char *name = page_name(p);
    if (*p->at++ != '>') page_fail(p, "a closing tag with more in it");
    if (p->depth == 0 || strcmp(p->open[p->depth - 1], name) != 0) page_fail(p, "closed what is not open");
    free(p->open[--p->depth]);
    free(name);
}

static inline void page_open(page_check *p) {
    static const char *const empty[] = {"meta", "img", "input", "br", NULL}, *const raw[] = {"style", "script", NULL},
                             *const forbidden[] = {"link", "iframe", "object", "embed", "base", NULL};
    char *tag = page_name(p), *names[16];
    size_t count = 0;
    bool has_alt = false;
    while (*p->at == ' ') {
        p->at++;
        char *name = page_name(p);
        for (size_t i = 0; i < count; i++)
            if (strcmp(names[i], name) == 0) page_fail(p, "an attribute twice");
        if (*p->at++ != '=' || count == 16) page_fail(p, "an attribute without value, or too many");
        char *value = page_value(p);
        has_alt = has_alt || (strcmp(name, "alt") == 0 && *value);
        page_attribute(p, tag, name, value);
        free(value);
        names[count++] = name;
    }
    if (*p->at++ != '>') page_fail(p, "a tag without end");
    while (count > 0) free(names[--count]);
    if (page_is_one_of(tag, forbidden)) page_fail(p, "an element that loads something");
    if (strcmp(tag, "img") == 0 && !has_alt) page_fail(p, "a picture without words");
    p->images += strcmp(tag, "img") == 0;
    const bool is_empty = page_is_one_of(tag, empty), is_raw = page_is_one_of(tag, raw);
    if (!is_empty && p->depth == 64) page_fail(p, "too deep");
    if (!is_empty) p->open[p->depth++] = strdup(tag);
    if (is_raw && !(p->at = strstr(p->at, "</"))) fail_msg("%s without end", tag);
    free(tag);
}

static inline int page_order(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static inline void page_check_links(page_words *ids, page_words *targets) {
    if (ids->count > 0) qsort(ids->word, ids->count, sizeof *ids->word, page_order);
    for (size_t i = 1; i < ids->count; i++)
        if (strcmp(ids->word[i - 1], ids->word[i]) == 0) fail_msg("the id %s twice", ids->word[i]);
    for (size_t i = 0; i < targets->count; i++)
        if (!bsearch(&targets->word[i], ids->word, ids->count, sizeof *ids->word, page_order))
            fail_msg("a link to #%s, which there is not", targets->word[i]);
}

static inline void page_free(page_words *words) {
    for (size_t i = 0; i < words->count; i++) free(words->word[i]);
    free(words->word);
}

/* Fails on the first error; returns how many pictures and links there are. */
typedef struct page_found {
    size_t images, links;
} page_found;

static inline page_found check_page(const char *page) {
    static const char doctype[] = "<!DOCTYPE html>";
    if (!page_begins(page, doctype)) fail_msg("no doctype: %.60s", page);
    page_check p = {.at = page + sizeof doctype - 1};
    while (*p.at) {
        if (page_begins(p.at, "</")) {
            p.at += 2;
            page_close(&p);
        } else if (*p.at == '<') {
            p.at++;
            page_open(&p);
        } else if (*p.at == '>') {
            page_fail(&p, "a bare >");
        } else if (*p.at == '&') {
            page_escape(&p);
        } else {
            if (p.depth == 0 && !isspace((unsigned char)*p.at)) page_fail(&p, "text outside of everything");
            p.at++;
        }
    }
    if (p.depth > 0) fail_msg("%s is still open", p.open[p.depth - 1]);
    page_check_links(&p.ids, &p.targets);
    page_free(&p.ids);
    page_free(&p.targets);
    return (page_found){p.images, p.links};
}

#endif
