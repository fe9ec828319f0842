/* What all files of this module use: the classes, methods and settings that `install` is given, where the attributes of
   objects are, and the setting and the lock of the present thread. */

/* Larger arrays of devices other than the host are handled in Python, where trials of a GPU count them. */
#define MOST_ELEMENTS (1 << 14)
/* The bytes from which on NumPy's operators take the memory of operands that are temporary results, and so do these. */
#define LARGE (1 << 18)
/* The most elements that arrays of positions may select. */
#define MOST_SELECTED (1 << 24)

enum {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, REMAINDER, POWER, AND, OR, XOR, LEFT_SHIFT, RIGHT_SHIFT, BINARIES
};
enum { NEGATIVE, POSITIVE, ABSOLUTE, INVERT, BOOL, INT, FLOAT, INDEX, LEN, UNARIES };
enum { GETITEM, SETITEM, DELITEM, ARRAY_UFUNC, ARRAY_FUNCTION, SETTLE, MATMUL, RMATMUL, IMATMUL, OTHERS, APPLY = OTHERS };

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
    "__getitem__", "__setitem__", "__delitem__", "__array_ufunc__", "__array_function__", "_complete", "__matmul__",
    "__rmatmul__", "__imatmul__",
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
static struct { Py_ssize_t limit, on_pinned, default_device; } of_setting;

static PyTypeObject *array_type, *cell_type;
/* Removes what Python's methods add to the traceback of an error. */
static PyObject *hide_frames;
/* The methods in Python. */
static PyObject *forward_methods[BINARIES], *reflected_methods[BINARIES], *inplace_methods[BINARIES];
static PyObject *unary_methods[UNARIES], *comparison_methods[6], *other_methods[OTHERS + 1];
/* The context variable with the setting of this thread or task, what runs NumPy's functions without warnings, the
   module with the lock of cells, the devices whose values the host always computes, what stands for no memory and for
   a leaf that is made when it is asked for, the operations of this package by ufunc, its functions by NumPy's,
   and its dtypes. */
static PyObject *setting, *quiet, *cells, *automatic, *cpu, *nothing, *unmade, *known_ufuncs, *known_functions, *dtypes;
/* What tells as which operand an operator takes the result of another one, and its two answers. */
static PyObject *taken, *left_side, *right_side;
static PyObject *str_call, *str_dtype, *str_run, *str_self, *str_binding, *str_acquire, *str_release, *str_numpy,
    *str_out, *str_where, *str_device, *str_checked_modules;
/* The module that registers arrays with other packages, and devices by the names that settings have. */
static PyObject *clients, *known_devices;
/* How many operations were computed that `take_count` has not returned. */
static long long operations;
/* How many elements of results on other devices than the host, beyond MOST_ELEMENTS of each, `take_midsize` has not returned;
   the most of them, after which an operation on such an array is left to Python. */
static long long midsize;
#define MOST_MIDSIZE (1 << 20)

static inline int is_set(PyObject *item) { return item != NULL && item != Py_None; }

/* What a function of the module returns: None in place of NULL without an error. */
static PyObject *result_or_none(PyObject *result)
{
    return result != NULL || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

/* The most elements with which operations are computed at once, 0 if they are recorded; and whether on all devices. */
static long limit_now(int *on_pinned)
{
    PyObject *current = NULL;
    if (PyContextVar_Get(setting, NULL, &current) < 0 || current == NULL) {
        PyErr_Clear();
        return 0;
    }
    PyObject *number = AT(current, of_setting.limit);
    long limit = number == NULL ? 0 : PyLong_AsLong(number);
    *on_pinned = AT(current, of_setting.on_pinned) == Py_True;
    Py_DECREF(current);
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
    PyObject *new_context = run == NULL ? NULL : PyObject_GetAttr(run, str_self);
    Py_XDECREF(run);
    if (new_context == NULL || !PyContext_CheckExact(new_context)) {
        PyErr_Clear();
        Py_XDECREF(new_context);
        return NULL;
    }
    Py_XSETREF(context, new_context);
    thread = now;
    return context;
}

/* The result of a method in Python. An error ends at the line of the program, as one of NumPy does. */
static PyObject *of_method(PyObject *result)
{
    PyObject *type, *error, *traceback;
    if (result != NULL)
        return result;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(error, traceback);
    PyObject *done = PyObject_CallOneArg(hide_frames, error);
    if (done != NULL) {
        Py_DECREF(done);
        Py_XDECREF(traceback);
        PyErr_Restore(type, error, PyException_GetTraceback(error));
        return NULL;
    }
    Py_DECREF(type);
    Py_DECREF(error);
    Py_XDECREF(traceback);
    return NULL;
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
