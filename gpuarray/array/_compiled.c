/* The extension module: operators, indexing and conversions of small arrays in host memory.

   These are the methods of GpuArray that loops over elements call most. Each function here handles the plain case, in
   which all operands have values in host memory, and calls the method in Python for everything else. The methods in
   Python are complete without this module: they define what the operators do, and this module repeats no decision of
   theirs but that of the plain case.

   A class inherits the slots from CompiledOperators. `install` moves them in front of its methods in Python, which
   they then call.

   The module is one translation unit. This file defines the class and the functions of the module; the functions that
   they call are in the headers, each of which uses those before it in the list below. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

#ifdef Py_GIL_DISABLED
#error "these functions rely on the global interpreter lock"
#endif

/* A change of what this module and the package ask of each other changes this and the number in compiled.py. */
#define VERSION 18

#include "../_slots.h"    /* attributes */
#include "_state.h"       /* what `install` is given; the setting and the lock of the present thread */
#include "_loops.h"       /* the inner loops of NumPy's ufuncs */
#include "_arrays.h"      /* values of arrays; new arrays and views */
#include "_numbers.h"     /* operators of values */
#include "_operators.h"   /* operators of arrays */
#include "_functions.h"   /* ufuncs and functions of NumPy */
#include "_values.h"      /* functions that read elements, and those that make arrays */
#include "_callables.h"   /* functions in C in front of others */
#include "_conversions.h" /* numbers of arrays, lengths */
#include "_indexing.h"    /* reads, writes, views */

