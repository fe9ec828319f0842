/* Operators, indexing and conversions of small arrays in host memory.

   These are the methods of GpuArray that loops over elements call most. Each function here handles the plain case, in
   which all operands have values in host memory, and calls the method in Python for everything else. The methods in
   Python are complete without this module: they define what the operators do, and this file repeats no decision of
   theirs but that of the plain case.

   A class inherits the slots from CompiledOperators. `install` moves them in front of its methods in Python, which
   they then call. */

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
#define VERSION 7

/* Larger arrays of devices other than the host are handled in Python, where trials of a GPU count them. */
#define MOST_ELEMENTS (1 << 14)
/* The bytes from which on NumPy's operators take the memory of operands that are temporary results, and so do these. */
#define LARGE (1 << 18)
/* The most elements that arrays of positions may select. */
#define MOST_SELECTED (1 << 24)

#include "_loops.h"

enum {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, REMAINDER, POWER, AND, OR, XOR, LEFT_SHIFT, RIGHT_SHIFT, BINARIES
};
enum { NEGATIVE, POSITIVE, ABSOLUTE, INVERT, BOOL, INT, FLOAT, INDEX, LEN, UNARIES };
enum { GETITEM, SETITEM, DELITEM, ARRAY_UFUNC, SETTLE, MATMUL, RMATMUL, IMATMUL, OTHERS, APPLY = OTHERS };

