/* A stand-in for the interpreter's header: what the core's headers ask of it, for ASCII, so that
 * they compile for systems and processors of which there is a compiler but no Python. */
#ifndef PERCEPTRON_NLP_SELFTEST_PYTHON_H
#define PERCEPTRON_NLP_SELFTEST_PYTHON_H

#define Py_UNICODE_ISUPPER(c) ((c) >= 'A' && (c) <= 'Z')
#define Py_UNICODE_ISTITLE(c) 0
#define Py_UNICODE_ISALPHA(c) (((c) | 32u) >= 'a' && ((c) | 32u) <= 'z')
#define Py_UNICODE_ISDIGIT(c) ((c) >= '0' && (c) <= '9')
#define Py_UNICODE_TOLOWER(c) (Py_UNICODE_ISUPPER(c) ? (c) + 32u : (c))
#define Py_UNICODE_TOUPPER(c) ((c) >= 'a' && (c) <= 'z' ? (c) - 32u : (c))

#endif
