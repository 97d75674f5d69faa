/* Preloaded into Python: makes the N-th allocation that the core asks for fail.
 *
 * Only calls from the library's own extension modules count, told by where they return to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static volatile long counting, calls, fail_at;

static int fails(void *caller) {
    Dl_info where;
    if (!counting || !dladdr(caller, &where) || !where.dli_fname ||
        !strstr(where.dli_fname, "perceptron_nlp/_core/"))
        return 0;
    return ++calls == fail_at;
}

/* Count from now on, and let allocation `at` fail (0: none). */
void trust_fail_at(long at) {
    calls = 0;
    fail_at = at;
    counting = 1;
}

/* Stop; how many allocations there were. */
long trust_stop(void) {
    counting = 0;
    return calls;
}

void *malloc(size_t n) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t m) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, m);
}
void *realloc(void *p, size_t n) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}
