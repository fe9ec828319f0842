/* The extension module that computes chains: elementwise operations, one after the other on a few hundred elements.

   A tile of a loop has tens of thousands of elements. NumPy's functions pass it once for each operation, through memory
   of the second-level cache, and wait for the interpreter's global lock between two of them. A chain calls the inner
   loops of NumPy's ufuncs, so that results are the same, for so few elements that the values between two operations stay
   in the first-level cache. It holds the global lock only while it begins and ends. */

#ifdef __GNUC__
/* Makes vectors of the loops, also of those that compare; nothing reads which floating-point exceptions they raise. */
#pragma GCC optimize("O3,no-trapping-math")
#endif

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#ifdef Py_GIL_DISABLED
#error "the module would bring the global interpreter lock back"
#endif

/* A change of what this module and the package ask of each other changes this and the number in compiled.py. */
#define VERSION 2

#define MOST_OPERANDS 3
#define MOST_ARRAYS 128
/* The most bytes of a value that only the chain reads. */
#define VALUE_BYTES 4096
#define LINE_BYTES 64 /* of the cache */

/* ---- Operations that are not ufuncs, in the form of the inner loops of ufuncs */

#define CONVERSION(from, to) \
    static void from##_to_##to(char **items, npy_intp const *count, npy_intp const *steps, void *unused) \
    { \
        const char *source = items[0]; \
        char *target = items[1]; \
        if (steps[0] == sizeof(from) && steps[1] == sizeof(to)) \
            for (npy_intp i = 0; i < *count; i++) \
                ((to *)target)[i] = (to)((const from *)source)[i]; \
        else \
            for (npy_intp i = 0; i < *count; i++, source += steps[0], target += steps[1]) \
                *(to *)target = (to)*(const from *)source; \
    }
#define CONVERSIONS_TO_NUMBERS(from) \
    CONVERSION(from, npy_int8) CONVERSION(from, npy_uint8) CONVERSION(from, npy_int16) CONVERSION(from, npy_uint16) \
    CONVERSION(from, npy_int32) CONVERSION(from, npy_uint32) CONVERSION(from, npy_int64) CONVERSION(from, npy_uint64) \
    CONVERSION(from, npy_float) CONVERSION(from, npy_double)

CONVERSIONS_TO_NUMBERS(npy_int8) CONVERSIONS_TO_NUMBERS(npy_uint8) CONVERSIONS_TO_NUMBERS(npy_int16)
CONVERSIONS_TO_NUMBERS(npy_uint16) CONVERSIONS_TO_NUMBERS(npy_int32) CONVERSIONS_TO_NUMBERS(npy_uint32)
CONVERSIONS_TO_NUMBERS(npy_int64) CONVERSIONS_TO_NUMBERS(npy_uint64)
CONVERSION(npy_float, npy_float) CONVERSION(npy_float, npy_double)
CONVERSION(npy_double, npy_float) CONVERSION(npy_double, npy_double)

#define TO_NUMBERS(from) \
    from##_to_npy_int8, from##_to_npy_uint8, from##_to_npy_int16, from##_to_npy_uint16, from##_to_npy_int32, \
    from##_to_npy_uint32, from##_to_npy_int64, from##_to_npy_uint64, from##_to_npy_float, from##_to_npy_double
#define NUMBERS 10

/* By the position of the dtypes; C does not define all conversions of floating-point numbers to integers. */
static const PyUFuncGenericFunction conversions[NUMBERS][NUMBERS] = {
    {TO_NUMBERS(npy_int8)}, {TO_NUMBERS(npy_uint8)}, {TO_NUMBERS(npy_int16)}, {TO_NUMBERS(npy_uint16)},
    {TO_NUMBERS(npy_int32)}, {TO_NUMBERS(npy_uint32)}, {TO_NUMBERS(npy_int64)}, {TO_NUMBERS(npy_uint64)},
    {[8] = npy_float_to_npy_float, [9] = npy_float_to_npy_double},
    {[8] = npy_double_to_npy_float, [9] = npy_double_to_npy_double},
};

