/* The tables of options: parsing of every kind of row, help, the tables of all verbs, and random command lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <math.h>

#include "harness/files/texts.h"
#include "harness/verbs/cli.h"
#include "program.h"

/* ---- A table of the test's own ----------------------------------------------------------------------------------- */

typedef struct sample {
    bool flag, quiet;
    const char *text, *axis;
    long long count, seed;
    double length, part;
    pbd_texts sets;
} sample;

static const pbd_option table[] = {
    PBD_OPT_FLAG(sample, flag, "flag", 0, "a flag"),
    PBD_OPT_FLAG(sample, quiet, "quiet", 'q', "says less"),
    PBD_OPT_TEXT(sample, text, "text", 't', "TEXT", PBD_WORDS_NONE, "any text;\ndefault none"),
    PBD_OPT_CHOICE(sample, axis, "axis", 0, "AXIS", "red|green|blue", "which"),
    PBD_OPT_INTEGER(sample, count, "count", 'n', -3, 40, "how many"),
    PBD_OPT_INTEGER(sample, seed, "seed", 0, 0, 9e15, "of the dice"),
    PBD_OPT_REAL(sample, length, "length", 'l', "METRES", -0.5, 2, "how long"),
    PBD_OPT_PERCENT(sample, part, "part", 0, 0, 0.5, "how much"),
    PBD_OPT_MANY(sample, sets, "a-long-name-for-settings", 's', "KEY=VALUE", PBD_WORDS_SETTINGS, "one more"),
    {0}};

typedef struct parsed {
    pbd_status status;
    sample options;
    pbd_texts words;
    bool help;
} parsed;

enum { MOST_WORDS = 24 };

/* getopt may reorder argv, but does not change the words. */
static parsed parse_words(const char *const *words) {
    char *argv[MOST_WORDS + 2] = {(char *)(uintptr_t) "sample"};
    int argc = 1;
    while (words[argc - 1] && argc <= MOST_WORDS) {
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
        argc++;
    }
    parsed p = {.options = {.length = 1.5, .count = 7}};
    p.status = pbd_options_parse("sample", table, argc, argv, &p.options, &p.words, &p.help);
    return p;
}
#define parse(...) parse_words((const char *const[]){__VA_ARGS__, NULL})

static void drop(parsed *p) {
    pbd_texts_free(&p->words);
    pbd_texts_free(&p->options.sets);
}

#define expect_fine(p)                                                                  \
    do {                                                                                \
        if ((p).status.code != PBD_OK) fail_msg("refused, with «%s»", (p).status.text); \
    } while (0)

/* Expects a refusal whose message contains these parts. */
static void expect_refusal(parsed p, const char *const *parts) {
    if (p.status.code != PBD_BAD_INPUT) fail_msg("not refused (code %d), wanted «%s»", p.status.code, parts[0]);
    for (size_t i = 0; parts[i]; i++)
        if (!strstr(p.status.text, parts[i])) fail_msg("«%s» does not say «%s»", p.status.text, parts[i]);
    assert_false(p.help);
    drop(&p);
}
#define refuses(p, ...) expect_refusal(p, (const char *const[]){__VA_ARGS__, NULL})

static void every_kind_is_taken(void **state) {
    (void)state;
    parsed p = parse("--flag", "--text", "two words", "--axis", "green", "--count", "-3", "--seed", "9000000000000000",
                     "--length", "2.5e-1", "--part", "2%", "--a-long-name-for-settings", "a=1");
    expect_fine(p);
    assert_true(p.options.flag);
    assert_false(p.options.quiet);
    assert_string_equal(p.options.text, "two words");
    assert_string_equal(p.options.axis, "green");
    assert_int_equal(p.options.count, -3);
    assert_true(p.options.seed == 9000000000000000LL);
    assert_true(p.options.length == 0.25);
    assert_true(p.options.part == 0.02);
    assert_int_equal(p.options.sets.count, 1);
    assert_int_equal(p.words.count, 0);
    assert_false(p.help);
    drop(&p);
}

