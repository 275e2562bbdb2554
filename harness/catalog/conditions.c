#include "harness/catalog/conditions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Pointers into a description. */
typedef struct term {
    const char *key, *value; /* "a|b|c" */
    int key_length, value_length;
    char relation; /* '=', '!' or '>' */
} term;

static size_t word_length(const char *text, const char *more) {
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || (text[n] && strchr(more, text[n]))) n++;
    return n;
}

/* Parses a term and moves *text past it; false: there is none. */
static bool take_term(const char **text, term *out) {
    *out = (term){.key = *text, .key_length = (int)word_length(*text, "")};
    const char *at = *text + out->key_length;
    out->relation = *at;
    if (out->key_length == 0 || !*at || !strchr("=!>", *at)) return false;
    at += *at == '!' ? 2 : 1;
    if (out->relation == '!' && at[-1] != '=') return false;
    out->value = at;
    out->value_length = (int)word_length(at, out->relation == '=' ? "|.+-" : ".+-");
    *text = at + out->value_length;
    return out->value_length > 0;
}

static bool take_word(const char **text, const char *word) {
    if (strncmp(*text, word, strlen(word)) != 0) return false;
    *text += strlen(word);
    return true;
}

size_t pbd_condition_length(const char *doc) {
    const char *at = doc;
    term t;
    do {
        if (!take_term(&at, &t)) return 0;
    } while (take_word(&at, ", ") || take_word(&at, " or "));
    return strncmp(at, ": ", 2) == 0 ? (size_t)(at - doc) : 0;
}

/* ---- Meaning ----------------------------------------------------------------------------------------------------- */

/* Whether word is one of "a|b|c". */
static bool is_among(const char *word, const term *t) {
    const char *at = t->value, *end = t->value + t->value_length;
    while (at < end) {
        const size_t length = strcspn(at, "|") < (size_t)(end - at) ? strcspn(at, "|") : (size_t)(end - at);
        if (strlen(word) == length && strncmp(word, at, length) == 0) return true;
        at += length + 1;
    }
    return false;
}

static const pbd_value *value_of(const term *t, const pbd_values *values) {
    for (size_t i = 0; i < values->count; i++) {
        const char *name = values->item[i].param->name;
        if (strlen(name) == (size_t)t->key_length && strncmp(name, t->key, strlen(name)) == 0) return &values->item[i];
    }
    return NULL;
}

static bool holds(const term *t, const pbd_value *value) {
    const bool number = value->param->kind == PBD_REAL || value->param->kind == PBD_INTEGER;
    if (!number) return is_among(value->words ? value->words : value->text, t) == (t->relation == '=');
    const double limit = strtod(t->value, NULL); /* stops at the end of the number */
    return t->relation == '>' ? value->number > limit : (value->number == limit) == (t->relation == '=');
}

bool pbd_condition_holds(const char *doc, const pbd_values *a, const pbd_values *b) {
    if (pbd_condition_length(doc) == 0) return true;
    for (const char *at = doc;;) {
        bool all = true;
        term t;
        do {
            take_term(&at, &t);
            const pbd_value *value = value_of(&t, a) ? value_of(&t, a) : value_of(&t, b);
            all = all && value && holds(&t, value);
        } while (take_word(&at, ", "));
        if (all || !take_word(&at, " or ")) return all;
    }
}

static const pbd_param *param_of(const char *key, const pbd_values *values) {
    const pbd_value *value = pbd_value_named(values, key);
    return value ? value->param : NULL;
}

bool pbd_is_read(const char *key, const pbd_values *of_case, const pbd_values *of_method) {
    const pbd_param *const param[] = {param_of(key, of_case), param_of(key, of_method)};
    for (int k = 0; k < 2; k++)
        if (param[k] && pbd_condition_holds(param[k]->doc, of_case, of_method)) return true;
    return false;
}

void pbd_unread_text(const char *key, const pbd_values *of_case, const pbd_values *of_method, char *out, size_t bytes) {
    const pbd_param *param = param_of(key, of_case) ? param_of(key, of_case) : param_of(key, of_method);
    const char *at = param->doc;
    const int length = (int)pbd_condition_length(at);
    size_t used = (size_t)snprintf(out, bytes, "%s is not read", key);
    const char *before = " with ";
    term t;
    do {
        take_term(&at, &t);
        const pbd_value *value = value_of(&t, of_case) ? value_of(&t, of_case) : value_of(&t, of_method);
        if (!value || holds(&t, value) || used >= bytes) continue;
        used += (size_t)snprintf(out + used, bytes - used, "%s%s=%.60s", before, value->param->name,
                                 value->words ? value->words : value->text);
        before = ", ";
    } while (take_word(&at, ", ") || take_word(&at, " or "));
    if (used < bytes) snprintf(out + used, bytes - used, ", only with %.*s", length, param->doc);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static const pbd_param *row_of(const term *t, const pbd_param *row) {
    for (; row && row->name; row++)
        if (strlen(row->name) == (size_t)t->key_length && strncmp(row->name, t->key, strlen(row->name)) == 0)
            return row;
    return NULL;
}

/* Whether each word of "a|b|c" is one of the choices. */
static bool are_choices(const term *t, const char *const *choices) {
    size_t known = 0, words = 1;
    for (int i = 0; i < t->value_length; i++) words += t->value[i] == '|';
    for (; *choices; choices++) known += is_among(*choices, t);
    return known == words;
}

static bool is_number(const term *t) {
    char *end;
    strtod(t->value, &end);
    return end == t->value + t->value_length;
}

pbd_status pbd_condition_check(const pbd_param *param, const pbd_param *of_case, const pbd_param *of_method) {
    const char *at = param->doc;
    term t;
    if (pbd_condition_length(at) == 0) return pbd_ok();
    do {
        take_term(&at, &t);
        const pbd_param *row = row_of(&t, of_case) ? row_of(&t, of_case) : row_of(&t, of_method);
        if (!row)
            return pbd_error(PBD_BAD_INPUT, "the condition of parameter %s names '%.*s', which is no parameter",
                             param->name, t.key_length, t.key);
        const bool number = row->kind == PBD_REAL || row->kind == PBD_INTEGER;
        const bool fits =
            number ? is_number(&t) : t.relation != '>' && (!row->choices || are_choices(&t, row->choices));
        if (!fits)
            return pbd_error(PBD_BAD_INPUT, "the condition of parameter %s: '%.*s' is no value of %s", param->name,
                             t.value_length, t.value, row->name);
    } while (take_word(&at, ", ") || take_word(&at, " or "));
    return pbd_ok();
}