/* The position of a dtype; that of uint8 for a bool that is read, -1 if there is none. */
static int position_of(PyArray_Descr *dtype, int is_read)
{
    npy_intp width = PyDataType_ELSIZE(dtype);
    int size = width == 1 ? 0 : width == 2 ? 2 : width == 4 ? 4 : width == 8 ? 6 : -1;
    if (dtype->kind == 'f' && size >= 4)
        return size == 4 ? 8 : 9;
    if (size < 0 || (dtype->kind != 'i' && dtype->kind != 'u' && (dtype->kind != 'b' || !is_read)))
        return -1;
    return size + (dtype->kind != 'i');
}

/* Bits instead of a branch, which is predicted wrongly where a condition changes often, and constant steps let the
   compiler make vectors. An element depends on no other one, as operands are the result's memory or apart from it. */
#define SELECT(type, step_of_first, step_of_second) \
    _Pragma("GCC ivdep") for (npy_intp i = 0; i < n; i++) \
    { \
        type one = first[i * (step_of_first)], other = second[i * (step_of_second)]; \
        target[i] = other ^ ((one ^ other) & (type) - (type)condition[i]); \
    }
#define SELECTION(type) \
    static void select_##type(char **items, npy_intp const *count, npy_intp const *steps, void *unused) \
    { \
        const npy_bool *condition = (const npy_bool *)items[0]; \
        const type *first = (const type *)items[1], *second = (const type *)items[2]; \
        type *target = (type *)items[3]; \
        const npy_intp n = *count, width = sizeof(type); \
        int is_plain = steps[0] == 1 && steps[3] == width; \
        if (is_plain && steps[1] == width && steps[2] == width) \
            SELECT(type, 1, 1) \
        else if (is_plain && steps[1] == 0 && steps[2] == width) \
            SELECT(type, 0, 1) \
        else if (is_plain && steps[1] == width && steps[2] == 0) \
            SELECT(type, 1, 0) \
        else if (is_plain && steps[1] == 0 && steps[2] == 0) \
            SELECT(type, 0, 0) \
        else \
            for (npy_intp i = 0; i < n; i++) { \
                type one = *(const type *)(items[1] + i * steps[1]), other = *(const type *)(items[2] + i * steps[2]); \
                npy_bool is_first = *(const npy_bool *)(items[0] + i * steps[0]); \
                *(type *)(items[3] + i * steps[3]) = other ^ ((one ^ other) & (type) - (type)is_first); \
            } \
    }

SELECTION(npy_uint8) SELECTION(npy_uint16) SELECTION(npy_uint32) SELECTION(npy_uint64)

/* Products with derivatives: 0 where a factor is 0, whatever the other one is. No product is -0. */
#define PRODUCT(type, step_of_first, step_of_second) \
    _Pragma("GCC ivdep") for (npy_intp i = 0; i < n; i++) \
    { \
        type one = first[i * (step_of_first)], other = second[i * (step_of_second)], product = one * other + 0; \
        target[i] = (one == 0) | (other == 0) ? 0 : product; \
    }
#define NUMBER_PRODUCT(type) \
    static void multiply_no_nan_##type(char **items, npy_intp const *count, npy_intp const *steps, void *unused) \
    { \
        const type *first = (const type *)items[0], *second = (const type *)items[1]; \
        type *target = (type *)items[2]; \
        const npy_intp n = *count, width = sizeof(type); \
        if (steps[0] == width && steps[1] == width && steps[2] == width) \
            PRODUCT(type, 1, 1) \
        else if (steps[0] == 0 && steps[1] == width && steps[2] == width) \
            PRODUCT(type, 0, 1) \
        else if (steps[0] == width && steps[1] == 0 && steps[2] == width) \
            PRODUCT(type, 1, 0) \
        else \
            for (npy_intp i = 0; i < n; i++) { \
                type one = *(const type *)(items[0] + i * steps[0]), other = *(const type *)(items[1] + i * steps[1]); \
                *(type *)(items[2] + i * steps[2]) = one == 0 || other == 0 ? 0 : one * other + 0; \
            } \
    }

NUMBER_PRODUCT(npy_float) NUMBER_PRODUCT(npy_double)

/* ---- Chains */

/* A loop, and its operands and its result: numbers of arrays, and after these of values, and the bytes of an element. */
typedef struct {
    PyUFuncGenericFunction loop;
    void *data;
    int count, items[MOST_OPERANDS + 1];
    npy_intp widths[MOST_OPERANDS + 1];
} Operation;

/* How many arrays, values and operations there are, and how many elements of the widest value have room. */
typedef struct {
    int arrays, values, count;
    npy_intp block;
    Operation operations[];
} Chain;

