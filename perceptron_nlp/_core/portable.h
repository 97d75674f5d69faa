/* What compilers and processors spell differently. */
#ifndef PERCEPTRON_NLP_PORTABLE_H
#define PERCEPTRON_NLP_PORTABLE_H

#if defined(__GNUC__) || defined(__clang__)
#define PREFETCH(address) __builtin_prefetch(address)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define VECTOR_EXTENSIONS 1
#else
#define PREFETCH(address) ((void)(address))
#define ALWAYS_INLINE inline
#define VECTOR_EXTENSIONS 0
#endif

/* Functions that may be compiled for AVX2 beside the plain build, to be chosen at run time. */
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__) && \
    !defined(PERCEPTRON_NLP_NARROW)
#define AVX2_AT_RUN_TIME 1
#define TARGET_AVX2 __attribute__((target("avx2")))
static inline int cpu_has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
#define AVX2_AT_RUN_TIME 0
static inline int cpu_has_avx2(void) { return 0; }
#endif

#endif
