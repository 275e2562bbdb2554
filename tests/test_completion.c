/* Completion in a real bash: every verb, every option that --help names, and words of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program.h"

/* Returns what bash offers at the end of the line «pbdbench WORDS»; the caller frees it. Words are split at '=' too,
 * as in bash. */
static char *offers(const char *words) {
    static const char script[] =
        "source <(\"$PBDBENCH_PROGRAM\" completion bash); COMP_WORDS=(\"$PBDBENCH_PROGRAM\" %s); "
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { printf 'compopt %%s\\n' \"$*\"; }; _pbdbench; printf "
        "'%%s\\n' \"${COMPREPLY[@]}\"";
    char command[2000], *text = calloc(1, 20000);
    snprintf(command, sizeof command, script, words);
    setenv("PBDBENCH_COMMAND", command, 1);
    FILE *pipe = popen("bash -c \"$PBDBENCH_COMMAND\"", "r");
    if (!pipe || !text) fail_msg("no bash");
    const size_t got = fread(text + 1, 1, 19990, pipe);
    text[0] = '\n'; /* so that whole lines can be searched */
    text[got + 1] = '\0';
    pclose(pipe);
    return text;
}

static void expect_offer(const char *words, const char *line) {
    char wanted[200], *text = offers(words);
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    if (!strstr(text, wanted)) fail_msg("at «%s» there is no '%s':%s", words, line, text);
    free(text);
}

static void expect_none(const char *words, const char *line) {
    char wanted[200], *text = offers(words);
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    if (strstr(text, wanted)) fail_msg("at «%s» there is '%s'", words, line);
    free(text);
}

/* Verbs as `--help` lists them: two blanks, the name, its summary. */
static void every_verb_and_option_is_offered(void **state) {
    (void)state;
    told help = tell("--help");
    char *verbs = offers("''"), verb[40], line[80];
    size_t count = 0;
    for (const char *at = strstr(help.out, "\n  "); at; at = strstr(at + 1, "\n  ")) {
        if (sscanf(at, "\n  %39s", verb) != 1 || at[3] == ' ') continue;
        snprintf(line, sizeof line, "\n%s\n", verb);
        if (!strstr(verbs, line)) fail_msg("'%s' is not offered:%s", verb, verbs);
        count++;
        told about = tell(verb, "--help");
        char words[80], *options;
        snprintf(words, sizeof words, "%s --", verb);
        options = offers(words);
        for (const char *row = strstr(about.out, " --"); row; row = strstr(row + 1, " --")) {
            char option[60];
            const char *begin = row;
            while (begin > about.out && begin[-1] != '\n') begin--;
            if (row - begin > 5 || sscanf(row, " %59[-a-z]", option) != 1) continue; /* only in the column of options */
            snprintf(line, sizeof line, "\n%s\n", option);
            if (!strstr(options, line)) fail_msg("%s: '%s' is not offered:%s", verb, option, options);
        }
        free(options);
        forget(&about);
    }
    assert_true(count >= 12);
    free(verbs);
    forget(&help);
}

static void values_are_of_their_kind(void **state) {
    (void)state;
    expect_offer("run ''", "cube_shear");
    expect_offer("run cube_", "cube_torsion");
    expect_none("run cube_", "hex_fit");
    expect_offer("run cube_shear -m ''", "pbd_distance");
    expect_offer("run cube_shear --method fem", "fem_linear");
    expect_offer("run cube_shear -b ''", "emu");
    expect_offer("run cube_shear -p ''", "f32");
    expect_offer("run cube_shear -s sol", "solver=");
    expect_offer("run cube_shear -s solver = ja", "jacobi");
    expect_offer("run mesh -s fixed = z_", "z_max");
    expect_offer("reproduce ''", "rodero2016-fig3");
    expect_offer("reproduce ''", "rodero2016");
    expect_offer("reproduce ''", "all");
    expect_none("reproduce ''", "chen2024-fig1"); /* no such figure */
    expect_offer("db ''", "import");
    expect_offer("db export --format ''", "latex");
    expect_offer("completion ''", "zsh");
    expect_offer("sweep re", "resume"); /* an action, or a file */
    expect_offer("sweep submit --engine ''", "slurm");
    expect_offer("no_such_verb ''", ""); /* nothing, and no error */
}

/* Fails unless exactly this text is offered. If no words are, bash itself completes file names, which it does best. */
static void expect_only(const char *words, const char *text) {
    char *got = offers(words);
    if (strcmp(got, text) != 0) fail_msg("at «%s» wanted:%sgot:%s", words, text, got);
    free(got);
}

static void files_are_the_shells(void **state) {
    (void)state;
    static const char only_files[] = "\ncompopt -o default\n\n";
    expect_only("sweep so", only_files);
    expect_only("sweep plan so", only_files);
    assert_int_equal(close(open(in_workplace("plans.yaml"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)), 0);
    assert_int_equal(chdir(workplace()), 0);
    expect_only("sweep pla", "\ncompopt -o default\nplan\nplans.yaml\n"); /* both kinds of words */
    expect_only("db export --db ''", only_files);
    expect_only("db export --db =", only_files);
    expect_only("db export --db = so", only_files);
    expect_only("run mesh -s file = pa", only_files); /* a setting that is a file */
    expect_only("run mesh --set = file = pa", only_files);
    expect_only("reproduce rodero2016-fig3 --out ''", "\ncompopt -o dirnames\n\n");
    expect_only("run cube_shear --threads ''", "\n\n"); /* a number */
}

/* «--format=la» is three words for bash, which keeps the first two: only the rest is offered. */
static void values_in_one_word_with_their_option(void **state) {
    (void)state;
    expect_offer("db export --format =", "latex");
    expect_only("db export --format = la", "\nlatex\n");
    expect_offer("run cube_shear --set = sol", "solver=");
    expect_only("run cube_shear --set = solver = ja", "\njacobi\n");
    expect_only("bench --methods = fem", "\nfem_implicit\nfem_linear\n");
    expect_only("list --no-such = ''", "\n\n");
    expect_only("list --json =", "\n\n"); /* a flag */
}

static void lists_go_on_behind_a_comma(void **state) {
    (void)state;
    expect_only("bench -m pbd_distance,fem_l", "\npbd_distance,fem_linear\n");
    expect_offer("bench -p f32,", "f32,f64");
    expect_only("bench --methods = pbd_distance,fem_l", "\npbd_distance,fem_linear\n");
    expect_only("run cube_shear -m pbd_distance,fem_l", "\n\n"); /* run takes one method */
}

static void scripts_are_sound(void **state) {
    (void)state;
    told answer = tell("completion", "bash");
    expect_code(answer, 0);
    forget(&answer);
    answer = tell("completion", "zsh");
    expect_code(answer, 0);
    expect_says(answer.out, "#compdef pbdbench");
    forget(&answer);
    if (system("command -v zsh >/dev/null") != 0)
        print_message("skipped: zsh is not installed, so its script was not parsed\n");
    else
        assert_int_equal(system("\"$PBDBENCH_PROGRAM\" completion zsh | zsh -n /dev/stdin"), 0);
    answer = tell("completion", "fish");
    expect_code(answer, 0);
    forget(&answer);
    if (system("command -v fish >/dev/null") != 0)
        print_message("skipped: fish is not installed, so it was not asked for completions\n");
    else /* completion by fish, for the program's file name */
        assert_int_equal(
            system("PATH=\"$(dirname \"$PBDBENCH_PROGRAM\"):$PATH\" fish -c '"
                   "pbdbench completion fish | source; "
                   "test (complete -C \"pbdbench run cube_sh\") = cube_shear; and "
                   "contains precision (complete -C \"pbdbench run cube_shear --pre\" | string replace -- -- \"\"); "
                   "and test (complete -C \"pbdbench run cube_shear -p f3\") = f32'"),
            0);
    answer = tell("completion", "bahs");
    expect_code(answer, 2);
    expect_says(answer.err, "did you mean 'bash'");
    forget(&answer);
    answer = tell("completion");
    expect_code(answer, 2);
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_and_option_is_offered),
        cmocka_unit_test(values_are_of_their_kind),
        cmocka_unit_test(files_are_the_shells),
        cmocka_unit_test(values_in_one_word_with_their_option),
        cmocka_unit_test(lists_go_on_behind_a_comma),
        cmocka_unit_test(scripts_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