static const char *const capsule_name = "gpuarray.chain";

/* Find the loop for operands and a result of some dtypes; return whether there is one. */
static int find_loop(Operation *operation, PyObject *function, PyObject *dtypes)
{
    int count = (int)PyTuple_GET_SIZE(dtypes);
    PyArray_Descr *each[MOST_OPERANDS + 1];
    for (int i = 0; i < count; i++) {
        each[i] = (PyArray_Descr *)PyTuple_GET_ITEM(dtypes, i);
        if (!PyArray_DescrCheck(each[i]) || PyDataType_REFCHK(each[i]))
            return 0;
        operation->widths[i] = PyDataType_ELSIZE(each[i]);
    }
    operation->count = count;
    operation->data = NULL;
    operation->loop = NULL;
    if (PyUnicode_Check(function) && count == 2) {
        int source = position_of(each[0], 1), target = position_of(each[1], 0);
        if (source >= 0 && target >= 0)
            operation->loop = conversions[source][target];
    }
    else if (PyUnicode_Check(function) && count == 3) {
        int type = each[2]->type_num;
        if (each[0]->type_num == type && each[1]->type_num == type)
            operation->loop = type == NPY_FLOAT    ? multiply_no_nan_npy_float
                              : type == NPY_DOUBLE ? multiply_no_nan_npy_double
                                                   : NULL;
    }
    else if (PyUnicode_Check(function) && count == 4) {
        npy_intp width = PyDataType_ELSIZE(each[3]);
        if (each[0]->type_num == NPY_BOOL && each[1]->type_num == each[3]->type_num &&
            each[2]->type_num == each[3]->type_num)
            operation->loop = width == 1   ? select_npy_uint8
                              : width == 2 ? select_npy_uint16
                              : width == 4 ? select_npy_uint32
                              : width == 8 ? select_npy_uint64
                                           : NULL;
    }
    else if (PyObject_TypeCheck(function, &PyUFunc_Type)) {
        PyUFuncObject *ufunc = (PyUFuncObject *)function;
        if (ufunc->nargs != count || ufunc->nout != 1 || ufunc->core_enabled)
            return 0;
        for (int loop = 0; loop < ufunc->ntypes && operation->loop == NULL; loop++) {
            const char *types = ufunc->types + loop * count;
            int same = 0;
            while (same < count && types[same] == each[same]->type_num)
                same++;
            if (same == count) {
                operation->loop = ufunc->functions[loop];
                operation->data = ufunc->data == NULL ? NULL : ufunc->data[loop];
            }
        }
    }
    return operation->loop != NULL;
}

/* The arrays of a call: where each begins, and for each axis the extent and the steps. */
typedef struct {
    int axes;
    char *data[MOST_ARRAYS];
    npy_intp shape[NPY_MAXDIMS], steps[NPY_MAXDIMS][MOST_ARRAYS];
} Space;

/* Note where arrays are. Axes that all of them pass in equal steps become one; there are at least two. */
static int note_arrays(Space *space, PyObject *const *arrays, int count)
{
    PyArrayObject *last = (PyArrayObject *)arrays[count - 1];
    int ndim = PyArray_NDIM(last);
    space->axes = 0;
    for (int axis = 0; axis < ndim; axis++) {
        npy_intp extent = PyArray_DIM(last, axis), steps[MOST_ARRAYS];
        for (int i = 0; i < count; i++) {
            PyArrayObject *array = (PyArrayObject *)arrays[i];
            int own = axis - ndim + PyArray_NDIM(array);
            if (own >= 0 && PyArray_DIM(array, own) != extent && PyArray_DIM(array, own) != 1) {
                PyErr_SetString(PyExc_ValueError, "the arrays of a chain have to broadcast to the last one");
                return -1;
            }
            steps[i] = own < 0 || PyArray_DIM(array, own) == 1 ? 0 : PyArray_STRIDE(array, own);
        }
        int outer = space->axes - 1, is_one = outer >= 0;
        for (int i = 0; is_one && i < count; i++)
            is_one = space->steps[outer][i] == steps[i] * extent;
        if (is_one)
            extent *= space->shape[outer];
        else if (extent != 1)
            outer = space->axes++;
        else
            continue;
        space->shape[outer] = extent;
        memcpy(space->steps[outer], steps, count * sizeof(npy_intp));
    }
    for (; space->axes < 2; space->axes++) { /* in front of the others */
        memmove(space->shape + 1, space->shape, space->axes * sizeof *space->shape);
        memmove(space->steps + 1, space->steps, space->axes * sizeof *space->steps);
        space->shape[0] = 1;
        memset(space->steps[0], 0, sizeof *space->steps);
    }
    for (int i = 0; i < count; i++)
        space->data[i] = PyArray_DATA((PyArrayObject *)arrays[i]);
    return 0;
}

