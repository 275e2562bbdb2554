/* completion: scripts for bash, zsh and fish, made from the tables of options.
 *
 * The script passes the words of the command line back to the program (`completion --line`), which knows its verbs,
 * options, methods, cases and figures, and prints the candidates for the last word. So the script contains no lists,
 * and an installed one also completes what a later build adds. */
#include <stdlib.h>
#include <string.h>

#include "harness/figure/figures.h"
#include "harness/rank/problems.h"
#include "harness/verbs/cli.h"

typedef struct completion_options {
    bool line;
} completion_options;

static const pbd_option table[] = {PBD_OPT_FLAG(completion_options, line, "line", 0,
                                                "candidates for the last of the words that follow --, one per line;\n"
                                                "used by the scripts"),
                                   {0}};

/* ---- Words of a kind --------------------------------------------------------------------------------------------- */

/* The word to complete. Its first `fixed` bytes are kept: `--format=`, or `pbd_distance,` of a list. */
typedef struct begun {
    const char *text;
    int fixed;
} begun;

/* Prints a candidate, after the fixed part, if it completes the word on the line. */
static void offer(const char *word, begun begin) {
    const char *open = begin.text + begin.fixed;
    if (strncmp(word, open, strlen(open)) == 0) printf("%.*s%s\n", begin.fixed, begin.text, word);
}

static void offer_choices(const char *choices, begun begin) {
    char word[80];
    while (choices && *choices) {
        const size_t length = strcspn(choices, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, choices);
        offer(word, begin);
        choices += length + (choices[length] == '|');
    }
}

/* The parameters of the i-th of all cases followed by all methods. */
static const pbd_param *params_at(size_t i) {
    if (i < pbd_case_count()) return pbd_case_at(i)->params;
    return pbd_method_at(i - pbd_case_count())->by_precision[PBD_PRECISION_F64]->params;
}

static bool has_choice(const pbd_param *p, const char *choice) {
    for (size_t k = 0; p->choices && p->choices[k]; k++)
        if (strcmp(p->choices[k], choice) == 0) return true;
    return false;
}

/* Whether a table before the i-th has this parameter, and this choice unless it is NULL. Many methods have `solver`,
 * which is offered only once. */
static bool came_before(size_t i, const char *name, const char *choice) {
    for (size_t k = 0; k < i; k++)
        for (const pbd_param *p = params_at(k); p && p->name; p++)
            if (strcmp(p->name, name) == 0 && (!choice || has_choice(p, choice))) return true;
    return false;
}

static void offer_setting(size_t i, const pbd_param *p, begun begin) {
    char word[120];
    if (strchr(begin.text + begin.fixed, '=') == NULL) {
        snprintf(word, sizeof word, "%s=", p->name);
        if (!came_before(i, p->name, NULL)) offer(word, begin);
        return;
    }
    if (p->kind == PBD_FILE) {
        snprintf(word, sizeof word, "%s=", p->name);
        if (strncmp(begin.text + begin.fixed, word, strlen(word)) == 0 && !came_before(i, p->name, NULL))
            puts(":files");
    }
    for (size_t k = 0; p->choices && p->choices[k]; k++) {
        snprintf(word, sizeof word, "%s=%s", p->name, p->choices[k]);
        if (!came_before(i, p->name, p->choices[k])) offer(word, begin);
    }
}

static void offer_all_settings(begun begin) {
    for (size_t i = 0; i < pbd_case_count() + pbd_method_count(); i++)
        for (const pbd_param *p = params_at(i); p && p->name; p++) offer_setting(i, p, begin);
}

static void offer_figures(begun begin) {
    pbd_figure_list list;
    if (pbd_list_figures(&list).code != PBD_OK) return; /* no error message on the command line */
    for (size_t i = 0; i < list.count; i++) {
        if (!list.item[i].available) continue;
        offer(list.item[i].id, begin);
        if (i == 0 || strcmp(list.item[i].paper, list.item[i - 1].paper) != 0) offer(list.item[i].paper, begin);
    }
    offer("all", begin);
    pbd_figure_list_free(&list);
}

static void offer_problems(begun begin) {
    pbd_problems *problems PBD_CLEANUP(pbd_problems_release) = NULL;
    if (pbd_problems_load(&problems).code != PBD_OK) return;
    for (unsigned i = 0; i < problems->problems_count; i++) offer(problems->problems[i].id, begin);
}

