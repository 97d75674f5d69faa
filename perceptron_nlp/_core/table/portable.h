/* What compilers and processors spell differently; no other header uses what standard C lacks, but
 * for the names of the processors' own instructions. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* To GCC a function that only prefetches has no effect, and it drops its calls: so such a function
 * is ALWAYS_INLINE. */
#if defined(__GNUC__) || defined(__clang__)
#define PREFETCH(address) __builtin_prefetch(address)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOT_WITHOUT_EFFECT __asm__ volatile("")
#define VECTOR_EXTENSIONS 1
/* A number that one thread changes while others read it, who can do with the one before. */
#define READ_SHARED(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_SHARED(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
/* Behind a typedef: a vector that may stand at any multiple of `alignment`, over any other type. */
#define VECTOR_OF(bytes, alignment) \
    __attribute__((vector_size(bytes), aligned(alignment), may_alias))
#else
#define PREFETCH(address) ((void)(address))
#define ALWAYS_INLINE inline
#define NOT_WITHOUT_EFFECT ((void)0)
#define VECTOR_EXTENSIONS 0
#define READ_SHARED(x) (*(volatile const size_t *)&(x))
#define WRITE_SHARED(x, value) (*(volatile size_t *)&(x) = (value))
#endif

/* What a thread does while it waits for another without sleeping. */
#if (defined(__GNUC__) || defined(__clang__)) && (defined(__x86_64__) || defined(__i386__))
#define SPIN_PAUSE __builtin_ia32_pause()
#elif (defined(__GNUC__) || defined(__clang__)) && defined(__aarch64__)
#define SPIN_PAUSE __asm__ volatile("isb" ::: "memory")
#else
#define SPIN_PAUSE ((void)0)
#endif

/* The number of the lowest bit that is set; there is one. How many are set of 32. */
#if defined(__GNUC__) || defined(__clang__)
#define lowest_bit(x) __builtin_ctzll(x)
#define bits_set(x) __builtin_popcount(x)
#else
static inline int lowest_bit(uint64_t x) {
    int k = 0;
    while (!(x >> k & 1)) k++;
    return k;
}
#endif

/* Numbers whose bytes come, or go, lowest first. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOWEST_FIRST_64(x) __builtin_bswap64(x)
#define LOWEST_FIRST_32(x) __builtin_bswap32(x)
#else
#define LOWEST_FIRST_64(x) (x)
#define LOWEST_FIRST_32(x) (x)
#endif

/* Room for `count` items; -1: no memory, nothing has changed. `array` is the address of a pointer
 * of any type, which is copied byte by byte: read and written as a void *, the compiler might take
 * it for another one and go on with the old place. */
static inline int grow_array(void *array, size_t count, size_t item) {
    size_t bytes = count * item;
    void *place;
    memcpy(&place, array, sizeof place);
    void *bigger = realloc(place, bytes ? bytes : 1);
    if (!bigger) return -1;
    memcpy(array, &bigger, sizeof bigger);
    return 0;
}

/* Have room for n items in an array that has `*room`, and then for half as many more; -1: no memory. */
static inline int array_room(void *array, size_t *room, size_t n, size_t item) {
    const size_t more = n + n / 2 + 64;
    if (n <= *room) return 0;
    if (grow_array(array, more, item) < 0) return -1;
    *room = more;
    return 0;
}

/* Large blocks in large pages, where the system has them on request: a table that is filled once
 * and read at random takes fewer page faults, and fewer looks into page tables ever after. */
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define LARGE_PAGE ((size_t)1 << 21)

/* Memory that free() gives back, all 0 where `zeroed`; NULL when there is none. What is less than
 * half a large page at its end is in small ones. */
static inline void *large_block(size_t size, int zeroed) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size >= LARGE_PAGE / 2) {
        size_t whole = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
        size_t large = (size + LARGE_PAGE / 2) / LARGE_PAGE * LARGE_PAGE;
        void *block = aligned_alloc(LARGE_PAGE, whole);
        if (!block) return NULL;
        (void)madvise(block, large, MADV_HUGEPAGE);
        if (zeroed) memset(block, 0, size);
        return block;
    }
#endif
    return zeroed ? calloc(size, 1) : malloc(size);
}

/* Move the first bytes of one block into another; pages that were moved out of are given back on the
 * way, so that no more is held than before. The old block is still to be freed. */
static inline void move_block(char *to, char *from, size_t size) {
    while (size) {
        size_t piece = size < LARGE_PAGE ? size : LARGE_PAGE;
        memcpy(to, from, piece);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if ((uintptr_t)from % LARGE_PAGE == 0 && piece == LARGE_PAGE)
            (void)madvise(from, piece, MADV_DONTNEED);
#endif
        to += piece, from += piece, size -= piece;
    }
}

/* Functions that may be compiled for AVX2 beside the plain build, to be chosen at run time. */
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__) && \
    !defined(PERCEPTRON_NLP_NARROW)
#define AVX2_AT_RUN_TIME 1
#define TARGET_AVX2 __attribute__((target("avx2")))
static inline int cpu_has_avx2(void) {
    return __builtin_cpu_supports("avx2");
}
#else
#define AVX2_AT_RUN_TIME 0
static inline int cpu_has_avx2(void) {
    return 0;
}
#endif
