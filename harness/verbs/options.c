/* Options of a verb, from its table. getopt_long splits the command line; this file suggests names, checks ranges and
 * prints help. */
#include "harness/verbs/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/registry.h"
#include "harness/files/nearest.h"
#include "harness/files/numbers.h"

enum { MOST_OPTIONS = 64, FIRST_LONG = 256 }; /* code of a long option without a letter: FIRST_LONG + its row */

/* ---- One value --------------------------------------------------------------------------------------------------- */

static pbd_status take_integer(const pbd_option *o, const char *text, long long *out) {
    char *end;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end || (double)value < o->min || (double)value > o->max)
        return pbd_error(PBD_BAD_INPUT, "--%s=%.40s must be a whole number in [%.0f, %.0f]", o->name, text, o->min,
                         o->max);
    *out = value;
    return pbd_ok();
}

/* For an option in percent «2%» is read as 0.02. NaN is in no range. */
static pbd_status take_real(const pbd_option *o, const char *text, double *out) {
    const bool percent = o->kind == PBD_OPTION_PERCENT;
    char *end;
    double value = pbd_decimal(text, &end);
    if (percent && end != text && *end == '%') {
        value /= 100;
        end++;
    }
    if (end != text && !*end && value >= o->min && value <= o->max) {
        *out = value;
        return pbd_ok();
    }
    if (percent)
        return pbd_error(PBD_BAD_INPUT, "--%s=%.40s must be in [%g%%, %g%%] (2%% and 0.02 are the same)", o->name, text,
                         100 * o->min, 100 * o->max);
    return pbd_error(PBD_BAD_INPUT, "--%s=%.40s must be a number in [%g, %g]", o->name, text, o->min, o->max);
}

enum { MOST_CHOICES = 16, LONGEST_CHOICES = 200 };

