/* plots/README.md: a row for each figure with its picture, the accepted verdicts of its claims and what was found. */
#ifndef PBD_FINDINGS_PAGE_H
#define PBD_FINDINGS_PAGE_H

#include <stdio.h>

#include "methods/method.h"

enum { PBD_THUMBNAIL_WIDTH = 320 }; /* pixels of plots/ID/thumbnail.png */

/* Writes the page as Markdown, from figure.yaml, verdicts.csv and thumbnail.png of all figures. What was found is the
 * first sentence of a figure's notes. */
pbd_status pbd_findings_page(FILE *out);

#endif