static const char *const forward_names[BINARIES] = {
    "__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__", "__and__", "__or__",
    "__xor__", "__lshift__", "__rshift__",
};
static const char *const reflected_names[BINARIES] = {
    "__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rfloordiv__", "__rmod__", "__rpow__", "__rand__",
    "__ror__", "__rxor__", "__rlshift__", "__rrshift__",
};
static const char *const inplace_names[BINARIES] = {
    "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__", "__iand__",
    "__ior__", "__ixor__", "__ilshift__", "__irshift__",
};
static const char *const unary_names[UNARIES] = {
    "__neg__", "__pos__", "__abs__", "__invert__", "__bool__", "__int__", "__float__", "__index__", "__len__",
};
static const char *const other_names[OTHERS] = {
    "__getitem__", "__setitem__", "__delitem__", "__array_ufunc__", "_settle", "__matmul__", "__rmatmul__",
    "__imatmul__",
};
static const char *const comparison_names[6] = {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"};

/* The ufuncs of operators, by their names in NumPy. */
static const char *const binary_ufunc_names[BINARIES] = {
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "bitwise_and", "bitwise_or",
    "bitwise_xor", "left_shift", "right_shift",
};
static const char *const unary_ufunc_names[INVERT + 1] = {"negative", "positive", "absolute", "invert"};
static const char *const comparison_ufunc_names[6] = {
    "less", "less_equal", "equal", "not_equal", "greater", "greater_equal",
};
static PyObject *binary_ufuncs[BINARIES], *unary_ufuncs[INVERT + 1], *comparison_ufuncs[6], *square, *matmul;

/* Where the attributes of an array, of its cell and of the settings of a thread are in these objects. */
static struct {
    Py_ssize_t value, device, made_access, made_cell, made_dtype, made_layout, made_owner, made_part, made_shape, host,
        key, large, maker, memory, source;
} of_array;
#define SLOTS (sizeof of_array / sizeof(Py_ssize_t))
static struct { Py_ssize_t device, memory, own; } of_cell;
static struct { Py_ssize_t limit, on_pinned; } of_setting;

static PyTypeObject *array_type, *cell_type;
/* The methods in Python. */
static PyObject *forward_methods[BINARIES], *reflected_methods[BINARIES], *inplace_methods[BINARIES];
static PyObject *unary_methods[UNARIES], *comparison_methods[6], *other_methods[OTHERS + 1];
/* The context variable with the setting of this thread or task, what runs NumPy's functions without warnings, the
   module with the lock of cells, the devices whose values the host always computes, what stands for no memory and for
   a leaf that is made when it is asked for, the operations of this package by ufunc, and its dtypes. */
static PyObject *setting, *quiet, *cells, *automatic, *cpu, *nothing, *unmade, *known_ufuncs, *dtypes;
/* What tells as which operand an operator takes the result of another one, and its two answers. */
static PyObject *taken, *left_side, *right_side;
static PyObject *str_call, *str_dtype, *str_transpose, *str_run, *str_self, *str_binding, *str_acquire, *str_release, *str_numpy;
/* How many operations were computed that `take_count` has not told of. */
static long long operations;

#define AT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

static inline int is_set(PyObject *item) { return item != NULL && item != Py_None; }

/* -- settings ------------------------------------------------------------------------------------------------------ */

/* The most elements with which operations are computed at once, 0 if they are recorded; and whether on all devices. */
static long limit_now(int *on_pinned)
{
    PyObject *found = NULL;
    if (PyContextVar_Get(setting, NULL, &found) < 0 || found == NULL) {
        PyErr_Clear();
        return 0;
    }
    PyObject *number = AT(found, of_setting.limit);
    long limit = number == NULL ? 0 : PyLong_AsLong(number);
    *on_pinned = AT(found, of_setting.on_pinned) == Py_True;
    Py_DECREF(found);
    return limit;
}

/* The context of this thread in which NumPy does not warn, borrowed. */
static PyObject *quiet_context(void)
{
    static uint64_t thread = 0;
    static PyObject *context = NULL;
    uint64_t now = PyThreadState_GetID(PyThreadState_Get());
    if (context != NULL && now == thread)
        return context;
    PyObject *run = PyObject_GetAttr(quiet, str_run);
    PyObject *found = run == NULL ? NULL : PyObject_GetAttr(run, str_self);
    Py_XDECREF(run);
    if (found == NULL || !PyContext_CheckExact(found)) {
        PyErr_Clear();
        Py_XDECREF(found);
        return NULL;
    }
    Py_XSETREF(context, found);
    thread = now;
    return context;
}

/* Enter that context; NULL if another call has entered it. */
static PyObject *enter_quiet(void)
{
    PyObject *context = quiet_context();
    if (context == NULL)
        return NULL;
    Py_INCREF(context);
    if (PyContext_Enter(context) < 0) {
        PyErr_Clear();
        Py_CLEAR(context);
    }
    return context;
}

/* Leave it. Return whether the method in Python is to be called, which raises the error again, if there is one. */
static int leave_quiet(PyObject *context, int failed)
{
    int is_left = 1;
    if (failed && (is_left = !PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_Exception)))
        PyErr_Clear();
    if (PyContext_Exit(context) < 0)
        PyErr_Clear();
    Py_DECREF(context);
    return is_left;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

/* The elements of an array as NumPy has them, borrowed; NULL if it takes more than a look. */
static PyObject *value_of(PyObject *array, int on_pinned, PyObject **device)
{
    PyObject *value = AT(array, of_array.value);
    if (is_set(value)) {
        *device = AT(array, of_array.device);
        return on_pinned || *device == cpu || *device == automatic ? value : NULL;
    }
    PyObject *cell = AT(array, of_array.made_cell);
    if (cell == NULL)
        return NULL;
    PyObject *memory = AT(cell, of_cell.memory);
    if (!is_set(memory) || memory != AT(array, of_array.memory))
        return NULL;
    *device = AT(cell, of_cell.device);
    return on_pinned || *device == cpu || *device == automatic ? AT(array, of_array.host) : NULL;
}

static int is_number(PyObject *item)
{
    PyTypeObject *type = Py_TYPE(item);
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyComplex_Type;
}

/* The most elements of the arrays of a device with which operations are computed here. */
static npy_intp most_elements(PyObject *device, long limit)
{
    return device == cpu || limit < MOST_ELEMENTS ? limit : MOST_ELEMENTS;
}

/* Whether the elements of an operation, and its result, are few. */
static int are_few(PyObject *first, PyObject *second, npy_intp most)
{
    npy_intp sizes[2] = {1, 1};
    PyObject *both[2] = {first, second};
    for (int i = 0; i < 2; i++) {
        if (both[i] != NULL && PyArray_CheckExact(both[i])) {
            sizes[i] = PyArray_SIZE((PyArrayObject *)both[i]);
            if (sizes[i] > most)
                return 0;
        }
    }
    if (sizes[0] * sizes[1] <= most || sizes[0] == 1 || sizes[1] == 1)
        return 1;
    PyArrayObject *one = (PyArrayObject *)first, *other = (PyArrayObject *)second;
    return PyArray_SAMESHAPE(one, other);
}

/* Arrays that are gone are kept to be used again: loops make and drop one in each operation. */
#define MOST_KEPT 64
/* How many slots are for weak references: from Python 3.12 on they stand before the object. */
#ifdef Py_TPFLAGS_MANAGED_WEAKREF
#define WEAK_REFERENCES 0
#else
#define WEAK_REFERENCES 1
#endif
static PyObject *kept[MOST_KEPT];
static int kept_count;
static destructor dealloc_of_class;

static PyObject *new_array(void)
{
    if (!kept_count)
        return array_type->tp_alloc(array_type, 0);
    PyObject *array = kept[--kept_count];
    Py_SET_REFCNT(array, 1);
    PyObject_GC_Track(array);
    return array;
}

static void dealloc_array(PyObject *array)
{
    const Py_ssize_t *offsets = (const Py_ssize_t *)&of_array;
    /* instances of subclasses come here too */
    if (kept_count < MOST_KEPT && Py_IS_TYPE(array, array_type) && AT(array, array_type->tp_weaklistoffset) == NULL) {
        PyObject_GC_UnTrack(array);
        for (size_t i = 0; i < SLOTS; i++)
            Py_CLEAR(AT(array, offsets[i]));
        if (kept_count < MOST_KEPT) { /* what is gone with the array may have been arrays */
            kept[kept_count++] = array;
            return;
        }
    }
    array_type->tp_dealloc = dealloc_of_class; /* which clears the slots of the classes that have it */
    dealloc_of_class(array);
    array_type->tp_dealloc = dealloc_array;
}

/* An array of a result, which is consumed; NULL without an error if it is to be made in Python. */
static PyObject *wrapped(PyObject *value, PyObject *device)
{
    if (PyArray_CheckExact(value)) {
        PyArrayObject *array = (PyArrayObject *)value;
        if (PyArray_NDIM(array) > 1 && !PyArray_IS_C_CONTIGUOUS(array)) {
            PyObject *copy = PyArray_NewCopy(array, NPY_CORDER);
            Py_DECREF(value);
            if (copy == NULL)
                return NULL;
            value = copy;
        }
    }
    else if (!PyArray_IsScalar(value, Generic)) {
        Py_DECREF(value);
        return NULL;
    }
    PyObject *made = new_array();
    if (made == NULL) {
        Py_DECREF(value);
        return NULL;
    }
    AT(made, of_array.value) = value;
    AT(made, of_array.device) = Py_NewRef(device);
    return made;
}

/* The shape of an array of NumPy, or of a scalar. */
static PyObject *shape_of(PyObject *value)
{
    int ndim = PyArray_CheckExact(value) ? PyArray_NDIM((PyArrayObject *)value) : 0;
    PyObject *shape = PyTuple_New(ndim);
    for (int axis = 0; shape != NULL && axis < ndim; axis++) {
        PyObject *extent = PyLong_FromSsize_t(PyArray_DIM((PyArrayObject *)value, axis));
        if (extent == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, axis, extent);
    }
    return shape;
}

/* A view of the memory of an array's cell, which is `source[key]`; the view of NumPy is consumed. */
static PyObject *seen(PyObject *array, PyObject *view, PyObject *memory, PyObject *source, PyObject *key)
{
    PyObject *access = AT(array, of_array.made_access), *owner = AT(array, of_array.made_owner);
    PyObject *shape = shape_of(view), *made = NULL, *access_of_view = NULL;
    if (shape == NULL)
        goto failed;
    int can_write = PyObject_IsTrue(access);
    access_of_view = can_write < 0 ? NULL : PyLong_FromLong(can_write);
    made = access_of_view == NULL ? NULL : new_array();
    if (made == NULL)
        goto failed;
    AT(made, of_array.value) = Py_NewRef(Py_None);
    AT(made, of_array.made_cell) = Py_NewRef(AT(array, of_array.made_cell));
    AT(made, of_array.made_owner) = Py_NewRef(is_set(owner) ? owner : array);
    AT(made, of_array.made_shape) = shape;
    AT(made, of_array.made_dtype) = Py_NewRef(AT(array, of_array.made_dtype));
    AT(made, of_array.made_part) = Py_NewRef(Py_None);
    AT(made, of_array.made_access) = access_of_view;
    AT(made, of_array.host) = view;
    AT(made, of_array.memory) = Py_NewRef(memory);
    AT(made, of_array.large) = Py_NewRef(nothing);
    AT(made, of_array.source) = Py_NewRef(source);
    AT(made, of_array.key) = Py_NewRef(key);
    return made;
failed:
    Py_DECREF(view);
    Py_XDECREF(shape);
    Py_XDECREF(access_of_view);
    return NULL;
}

/* Give the array of a value the other attributes, and a cell with the value as its memory. The global lock of the
   interpreter takes the place of the lock of cells: nothing else runs once the objects have been made. */
static int settle(PyObject *array)
{
    PyObject *value = AT(array, of_array.value);
    if (!is_set(value))
        return 0;
    Py_INCREF(value);
    PyObject *cell = cell_type->tp_alloc(cell_type, 0), *shape = shape_of(value), *access = NULL, *dtype = NULL;
    int is_array = PyArray_CheckExact(value); /* else a scalar, which cannot be written to */
    if (cell != NULL && shape != NULL && (access = PyLong_FromLong(is_array ? 1 : 2)) != NULL)
        dtype = is_array ? Py_NewRef((PyObject *)PyArray_DESCR((PyArrayObject *)value)) : PyObject_GetAttr(value, str_dtype);
    int failed = dtype == NULL;
    if (!failed && AT(array, of_array.value) == value) {
        AT(cell, of_cell.device) = Py_NewRef(AT(array, of_array.device));
        AT(cell, of_cell.memory) = Py_NewRef(value);
        AT(cell, of_cell.own) = Py_NewRef(unmade);
        const struct { Py_ssize_t offset; PyObject *item; } members[] = {
            {of_array.memory, value}, {of_array.host, value}, {of_array.large, nothing}, {of_array.made_layout, Py_None},
            {of_array.made_owner, Py_None}, {of_array.made_part, Py_None}, {of_array.made_shape, shape},
            {of_array.made_dtype, dtype}, {of_array.made_access, access}, {of_array.made_cell, cell},
            {of_array.value, Py_None},
        };
        for (size_t i = 0; i < sizeof members / sizeof *members; i++) { /* which are not set, but for the value */
            PyObject *before = AT(array, members[i].offset);
            AT(array, members[i].offset) = Py_NewRef(members[i].item);
            Py_XDECREF(before);
        }
    }
    Py_DECREF(value);
    Py_XDECREF(cell);
    Py_XDECREF(shape);
    Py_XDECREF(access);
    Py_XDECREF(dtype);
    return failed ? -1 : 0;
}

static PyObject *settle_method(PyObject *array, PyObject *unused)
{
    if (!Py_IS_TYPE(array, array_type))
        return PyObject_CallOneArg(other_methods[SETTLE], array);
    if (settle(array) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* -- operators ----------------------------------------------------------------------------------------------------- */

static PyObject *apply(int op, PyObject *first, PyObject *second)
{
    switch (op) {
    case ADD: return PyNumber_Add(first, second);
    case SUBTRACT: return PyNumber_Subtract(first, second);
    case MULTIPLY: return PyNumber_Multiply(first, second);
    case DIVIDE: return PyNumber_TrueDivide(first, second);
    case FLOOR_DIVIDE: return PyNumber_FloorDivide(first, second);
    case REMAINDER: return PyNumber_Remainder(first, second);
    case POWER: return PyNumber_Power(first, second, Py_None);
    case AND: return PyNumber_And(first, second);
    case OR: return PyNumber_Or(first, second);
    case XOR: return PyNumber_Xor(first, second);
    case LEFT_SHIFT: return PyNumber_Lshift(first, second);
    default: return PyNumber_Rshift(first, second);
    }
}

static PyObject *apply_in_place(int op, PyObject *first, PyObject *second)
{
    switch (op) {
    case ADD: return PyNumber_InPlaceAdd(first, second);
    case SUBTRACT: return PyNumber_InPlaceSubtract(first, second);
    case MULTIPLY: return PyNumber_InPlaceMultiply(first, second);
    case DIVIDE: return PyNumber_InPlaceTrueDivide(first, second);
    case FLOOR_DIVIDE: return PyNumber_InPlaceFloorDivide(first, second);
    case REMAINDER: return PyNumber_InPlaceRemainder(first, second);
    case POWER: return PyNumber_InPlacePower(first, second, Py_None);
    case AND: return PyNumber_InPlaceAnd(first, second);
    case OR: return PyNumber_InPlaceOr(first, second);
    case XOR: return PyNumber_InPlaceXor(first, second);
    case LEFT_SHIFT: return PyNumber_InPlaceLshift(first, second);
    default: return PyNumber_InPlaceRshift(first, second);
    }
}

/* Most elements are of float64 or int64. Their sums, products and comparisons take less time here than to ask NumPy,
   whose scalars look for errors of floating point. */

static int as_double(PyObject *item, double *number)
{
    if (Py_IS_TYPE(item, &PyDoubleArrType_Type))
        *number = PyArrayScalar_VAL(item, Double);
    else if (PyFloat_CheckExact(item))
        *number = PyFloat_AS_DOUBLE(item);
    else
        return 0;
    return 1;
}

/* Only numbers below 2^62 in magnitude, so that sums do not overflow. */
static int as_integer(PyObject *item, npy_int64 *number)
{
    if (Py_IS_TYPE(item, &PyInt64ArrType_Type))
        *number = PyArrayScalar_VAL(item, Int64);
    else if (PyLong_CheckExact(item)) {
        int overflow;
        *number = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow)
            return 0;
    }
    else
        return 0;
    return *number < ((npy_int64)1 << 62) && *number > -((npy_int64)1 << 62);
}

static PyObject *compared(int is_less, int is_equal, int comparison)
{
    int is_unordered = is_less < 0, answer;
    switch (comparison) {
    case Py_LT: answer = is_less; break;
    case Py_LE: answer = is_less || is_equal; break;
    case Py_EQ: answer = is_equal; break;
    case Py_NE: answer = !is_equal; break;
    case Py_GT: answer = !is_less && !is_equal; break;
    default: answer = !is_less;
    }
    if (is_unordered)
        answer = comparison == Py_NE;
    return Py_NewRef(answer ? PyArrayScalar_True : PyArrayScalar_False);
}

/* The result of an operator or a comparison of numbers as a NumPy scalar; NULL without an error if NumPy computes it. */
static PyObject *of_numbers(PyObject *left, PyObject *right, int op, int comparison)
{
    PyObject *made;
    npy_int64 i, j;
    double x, y;
    if (as_double(left, &x) && as_double(right, &y)) {
        if (comparison >= 0)
            return compared(x < y ? 1 : x >= y ? 0 : -1, x == y, comparison);
        if (op > DIVIDE || (made = PyArrayScalar_New(Double)) == NULL)
            return NULL;
        PyArrayScalar_ASSIGN(made, Double, op == ADD ? x + y : op == SUBTRACT ? x - y : op == MULTIPLY ? x * y : x / y);
        return made;
    }
    if (as_integer(left, &i) && as_integer(right, &j)) {
        if (comparison >= 0)
            return compared(i < j, i == j, comparison);
        npy_int64 most = (npy_int64)1 << 31;
        if (op > MULTIPLY || (op == MULTIPLY && (i >= most || i <= -most || j >= most || j <= -most)))
            return NULL;
        if ((made = PyArrayScalar_New(Int64)) == NULL)
            return NULL;
        PyArrayScalar_ASSIGN(made, Int64, op == ADD ? i + j : op == SUBTRACT ? i - j : i * j);
        return made;
    }
    return NULL;
}

/* The same of arrays of NumPy and numbers, by the loop of a ufunc, written to `target` unless that is NULL. */
static PyObject *in_loop(PyObject *const *both, int op, int comparison, PyObject *target)
{
    if (comparison >= 0)
        return looped(comparison_ufuncs[comparison], both, 2, target);
    if (op != POWER || (PyArray_CheckExact(both[1]) && target == NULL)) /* powers of integers may fail half way */
        return looped(binary_ufuncs[op], both, 2, target);
    int overflow; /* NumPy's operator has other functions for some exponents */
    int is_square = PyLong_CheckExact(both[1]) && PyLong_AsLongAndOverflow(both[1], &overflow) == 2;
    return is_square && PyArray_CheckExact(both[0]) ? looped(square, both, 1, target) : NULL;
}

enum { IS_ELEMENTWISE, IS_PRODUCT };

/* Whether a product of vectors or matrices takes few multiplications. */
static int is_small_product(PyObject *first, PyObject *second, npy_intp most)
{
    if (!PyArray_CheckExact(first) || !PyArray_CheckExact(second))
        return 0;
    PyArrayObject *one = (PyArrayObject *)first, *other = (PyArrayObject *)second;
    if (PyArray_NDIM(one) > 2 || PyArray_NDIM(other) > 2 || PyArray_TYPE(one) == NPY_HALF || PyArray_NDIM(one) < 1 || PyArray_NDIM(other) < 1)
        return 0;
    npy_intp columns = PyArray_NDIM(other) > 1 ? PyArray_DIM(other, 1) : 1;
    npy_intp rows = PyArray_NDIM(one) > 1 ? PyArray_DIM(one, 0) : 1;
    return PyArray_SIZE(one) <= most && PyArray_SIZE(other) <= most && rows * columns <= most &&
           PyArray_SIZE(one) * columns <= 1 << 20;
}

/* The values of two operands, borrowed, of which `array` is an array; 0 if the method in Python is to be called. */
static int operands(PyObject *array, PyObject *other, PyObject **mine, PyObject **theirs, PyObject **device, int kind)
{
    int on_pinned = 0;
    PyObject *device_of_other = NULL;
    long limit = limit_now(&on_pinned);
    if (limit <= 0 || (*mine = value_of(array, on_pinned, device)) == NULL)
        return 0;
    if (is_number(other))
        *theirs = other;
    else {
        if (Py_TYPE(other) != array_type || (*theirs = value_of(other, on_pinned, &device_of_other)) == NULL)
            return 0;
        if (device_of_other != *device)
            return 0;
    }
    npy_intp most = most_elements(*device, limit);
    return kind == IS_PRODUCT ? is_small_product(*mine, *theirs, most) : are_few(*mine, *theirs, most);
}

/* Whether an instruction of a frame has left an array with this value on the stack, and the present one takes it, as
   `side` says; -1 with an error. */
static int is_temporary(PyObject *array, PyObject *value, PyObject *maker, PyFrameObject *frame, PyObject *side)
{
    if (!Py_IS_TYPE(array, array_type) || AT(array, of_array.value) != value || AT(array, of_array.maker) == NULL)
        return 0;
    PyObject *other = AT(array, of_array.maker);
    int is_same_frame = PyObject_RichCompareBool(PyTuple_GET_ITEM(other, 0), PyTuple_GET_ITEM(maker, 0), Py_EQ);
    if (is_same_frame <= 0)
        return is_same_frame;
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyObject *found = PyObject_CallFunctionObjArgs(taken, code, PyTuple_GET_ITEM(other, 1), PyTuple_GET_ITEM(maker, 1), NULL);
    int answer = found == NULL ? -1 : PyObject_RichCompareBool(found, side, Py_EQ);
    Py_DECREF(code);
    Py_XDECREF(found);
    return answer;
}

/* Whether a result of two operands, one of which is an array, can be in the memory of the array. */
static int has_place(PyObject *item, PyObject *other)
{
    PyArrayObject *array = (PyArrayObject *)item;
    if (!PyArray_CheckExact(item) || !(PyArray_ISFLOAT(array) || PyArray_ISCOMPLEX(array)))
        return 0;
    if (!PyArray_CheckExact(other))
        return PyFloat_CheckExact(other) || PyLong_CheckExact(other);
    return PyArray_SAMESHAPE(array, (PyArrayObject *)other) && PyArray_DESCR(array) == PyArray_DESCR((PyArrayObject *)other);
}

/* The result of an operator of large arrays, in the memory of an operand that is a temporary result if there is one. */
static PyObject *with_temporaries(PyObject *const *arrays, PyObject *const *values, int op, PyObject *device)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyObject *maker = frame == NULL ? NULL : Py_BuildValue("Ni", PyLong_FromVoidPtr(frame), PyFrame_GetLasti(frame));
    PyObject *given[3] = {values[0], values[1], NULL}, *made = NULL, *context;
    int found = maker == NULL ? -1 : 0, side;
    for (side = 0; found == 0 && side < 2; side++)
        if (has_place(values[side], values[!side]))
            found = is_temporary(arrays[side], values[side], maker, frame, side ? right_side : left_side);
    if (found > 0)
        given[2] = values[--side];
    if (found >= 0 && (context = enter_quiet()) != NULL) {
        made = PyObject_Vectorcall(binary_ufuncs[op], given, found ? 3 : 2, NULL);
        leave_quiet(context, made == NULL);
    }
    if (made != NULL && (made = wrapped(made, device)) != NULL) {
        if (found) /* an extension module that has kept the array does not get another value, but an error */
            Py_XSETREF(AT(arrays[side], of_array.value), Py_NewRef(Py_None));
        AT(made, of_array.maker) = Py_NewRef(maker);
    }
    Py_XDECREF(maker);
    return made;
}

static int is_large(PyObject *item)
{
    return PyArray_CheckExact(item) && PyArray_NBYTES((PyArrayObject *)item) >= LARGE;
}

/* The result of an operator or a comparison; NULL without an error if the method in Python is to be called. */
static PyObject *computed(PyObject *array, PyObject *other, int op, int is_reflected, int comparison)
{
    PyObject *mine, *theirs, *device, *made, *context;
    if (!operands(array, other, &mine, &theirs, &device, IS_ELEMENTWISE))
        return NULL;
    Py_INCREF(mine); /* other threads may replace them meanwhile */
    Py_INCREF(theirs);
    Py_INCREF(device);
    PyObject *both[2] = {is_reflected ? theirs : mine, is_reflected ? mine : theirs};
    if (comparison < 0 && op <= DIVIDE && (is_large(mine) || is_large(theirs))) {
        PyObject *arrays[2] = {is_reflected ? other : array, is_reflected ? array : other};
        made = with_temporaries(arrays, both, op, device);
        operations += made != NULL;
        goto done;
    }
    made = of_numbers(both[0], both[1], op, comparison);
    if (made == NULL && !PyErr_Occurred())
        made = in_loop(both, op, comparison, NULL);
    if (made == NULL && !PyErr_Occurred() && (context = enter_quiet()) != NULL) {
        made = comparison >= 0 ? PyObject_RichCompare(both[0], both[1], comparison) : apply(op, both[0], both[1]);
        leave_quiet(context, made == NULL);
    }
    if (made != NULL && (made = wrapped(made, device)) != NULL)
        operations++;
done:
    Py_DECREF(mine);
    Py_DECREF(theirs);
    Py_DECREF(device);
    return made;
}

static PyObject *binary(PyObject *left, PyObject *right, int op)
{
    PyObject *made;
    if (PyObject_TypeCheck(left, array_type)) {
        made = Py_TYPE(left) == array_type ? computed(left, right, op, 0, -1) : NULL;
        if (made != NULL || PyErr_Occurred())
            return made;
        return PyObject_CallFunctionObjArgs(forward_methods[op], left, right, NULL);
    }
    if (!PyObject_TypeCheck(right, array_type))
        Py_RETURN_NOTIMPLEMENTED;
    made = Py_TYPE(right) == array_type && is_number(left) ? computed(right, left, op, 1, -1) : NULL;
    if (made != NULL || PyErr_Occurred())
        return made;
    return PyObject_CallFunctionObjArgs(reflected_methods[op], right, left, NULL);
}

static PyObject *compare(PyObject *array, PyObject *other, int comparison)
{
    PyObject *made = Py_TYPE(array) == array_type ? computed(array, other, 0, 0, comparison) : NULL;
    if (made != NULL || PyErr_Occurred())
        return made;
    return PyObject_CallFunctionObjArgs(comparison_methods[comparison], array, other, NULL);
}

/* The lock of cells, taken, or None in place of it if there are no other threads, which is most often so. */
static PyObject *lock_of_cells(void)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    if (thread != NULL && PyThreadState_Next(thread) == NULL)
        return Py_NewRef(Py_None);
    PyObject *lock = PyObject_GetAttr(cells, str_binding); /* a child of fork has another one */
    PyObject *done = lock == NULL ? NULL : PyObject_CallMethodNoArgs(lock, str_acquire);
    if (done == NULL)
        Py_CLEAR(lock);
    Py_XDECREF(done);
    return lock;
}