static void what_is_not_named_keeps_its_default(void **state) {
    (void)state;
    parsed p = parse("word");
    expect_fine(p);
    assert_int_equal(p.options.count, 7);
    assert_true(p.options.length == 1.5);
    assert_null(p.options.text);
    drop(&p);
}

static void spellings_of_one_option_are_the_same(void **state) {
    (void)state;
    static const char *const spellings[][4] = {{"-n", "12"},      {"-n12"},       {"-qn12"},      {"-qn", "12"},
                                               {"--count", "12"}, {"--count=12"}, {"--cou", "12"}};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        parsed p = parse_words(spellings[i]);
        expect_fine(p);
        assert_int_equal(p.options.count, 12);
        drop(&p);
    }
    parsed p = parse("--text=", "--a-long-name-for-settings=a=b=c");
    expect_fine(p);
    assert_string_equal(p.options.text, "");
    assert_string_equal(p.options.sets.item[0], "a=b=c");
    drop(&p);
}

static void words_keep_their_order(void **state) {
    (void)state;
    parsed p = parse("one", "-q", "two", "--count", "3", "-", "", "--", "-q", "--no-such", "--help");
    expect_fine(p);
    static const char *const wanted[] = {"one", "two", "-", "", "-q", "--no-such", "--help"};
    assert_int_equal(p.words.count, 7);
    for (size_t i = 0; i < 7; i++) assert_string_equal(p.words.item[i], wanted[i]);
    assert_int_equal(p.options.count, 3);
    assert_false(p.help); /* after -- it is a word */
    drop(&p);
}

static void repeated_options(void **state) {
    (void)state;
    parsed p = parse("-s", "b=2", "-n", "1", "-s", "a=1", "word", "-s", "b=2", "--count=4", "-t", "x", "-t", "y");
    expect_fine(p);
    static const char *const wanted[] = {"b=2", "a=1", "b=2"};
    assert_int_equal(p.options.sets.count, 3);
    for (size_t i = 0; i < 3; i++) assert_string_equal(p.options.sets.item[i], wanted[i]);
    assert_int_equal(p.options.count, 4); /* the last one counts */
    assert_string_equal(p.options.text, "y");
    drop(&p);
}

