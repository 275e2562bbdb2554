/* cite: what to cite for a figure: the paper it comes from, and this program as it was built. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/environment.h"
#include "harness/figures.h"
#include "harness/papers.h"

static int print_help(void) {
    puts(
        "usage: pbdbench cite FIGURE|PAPER [--bibtex]\n\n"
        "The paper a figure comes from, and how to cite pbdbench with version and commit.");
    return PBD_EXIT_OK;
}

static void print_authors(const pbd_paper *paper, const char *between) {
    for (unsigned i = 0; i < paper->authors_count; i++) printf("%s%s", i ? between : "", paper->authors[i]);
}

static void print_text(const pbd_paper *paper, const char *figure) {
    print_authors(paper, ", ");
    printf("%s%s.", paper->authors_count ? ": " : "", paper->title);
    if (paper->venue) printf(" %s", paper->venue);
    if (paper->volume) printf(" %s", paper->volume);
    if (paper->pages) printf(", %s", paper->pages);
    if (paper->year) printf(" (%u)", paper->year);
    puts(".");
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

int pbd_verb_cite(int argc, char **argv) {
    static const struct option options[] = {{"bibtex", no_argument, NULL, 'b'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool bibtex = false;
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (option == 'h') return print_help();
        if (option != 'b') return PBD_EXIT_USAGE;
        bibtex = true;
    }
    if (optind + 1 != argc)
        return pbd_complain(
            pbd_error(PBD_BAD_INPUT, "cite takes one figure or paper: `pbdbench list figures` shows them"));
    pbd_papers *papers = NULL;
    const pbd_paper *paper = NULL;
    pbd_status status = pbd_papers_load(&papers);
    if (status.code == PBD_OK) status = find_paper(papers, argv[optind], &paper);
    if (status.code == PBD_OK) {
        if (bibtex)
            print_bibtex(paper);
        else
            print_text(paper, argv[optind]);
    }
    pbd_papers_free(papers);
    return status.code == PBD_OK ? PBD_EXIT_OK : pbd_complain(status);
}