static int unlock(PyObject *lock)
{
    if (lock == Py_None) {
        Py_DECREF(lock);
        return 0;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *done = PyObject_CallMethodNoArgs(lock, str_release);
    int failed = done == NULL;
    Py_XDECREF(done);
    Py_DECREF(lock);
    if (type != NULL)
        PyErr_Restore(type, value, traceback);
    return failed ? -1 : 0;
}

/* Whether the memory of a cell is its own, so that it can be written to. */
static int is_own(PyObject *cell) { return is_set(AT(cell, of_cell.own)); }

/* Whether `mine`, the elements of an array, can still be updated. Called with the lock of cells. */
static int can_update(PyObject *array, PyObject *mine)
{
    PyObject *value = AT(array, of_array.value);
    if (is_set(value))
        return value == mine;
    PyObject *cell = AT(array, of_array.made_cell);
    return AT(array, of_array.host) == mine && AT(array, of_array.memory) == AT(cell, of_cell.memory) && is_own(cell);
}

/* Update the elements of an array; 1 if the method in Python is to be called, -1 with an error. */
static int update(PyObject *array, PyObject *other, int op)
{
    PyObject *mine, *theirs, *device, *made = NULL, *context, *lock;
    if (!operands(array, other, &mine, &theirs, &device, IS_ELEMENTWISE) || !PyArray_CheckExact(mine))
        return 1;
    if (PyArray_CheckExact(theirs) && !PyArray_SAMESHAPE((PyArrayObject *)mine, (PyArrayObject *)theirs))
        return 1;
    if (!is_set(AT(array, of_array.value))) {
        PyObject *access = AT(array, of_array.made_access);
        if (access == NULL || PyLong_AsLong(access) != 1)
            return 1;
    }
    Py_INCREF(mine);
    Py_INCREF(theirs);
    int is_left = 1;
    if ((lock = lock_of_cells()) == NULL)
        is_left = 0;
    else {
        PyObject *both[2] = {mine, theirs};
        int is_possible = can_update(array, mine);
        if (is_possible)
            made = in_loop(both, op, -1, mine);
        if (is_possible && made == NULL && (context = enter_quiet()) != NULL) {
            made = apply_in_place(op, mine, theirs);
            is_left = leave_quiet(context, made == NULL);
        }
        if (unlock(lock) < 0)
            is_left = 0;
    }
    int is_done = made == mine;
    Py_XDECREF(made);
    Py_DECREF(mine);
    Py_DECREF(theirs);
    if (!is_left)
        return -1;
    operations += is_done;
    return is_done ? 0 : 1;
}

static PyObject *inplace(PyObject *array, PyObject *other, int op)
{
    if (Py_TYPE(array) == array_type) {
        PyObject *value = AT(array, of_array.value);
        if (is_set(value) && !PyArray_CheckExact(value)) { /* scalars are not written to */
            PyObject *made = computed(array, other, op, 0, -1);
            if (made != NULL || PyErr_Occurred())
                return made;
        }
        else {
            int is_left = update(array, other, op);
            if (is_left <= 0)
                return is_left < 0 ? NULL : Py_NewRef(array);
        }
    }
    return PyObject_CallFunctionObjArgs(inplace_methods[op], array, other, NULL);
}

#define OPERATOR(name, op) \
    static PyObject *name(PyObject *left, PyObject *right) { return binary(left, right, op); } \
    static PyObject *i##name(PyObject *left, PyObject *right) { return inplace(left, right, op); }
OPERATOR(add, ADD)
OPERATOR(subtract, SUBTRACT)
OPERATOR(multiply, MULTIPLY)
OPERATOR(divide, DIVIDE)
OPERATOR(floor_divide, FLOOR_DIVIDE)
OPERATOR(remainder_of, REMAINDER)
OPERATOR(and_, AND)
OPERATOR(or_, OR)
OPERATOR(xor_, XOR)
OPERATOR(left_shift, LEFT_SHIFT)
OPERATOR(right_shift, RIGHT_SHIFT)

static PyObject *power(PyObject *left, PyObject *right, PyObject *modulus)
{
    if (modulus != Py_None)
        Py_RETURN_NOTIMPLEMENTED;
    return binary(left, right, POWER);
}

static PyObject *ipower(PyObject *left, PyObject *right, PyObject *modulus)
{
    return inplace(left, right, POWER);
}

static PyObject *unary(PyObject *array, int op)
{
    int on_pinned = 0;
    PyObject *device, *mine, *context, *made = NULL;
    long limit = Py_TYPE(array) == array_type ? limit_now(&on_pinned) : 0;
    if (limit > 0 && (mine = value_of(array, on_pinned, &device)) != NULL && are_few(mine, NULL, most_elements(device, limit))) {
        Py_INCREF(mine);
        Py_INCREF(device);
        made = looped(unary_ufuncs[op], &mine, 1, NULL);
        if (made == NULL && (context = enter_quiet()) != NULL) {
            switch (op) {
            case NEGATIVE: made = PyNumber_Negative(mine); break;
            case POSITIVE: made = PyNumber_Positive(mine); break;
            case ABSOLUTE: made = PyNumber_Absolute(mine); break;
            default: made = PyNumber_Invert(mine);
            }
            leave_quiet(context, made == NULL);
        }
        if (made != NULL && (made = wrapped(made, device)) != NULL)
            operations++;
        Py_DECREF(mine);
        Py_DECREF(device);
        if (made != NULL || PyErr_Occurred())
            return made;
    }
    return PyObject_CallOneArg(unary_methods[op], array);
}

/* Products of vectors and matrices. */
/* The product of two small vectors or matrices; NULL without an error if the method in Python is to be called. */
static PyObject *small_product(PyObject *left, PyObject *right)
{
    PyObject *first, *second, *device, *context, *made = NULL;
    if (!Py_IS_TYPE(left, array_type) || !Py_IS_TYPE(right, array_type) ||
        !operands(left, right, &first, &second, &device, IS_PRODUCT))
        return NULL;
    Py_INCREF(first);
    Py_INCREF(second);
    Py_INCREF(device);
    PyObject *both[2] = {first, second};
    made = looped_product(matmul, both);
    if (made == NULL && !PyErr_Occurred() && (context = enter_quiet()) != NULL) {
        made = PyNumber_MatrixMultiply(first, second);
        leave_quiet(context, made == NULL);
    }
    if (made != NULL && (made = wrapped(made, device)) != NULL)
        operations++;
    Py_DECREF(first);
    Py_DECREF(second);
    Py_DECREF(device);
    return made;
}

static PyObject *product(PyObject *left, PyObject *right)
{
    if (!PyObject_TypeCheck(left, array_type)) {
        if (!PyObject_TypeCheck(right, array_type))
            Py_RETURN_NOTIMPLEMENTED;
        return PyObject_CallFunctionObjArgs(other_methods[RMATMUL], right, left, NULL);
    }
    PyObject *made = small_product(left, right);
    if (made != NULL || PyErr_Occurred())
        return made;
    return PyObject_CallFunctionObjArgs(other_methods[MATMUL], left, right, NULL);
}

static PyObject *iproduct(PyObject *array, PyObject *other)
{
    return PyObject_CallFunctionObjArgs(other_methods[IMATMUL], array, other, NULL);
}

static PyObject *negative(PyObject *array) { return unary(array, NEGATIVE); }
static PyObject *positive(PyObject *array) { return unary(array, POSITIVE); }
static PyObject *absolute(PyObject *array) { return unary(array, ABSOLUTE); }
static PyObject *invert(PyObject *array) { return unary(array, INVERT); }

/* -- ufuncs ------------------------------------------------------------------------------------------------------- */

/* The result of a ufunc; NULL without an error if the method in Python is to be called. */
static PyObject *called(PyObject *array, PyObject *ufunc, PyObject *const *inputs, Py_ssize_t count)
{
    PyObject *mine, *theirs, *device, *made = NULL, *context;
    if (ufunc == matmul) /* whose size is that of its multiplications */
        return count == 2 ? small_product(inputs[0], inputs[1]) : NULL;
    PyObject *found = PyDict_GetItemWithError(known_ufuncs, ufunc); /* some ufuncs have several operations */
    if (found == NULL || !PyTuple_Check(found) || PyTuple_GET_SIZE(found) != 1 || count < 1 || count > 2)
        return NULL;
    int is_reflected = inputs[0] != array;
    if (is_reflected && (count == 1 || inputs[1] != array || !is_number(inputs[0])))
        return NULL;
    if (!operands(array, count == 1 ? array : inputs[!is_reflected], &mine, &theirs, &device, IS_ELEMENTWISE))
        return NULL;
    PyObject *values[2] = {is_reflected ? theirs : mine, is_reflected ? mine : theirs};
    Py_INCREF(mine);
    Py_INCREF(theirs);
    Py_INCREF(device);
    made = looped(ufunc, values, (int)count, NULL);
    if (made == NULL && (context = enter_quiet()) != NULL) {
        made = PyObject_Vectorcall(ufunc, values, count, NULL);
        leave_quiet(context, made == NULL);
    }
    if (made != NULL && (made = wrapped(made, device)) != NULL)
        operations++;
    Py_DECREF(mine);
    Py_DECREF(theirs);
    Py_DECREF(device);
    return made;
}

static PyObject *array_ufunc(PyObject *array, PyObject *args, PyObject *keywords)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (count > 2 && (keywords == NULL || PyDict_GET_SIZE(keywords) == 0) && Py_TYPE(array) == array_type) {
        PyObject *method = PyTuple_GET_ITEM(args, 1);
        int is_call = PyUnicode_Check(method) && PyUnicode_Compare(method, str_call) == 0;
        PyObject *made = is_call ? called(array, PyTuple_GET_ITEM(args, 0), &PyTuple_GET_ITEM(args, 2), count - 2) : NULL;
        if (made != NULL || PyErr_Occurred())
            return made;
    }
    PyObject *bound = PyMethod_New(other_methods[ARRAY_UFUNC], array);
    PyObject *made = bound == NULL ? NULL : PyObject_Call(bound, args, keywords);
    Py_XDECREF(bound);
    return made;
}

