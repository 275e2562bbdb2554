/* plots/papers.yaml: the papers, what to cite, and every figure and table of theirs. */
#ifndef PBD_PAPERS_H
#define PBD_PAPERS_H

#include <cyaml/cyaml.h>
#include <stdio.h>

#include "methods/method.h"

typedef struct pbd_paper_figure {
    char *id, *shows;
} pbd_paper_figure;

/* A claim that no run can judge, with the reason. */
typedef struct pbd_not_judged {
    char *id, *because;
} pbd_not_judged;

/* The settings of a method that all figures of a paper share, and where the paper states them. */
typedef struct pbd_paper_settings {
    char *method;
    char **set; /* "key=value" */
    unsigned set_count;
    char *because;
} pbd_paper_settings;

typedef struct pbd_paper {
    char *key, *kind; /* kind: inproceedings, article, misc: the entry types of BibTeX */
    char *title, *venue;
    char *volume, *pages, *publisher, *doi, *url; /* NULL where not known */
    char **authors;                               /* "Given Family"; none: not known */
    unsigned authors_count;
    unsigned year; /* 0: not known */
    pbd_paper_settings *settings;
    unsigned settings_count;
    pbd_paper_figure *figures;
    unsigned figures_count;
    pbd_not_judged *not_judged;
    unsigned not_judged_count;
} pbd_paper;

typedef struct pbd_papers {
    pbd_paper *papers;
    unsigned papers_count;
} pbd_papers;

extern const cyaml_schema_value_t pbd_papers_schema; /* of the file */

/* Reads ROOT/plots/papers.yaml; the caller frees *out. */
pbd_status pbd_papers_load(pbd_papers **out);
void pbd_papers_free(pbd_papers *papers); /* NULL-safe */

/* The paper of that key, or NULL. */
const pbd_paper *pbd_paper_of(const pbd_papers *papers, const char *key);

/* What to cite, in one line without its end: «A. One, B. Two: Title. Venue 66, 112108 (2023).» */
void pbd_paper_write(const pbd_paper *paper, FILE *out);

#endif