/* Compute rows and columns of the last two axes. */
static void compute_block(const Chain *chain, const Space *space, char *const *data, char *values, npy_intp rows,
                          npy_intp columns)
{
    const npy_intp *outer = space->steps[space->axes - 2], *inner = space->steps[space->axes - 1];
    for (int k = 0; k < chain->count; k++) {
        const Operation *operation = &chain->operations[k];
        char *items[MOST_OPERANDS + 1];
        npy_intp steps[MOST_OPERANDS + 1], turns[MOST_OPERANDS + 1];
        int is_flat = 1;
        for (int i = 0; i < operation->count; i++) {
            int item = operation->items[i], value = item - chain->arrays;
            items[i] = value < 0 ? data[item] : values + (npy_intp)value * VALUE_BYTES;
            steps[i] = value < 0 ? inner[item] : operation->widths[i];
            turns[i] = value < 0 ? outer[item] : steps[i] * columns;
            is_flat = is_flat && turns[i] == steps[i] * columns;
        }
        npy_intp count = is_flat ? rows * columns : columns;
        for (npy_intp row = 0; row < (is_flat ? 1 : rows); row++) {
            char *begins[MOST_OPERANDS + 1]; /* loops may change them */
            for (int i = 0; i < operation->count; i++)
                begins[i] = items[i] + row * turns[i];
            operation->loop(begins, &count, steps, operation->data);
        }
    }
}

/* Compute the last two axes, block by block. */
static void compute_plane(const Chain *chain, const Space *space, char *const *data, char *values)
{
    npy_intp height = space->shape[space->axes - 2], width = space->shape[space->axes - 1];
    const npy_intp *outer = space->steps[space->axes - 2], *inner = space->steps[space->axes - 1];
    npy_intp columns = width < chain->block ? width : chain->block, rows = chain->block / columns;
    for (npy_intp row = 0; row < height; row += rows)
        for (npy_intp column = 0; column < width; column += columns) {
            char *begins[MOST_ARRAYS];
            for (int i = 0; i < chain->arrays; i++)
                begins[i] = data[i] + row * outer[i] + column * inner[i];
            compute_block(chain, space, begins, values, row + rows < height ? rows : height - row,
                          column + columns < width ? columns : width - column);
        }
}

/* Compute all planes. */
static void compute(const Chain *chain, const Space *space, char *values)
{
    npy_intp index[NPY_MAXDIMS] = {0};
    char *data[MOST_ARRAYS];
    int axis;
    memcpy(data, space->data, sizeof data);
    do {
        compute_plane(chain, space, data, values);
        for (axis = space->axes - 3; axis >= 0; axis--) {
            int is_next = ++index[axis] < space->shape[axis];
            for (int i = 0; i < chain->arrays; i++)
                data[i] += space->steps[axis][i] * (is_next ? 1 : 1 - space->shape[axis]);
            if (is_next)
                break;
            index[axis] = 0;
        }
    } while (axis >= 0);
}

static PyObject *call(PyObject *capsule, PyObject *const *arrays, Py_ssize_t count)
{
    const Chain *chain = PyCapsule_GetPointer(capsule, capsule_name);
    if (chain == NULL)
        return NULL;
    if (count != chain->arrays)
        return PyErr_Format(PyExc_TypeError, "this chain takes %d arrays", chain->arrays);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!PyArray_CheckExact(arrays[i]) || !PyArray_ISBEHAVED_RO((PyArrayObject *)arrays[i]))
            return PyErr_Format(PyExc_TypeError, "a chain takes aligned arrays of NumPy");
    Space space;
    if (note_arrays(&space, arrays, chain->arrays) < 0)
        return NULL;
    if (PyArray_SIZE((PyArrayObject *)arrays[count - 1]) == 0)
        Py_RETURN_NONE;
    char *memory = PyMem_RawMalloc((size_t)chain->values * VALUE_BYTES + LINE_BYTES);
    if (memory == NULL)
        return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    compute(chain, &space, memory + LINE_BYTES - (npy_uintp)memory % LINE_BYTES);
    Py_END_ALLOW_THREADS
    PyMem_RawFree(memory);
    if (PyErr_Occurred()) /* loops take the lock for that */
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef call_definition = {
    "chain", (PyCFunction)(void (*)(void))call, METH_FASTCALL, "Compute a chain from and into arrays.",
};