/* The shell completes files and folders itself: a separate line requests them. */
static void offer_words(pbd_words words, const char *choices, begun begin) {
    switch (words) {
        case PBD_WORDS_FILES:
            offer_choices(choices, begin);
            puts(":files");
            return;
        case PBD_WORDS_FOLDERS:
            puts(":folders");
            return;
        case PBD_WORDS_METHODS:
            for (size_t i = 0; i < pbd_method_count(); i++)
                offer(pbd_method_at(i)->by_precision[PBD_PRECISION_F64]->name, begin);
            return;
        case PBD_WORDS_CASES:
            for (size_t i = 0; i < pbd_case_count(); i++) offer(pbd_case_at(i)->name, begin);
            return;
        case PBD_WORDS_FIGURES:
            offer_figures(begin);
            return;
        case PBD_WORDS_PROBLEMS:
            offer_problems(begin);
            return;
        case PBD_WORDS_BACKENDS:
            for (int i = 0; i < PBD_BACKEND_COUNT; i++) offer(pbd_backend_at((pbd_backend)i).name, begin);
            return;
        case PBD_WORDS_PRECISIONS:
            offer_choices("f32|f64", begin);
            return;
        case PBD_WORDS_SETTINGS:
            offer_all_settings(begin);
            return;
        case PBD_WORDS_VERBS:
            for (size_t i = 0; pbd_verbs[i]; i++) offer(pbd_verbs[i]->name, begin);
            return;
        case PBD_WORDS_CHOICES:
            offer_choices(choices, begin);
            return;
        default:
            return;
    }
}

/* ---- A command line ---------------------------------------------------------------------------------------------- */

static const pbd_verb *find_verb(const char *name) {
    for (size_t i = 0; pbd_verbs[i]; i++)
        if (strcmp(pbd_verbs[i]->name, name) == 0) return pbd_verbs[i];
    return NULL;
}

/* The option whose value follows `word`, such as --case or -c; NULL: none. */
static const pbd_option *option_before(const pbd_verb *verb, const char *word) {
    for (const pbd_option *o = verb->options; o->name; o++) {
        const bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, o->name) == 0;
        const bool is_short = o->letter && word[0] == '-' && word[1] == o->letter && !word[2];
        if (o->value && (is_long || is_short)) return o;
    }
    return NULL;
}

static void offer_options(const pbd_verb *verb, begun begin) {
    char word[80];
    for (const pbd_option *o = verb->options; o->name; o++) {
        snprintf(word, sizeof word, "--%s", o->name);
        offer(word, begin);
    }
    offer("--help", begin);
}

/* Completes the value of an option, or the last item of a list. The first `fixed` bytes are the option itself. */
static void offer_values(const pbd_option *o, begun begin) {
    const char *comma = strcmp(o->value, "LIST") == 0 ? strrchr(begin.text + begin.fixed, ',') : NULL;
    if (comma) begin.fixed = (int)(comma + 1 - begin.text);
    offer_words(o->words, o->choices, begin);
}

/* The option in a word «--name=VALUE», or NULL. Sets *fixed to the length of «--name=». */
static const pbd_option *option_in(const pbd_verb *verb, const char *word, int *fixed) {
    char name[80];
    const size_t length = strcspn(word, "=");
    if (!word[length] || length >= sizeof name || strncmp(word, "--", 2) != 0) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const pbd_option *found = option_before(verb, name);
    if (found) *fixed = (int)length + 1;
    return found;
}

/* words[0] is the verb; the last word is completed. */
static void complete(const pbd_texts *words) {
    begun last = {words->count ? words->item[words->count - 1] : "", 0};
    if (words->count < 2) {
        offer_words(PBD_WORDS_VERBS, NULL, last);
        offer("--help", last);
        offer("--version", last);
        return;
    }
    const pbd_verb *verb = find_verb(words->item[0]);
    if (!verb) return;
    const pbd_option *before = words->count > 2 ? option_before(verb, words->item[words->count - 2]) : NULL;
    if (!before) before = option_in(verb, last.text, &last.fixed);
    if (before)
        offer_values(before, last);
    else if (*last.text == '-')
        offer_options(verb, last);
    else
        offer_words(verb->words, verb->choices, last);
}

/* ---- Scripts ----------------------------------------------------------------------------------------------------- */

