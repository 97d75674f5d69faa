/* What compilers spell differently. */
#ifndef PERCEPTRON_NLP_PORTABLE_H
#define PERCEPTRON_NLP_PORTABLE_H

#if defined(__GNUC__) || defined(__clang__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* Loops over label vectors are compiled for AVX2 too, and the loader picks at run time; integer
 * arithmetic makes both give the same results. Only where the platform can pick (ifunc). */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && \
    defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(PERCEPTRON_NLP_NARROW)
#define WIDE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WIDE_CLONES
#endif

#endif
