/* A library whose constructor does not return. */
#include <unistd.h>

__attribute__((constructor)) static void wait_for_ever(void) {
    for (;;) pause();
}