/* -- functions ----------------------------------------------------------------------------------------------------- */

/* What is known of the arguments of a call: the settings, the device of the arrays, their number, the product and the sum
   of their sizes, the first one, and whether all have its shape; and how often integers can repeat elements. */
typedef struct {
    long limit;
    int on_pinned, count, is_one_shape;
    PyObject *device, *first;
    double product, sum, multiple;
} Arguments;

/* What else than the product of sizes can show that a result is small: nothing; that product, if there are several arrays;
   their shape, if it is the same; or the size of the only array and the integers. */
enum { NO_GROWTH, PRODUCTS, ELEMENTS, MULTIPLES };

static int is_small_result(const Arguments *arguments, double most, long growth)
{
    double limit = (double)most_elements(arguments->device, arguments->limit);
    if (arguments->product <= most || (growth == ELEMENTS && arguments->is_one_shape))
        return 1;
    if (growth == MULTIPLES)
        return arguments->count == 1 && arguments->product * arguments->multiple <= limit;
    return growth != NO_GROWTH && arguments->count > 1 && arguments->product <= limit;
}

/* Note an array of NumPy that is an argument; 0 if it is none for a plain call. */
static int note_array(Arguments *arguments, PyObject *value)
{
    PyArrayObject *array = (PyArrayObject *)value, *first = (PyArrayObject *)arguments->first;
    if (PyArray_TYPE(array) == NPY_HALF)
        return 0;
    if (first == NULL)
        arguments->first = value;
    else
        arguments->is_one_shape &= PyArray_SAMESHAPE(array, first);
    arguments->count++;
    arguments->product *= (double)PyArray_SIZE(array);
    arguments->sum += (double)PyArray_SIZE(array);
    return arguments->sum <= (double)most_elements(arguments->device, arguments->limit);
}

