#include "harness/files/texts.h"

#include <stdlib.h>

void pbd_texts_free(pbd_texts *texts) {
    free(texts->item);
    *texts = (pbd_texts){0};
}

pbd_status pbd_texts_add(pbd_texts *texts, const char *text) {
    const char **grown = realloc(texts->item, (texts->count + 1) * sizeof *grown);
    if (!grown) return pbd_error(PBD_FAILED, "out of memory for the command line");
    texts->item = grown;
    grown[texts->count++] = text;
    return pbd_ok();
}