static PyMethodDef methods[] = {
    {"__array_ufunc__", (PyCFunction)(void (*)(void))array_ufunc, METH_VARARGS | METH_KEYWORDS,
     "Apply a ufunc of NumPy."},
    {"__array_function__", (PyCFunction)(void (*)(void))array_function, METH_FASTCALL | METH_KEYWORDS,
     "Call a function of NumPy."},
    {"_complete", complete_method, METH_NOARGS, "Give the array of a value the other attributes, and a cell."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"T", transposed, NULL, "View with reversed axes.", &transposes[0]},
    {"mT", transposed, NULL, "View with the last two axes exchanged.", &transposes[1]},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The base of a class with compiled operators."},
    {Py_nb_add, add}, {Py_nb_subtract, subtract}, {Py_nb_multiply, multiply}, {Py_nb_true_divide, divide},
    {Py_nb_floor_divide, floor_divide}, {Py_nb_remainder, remainder_of}, {Py_nb_power, power}, {Py_nb_and, and_},
    {Py_nb_or, or_}, {Py_nb_xor, xor_}, {Py_nb_lshift, left_shift}, {Py_nb_rshift, right_shift},
    {Py_nb_inplace_add, iadd}, {Py_nb_inplace_subtract, isubtract}, {Py_nb_inplace_multiply, imultiply},
    {Py_nb_inplace_true_divide, idivide}, {Py_nb_inplace_floor_divide, ifloor_divide},
    {Py_nb_inplace_remainder, iremainder_of}, {Py_nb_inplace_power, ipower}, {Py_nb_inplace_and, iand_},
    {Py_nb_inplace_or, ior_}, {Py_nb_inplace_xor, ixor_}, {Py_nb_inplace_lshift, ileft_shift},
    {Py_nb_inplace_rshift, iright_shift},
    {Py_nb_matrix_multiply, product}, {Py_nb_inplace_matrix_multiply, iproduct},
    {Py_nb_negative, negative}, {Py_nb_positive, positive}, {Py_nb_absolute, absolute}, {Py_nb_invert, invert},
    {Py_nb_bool, is_true}, {Py_nb_int, as_int}, {Py_nb_float, as_float}, {Py_nb_index, as_index},
    {Py_mp_length, length}, {Py_mp_subscript, subscript}, {Py_mp_ass_subscript, ass_subscript},
    {Py_tp_methods, methods}, {Py_tp_getset, properties},
    {Py_tp_richcompare, compare}, {Py_tp_hash, PyObject_HashNotImplemented},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "gpuarray.array._compiled.CompiledOperators",
    .basicsize = sizeof(PyObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

static PyTypeObject *base_type;

/* Keep a method of a class, and put the one of CompiledOperators in front of it. */
static int replace(PyObject *type, const char *name, PyObject **method)
{
    PyObject *original = PyObject_GetAttrString(type, name);
    PyObject *compiled = original == NULL ? NULL : PyObject_GetAttrString((PyObject *)base_type, name);
    int failed = compiled == NULL || PyObject_SetAttrString(type, name, compiled) < 0;
    Py_XDECREF(compiled);
    Py_XSETREF(*method, original);
    return failed ? -1 : 0;
}

static int replace_all(PyObject *type, const char *const *names, PyObject **originals, int count)
{
    for (int i = 0; i < count; i++)
        if (replace(type, names[i], &originals[i]) < 0)
            return -1;
    return 0;
}

PyDoc_STRVAR(install_doc,
"install($module, array, cell, settings, cells, setting, quiet, automatic, cpu, nothing, unmade, ufuncs, functions, dtypes, taken, left, right, hide, clients, devices, /)\n--\n\n"
"Put compiled operators in front of the methods of a class.\n\n"
"The arguments are the classes of arrays, of cells and of settings of a thread; the module with the lock of cells; the\n"
"context variable with the setting of a thread; what runs functions without warnings; the devices whose values the\n"
"host always computes; what an array has that has seen no memory, and a cell without a leaf; and the\n"
"operations of the package by ufunc, its functions by NumPy's, and its dtypes; the function `temporaries.taken` with its two\n"
"answers; the function that removes frames from errors; the module that registers clients; and devices by name.");

static PyObject *install(PyObject *module, PyObject *args)
{
    PyObject *array, *cell, *settings;
    if (!PyArg_ParseTuple(args, "O!O!OOOOOOOOO!O!O!OOOOOO!", &PyType_Type, &array, &PyType_Type, &cell, &settings, &cells,
                          &setting, &quiet, &automatic, &cpu, &nothing, &unmade, &PyDict_Type, &known_ufuncs,
                          &PyDict_Type, &known_functions, &PyTuple_Type, &dtypes, &taken, &left_side, &right_side,
                          &hide_frames, &clients, &PyDict_Type, &known_devices))
        return NULL;
    const struct { PyObject *type; const char *name; Py_ssize_t *offset; } members[] = {
        {array, "_value", &of_array.value}, {array, "_device", &of_array.device},
        {array, "_made_access", &of_array.made_access}, {array, "_made_cell", &of_array.made_cell},
        {array, "_made_dtype", &of_array.made_dtype}, {array, "_made_layout", &of_array.made_layout},
        {array, "_made_owner", &of_array.made_owner},
        {array, "_made_part", &of_array.made_part}, {array, "_made_shape", &of_array.made_shape},
        {array, "_host", &of_array.host}, {array, "_key", &of_array.key}, {array, "_large", &of_array.large},
        {array, "_maker", &of_array.maker}, {array, "_memory", &of_array.memory}, {array, "_source", &of_array.source},
        {cell, "device", &of_cell.device}, {cell, "memory", &of_cell.memory}, {cell, "own", &of_cell.own},
        {settings, "limit", &of_setting.limit}, {settings, "on_pinned", &of_setting.on_pinned},
        {settings, "default_device", &of_setting.default_device},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if ((*members[i].offset = offset_of((PyTypeObject *)members[i].type, members[i].name)) < 0)
            return NULL;
    PyObject *owned[] = {array, cell, cells, setting, quiet, automatic, cpu, nothing, unmade, known_ufuncs, known_functions,
                         dtypes, taken, left_side, right_side, hide_frames, clients, known_devices};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        Py_INCREF(owned[i]);
    array_type = (PyTypeObject *)array;
    if (array_type->tp_basicsize != (Py_ssize_t)(sizeof(PyObject) + (SLOTS + WEAK_REFERENCES) * sizeof(PyObject *)))
        return PyErr_Format(PyExc_TypeError, "%R has other slots", array);
    if ((other_methods[APPLY] = PyObject_GetAttrString(array, "_apply")) == NULL)
        return NULL;
    cell_type = (PyTypeObject *)cell;
    if (replace_all(array, forward_names, forward_methods, BINARIES) < 0 ||
        replace_all(array, reflected_names, reflected_methods, BINARIES) < 0 ||
        replace_all(array, inplace_names, inplace_methods, BINARIES) < 0 ||
        replace_all(array, unary_names, unary_methods, UNARIES) < 0 ||
        replace_all(array, comparison_names, comparison_methods, 6) < 0 ||
        replace_all(array, other_names, other_methods, OTHERS) < 0)
        return NULL;
    /* Python takes __iadd__ for the concatenation of sequences, too, and returns its NotImplemented. */
    ((PyHeapTypeObject *)array)->as_sequence.sq_inplace_concat = NULL;
    dealloc_of_class = array_type->tp_dealloc;
    array_type->tp_dealloc = dealloc_array;
    if (replace(array, "T", &transposes[0]) < 0 || replace(array, "mT", &transposes[1]) < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(take_count_doc, "take_count($module, /)\n--\n\nReturn how many operations were computed since the last call.");

static PyObject *take_count(PyObject *module, PyObject *unused)
{
    long long count = operations;
    operations = 0;
    return PyLong_FromLongLong(count);
}

PyDoc_STRVAR(take_midsize_doc,
"take_midsize($module, /)\n--\n\n"
"Return how many elements of mid-sized results beside a GPU, beyond 2^14 of each, were computed since the last call.");

static PyObject *take_midsize(PyObject *module, PyObject *unused)
{
    long long count = midsize;
    midsize = 0;
    return PyLong_FromLongLong(count);
}

static PyMethodDef functions[] = {
    {"install", install, METH_VARARGS, install_doc},
    {"view", (PyCFunction)(void (*)(void))view, METH_FASTCALL, view_doc},
    {"apply", (PyCFunction)(void (*)(void))apply_operation, METH_FASTCALL, apply_doc},
    {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, call_doc},
    {"call_with_values", (PyCFunction)(void (*)(void))call_with_values, METH_FASTCALL, call_with_values_doc},
    {"of_values", new_of_values, METH_VARARGS, of_values_doc},
    {"of_numpy", new_of_numpy, METH_VARARGS, of_numpy_doc},
    {"of_ufunc", new_of_ufunc, METH_VARARGS, of_ufunc_doc},
    {"of_numbers", new_of_numbers, METH_VARARGS, of_numbers_doc},
    {"take_count", take_count, METH_NOARGS, take_count_doc},
    {"take_midsize", take_midsize, METH_NOARGS, take_midsize_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gpuarray.array._compiled", "Operators of small arrays in host memory.", -1, functions,
};

static int find_all(PyObject *module, const char *const *names, PyObject **objects, int count)
{
    for (int i = 0; i < count; i++)
        if ((objects[i] = PyObject_GetAttrString(module, names[i])) == NULL)
            return -1;
    return 0;
}

static int find_ufuncs(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    int failed = numpy == NULL || (square = PyObject_GetAttrString(numpy, "square")) == NULL ||
                 (matmul = PyObject_GetAttrString(numpy, "matmul")) == NULL ||
                 find_all(numpy, binary_ufunc_names, binary_ufuncs, BINARIES) < 0 ||
                 find_all(numpy, unary_ufunc_names, unary_ufuncs, INVERT + 1) < 0 ||
                 find_all(numpy, comparison_ufunc_names, comparison_ufuncs, 6) < 0;
    Py_XDECREF(numpy);
    return failed ? -1 : 0;
}

PyMODINIT_FUNC PyInit__compiled(void)
{
    import_array();
    import_umath();
    if (find_ufuncs() < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    base_type = (PyTypeObject *)PyType_FromSpec(&spec);
    str_numpy = PyUnicode_InternFromString("numpy");
    str_dtype = PyUnicode_InternFromString("dtype");
    str_out = PyUnicode_InternFromString("out");
    str_checked_modules = PyUnicode_InternFromString("checked_modules");
    str_where = PyUnicode_InternFromString("where");
    str_device = PyUnicode_InternFromString("device");
    str_call = PyUnicode_InternFromString("__call__");
    str_run = PyUnicode_InternFromString("run");
    str_self = PyUnicode_InternFromString("__self__");
    str_binding = PyUnicode_InternFromString("binding");
    str_acquire = PyUnicode_InternFromString("acquire");
    str_release = PyUnicode_InternFromString("release");
    function_type = (PyTypeObject *)PyType_FromSpec(&spec_of_function);
    if (module == NULL || base_type == NULL || str_release == NULL || function_type == NULL ||
        PyModule_AddIntConstant(module, "VERSION", VERSION) < 0 ||
        PyModule_AddObjectRef(module, "FunctionAtOnce", (PyObject *)function_type) < 0 ||
        PyModule_AddObjectRef(module, "CompiledOperators", (PyObject *)base_type) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