/* What NumPy gets in place of an argument, as a new reference; NULL without an error if the call is not plain. */
static PyObject *given(PyObject *argument, Arguments *arguments, int is_inner)
{
    PyTypeObject *type = Py_TYPE(argument);
    if (type == array_type) {
        PyObject *device, *value = value_of(argument, arguments->on_pinned, &device);
        if (value == NULL || (arguments->device != NULL && arguments->device != device))
            return NULL;
        arguments->device = device;
        int is_plain_value = PyArray_CheckExact(value) ? note_array(arguments, value) : !PyArray_IsScalar(value, Half);
        return is_plain_value ? Py_NewRef(value) : NULL;
    }
    if (type == &PyLong_Type) {
        int overflow;
        arguments->multiple *= 1 + fabs((double)PyLong_AsLongAndOverflow(argument, &overflow));
        return overflow ? NULL : Py_NewRef(argument);
    }
    if (is_number(argument) || argument == Py_None || type == &PyUnicode_Type || PyType_Check(argument) ||
        PyArray_DescrCheck(argument))
        return Py_NewRef(argument);
    if ((type != &PyTuple_Type && type != &PyList_Type) || is_inner)
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(argument);
    PyObject *items = type == &PyTuple_Type ? PyTuple_New(count) : PyList_New(count);
    for (Py_ssize_t i = 0; items != NULL && i < count; i++) {
        PyObject *item = given(PySequence_Fast_GET_ITEM(argument, i), arguments, 1);
        if (item == NULL)
            Py_CLEAR(items);
        else if (type == &PyTuple_Type)
            PyTuple_SET_ITEM(items, i, item);
        else
            PyList_SET_ITEM(items, i, item);
    }
    return items;
}

/* Whether a dtype is one of the objects of this package: NumPy has several that are equal. */
static int is_canonical(PyObject *dtype)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dtypes); i++)
        if (PyTuple_GET_ITEM(dtypes, i) == dtype)
            return 1;
    return 0;
}

static PyObject *returned_tuple(PyObject *found, PyObject *device, long limit);

/* An array of NumPy with memory of its own in place of a view, which is consumed: without a copy if the view is all of an
   array to which nothing else refers. */
static PyObject *in_own_memory(PyObject *view)
{
    PyArrayObject *array = (PyArrayObject *)view, *base = (PyArrayObject *)PyArray_BASE(array);
    PyObject *made;
    if (PyArray_CheckExact((PyObject *)base) && Py_REFCNT(base) == 1 && Py_REFCNT(view) == 1 && PyArray_ISCARRAY(array) &&
        PyArray_ISCARRAY(base) && PyArray_CHKFLAGS(base, NPY_ARRAY_OWNDATA) && PyArray_DESCR(array) == PyArray_DESCR(base) &&
        PyArray_NBYTES(array) == PyArray_NBYTES(base)) {
        PyArray_Dims shape = {PyArray_DIMS(array), PyArray_NDIM(array)};
        PyObject *done = PyArray_Resize(base, &shape, 0, NPY_CORDER);
        made = done == NULL ? NULL : Py_NewRef((PyObject *)base);
        Py_XDECREF(done);
    }
    else
        made = PyArray_NewCopy(array, NPY_CORDER);
    Py_DECREF(view);
    return made;
}

/* An array of what a function of NumPy returned, which is consumed; NULL without an error if it is unusual. */
static PyObject *returned(PyObject *found, PyObject *device, long limit)
{
    if (PyArray_CheckExact(found)) {
        PyArrayObject *array = (PyArrayObject *)found;
        npy_intp size = PyArray_SIZE(array);
        int is_usual = size <= most_elements(device, limit) && PyArray_ISWRITEABLE(array) &&
                       is_canonical((PyObject *)PyArray_DESCR(array));
        if (is_usual && PyArray_BASE(array) != NULL) /* of memory that others may have */
            found = in_own_memory(found);
        if (is_usual)
            return found == NULL ? NULL : wrapped(found, device);
        Py_DECREF(found);
        return NULL;
    }
    return PyTuple_Check(found) ? returned_tuple(found, device, limit) : wrapped(found, device);
}

/* Several results, which are consumed, as a tuple of the same type; NULL without an error if one is not wrapped. */
static PyObject *returned_tuple(PyObject *found, PyObject *device, long limit)
{
    PyObject *made = PyTuple_New(PyTuple_GET_SIZE(found));
    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(found); i++) {
        PyObject *item = returned(Py_NewRef(PyTuple_GET_ITEM(found, i)), device, limit);
        if (item == NULL)
            Py_CLEAR(made);
        else
            PyTuple_SET_ITEM(made, i, item);
    }
    if (made != NULL && !PyTuple_CheckExact(found)) /* a named tuple */
        Py_SETREF(made, PyObject_Call((PyObject *)Py_TYPE(found), made, NULL));
    Py_DECREF(found);
    return made;
}

PyDoc_STRVAR(apply_doc, "apply($module, op, /, *values)\n--\n\nApply an elementwise operation to arrays and scalars.");