static void free_chain(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, capsule_name));
}

PyDoc_STRVAR(has_loop_doc,
"has_loop($module, function, dtypes, /)\n--\n\n"
"Return whether a chain can have an operation with operands and a result of some dtypes.\n\n"
"The function is a ufunc, or the text \"convert\", \"multiply_no_nan\" or \"select\".");

static PyObject *has_loop(PyObject *module, PyObject *args)
{
    PyObject *function, *dtypes;
    Operation operation;
    if (!PyArg_ParseTuple(args, "OO!", &function, &PyTuple_Type, &dtypes))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(dtypes);
    return PyBool_FromLong(count > 1 && count <= MOST_OPERANDS + 1 && find_loop(&operation, function, dtypes));
}

/* Note the numbers of the operands and of the result of an operation. */
static int note_items(Chain *chain, Operation *operation, PyObject *items)
{
    if (PyTuple_GET_SIZE(items) != operation->count)
        return 0;
    for (int i = 0; i < operation->count; i++) {
        long item = PyLong_AsLong(PyTuple_GET_ITEM(items, i));
        if (item < 0 || item >= chain->arrays + chain->values)
            return 0;
        operation->items[i] = (int)item;
        npy_intp room = VALUE_BYTES / operation->widths[i];
        if (item >= chain->arrays && room < chain->block)
            chain->block = room;
    }
    return 1;
}

PyDoc_STRVAR(make_doc,
"make($module, arrays, values, operations, /)\n--\n\n"
"Return the function of a chain.\n\n"
"It takes as many arrays, which broadcast to the last one. An operation is a function and dtypes, as ``has_loop`` takes\n"
"them, and the numbers of the operands and of the result: those of arrays, and after these those of values.");

static PyObject *make(PyObject *module, PyObject *args)
{
    int arrays, values;
    PyObject *operations;
    if (!PyArg_ParseTuple(args, "iiO!", &arrays, &values, &PyList_Type, &operations))
        return NULL;
    if (arrays < 1 || arrays > MOST_ARRAYS || values < 0)
        return PyErr_Format(PyExc_ValueError, "a chain has 1 to %d arrays", MOST_ARRAYS);
    Py_ssize_t count = PyList_GET_SIZE(operations);
    Chain *chain = PyMem_Calloc(1, sizeof(Chain) + count * sizeof(Operation));
    if (chain == NULL)
        return PyErr_NoMemory();
    *chain = (Chain){.arrays = arrays, .values = values, .count = (int)count, .block = VALUE_BYTES / 4};
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *function, *dtypes, *items;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(operations, k), "OO!O!", &function, &PyTuple_Type, &dtypes, &PyTuple_Type,
                              &items))
            break;
        Operation *operation = &chain->operations[k];
        if (PyTuple_GET_SIZE(dtypes) > MOST_OPERANDS + 1 || !find_loop(operation, function, dtypes) ||
            !note_items(chain, operation, items)) {
            PyErr_SetString(PyExc_ValueError, "a chain has no such operation");
            break;
        }
    }
    PyObject *capsule = PyErr_Occurred() ? NULL : PyCapsule_New(chain, capsule_name, free_chain);
    if (capsule == NULL) {
        PyMem_Free(chain);
        return NULL;
    }
    PyObject *function = PyCFunction_New(&call_definition, capsule);
    Py_DECREF(capsule);
    return function;
}

static PyMethodDef functions[] = {
    {"has_loop", has_loop, METH_VARARGS, has_loop_doc},
    {"make", make, METH_VARARGS, make_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gpuarray.ops._chains", "Chains of elementwise operations.", -1, functions,
};

PyMODINIT_FUNC PyInit__chains(void)
{
    import_array();
    import_umath();
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddIntConstant(module, "VERSION", VERSION) < 0)
        Py_CLEAR(module);
    return module;
}