static const char bash_script[] =
    "# Completion of pbdbench for bash: source <(pbdbench completion bash)\n"
    "_pbdbench() {\n"
    "    local word line stem='' program=${COMP_WORDS[0]/#\\~/$HOME} words=() current=${COMP_WORDS[COMP_CWORD]}\n"
    "    COMPREPLY=()\n"
    "    # bash splits at '=': join settings again\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
    "        if [[ ${#words[@]} -gt 0 && ( $word == = || ${words[-1]} == *= ) ]]; then\n"
    "            words[-1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    # ... and remove the part up to the last '=', which bash keeps\n"
    "    if [[ ${words[-1]} == *=* && ( $current == = || $current != *=* ) ]]; then stem=${words[-1]%=*}=; fi\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "            :files) compopt -o default\n"
    "                # with words in COMPREPLY bash does not add files itself\n"
    "                [[ ${#COMPREPLY[@]} -eq 0 ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "
    "\"$current\")\n"
    "                return ;;\n"
    "            :folders) compopt -o dirnames; return ;;\n"
    "            *=) compopt -o nospace ;;\n"
    "        esac\n"
    "        COMPREPLY+=(\"${line#\"$stem\"}\")\n"
    "    done < <(\"$program\" completion --line -- \"${words[@]}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _pbdbench pbdbench ./pbdbench\n";

static const char zsh_script[] =
    "#compdef pbdbench\n"
    "# Completion of pbdbench for zsh: pbdbench completion zsh > DIR/_pbdbench, with DIR in fpath\n"
    "_pbdbench() {\n"
    "    local line program=${words[1]/#\\~/$HOME}\n"
    "    local -a offers open\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "            :files) (( ${#offers} )) && compadd -- \"${offers[@]}\"; compset -P '*='; _files; return ;;\n"
    "            :folders) compset -P '--*='; _files -/; return ;;\n"
    "            *=) open+=(\"$line\") ;;\n"
    "            *) offers+=(\"$line\") ;;\n"
    "        esac\n"
    "    done < <(\"$program\" completion --line -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
    "    (( ${#open} )) && compadd -S '' -- \"${open[@]}\"\n"
    "    (( ${#offers} )) && compadd -- \"${offers[@]}\"\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _pbdbench ]; then _pbdbench \"$@\"; else compdef _pbdbench pbdbench; fi\n";

static const char fish_script[] =
    "# Completion of pbdbench for fish: pbdbench completion fish > ~/.config/fish/completions/pbdbench.fish\n"
    "function __pbdbench_words\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    set -l program (string replace -r '^~' $HOME -- $words[1])\n"
    "    for line in ($program completion --line -- $words[2..-1] 2>/dev/null)\n"
    "        switch $line\n"
    "            case :files\n"
    "                __fish_complete_path (string replace -r '^.*=' '' -- (commandline -ct))\n"
    "            case :folders\n"
    "                __fish_complete_directories (string replace -r '^.*=' '' -- (commandline -ct)) ''\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c pbdbench -f -a '(__pbdbench_words)'\n";

static pbd_status print_script(const pbd_texts *words) {
    static const char *const shells[] = {"bash", "zsh", "fish"}, *const scripts[] = {bash_script, zsh_script,
                                                                                     fish_script};
    if (words->count != 1) return pbd_error(PBD_BAD_INPUT, "completion takes the name of a shell: bash, zsh or fish");
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(words->item[0], shells[i]) != 0) continue;
        fputs(scripts[i], stdout);
        return pbd_ok();
    }
    return pbd_unknown("shell", words->item[0], shells, sizeof shells / sizeof *shells, "pbdbench completion --help");
}

static pbd_status act(void *options, pbd_call *call) {
    const completion_options *o = options;
    if (!o->line) return print_script(call->words);
    complete(call->words);
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    completion_options o = {0};
    return pbd_verb_call(&pbd_verb_completion, argc, argv, &o, act);
}

const pbd_verb pbd_verb_completion = {
    .name = "completion",
    .summary = "shell completion for bash, zsh and fish",
    .usage = "completion bash|zsh|fish",
    .about =
        "Prints a script that completes verbs, options, methods, cases, figures, settings and files:\n\n"
        "  source <(pbdbench completion bash)                    # in ~/.bashrc\n"
        "  pbdbench completion zsh > ~/.zfunc/_pbdbench          # a folder in fpath\n"
        "  pbdbench completion fish > ~/.config/fish/completions/pbdbench.fish",
    .options = table,
    .words = PBD_WORDS_CHOICES,
    .choices = "bash|zsh|fish",
    .main = verb_main,
};