static PyObject *apply_operation(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    for (Py_ssize_t i = 1; i < count && count <= 3; i++)
        if (Py_IS_TYPE(args[i], array_type)) {
            PyObject *ufunc = PyObject_GetAttr(args[0], str_numpy), *made = NULL;
            if (ufunc != NULL && Py_IS_TYPE(ufunc, &PyUFunc_Type))
                made = called(args[i], ufunc, args + 1, count - 1);
            Py_XDECREF(ufunc);
            if (made != NULL || PyErr_Occurred())
                return made;
            break;
        }
    return PyObject_Vectorcall(other_methods[APPLY], args, count, NULL);
}

static PyObject *elements(PyObject *array, PyObject **memory);

/* A view of one of the arguments, which is consumed; NULL without an error if it is none of their memory. */
static PyObject *view_of_argument(PyObject *inputs, PyObject *found)
{
    int can_write = PyArray_ISWRITEABLE((PyArrayObject *)found); /* NumPy's broadcasts cannot be written to */
    for (Py_ssize_t i = 0; can_write && i < PyTuple_GET_SIZE(inputs); i++) {
        PyObject *array = PyTuple_GET_ITEM(inputs, i), *memory, *host = elements(array, &memory);
        if (host == NULL && PyErr_Occurred())
            break;
        if (host != NULL && PyArray_BASE((PyArrayObject *)found) == memory)
            return seen(array, found, memory, Py_None, Py_None);
    }
    Py_DECREF(found);
    return NULL;
}

/* Whether a result is an object, or a tuple that has it. */
static int is_or_has(PyObject *result, PyObject *object)
{
    for (Py_ssize_t i = 0; PyTuple_Check(result) && i < PyTuple_GET_SIZE(result); i++)
        if (PyTuple_GET_ITEM(result, i) == object)
            return 1;
    return result == object;
}

PyDoc_STRVAR(call_doc,
"call($module, function, arguments, keywords, most, growth, may_be_view, /)\n--\n\n"
"Return the result of a function of NumPy, called with the elements of small arrays; None if the call is not plain.\n\n"
"The product of the sizes of arrays is at most the fourth argument, or the result is small because it has at most: the\n"
"product of the sizes of several arrays (growth is 1), the shape of all arrays (2), or the size of an array times the\n"
"integers (3). The last argument tells whether a result that shares memory with an array is a view of it.");

static PyObject *call(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 6 || !PyTuple_Check(args[1]) || !PyDict_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "call takes a function, a tuple, a dict, two numbers and a bool");
    PyObject *inputs = args[1], *named = NULL, *made = NULL, *context;
    Arguments arguments = {.is_one_shape = 1, .product = 1, .multiple = 1};
    arguments.limit = limit_now(&arguments.on_pinned);
    double most = PyFloat_AsDouble(args[3]);
    long growth = PyLong_AsLong(args[4]);
    Py_ssize_t number = PyTuple_GET_SIZE(inputs);
    /* a product has no bound by the sizes of its operands, but by its multiplications */
    if (args[0] == matmul && number == 2 && PyDict_GET_SIZE(args[2]) == 0) {
        made = small_product(PyTuple_GET_ITEM(inputs, 0), PyTuple_GET_ITEM(inputs, 1));
        if (made != NULL || PyErr_Occurred())
            return made;
    }
    PyObject *values = arguments.limit > 0 ? PyTuple_New(number) : NULL;
    for (Py_ssize_t i = 0; values != NULL && i < number; i++) {
        PyObject *value = given(PyTuple_GET_ITEM(inputs, i), &arguments, 0);
        if (value == NULL)
            Py_CLEAR(values);
        else
            PyTuple_SET_ITEM(values, i, value);
    }
    if (values != NULL && PyDict_GET_SIZE(args[2])) {
        PyObject *name, *argument;
        Py_ssize_t position = 0;
        named = PyDict_New();
        while (named != NULL && PyDict_Next(args[2], &position, &name, &argument)) {
            PyObject *value = given(argument, &arguments, 0);
            if (value == NULL || PyDict_SetItem(named, name, value) < 0)
                Py_CLEAR(named);
            Py_XDECREF(value);
        }
        if (named == NULL)
            Py_CLEAR(values);
    }
    PyObject *device = values == NULL ? NULL : arguments.device;
    if (device != NULL && arguments.product > 0 && is_small_result(&arguments, most, growth)) {
        Py_INCREF(device);
        if ((context = enter_quiet()) != NULL) {
            made = PyObject_Call(args[0], values, named);
            leave_quiet(context, made == NULL);
        }
        for (Py_ssize_t i = 0; made != NULL && i < number; i++)
            if (is_or_has(made, PyTuple_GET_ITEM(values, i))) /* there was nothing to do */
                Py_CLEAR(made);
        if (made != NULL && args[5] == Py_True && PyTuple_Check(made)) /* of views, perhaps */
            Py_CLEAR(made);
        if (made != NULL && args[5] == Py_True && PyArray_CheckExact(made) && PyArray_BASE((PyArrayObject *)made) != NULL)
            made = view_of_argument(inputs, made);
        else if (made != NULL)
            made = returned(made, device, arguments.limit);
        operations += made != NULL;
        Py_DECREF(device);
    }
    Py_XDECREF(values);
    Py_XDECREF(named);
    if (made == NULL && PyErr_Occurred())
        return NULL;
    return made == NULL ? Py_NewRef(Py_None) : made;
}

/* Whether an argument of a function that makes arrays is plain: a number, a dtype, None, or a sequence of these. `size`
   is multiplied by the numbers, and divided by those below 1, which are steps. */
static int is_plain(PyObject *item, double *size)
{
    if (PyTuple_CheckExact(item) || PyList_CheckExact(item)) {
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(item); i++)
            if (!is_plain(PySequence_Fast_GET_ITEM(item, i), size))
                return 0;
        return 1;
    }
    if (PyLong_CheckExact(item) || PyFloat_CheckExact(item)) {
        double number = fabs(PyFloat_AsDouble(item)); /* an integer may be too large */
        if (PyErr_Occurred())
            PyErr_Clear();
        *size *= number >= 1 ? number : number > 0 ? 1 / number : 1;
        return 1;
    }
    return is_number(item) || item == Py_None || PyUnicode_CheckExact(item) || PyType_Check(item) || PyArray_DescrCheck(item);
}

PyDoc_STRVAR(create_doc,
"create($module, function, arguments, keywords, device, power, /)\n--\n\n"
"Return the array that a function of NumPy makes of numbers; None if the call is not plain, or if the array is large.\n\n"
"The array has at most as many elements as the product of the numbers to a power. If that is 0, the first argument is\n"
"the data: numbers, sequences of them, or an array of NumPy.");

static PyObject *create(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !PyTuple_Check(args[1]) || !PyDict_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "create takes a function, a tuple, a dict, a device and a number");
    PyObject *device = args[3], *made = NULL, *context, *name, *argument;
    Py_ssize_t first = 0, number = PyTuple_GET_SIZE(args[1]), position = 0;
    int on_pinned = 0;
    long limit = limit_now(&on_pinned), power = PyLong_AsLong(args[4]);
    double most = (double)most_elements(device, limit), size = 1;
    if (power == 0 && number) {
        PyObject *data = PyTuple_GET_ITEM(args[1], 0);
        first = PyArray_CheckExact(data);
        if (first)
            size = (double)PyArray_SIZE((PyArrayObject *)data);
        else if (PyTuple_CheckExact(data) || PyList_CheckExact(data))
            size = (double)PySequence_Fast_GET_SIZE(data);
    }
    int is_possible = limit > 0 && (on_pinned || device == cpu || device == automatic) && size <= most;
    for (Py_ssize_t i = first; is_possible && i < number; i++)
        is_possible = is_plain(PyTuple_GET_ITEM(args[1], i), &size);
    while (is_possible && PyDict_Next(args[2], &position, &name, &argument))
        is_possible = !PyUnicode_Compare(name, str_dtype) && is_plain(argument, &size);
    if (is_possible && (power == 0 || pow(size, (double)power) <= most) && (context = enter_quiet()) != NULL) {
        made = PyObject_Call(args[0], args[1], args[2]);
        leave_quiet(context, made == NULL);
        if (made != NULL && (!PyArray_CheckExact(made) || (number && made == PyTuple_GET_ITEM(args[1], 0))))
            Py_CLEAR(made);
        if (made != NULL)
            made = returned(made, device, limit);
        operations += made != NULL;
    }
    if (made == NULL && PyErr_Occurred())
        return NULL;
    return made == NULL ? Py_NewRef(Py_None) : made;
}

/* -- conversions --------------------------------------------------------------------------------------------------- */

/* The NumPy scalar of a result without axes, borrowed; else NULL. */
static PyObject *scalar_of(PyObject *array)
{
    int on_pinned;
    if (Py_TYPE(array) != array_type)
        return NULL;
    PyObject *value = AT(array, of_array.value);
    if (!is_set(value) || !PyArray_IsScalar(value, Generic) || limit_now(&on_pinned) <= 0)
        return NULL;
    return value;
}