static void numbers_are_held_to_their_range(void **state) {
    (void)state;
    static const char *const whole[] = {
        "-4", "41", "", "x", "3x", "1.5", "1e1", "0x10", "nan", "3 ", "99999999999999999999", "-99999999999999999999"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        refuses(parse("--count", whole[i]), "--count=", whole[i], "whole number in [-3, 40]");
    static const char *const real[] = {"-0.51", "2.0001", "",    "x",    "1m",    "1,5", "nan", "-nan",
                                       "NAN",   "nan(1)", "inf", "-inf", "1e999", "50%", "1 "};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        refuses(parse("--length", real[i]), "--length=", real[i], "number in [-0.5, 2]");
    static const char *const percent[] = {"51%", "0.51", "-1%", "%", "", "2%%", "2 %", "2%x", "nan%", "nan", "inf%"};
    for (size_t i = 0; i < sizeof percent / sizeof *percent; i++)
        refuses(parse("--part", percent[i]), "--part=", percent[i], "[0%, 50%]");
    refuses(parse("--seed", "9000000000000001"), "--seed=9000000000000001", "[0, 9000000000000000]");
    refuses(parse("--seed", "9223372036854775808"), "--seed=", "[0, 9000000000000000]");
}

/* Ranges include their ends. */
static void ends_of_ranges_are_taken(void **state) {
    (void)state;
    parsed p = parse("-n", "40", "-l", "-0.5", "--part", "50%");
    expect_fine(p);
    assert_int_equal(p.options.count, 40);
    assert_true(p.options.length == -0.5);
    assert_true(p.options.part == 0.5);
    drop(&p);
    p = parse("-n-3", "-l2", "--part=0");
    expect_fine(p);
    assert_int_equal(p.options.count, -3);
    assert_true(p.options.length == 2);
    assert_true(p.options.part == 0);
    drop(&p);
    p = parse("--part", "0.02");
    expect_fine(p);
    assert_true(p.options.part == 0.02);
    drop(&p);
}

static void a_refused_value_changes_nothing(void **state) {
    (void)state;
    parsed p = parse("--count", "41");
    assert_int_equal(p.options.count, 7);
    drop(&p);
    p = parse("--length", "nan");
    assert_true(p.options.length == 1.5);
    drop(&p);
    p = parse("--axis", "pink");
    assert_null(p.options.axis);
    drop(&p);
}

static void wrong_names_get_the_nearest(void **state) {
    (void)state;
    refuses(parse("--cuont", "3"), "sample has no option '--cuont'", "did you mean '--count'?");
    refuses(parse("--cuont=3"), "'--cuont'", "did you mean '--count'?");
    refuses(parse("--hlep"), "'--hlep'", "did you mean '--help'?");
    refuses(parse("--settings", "a=1"), "did you mean '--a-long-name-for-settings'?");
    refuses(parse("--axis", "gren"), "--axis=gren", "red|green|blue", "did you mean 'green'?");
    refuses(parse("--axis", ""), "--axis=", "red|green|blue");
    refuses(parse("--axis", "red|green"), "--axis=red|green", "red|green|blue");
    refuses(parse("--axis", "re"), "--axis=re", "red|green|blue"); /* choices are not abbreviated */
    refuses(parse("--q=1"), "--quiet takes no value");
    parsed far = parse("--completely-different");
    assert_null(strstr(far.status.text, "did you mean"));
    refuses(far, "'--completely-different'", "`pbdbench sample --help`");
}

/* getopt reports the letter but not its word; the message must not name the word before. */
static void wrong_letters_are_named(void **state) {
    (void)state;
    refuses(parse("-z"), "sample has no option '-z'");
    refuses(parse("-zq"), "'-z'");
    refuses(parse("-qz"), "'-z'");
    refuses(parse("--flag", "-zq"), "'-z'");
    refuses(parse("--text=x", "-zq"), "'-z'");
    refuses(parse("-q", "-\xc3\xa9q"), "'-\\xc3'"); /* half of a UTF-8 character is escaped */
    refuses(parse("-:"), "'-:'");
    refuses(parse("-q=1"), "'-='");
}

static void a_value_must_follow(void **state) {
    (void)state;
    refuses(parse("--count"), "--count needs a value", "--count N");
    refuses(parse("-n"), "--count needs a value");
    refuses(parse("-qn"), "--count needs a value");
    refuses(parse("word", "--a-long-name-for-settings"), "--a-long-name-for-settings KEY=VALUE");
    refuses(parse("--flag=1"), "--flag takes no value");
    refuses(parse("--quiet="), "--quiet takes no value");
    refuses(parse("--help=1"), "--help takes no value");
}

static void help_may_stand_anywhere(void **state) {
    (void)state;
    static const char *const lines[][5] = {{"--help"},
                                           {"-h"},
                                           {"word", "-q", "--help"},
                                           {"-qh"},
                                           {"--hel"},
                                           {"--count", "999", "--help"},
                                           {"--help", "--count", "999"},
                                           {"--no-such", "-h"},
                                           {"-h", "--no-such"},
                                           {"-qh", "--no-such"},
                                           {"--hel", "-z"},
                                           {"-h", "--count"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        parsed p = parse_words(lines[i]);
        expect_fine(p);
        if (!p.help) fail_msg("line %zu asks for help", i);
        drop(&p);
    }
    parsed p = parse("--text", "--help"); /* the value of another option */
    expect_fine(p);
    assert_false(p.help);
    assert_string_equal(p.options.text, "--help");
    drop(&p);
}

static void a_table_may_be_empty(void **state) {
    (void)state;
    static const pbd_option none[] = {{0}};
    char *argv[] = {(char *)(uintptr_t) "none", (char *)(uintptr_t) "word", (char *)(uintptr_t) "-x"};
    pbd_texts words;
    bool help;
    pbd_status status = pbd_options_parse("none", none, 2, argv, NULL, &words, &help);
    assert_int_equal(status.code, PBD_OK);
    assert_int_equal(words.count, 1);
    pbd_texts_free(&words);
    status = pbd_options_parse("none", none, 3, argv, NULL, &words, &help);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    pbd_texts_free(&words);
    status = pbd_options_parse("none", none, 1, argv, NULL, &words, &help);
    assert_int_equal(status.code, PBD_OK);
    assert_int_equal(words.count, 0);
    pbd_texts_free(&words);
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

static int hold_stdout(int *kept) {
    fflush(stdout);
    *kept = dup(STDOUT_FILENO);
    const int file = memfd_create("help", MFD_CLOEXEC);
    if (*kept < 0 || file < 0 || dup2(file, STDOUT_FILENO) < 0) fail_msg("cannot hold standard output");
    return file;
}

static char *let_stdout_go(int file, int kept) {
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    return slurp(file);
}

static void help_is_the_table(void **state) {
    (void)state;
    int kept;
    const int file = hold_stdout(&kept);
    pbd_options_print(table);
    char *text = let_stdout_go(file, kept);
    assert_string_equal(text,
                        "      --flag              a flag\n"
                        "  -q, --quiet             says less\n"
                        "  -t, --text TEXT         any text;\n"
                        "                          default none\n"
                        "      --axis AXIS         which\n"
                        "  -n, --count N           how many\n"
                        "      --seed N            of the dice\n"
                        "  -l, --length METRES     how long\n"
                        "      --part PERCENT      how much\n"
                        "  -s, --a-long-name-for-settings KEY=VALUE\n"
                        "                          one more\n"
                        "  -h, --help              this text\n");
    free(text);
}

/* ---- The tables of all verbs ------------------------------------------------------------------------------------- */

enum { WIDEST = 110, LONGEST_CHOICES = 199, MOST_CHOICES = 16, MOST_ROWS = 64 };

static void expect_narrow(const char *verb, const char *text) {
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        if (length > WIDEST) fail_msg("%s: %zu columns: «%.*s»", verb, length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* Everything a verb's --help prints. */
static void help_is_narrow(void **state) {
    (void)state;
    for (size_t i = 0; pbd_verbs[i]; i++) {
        const pbd_verb *verb = pbd_verbs[i];
        int kept;
        const int file = hold_stdout(&kept);
        const int code = pbd_verb_help(verb);
        char *text = let_stdout_go(file, kept);
        assert_int_equal(code, 0);
        expect_narrow(verb->name, text);
        expect_says(text, verb->about);
        free(text);
    }
}

/* Every line of a usage begins with the name of the verb, or with a blank if it continues the line before. */
static void verbs_are_whole(void **state) {
    (void)state;
    for (size_t i = 0; pbd_verbs[i]; i++) {
        const pbd_verb *verb = pbd_verbs[i];
        assert_non_null(verb->name);
        assert_non_null(verb->main);
        assert_non_null(verb->options);
        if (!verb->summary || !*verb->summary || !verb->about || !*verb->about) fail_msg("%s says little", verb->name);
        /* Besides files there may be choices: `sweep FILE` and `sweep plan`. */
        if (verb->words == PBD_WORDS_CHOICES && !verb->choices) fail_msg("%s: choices", verb->name);
        if (verb->choices && verb->words != PBD_WORDS_CHOICES && verb->words != PBD_WORDS_FILES)
            fail_msg("%s: choices", verb->name);
        for (const char *line = verb->usage; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            const size_t length = strlen(verb->name);
            if (*line != ' ' && (strncmp(line, verb->name, length) != 0 || isalnum((unsigned char)line[length])))
                fail_msg("%s: a usage begins «%.40s»", verb->name, line);
        }
        for (size_t j = 0; j < i; j++) assert_string_not_equal(verb->name, pbd_verbs[j]->name);
    }
}

/* Limits of options.c: more or longer choices would be truncated silently. */
static void check_choices(const char *verb, const pbd_option *o) {
    /* Besides files there may be choices, as of `sweep --engine`. */
    if (o->words == PBD_WORDS_FILES ? o->kind != PBD_OPTION_MANY && o->choices != NULL
                                    : (o->words == PBD_WORDS_CHOICES) != (o->choices != NULL))
        fail_msg("%s --%s: choices", verb, o->name);
    if (!o->choices) return;
    size_t count = 1;
    for (const char *c = o->choices; *c; c++) count += *c == '|';
    if (strlen(o->choices) > LONGEST_CHOICES || count > MOST_CHOICES) fail_msg("%s --%s: choices", verb, o->name);
}

static void check_row(const char *verb, const pbd_option *o) {
    if (!o->doc || !*o->doc) fail_msg("%s --%s has no doc", verb, o->name);
    expect_narrow(verb, o->doc);
    if (o->doc[strlen(o->doc) - 1] == '\n') fail_msg("%s --%s: its doc ends with an empty line", verb, o->name);
    if (strspn(o->name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(o->name) || o->name[0] == '-')
        fail_msg("%s: a strange name, --%s", verb, o->name);
    if (o->letter && !isalnum((unsigned char)o->letter)) fail_msg("%s --%s: a strange letter", verb, o->name);
    if ((o->kind == PBD_OPTION_FLAG) != (o->value == NULL)) fail_msg("%s --%s: flags have no value", verb, o->name);
    const bool number = o->kind == PBD_OPTION_INTEGER || o->kind == PBD_OPTION_REAL || o->kind == PBD_OPTION_PERCENT;
    if (number && !(o->min < o->max)) fail_msg("%s --%s: an empty range", verb, o->name);
    check_choices(verb, o);
}

static void rows_are_sound(void **state) {
    (void)state;
    for (size_t i = 0; pbd_verbs[i]; i++) {
        const pbd_verb *verb = pbd_verbs[i];
        size_t count = 0;
        for (const pbd_option *o = verb->options; o->name; o++, count++) {
            check_row(verb->name, o);
            if (strcmp(o->name, "help") == 0 || o->letter == 'h') fail_msg("%s: --help is everybody's", verb->name);
            for (const pbd_option *p = verb->options; p < o; p++) {
                if (strcmp(o->name, p->name) == 0) fail_msg("%s: --%s twice", verb->name, o->name);
                if (o->letter && o->letter == p->letter) fail_msg("%s: -%c twice", verb->name, o->letter);
                if (o->member == p->member) fail_msg("%s: --%s and --%s set one member", verb->name, o->name, p->name);
            }
        }
        assert_true(count <= MOST_ROWS);
    }
}

/* ---- Random command lines ---------------------------------------------------------------------------------------- */

enum { LINES_A_VERB = 500, MOST_RANDOM = 9, ROOM = 300, STRUCT_SIZE = 1 << 16 };

/* xorshift64*, so that the lines are the same on every machine. */
static uint64_t dice_state;
static size_t dice(size_t sides) {
    dice_state ^= dice_state >> 12;
    dice_state ^= dice_state << 25;
    dice_state ^= dice_state >> 27;
    return (size_t)((dice_state * 2685821657736338717ULL) >> 33) % sides;
}

static size_t rows_of(const pbd_option *options) {
    size_t count = 0;
    while (options[count].name) count++;
    return count;
}

static const char *random_value(const pbd_option *o) {
    static const char *const values[] = {"",
                                         "0",
                                         "1",
                                         "-1",
                                         "3",
                                         "12",
                                         "0.02",
                                         "2%",
                                         "nan",
                                         "inf",
                                         "-inf",
                                         "1e999",
                                         "1e-320",
                                         "0x1p4",
                                         "1.5",
                                         "4097",
                                         "%",
                                         "%s%n",
                                         "a=b",
                                         "=",
                                         "|",
                                         "a|b",
                                         ",",
                                         "--",
                                         "--help",
                                         "-h",
                                         "\x01\xff",
                                         "ok",
                                         "auto",
                                         "8",
                                         "f32",
                                         "cpu",
                                         "9e15",
                                         "\n",
                                         "\xc3\xa9",
                                         "../..",
                                         "9223372036854775807",
                                         "9223372036854775808"};
    static char choice[80];
    if (o && o->choices && dice(2)) { /* one of its choices, sometimes truncated */
        const char *begin = o->choices;
        for (size_t skip = dice(6); skip > 0 && strchr(begin, '|'); skip--) begin = strchr(begin, '|') + 1;
        snprintf(choice, sizeof choice, "%.*s", (int)(strcspn(begin, "|") - (dice(8) == 0)), begin);
        return choice;
    }
    return values[dice(sizeof values / sizeof *values)];
}

/* Changes, deletes, doubles or inserts one letter. */
static void slip(char word[ROOM]) {
    const size_t length = strlen(word), at = length ? dice(length) : 0;
    if (length == 0 || length + 2 > ROOM) return;
    switch (dice(4)) {
        case 0:
            word[at] = (char)(1 + dice(255));
            break;
        case 1:
            memmove(word + at, word + at + 1, length - at);
            break;
        default:
            memmove(word + at + 1, word + at, length - at + 1);
    }
}

static void random_word(const pbd_option *options, char word[ROOM]) {
    const size_t rows = rows_of(options);
    const pbd_option *o = rows ? &options[dice(rows)] : NULL;
    switch (dice(8)) {
        case 0: /* noise */
            for (size_t i = 0, length = dice(ROOM - 1); i <= length; i++)
                word[i] = i < length ? (char)(1 + dice(255)) : '\0';
            return;
        case 1: /* several letters in one word */
            snprintf(word, ROOM, "-%c%c%.200s", o && o->letter ? o->letter : 'x', (int)('a' + dice(26)),
                     random_value(o));
            return;
        case 2:
            snprintf(word, ROOM, "%s", random_value(NULL));
            return;
        case 3:
            snprintf(word, ROOM, "--%s=%.200s", o ? o->name : "x", random_value(o));
            break;
        case 4:
            snprintf(word, ROOM, "-%c", o && o->letter ? o->letter : (int)(33 + dice(94)));
            return;
        default:
            snprintf(word, ROOM, "--%s", o ? o->name : "x");
    }
    if (dice(3) == 0) slip(word);
}

static bool one_of(const char *word, char lines[][ROOM], int count) {
    for (int i = 0; i < count; i++)
        if (word == lines[i]) return true;
    return false;
}

/* Checks that an accepted value obeys its row, then resets the member. */
static void check_member(const pbd_verb *verb, const pbd_option *o, char *options) {
    void *member = options + o->member;
    size_t size = sizeof(double);
    if (o->kind == PBD_OPTION_FLAG) size = sizeof(bool);
    if (o->kind == PBD_OPTION_TEXT) size = sizeof(char *);
    if (o->kind == PBD_OPTION_INTEGER) {
        const long long value = *(long long *)member;
        size = sizeof value;
        if (value != 0 && ((double)value < o->min || (double)value > o->max))
            fail_msg("%s --%s took %lld", verb->name, o->name, value);
    }
    if (o->kind == PBD_OPTION_REAL || o->kind == PBD_OPTION_PERCENT) {
        const double value = *(double *)member;
        if (value != 0 && !(value >= o->min && value <= o->max))
            fail_msg("%s --%s took %g", verb->name, o->name, value);
    }
    if (o->kind == PBD_OPTION_TEXT && o->choices && *(const char **)member) {
        char all[ROOM], one[ROOM];
        snprintf(all, sizeof all, "|%s|", o->choices);
        snprintf(one, sizeof one, "|%.250s|", *(const char **)member);
        if (!strstr(all, one)) fail_msg("%s --%s took '%s'", verb->name, o->name, *(const char **)member);
    }
    if (o->kind == PBD_OPTION_MANY) {
        size = sizeof(pbd_texts);
        pbd_texts_free(member);
    }
    memset(member, 0, size);
}

/* A refusal is a complete sentence about an option, and does not deny an option that the verb has. */
static void check_refusal(const pbd_verb *verb, const pbd_status *status) {
    const size_t length = strnlen(status->text, sizeof status->text);
    if (length < 10 || length >= sizeof status->text - 1) fail_msg("%s: no sentence: «%s»", verb->name, status->text);
    if (!strstr(status->text, "--")) fail_msg("%s: «%s» names no option", verb->name, status->text);
    for (const pbd_option *o = verb->options; o->name; o++) {
        char denied[ROOM];
        snprintf(denied, sizeof denied, "has no option '--%s'", o->name);
        if (strstr(status->text, denied)) fail_msg("%s does have that option: «%s»", verb->name, status->text);
        snprintf(denied, sizeof denied, "has no option '-%c'", o->letter ? o->letter : '\1');
        if (strstr(status->text, denied)) fail_msg("%s does have that letter: «%s»", verb->name, status->text);
    }
}

static void one_random_line(const pbd_verb *verb, char *options, size_t *taken, size_t *refused) {
    static char lines[MOST_RANDOM][ROOM];
    char *argv[MOST_RANDOM + 2] = {(char *)(uintptr_t)verb->name};
    const int count = (int)dice(MOST_RANDOM + 1);
    for (int i = 0; i < count; i++) {
        random_word(verb->options, lines[i]);
        argv[i + 1] = lines[i];
    }
    pbd_texts words;
    bool help;
    const pbd_status status = pbd_options_parse(verb->name, verb->options, count + 1, argv, options, &words, &help);
    if (status.code == PBD_BAD_INPUT)
        check_refusal(verb, &status);
    else if (status.code != PBD_OK)
        fail_msg("%s: code %d, «%s»", verb->name, status.code, status.text);
    status.code == PBD_OK ? ++*taken : ++*refused;
    assert_true(words.count <= (size_t)count);
    for (size_t i = 0; i < words.count; i++) assert_true(one_of(words.item[i], lines, count));
    pbd_texts_free(&words);
    for (const pbd_option *o = verb->options; o->name; o++) check_member(verb, o, options);
    for (size_t i = 0; i < STRUCT_SIZE; i++)
        if (options[i]) fail_msg("%s: something was written to byte %zu, which no row names", verb->name, i);
}

static void random_lines_get_an_answer(void **state) {
    (void)state;
    char *options = calloc(1, STRUCT_SIZE);
    assert_non_null(options);
    size_t taken = 0, refused = 0;
    dice_state = 20240229;
    for (size_t i = 0; pbd_verbs[i]; i++) {
        for (const pbd_option *o = pbd_verbs[i]->options; o->name; o++)
            assert_true(o->member + sizeof(pbd_texts) <= STRUCT_SIZE);
        for (int line = 0; line < LINES_A_VERB; line++) one_random_line(pbd_verbs[i], options, &taken, &refused);
    }
    free(options);
    /* Both outcomes must occur often enough. */
    if (taken < 500 || refused < 500) fail_msg("%zu lines taken, %zu refused", taken, refused);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_taken),
        cmocka_unit_test(what_is_not_named_keeps_its_default),
        cmocka_unit_test(spellings_of_one_option_are_the_same),
        cmocka_unit_test(words_keep_their_order),
        cmocka_unit_test(repeated_options),
        cmocka_unit_test(numbers_are_held_to_their_range),
        cmocka_unit_test(ends_of_ranges_are_taken),
        cmocka_unit_test(a_refused_value_changes_nothing),
        cmocka_unit_test(wrong_names_get_the_nearest),
        cmocka_unit_test(wrong_letters_are_named),
        cmocka_unit_test(a_value_must_follow),
        cmocka_unit_test(help_may_stand_anywhere),
        cmocka_unit_test(a_table_may_be_empty),
        cmocka_unit_test(help_is_the_table),
        cmocka_unit_test(help_is_narrow),
        cmocka_unit_test(verbs_are_whole),
        cmocka_unit_test(rows_are_sound),
        cmocka_unit_test(random_lines_get_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
