/* Loops over the elements of arrays that NumPy does not have, or has in many passes. The functions in Python that call
   them have the same results without this module. Arrays are contiguous objects with a buffer. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#endif

/* A product and a sum are rounded one after the other, as in NumPy. Flags of floating point are not read, so that the
   compiler makes vectors of conditions. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off", "no-trapping-math")
#else
#pragma STDC FP_CONTRACT OFF
#endif

#define VERSION 1

/* Get the buffers of `count` arguments, those from `results` on to write to; -1 with an error set. */
static int get_buffers(PyObject *const *arguments, Py_ssize_t given, Py_buffer *buffers, int count, int results)
{
    if (given != count) {
        PyErr_Format(PyExc_TypeError, "expected %d arguments, not %zd", count, given);
        return -1;
    }
    for (int i = 0; i < count; i++)
        if (PyObject_GetBuffer(arguments[i], &buffers[i], i < results ? PyBUF_SIMPLE : PyBUF_WRITABLE) < 0) {
            while (i--)
                PyBuffer_Release(&buffers[i]);
            return -1;
        }
    return 0;
}

/* Release buffers, and return None; an error if there is a message. */
static PyObject *release(Py_buffer *buffers, int count, const char *message)
{
    while (count--)
        PyBuffer_Release(&buffers[count]);
    if (message == NULL)
        Py_RETURN_NONE;
    PyErr_SetString(PyExc_ValueError, message);
    return NULL;
}

#include "_random.h"
#include "_sorting.h"

static PyMethodDef functions[] = {
    {"sort", (PyCFunction)(void (*)(void))sort, METH_FASTCALL, sort_doc},
    {"stream_words", (PyCFunction)(void (*)(void))stream_words, METH_FASTCALL, stream_words_doc},
    {"stream_uniforms", (PyCFunction)(void (*)(void))stream_uniforms, METH_FASTCALL, stream_uniforms_doc},
    {"cosines", (PyCFunction)(void (*)(void))cosines, METH_FASTCALL, cosines_doc},
    {"words", (PyCFunction)(void (*)(void))words, METH_FASTCALL, words_doc},
    {"uniforms", (PyCFunction)(void (*)(void))uniforms, METH_FASTCALL, uniforms_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gpuarray.ops._compiled", "Loops over elements.", -1, functions,
};

PyMODINIT_FUNC PyInit__compiled(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddIntConstant(module, "VERSION", VERSION) < 0)
        Py_CLEAR(module);
    return module;
}