static int is_true(PyObject *array)
{
    PyObject *value = scalar_of(array);
    if (value != NULL)
        return PyObject_IsTrue(value);
    PyObject *answer = PyObject_CallOneArg(unary_methods[BOOL], array);
    int found = answer == NULL ? -1 : answer == Py_True;
    Py_XDECREF(answer);
    return found;
}

static int is_real(PyObject *value)
{
    return value != NULL && (PyArray_IsScalar(value, Floating) || PyArray_IsScalar(value, Integer) ||
                             PyArray_IsScalar(value, Bool));
}

static PyObject *as_int(PyObject *array)
{
    PyObject *value = scalar_of(array);
    return is_real(value) ? PyNumber_Long(value) : PyObject_CallOneArg(unary_methods[INT], array);
}

static PyObject *as_float(PyObject *array)
{
    PyObject *value = scalar_of(array);
    return is_real(value) ? PyNumber_Float(value) : PyObject_CallOneArg(unary_methods[FLOAT], array);
}

static PyObject *as_index(PyObject *array)
{
    PyObject *value = scalar_of(array);
    if (value != NULL && PyArray_IsScalar(value, Integer))
        return PyNumber_Index(value);
    return PyObject_CallOneArg(unary_methods[INDEX], array);
}

static Py_ssize_t length(PyObject *array)
{
    if (Py_TYPE(array) == array_type) {
        PyObject *value = AT(array, of_array.value);
        if (value == Py_None) {
            PyObject *shape = AT(array, of_array.made_shape);
            if (shape != NULL && PyTuple_CheckExact(shape) && PyTuple_GET_SIZE(shape))
                return PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, 0));
        }
        else if (value != NULL && PyArray_CheckExact(value) && PyArray_NDIM((PyArrayObject *)value))
            return PyArray_DIM((PyArrayObject *)value, 0);
    }
    PyObject *found = PyObject_CallOneArg(unary_methods[LEN], array);
    Py_ssize_t number = found == NULL ? -1 : PyLong_AsSsize_t(found);
    Py_XDECREF(found);
    return number;
}

/* -- indexing ------------------------------------------------------------------------------------------------------ */

enum { NOT_BASIC, PARTS, ELEMENT };

static int kind_of_item(PyObject *item)
{
    PyTypeObject *type = Py_TYPE(item);
    if (type == &PyLong_Type)
        return ELEMENT;
    return type == &PySlice_Type || item == Py_None || item == Py_Ellipsis ? PARTS : NOT_BASIC;
}

/* What a key selects, as far as its types say: a part, or, if it has only integers, perhaps an element. */
static int kind_of_key(PyObject *key)
{
    if (!PyTuple_CheckExact(key))
        return kind_of_item(key);
    int kind = ELEMENT;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        int found = kind_of_item(PyTuple_GET_ITEM(key, i));
        if (found < kind)
            kind = found;
    }
    return kind;
}

/* An unusual key as NumPy takes it, with the elements of arrays of integers and booleans; NULL without an error if it
   has anything else. `size` is multiplied by the sizes of arrays of integers. */
static PyObject *key_of_numpy(PyObject *key, PyObject *device, npy_intp most, int on_pinned, double *size)
{
    PyObject *device_of_key, *value = key;
    if (PyTuple_CheckExact(key)) {
        PyObject *items = PyTuple_New(PyTuple_GET_SIZE(key));
        for (Py_ssize_t i = 0; items != NULL && i < PyTuple_GET_SIZE(key); i++) {
            PyObject *item = PyTuple_GET_ITEM(key, i);
            item = kind_of_item(item) != NOT_BASIC ? Py_NewRef(item) : key_of_numpy(item, device, most, on_pinned, size);
            if (item == NULL)
                Py_CLEAR(items);
            else
                PyTuple_SET_ITEM(items, i, item);
        }
        return items;
    }
    if (PyList_CheckExact(key)) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(key); i++)
            if (!PyLong_CheckExact(PyList_GET_ITEM(key, i)))
                return NULL;
        *size *= (double)PyList_GET_SIZE(key);
        return Py_NewRef(key);
    }
    if (Py_IS_TYPE(key, array_type)) {
        if ((value = value_of(key, on_pinned, &device_of_key)) == NULL || device_of_key != device)
            return NULL;
        if (PyArray_IsScalar(value, Integer))
            return PyNumber_Index(value);
    }
    if (!PyArray_CheckExact(value) || PyArray_NDIM((PyArrayObject *)value) < 1 || PyArray_SIZE((PyArrayObject *)value) > most)
        return NULL;
    if (PyArray_ISINTEGER((PyArrayObject *)value))
        *size *= (double)PyArray_SIZE((PyArrayObject *)value);
    else if (!PyArray_ISBOOL((PyArrayObject *)value))
        return NULL;
    return Py_NewRef(value);
}

/* The memory that the elements of an array with a cell are a view of, borrowed; NULL if they are not seen. */
static PyObject *seen_memory(PyObject *array)
{
    PyObject *cell = AT(array, of_array.made_cell), *memory = cell == NULL ? NULL : AT(cell, of_cell.memory);
    if (!is_set(memory))
        return NULL;
    return memory == AT(array, of_array.memory) || memory == AT(array, of_array.large) ? memory : NULL;
}

/* A key as NumPy takes it, as a new reference; NULL without an error if the method in Python is to be called. */
static PyObject *given_key(PyObject *key, PyObject *host, PyObject *device, long limit, int on_pinned)
{
    if (kind_of_key(key) != NOT_BASIC)
        return Py_NewRef(key);
    npy_intp most = most_elements(device, limit), elements = PyArray_SIZE((PyArrayObject *)host);
    if (elements > most || !(on_pinned || device == cpu || device == automatic))
        return NULL;
    double size = PyArray_NDIM((PyArrayObject *)host) > 1 ? (double)elements : 1;
    PyObject *found = key_of_numpy(key, device, most, on_pinned, &size);
    if (found != NULL && size > MOST_SELECTED)
        Py_CLEAR(found);
    return found;
}

/* The part of an array that a key selects; NULL without an error if the method in Python is to be called. */
static PyObject *part(PyObject *array, PyObject *key)
{
    int on_pinned = 0;
    long limit = limit_now(&on_pinned);
    PyObject *value = AT(array, of_array.value), *device, *host, *memory;
    if (limit <= 0)
        return NULL;
    if (is_set(value)) {
        host = memory = value;
        device = AT(array, of_array.device);
    }
    else {
        if ((memory = seen_memory(array)) == NULL)
            return NULL;
        host = AT(array, of_array.host);
        device = AT(AT(array, of_array.made_cell), of_cell.device);
    }
    PyObject *given = PyArray_CheckExact(host) ? given_key(key, host, device, limit, on_pinned) : NULL;
    if (given == NULL)
        return NULL;
    Py_INCREF(host);
    Py_INCREF(memory);
    Py_INCREF(device);
    PyObject *found = PyObject_GetItem(host, given), *made = NULL;
    if (found == NULL) {
        if (PyErr_ExceptionMatches(PyExc_Exception))
            PyErr_Clear();
    }
    else if (!PyArray_Check(found))
        made = wrapped(found, device);
    else if (PyArray_CheckExact(found) && PyArray_BASE((PyArrayObject *)found) == memory &&
             PyArray_SIZE((PyArrayObject *)found) <= limit && (!is_set(value) || settle(array) == 0) &&
             AT(array, of_array.made_part) == Py_None)
        made = seen(array, found, memory, host, key);
    else if (kind_of_key(key) == NOT_BASIC && PyArray_CheckExact(found) && PyArray_BASE((PyArrayObject *)found) != memory)
        made = returned(found, device, limit);
    else
        Py_DECREF(found);
    Py_DECREF(given);
    Py_DECREF(host);
    Py_DECREF(memory);
    Py_DECREF(device);
    return made;
}

static PyObject *subscript(PyObject *array, PyObject *key)
{
    if (Py_TYPE(array) == array_type) {
        PyObject *made = part(array, key);
        if (made != NULL || PyErr_Occurred())
            return made;
    }
    return PyObject_CallFunctionObjArgs(other_methods[GETITEM], array, key, NULL);
}

/* An array of small elements in host memory and this memory, borrowed; NULL if the method in Python is to be called. */
static PyObject *elements(PyObject *array, PyObject **memory)
{
    int on_pinned;
    if (!Py_IS_TYPE(array, array_type) || limit_now(&on_pinned) <= 0 || settle(array) < 0)
        return NULL;
    PyObject *host = AT(array, of_array.host);
    *memory = seen_memory(array);
    if (*memory == NULL || *memory != AT(array, of_array.memory) || AT(array, of_array.made_part) != Py_None)
        return NULL;
    return PyArray_CheckExact(host) && PyArray_NDIM((PyArrayObject *)host) ? host : NULL;
}

/* A view that NumPy made of these elements, which is consumed; NULL without an error if it is none of the memory. */
static PyObject *seen_or_none(PyObject *array, PyObject *found, PyObject *memory)
{
    if (found == NULL) {
        if (PyErr_ExceptionMatches(PyExc_Exception))
            PyErr_Clear();
        return NULL;
    }
    if (PyArray_CheckExact(found) && PyArray_BASE((PyArrayObject *)found) == memory)
        return seen(array, found, memory, Py_None, Py_None);
    Py_DECREF(found);
    return NULL;
}

