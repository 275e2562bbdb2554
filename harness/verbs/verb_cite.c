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
    pbd_arena a PBD_ARENA;
    pbd_figure_list list PBD_CLEANUP(pbd_figure_list_free) = {0};
    PBD_TRY(pbd_list_figures(&list));
    *out = pbd_paper_of(papers, word);
    for (size_t i = 0; i < list.count && !*out; i++)
        if (strcmp(list.item[i].id, word) == 0) *out = pbd_paper_of(papers, list.item[i].paper);
    if (*out) return pbd_ok();
    const char **names = pbd_new(&a, const char *, list.count + papers->papers_count);
    size_t count = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < list.count; i++) names[count++] = list.item[i].id;
    for (unsigned i = 0; i < papers->papers_count; i++) names[count++] = papers->papers[i].key;
    return pbd_unknown("figure or paper", word, names, count, "pbdbench list figures");
}

static void release(pbd_papers **papers) { pbd_papers_free(*papers); }

static pbd_status act(void *options, pbd_call *call) {
    const cite_options *o = options;
    if (call->words->count != 1)
        return pbd_error(PBD_BAD_INPUT, "cite takes one figure or paper: `pbdbench list figures` shows them");
    const char *word = call->words->item[0];
    pbd_papers *papers PBD_CLEANUP(release) = NULL;
    const pbd_paper *paper = NULL;
    PBD_TRY(pbd_papers_load(&papers));
    PBD_TRY(find_paper(papers, word, &paper));
    if (o->bibtex)
        print_bibtex(paper);
    else
        print_text(paper, word);
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    cite_options o = {0};
    return pbd_verb_call(&pbd_verb_cite, argc, argv, &o, act);
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
