/* cite: what to cite for a figure: the paper it comes from, and this program as it was built. */
#include <stdlib.h>
#include <string.h>

#include "harness/figure/figures.h"
#include "harness/figure/papers.h"
#include "harness/machine/environment.h"
#include "harness/verbs/cli.h"

typedef struct cite_options {
    bool bibtex;
} cite_options;

static const pbd_option table[] = {PBD_OPT_FLAG(cite_options, bibtex, "bibtex", 0, "as BibTeX entries"), {0}};

static void print_authors(const pbd_paper *paper, const char *between) {
    for (unsigned i = 0; i < paper->authors_count; i++) printf("%s%s", i ? between : "", paper->authors[i]);
}

static void print_text(const pbd_paper *paper, const char *figure) {
    pbd_paper_write(paper, stdout);
    putchar('\n');
    if (paper->doi)
        printf("https://doi.org/%s\n", paper->doi);
    else if (paper->url)
        puts(paper->url);
    const pbd_build *build = pbd_this_build();
    printf("Reproduced as %s by pbdbench %s, commit %.12s%s.\n", figure, build->version, build->git_sha,
           build->dirty ? " with changes" : "");
}

static void print_field(const char *name, const char *value) {
    if (value) printf("  %s = {%s},\n", name, value);
}

static void print_bibtex(const pbd_paper *paper) {
    bool article = strcmp(paper->kind, "article") == 0;
    printf("@%s{%s,\n", paper->kind, paper->key);
    if (paper->authors_count) {
        printf("  author = {");
        print_authors(paper, " and ");
        puts("},");
    }
    print_field("title", paper->title);
    print_field(article ? "journal" : "booktitle", paper->venue);
    print_field("volume", paper->volume);
    print_field("pages", paper->pages);
    print_field("publisher", paper->publisher);
    print_field("doi", paper->doi);
    print_field("url", paper->url);
    if (paper->year) printf("  year = {%u},\n", paper->year);
    puts("}");
    const pbd_build *build = pbd_this_build();
    printf(
        "@software{pbdbench,\n  author = {{the pbdbench authors}},\n  title = {pbdbench},\n  version = {%s},\n  note = "
        "{commit %.12s%s}\n}\n",
        build->version, build->git_sha, build->dirty ? ", with changes" : "");
}

/* The paper of a figure, or a paper by its key. */
static pbd_status find_paper(const pbd_papers *papers, const char *word, const pbd_paper **out) {
    pbd_figure_list list;
    PBD_TRY(pbd_list_figures(&list));
    *out = pbd_paper_of(papers, word);
    for (size_t i = 0; i < list.count && !*out; i++)
        if (strcmp(list.item[i].id, word) == 0) *out = pbd_paper_of(papers, list.item[i].paper);
    pbd_status status = pbd_ok();
    if (!*out) {
        const char **names = calloc(list.count + papers->papers_count + 1, sizeof *names);
        size_t count = 0;
        for (size_t i = 0; i < list.count && names; i++) names[count++] = list.item[i].id;
        for (unsigned i = 0; i < papers->papers_count && names; i++) names[count++] = papers->papers[i].key;
        status = names ? pbd_unknown("figure or paper", word, names, count, "pbdbench list figures")
                       : pbd_error(PBD_FAILED, "out of memory");
        free(names);
    }
    pbd_figure_list_free(&list);
    return status;
}

static pbd_status cite(const cite_options *o, const pbd_texts *words) {
    if (words->count != 1)
        return pbd_error(PBD_BAD_INPUT, "cite takes one figure or paper: `pbdbench list figures` shows them");
    pbd_papers *papers = NULL;
    const pbd_paper *paper = NULL;
    pbd_status status = pbd_papers_load(&papers);
    if (status.code == PBD_OK) status = find_paper(papers, words->item[0], &paper);
    if (status.code == PBD_OK) {
        if (o->bibtex)
            print_bibtex(paper);
        else
            print_text(paper, words->item[0]);
    }
    pbd_papers_free(papers);
    return status;
}

static int verb_main(int argc, char **argv) {
    cite_options o = {0};
    pbd_texts words;
    bool help;
    pbd_status status = pbd_options_parse("cite", table, argc, argv, &o, &words, &help);
    if (status.code == PBD_OK && !help) status = cite(&o, &words);
    pbd_texts_free(&words);
    if (status.code != PBD_OK) return pbd_complain(status);
    return help ? pbd_verb_help(&pbd_verb_cite) : PBD_EXIT_OK;
}

const pbd_verb pbd_verb_cite = {
    .name = "cite",
    .summary = "what to cite",
    .usage = "cite FIGURE|PAPER [--bibtex]",
    .about = "The paper a figure comes from, and how to cite pbdbench with version and commit.",
    .options = table,
    .words = PBD_WORDS_FIGURES,
    .main = verb_main,
};
