/* A list of borrowed words, such as the values of an option that may be repeated. */
#ifndef PBD_TEXTS_H
#define PBD_TEXTS_H

#include "methods/method.h"

/* Words point into argv; the array is owned: pbd_texts_free. */
typedef struct pbd_texts {
    const char **item;
    size_t count;
} pbd_texts;
void pbd_texts_free(pbd_texts *texts);
pbd_status pbd_texts_add(pbd_texts *texts, const char *text);

#endif