static pbd_status check_choice(const pbd_option *o, const char *text) {
    char copy[LONGEST_CHOICES];
    const char *names[MOST_CHOICES];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", o->choices);
    char *rest = NULL;
    for (char *word = strtok_r(copy, "|", &rest); word && count < MOST_CHOICES; word = strtok_r(NULL, "|", &rest)) {
        if (strcmp(word, text) == 0) return pbd_ok();
        names[count++] = word;
    }
    const char *nearest = pbd_nearest(text, names, count);
    return pbd_error(PBD_BAD_INPUT, "--%s=%.40s must be one of %s%s%s%s", o->name, text, o->choices,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static pbd_status take_value(const pbd_option *o, const char *text, void *options) {
    void *member = (char *)options + o->member;
    if (o->words == PBD_WORDS_CHOICES) PBD_TRY(check_choice(o, text));
    switch (o->kind) {
        case PBD_OPTION_FLAG:
            *(bool *)member = true;
            return pbd_ok();
        case PBD_OPTION_TEXT:
            *(const char **)member = text;
            return pbd_ok();
        case PBD_OPTION_INTEGER:
            return take_integer(o, text, member);
        case PBD_OPTION_REAL:
        case PBD_OPTION_PERCENT:
            return take_real(o, text, member);
        case PBD_OPTION_MANY:
            return pbd_texts_add(member, text);
    }
    return pbd_error(PBD_FAILED, "option --%s is of an unknown kind", o->name);
}

/* ---- The command line -------------------------------------------------------------------------------------------- */

/* Converts the table for getopt_long. `letters` begins with ':' so that getopt_long prints nothing itself. Returns the
 * number of rows. */
static size_t for_getopt(const pbd_option *table, struct option *longs, char *letters) {
    size_t count = 0;
    *letters++ = ':';
    for (const pbd_option *o = table; o->name && count < MOST_OPTIONS; o++, count++) {
        longs[count] = (struct option){o->name, o->value ? required_argument : no_argument, NULL,
                                       o->letter ? o->letter : FIRST_LONG + (int)count};
        if (o->letter) *letters++ = o->letter;
        if (o->letter && o->value) *letters++ = ':';
    }
    longs[count] = (struct option){"help", no_argument, NULL, 'h'};
    longs[count + 1] = (struct option){0};
    *letters++ = 'h';
    *letters = '\0';
    return count;
}

static const pbd_option *row_of(const pbd_option *table, int option) {
    if (option >= FIRST_LONG) return &table[option - FIRST_LONG];
    for (const pbd_option *o = table; o->name; o++)
        if (o->letter == option) return o;
    return NULL;
}

static pbd_status unknown_option(const char *verb, const pbd_option *table, const char *word) {
    const char *names[MOST_OPTIONS + 1];
    const bool is_long = strncmp(word, "--", 2) == 0;
    size_t count = 0, length = is_long ? strcspn(word, "=") : strlen(word);
    char bare[80];
    for (const pbd_option *o = table; o->name && count < MOST_OPTIONS; o++) names[count++] = o->name;
    names[count++] = "help";
    snprintf(bare, sizeof bare, "%.*s", (int)(length < 79 ? length : 79), word);
    const char *plain = bare + strspn(bare, "-");
    const char *nearest = is_long ? pbd_nearest(plain, names, count) : NULL;
    if (nearest)
        return pbd_error(PBD_BAD_INPUT, "%s has no option '%s'; did you mean '--%s'? See `pbdbench %s --help`", verb,
                         bare, nearest, verb);
    return pbd_error(PBD_BAD_INPUT, "%s has no option '%s': see `pbdbench %s --help`", verb, bare, verb);
}

/* A letter that is not in the table. A byte outside ASCII is part of a longer character, and is printed as a number. */
static pbd_status unknown_letter(const char *verb, const pbd_option *table, int letter) {
    char word[8];
    if (letter > ' ' && letter < 127)
        snprintf(word, sizeof word, "-%c", letter);
    else
        snprintf(word, sizeof word, "-\\x%02x", letter & 0xffu);
    return unknown_option(verb, table, word);
}

/* The error at which getopt_long stopped. `known` is its optopt: the code of a row, a letter, or 0 for an unknown long
 * option. Only in the last case is `word`, the last that it finished, the wrong one: a letter may be within a word. */
static pbd_status stumbled(const char *verb, const pbd_option *table, int why, const char *word, int known) {
    if (known == 0) return unknown_option(verb, table, word);
    const pbd_option *row = row_of(table, known);
    if (row && why == ':')
        return pbd_error(PBD_BAD_INPUT, "%s: --%s needs a value: --%s %s", verb, row->name, row->name, row->value);
    if (row || known == 'h') return pbd_error(PBD_BAD_INPUT, "%s: --%s takes no value", verb, row ? row->name : "help");
    return unknown_letter(verb, table, known);
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

pbd_status pbd_options_parse(const char *verb, const pbd_option *table, int argc, char **argv, void *options,
                             pbd_texts *words, bool *help) {
    struct option longs[MOST_OPTIONS + 2];
    char letters[2 * MOST_OPTIONS + 4];
    for_getopt(table, longs, letters);
    *words = (pbd_texts){0};
    *help = false;
    optind = 0; /* glibc: restart, also after another table */
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
        if (option == 'h' && !row_of(table, 'h')) {
            *help = true;
            continue;
        }
        pbd_status status = pbd_ok();
        if (option == '?' || option == ':')
            status = stumbled(verb, table, option, argv[optind - 1], optopt);
        else
            status = take_value(row_of(table, option), optarg, options);
        /* With --help on the line errors are not reported. */
        if (status.code == PBD_BAD_INPUT && (*help || asks_for_help(argc, argv))) {
            *help = true;
            return pbd_ok();
        }
        PBD_TRY(status);
    }
    for (int i = optind; i < argc; i++) PBD_TRY(pbd_texts_add(words, argv[i]));
    return pbd_ok();
}

void pbd_options_free(const pbd_option *table, void *options) {
    for (const pbd_option *o = table; o->name; o++)
        if (o->kind == PBD_OPTION_MANY) pbd_texts_free((pbd_texts *)((char *)options + o->member));
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

enum { HELP_COLUMN = 26 };

void pbd_options_print(const pbd_option *table) {
    for (const pbd_option *o = table; o->name; o++) {
        char left[80];
        snprintf(left, sizeof left, "  %c%c%c --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                 o->letter ? ',' : ' ', o->name, o->value ? " " : "", o->value ? o->value : "");
        if (strlen(left) < HELP_COLUMN)
            printf("%-*s", HELP_COLUMN, left);
        else
            printf("%s\n%*s", left, HELP_COLUMN, "");
        for (const char *c = o->doc; *c; c++) {
            putchar(*c);
            if (*c == '\n') printf("%*s", HELP_COLUMN, "");
        }
        putchar('\n');
    }
    printf("%-*s%s\n", HELP_COLUMN, "  -h, --help", "this text");
}