static PyObject *transposed(PyObject *array, void *unused)
{
    PyObject *memory, *host = elements(array, &memory), *made = NULL;
    if (host != NULL) {
        Py_INCREF(memory);
        made = seen_or_none(array, PyArray_Transpose((PyArrayObject *)host, NULL), memory);
        Py_DECREF(memory);
    }
    if (made != NULL || PyErr_Occurred())
        return made;
    return PyObject_CallMethodNoArgs(array, str_transpose);
}

PyDoc_STRVAR(view_doc,
"view($module, array, name, arguments, /)\n--\n\n"
"Return the view of a small array that a method of NumPy returns; None if that is to be found in another way.");

static PyObject *view(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *memory, *host, *made = NULL;
    if (count != 3 || !PyTuple_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "view takes an array, a name and a tuple");
    if ((host = elements(args[0], &memory)) != NULL) {
        Py_INCREF(memory);
        PyObject *method = PyObject_GetAttr(host, args[1]);
        PyObject *found = method == NULL ? NULL : PyObject_CallObject(method, args[2]);
        Py_XDECREF(method);
        made = seen_or_none(args[0], found, memory);
        Py_DECREF(memory);
    }
    if (made == NULL && PyErr_Occurred())
        return NULL;
    return made == NULL ? Py_NewRef(Py_None) : made;
}

/* Whether NumPy would discard imaginary parts in an assignment. */
static int loses_imaginary(PyObject *value, PyObject *host)
{
    int is_complex = PyArray_CheckExact(value) ? PyArray_ISCOMPLEX((PyArrayObject *)value)
                                               : PyArray_IsScalar(value, ComplexFloating);
    PyArrayObject *target = (PyArrayObject *)host;
    return is_complex && !PyArray_ISCOMPLEX(target) && !PyArray_ISBOOL(target);
}

/* Write to the part that a key selects; 1 if the method in Python is to be called, -1 with an error. */
static int assign(PyObject *array, PyObject *key, PyObject *value)
{
    int on_pinned = 0;
    long limit = limit_now(&on_pinned);
    if (limit <= 0 || (is_set(AT(array, of_array.value)) && settle(array) < 0))
        return PyErr_Occurred() ? -1 : 1;
    PyObject *access = AT(array, of_array.made_access), *cell = AT(array, of_array.made_cell);
    PyObject *memory = seen_memory(array), *host = AT(array, of_array.host), *device = NULL;
    if (memory == NULL || !is_own(cell) || access == NULL || PyLong_AsLong(access) == 0 || !PyArray_CheckExact(host))
        return 1;
    if (memory != AT(array, of_array.memory) && kind_of_key(key) != ELEMENT)
        return 1; /* a part of a large array may be large */
    PyObject *elements = value;
    if (!is_number(value)) {
        if (Py_TYPE(value) != array_type || (elements = value_of(value, on_pinned, &device)) == NULL)
            return 1;
        if (device != AT(cell, of_cell.device) || loses_imaginary(elements, host))
            return 1;
        /* x[key] += y ends with a write of the view x[key] to itself */
        if (!is_set(AT(value, of_array.value)) && AT(value, of_array.made_cell) == cell &&
            is_set(AT(value, of_array.made_owner)) && AT(value, of_array.source) == host &&
            AT(value, of_array.key) == key)
            return 0;
    }
    PyObject *given = given_key(key, host, AT(cell, of_cell.device), limit, on_pinned);
    if (given == NULL)
        return PyErr_Occurred() ? -1 : 1;
    Py_INCREF(host);
    Py_INCREF(elements);
    PyObject *lock = lock_of_cells(), *context;
    int is_left = 1, is_done = 0;
    if (lock == NULL)
        is_left = 0;
    else {
        if (seen_memory(array) != NULL && is_own(cell) && AT(array, of_array.host) == host &&
            (context = enter_quiet()) != NULL) {
            is_done = PyObject_SetItem(host, given, elements) == 0;
            is_left = leave_quiet(context, !is_done);
        }
        if (unlock(lock) < 0)
            is_left = 0;
    }
    Py_DECREF(given);
    Py_DECREF(host);
    Py_DECREF(elements);
    return is_left ? !is_done : -1;
}

static int ass_subscript(PyObject *array, PyObject *key, PyObject *value)
{
    PyObject *done;
    if (value == NULL)
        done = PyObject_CallFunctionObjArgs(other_methods[DELITEM], array, key, NULL);
    else {
        int is_left = Py_TYPE(array) == array_type ? assign(array, key, value) : 1;
        if (is_left <= 0)
            return is_left;
        done = PyObject_CallFunctionObjArgs(other_methods[SETITEM], array, key, value, NULL);
    }
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* -- the class ----------------------------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"__array_ufunc__", (PyCFunction)(void (*)(void))array_ufunc, METH_VARARGS | METH_KEYWORDS,
     "Apply a ufunc of NumPy."},
    {"_settle", settle_method, METH_NOARGS, "Give the array of a value the other attributes, and a cell."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"T", transposed, NULL, "View with reversed axes.", NULL},
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

/* Where a slot of a class is in its instances; -1 with an error. */
static Py_ssize_t offset_of(PyObject *type, const char *name)
{
    PyObject *descriptor = PyObject_GetAttrString(type, name);
    Py_ssize_t found = -1;
    if (descriptor != NULL && Py_IS_TYPE(descriptor, &PyMemberDescr_Type))
        found = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    else if (descriptor != NULL)
        PyErr_Format(PyExc_TypeError, "%s is no slot", name);
    Py_XDECREF(descriptor);
    return found;
}

/* Keep a method of a class, and put the one of CompiledOperators in front of it. */
static int replace(PyObject *type, const char *name, PyObject **method)
{
    PyObject *found = PyObject_GetAttrString(type, name);
    PyObject *own = found == NULL ? NULL : PyObject_GetAttrString((PyObject *)base_type, name);
    int failed = own == NULL || PyObject_SetAttrString(type, name, own) < 0;
    Py_XDECREF(own);
    Py_XSETREF(*method, found);
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
"install($module, array, cell, settings, cells, setting, quiet, automatic, cpu, nothing, unmade, ufuncs, dtypes, taken, left, right, /)\n--\n\n"
"Put compiled operators in front of the methods of a class.\n\n"
"The arguments are the classes of arrays, of cells and of settings of a thread; the module with the lock of cells; the\n"
"context variable with the setting of a thread; what runs functions without warnings; the devices whose values the\n"
"host always computes; what an array has that has seen no memory, and a cell without a leaf; and the\n"
"operations of the package by ufunc, and its dtypes; and the function `temporaries.taken` with its two answers.");

static PyObject *install(PyObject *module, PyObject *args)
{
    PyObject *array, *cell, *settings;
    if (!PyArg_ParseTuple(args, "O!O!OOOOOOOOO!O!OOO", &PyType_Type, &array, &PyType_Type, &cell, &settings, &cells,
                          &setting, &quiet, &automatic, &cpu, &nothing, &unmade, &PyDict_Type, &known_ufuncs,
                          &PyTuple_Type, &dtypes, &taken, &left_side, &right_side))
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
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if ((*members[i].offset = offset_of(members[i].type, members[i].name)) < 0)
            return NULL;
    PyObject *owned[] = {array, cell, cells, setting, quiet, automatic, cpu, nothing, unmade, known_ufuncs, dtypes,
                         taken, left_side, right_side};
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
    dealloc_of_class = array_type->tp_dealloc;
    array_type->tp_dealloc = dealloc_array;
    PyObject *property = PyObject_GetAttrString((PyObject *)base_type, "T");
    int failed = property == NULL || PyObject_SetAttrString(array, "T", property) < 0;
    Py_XDECREF(property);
    if (failed)
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

static PyMethodDef functions[] = {
    {"install", install, METH_VARARGS, install_doc},
    {"view", (PyCFunction)(void (*)(void))view, METH_FASTCALL, view_doc},
    {"apply", (PyCFunction)(void (*)(void))apply_operation, METH_FASTCALL, apply_doc},
    {"create", (PyCFunction)(void (*)(void))create, METH_FASTCALL, create_doc},
    {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, call_doc},
    {"take_count", take_count, METH_NOARGS, take_count_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gpuarray.array._compiled", "Operators of small arrays in host memory.", -1, functions,
};

static int find_all(PyObject *module, const char *const *names, PyObject **found, int count)
{
    for (int i = 0; i < count; i++)
        if ((found[i] = PyObject_GetAttrString(module, names[i])) == NULL)
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
    str_transpose = PyUnicode_InternFromString("transpose");
    str_numpy = PyUnicode_InternFromString("numpy");
    str_dtype = PyUnicode_InternFromString("dtype");
    str_call = PyUnicode_InternFromString("__call__");
    str_run = PyUnicode_InternFromString("run");
    str_self = PyUnicode_InternFromString("__self__");
    str_binding = PyUnicode_InternFromString("binding");
    str_acquire = PyUnicode_InternFromString("acquire");
    str_release = PyUnicode_InternFromString("release");
    if (module == NULL || base_type == NULL || str_release == NULL ||
        PyModule_AddIntConstant(module, "VERSION", VERSION) < 0 ||
        PyModule_AddObjectRef(module, "CompiledOperators", (PyObject *)base_type) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
