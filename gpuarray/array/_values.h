/* Functions that only read the elements of arrays, such as SciPy's; functions that make arrays of numbers. */

/* The most elements in whose loops NumPy keeps the lock of the interpreter. */
#define MOST_LOCKED 500

/* What a function that runs on values gets in place of an argument, as a new reference: views of the elements of arrays,
   which cannot be written to, or the elements for a ufunc, which writes to no operand; NULL without an error if those of an
   array are many, or elsewhere. */
static PyObject *argument_of_values(PyObject *argument, Arguments *arguments, int is_ufunc)
{
    PyTypeObject *type = Py_TYPE(argument);
    if (type == array_type) {
        PyObject *device, *value = value_of(argument, arguments->on_pinned && is_ufunc, &device);
        if (value == NULL || (arguments->device != NULL && arguments->device != device))
            return NULL;
        arguments->device = device;
        if (!PyArray_CheckExact(value))
            return Py_NewRef(value);
        arguments->sum += (double)PyArray_SIZE((PyArrayObject *)value);
        if (arguments->sum > (double)most_elements(device, arguments->limit))
            return NULL;
        if (is_ufunc)
            return Py_NewRef(value);
        PyObject *view = PyArray_View((PyArrayObject *)value, NULL, NULL);
        if (view == NULL)
            return NULL;
        PyArray_CLEARFLAGS((PyArrayObject *)view, NPY_ARRAY_WRITEABLE);
        return PyArray_Return((PyArrayObject *)view); /* which is a scalar if there are no axes */
    }
    if (PyArray_CheckExact(argument) && (arguments->sum += (double)PyArray_SIZE((PyArrayObject *)argument)) > (double)arguments->limit)
        return NULL;
    if (type == &PyTuple_Type || type == &PyList_Type) {
        Py_ssize_t count = PySequence_Fast_GET_SIZE(argument);
        PyObject *items = type == &PyTuple_Type ? PyTuple_New(count) : PyList_New(count);
        for (Py_ssize_t i = 0; items != NULL && i < count; i++) {
            PyObject *item = argument_of_values(PySequence_Fast_GET_ITEM(argument, i), arguments, is_ufunc);
            if (item == NULL)
                Py_CLEAR(items);
            else if (type == &PyTuple_Type)
                PyTuple_SET_ITEM(items, i, item);
            else
                PyList_SET_ITEM(items, i, item);
        }
        return items;
    }
    if (type == &PyDict_Type) {
        PyObject *items = PyDict_New(), *name, *value;
        Py_ssize_t position = 0;
        while (items != NULL && PyDict_Next(argument, &position, &name, &value)) {
            PyObject *item = argument_of_values(value, arguments, is_ufunc);
            if (item == NULL || PyDict_SetItem(items, name, item) < 0)
                Py_CLEAR(items);
            Py_XDECREF(item);
        }
        return items;
    }
    return PyObject_TypeCheck(argument, array_type) ? NULL : Py_NewRef(argument);
}

/* A result of such a function, which is consumed, with arrays of this package; `holders` is how many references to it there
   are, if it is new, and `placed` handles unusual ones. */
static PyObject *result_of_values(PyObject *value, PyObject *device, long limit, PyObject *placed, Py_ssize_t holders)
{
    PyTypeObject *type = Py_TYPE(value);
    if (value == Py_None || is_number(value) || type == &PyUnicode_Type)
        return value;
    int is_usual = 0;
    if (PyArray_CheckExact(value)) {
        PyArrayObject *array = (PyArrayObject *)value;
        is_usual = PyArray_NDIM(array) && PyArray_SIZE(array) <= most_elements(device, limit) && PyArray_ISWRITEABLE(array) &&
                   is_canonical((PyObject *)PyArray_DESCR(array));
        if (is_usual && PyArray_BASE(array) != NULL)
            value = in_own_memory(value, holders);
        else if (is_usual && Py_REFCNT(value) > holders) /* an argument, or one that the function keeps */
            Py_SETREF(value, PyArray_NewCopy(array, NPY_KEEPORDER));
        if (value == NULL)
            return NULL;
    }
    else if (PyArray_IsScalar(value, Number) || PyArray_IsScalar(value, Bool)) {
        PyObject *dtype = (PyObject *)PyArray_DescrFromScalar(value);
        is_usual = dtype != NULL && is_canonical(dtype);
        Py_XDECREF(dtype);
    }
    else if (type == &PyTuple_Type) {
        PyObject *result = PyTuple_New(PyTuple_GET_SIZE(value));
        for (Py_ssize_t i = 0; result != NULL && i < PyTuple_GET_SIZE(value); i++) {
            PyObject *item = result_of_values(Py_NewRef(PyTuple_GET_ITEM(value, i)), device, limit, placed, 2);
            if (item == NULL)
                Py_CLEAR(result);
            else
                PyTuple_SET_ITEM(result, i, item);
        }
        Py_DECREF(value);
        return result;
    }
    else if (type == &PyList_Type) { /* of numbers and positions, which are for the host, or of arrays */
        PyObject *result = PyList_GetSlice(value, 0, PyList_GET_SIZE(value)), *item;
        Py_DECREF(value);
        for (Py_ssize_t i = 0; result != NULL && i < PyList_GET_SIZE(result); i++) {
            if (!PyArray_Check(PyList_GET_ITEM(result, i)))
                continue;
            item = result_of_values(Py_NewRef(PyList_GET_ITEM(result, i)), device, limit, placed, 2);
            if (item == NULL || PyList_SetItem(result, i, item) < 0)
                Py_CLEAR(result);
        }
        return result;
    }
    else if (type == &PyDict_Type) {
        PyObject *result = PyDict_New(), *name, *item;
        Py_ssize_t position = 0;
        while (result != NULL && PyDict_Next(value, &position, &name, &item)) {
            PyObject *placed_item = result_of_values(Py_NewRef(item), device, limit, placed, 2);
            if (placed_item == NULL || PyDict_SetItem(result, name, placed_item) < 0)
                Py_CLEAR(result);
            Py_XDECREF(placed_item);
        }
        Py_DECREF(value);
        return result;
    }
    PyObject *result = is_usual ? new_array_of(value, device, holders) : PyObject_CallFunctionObjArgs(placed, value, device, NULL);
    if (!is_usual)
        Py_DECREF(value);
    return result;
}

/* Whether an argument that a function may write to is one to be written to: an array, or a permission. */
static int is_written(PyObject *argument)
{
    return argument == Py_True || PyArray_Check(argument) || PyObject_TypeCheck(argument, array_type);
}

/* The calls of functions of values that are made here: with at most so many elements of all arrays, of which none may be
   written to after `positional` arguments by position, or by a keyword of the set `written`. */
typedef struct {
    Py_ssize_t positional;
    long most;
    PyObject *written, *device_of_numbers, *placed;
} Rules;

/* The rules in a tuple, borrowed; 0 with an error if it has others. */
static int read_rules(PyObject *tuple, PyObject *positional, Rules *rules)
{
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != 4) {
        PyErr_SetString(PyExc_TypeError, "the rules of functions of values are four");
        return 0;
    }
    *rules = (Rules){PyLong_AsSsize_t(positional), PyLong_AsLong(PyTuple_GET_ITEM(tuple, 0)), PyTuple_GET_ITEM(tuple, 1),
                     PyTuple_GET_ITEM(tuple, 2), PyTuple_GET_ITEM(tuple, 3)};
    return !PyErr_Occurred();
}

static int is_read_only_call(const Rules *rules, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t named = number_of(names);
    if (count + named > MOST_ARGUMENTS)
        return 0;
    for (Py_ssize_t i = rules->positional; i < count; i++)
        if (is_written(args[i]))
            return 0;
    for (Py_ssize_t i = 0; i < named; i++)
        if (is_written(args[count + i]) && PySet_Contains(rules->written, PyTuple_GET_ITEM(names, i)) != 0)
            return 0;
    return 1;
}

/* Whether a call has a mask, with which ufuncs of SciPy are not to be called: see is_broken_by_masks in dispatch.py. */
static int has_mask(PyObject *names)
{
    for (Py_ssize_t i = 0; i < number_of(names); i++)
        if (is_name(PyTuple_GET_ITEM(names, i), str_where))
            return 1;
    return 0;
}

/* The result of a ufunc of few elements by its loop, during which NumPy keeps the lock of the interpreter too; NULL without an
   error if the ufunc is to be called. */
static PyObject *quickly_looped(PyObject *ufunc, PyObject *const *values, Py_ssize_t count)
{
    npy_intp size = 1;
    for (Py_ssize_t i = 0; i < count; i++)
        size *= PyArray_CheckExact(values[i]) ? PyArray_SIZE((PyArrayObject *)values[i]) : 1;
    return count < MOST_ITEMS && size <= MOST_LOCKED ? looped(ufunc, values, (int)count, NULL) : NULL;
}

/* The result of a function that is called with the elements of small arrays; NULL without an error if the rules do not allow
   the call. */
static PyObject *result_by_values(PyObject *function, const Rules *rules, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Arguments arguments = {.product = 1, .multiple = 1};
    arguments.limit = Py_MIN(limit_now(&arguments.on_pinned), rules->most);
    if (arguments.limit <= 0 || !is_read_only_call(rules, args, count, names))
        return NULL;
    PyObject *values[MOST_ARGUMENTS], *result = NULL, *device = NULL;
    Py_ssize_t total = count + number_of(names), known = 0;
    int is_ufunc = Py_IS_TYPE(function, &PyUFunc_Type);
    if (is_ufunc && has_mask(names))
        return NULL;
    for (; known < total; known++)
        if ((values[known] = argument_of_values(args[known], &arguments, is_ufunc)) == NULL)
            break;
    if (known == total && arguments.device != NULL)
        device = Py_NewRef(arguments.device);
    else if (known == total && (device = PyObject_CallNoArgs(rules->device_of_numbers)) != cpu)
        Py_CLEAR(device);
    if (device != NULL) {
        if (is_ufunc && names == NULL)
            result = quickly_looped(function, values, count);
        if (result == NULL && !PyErr_Occurred())
            result = PyObject_Vectorcall(function, values, count, names);
        if (result != NULL)
            result = result_of_values(result, device, arguments.limit, rules->placed, 1);
        Py_DECREF(device);
    }
    release(values, known);
    return result;
}

PyDoc_STRVAR(call_with_values_doc,
"call_with_values($module, function, arguments, keywords, positional, rules, /)\n--\n\n"
"Return what a function returns that is called with the elements of small arrays of the host, which it only reads.\n\n"
"NotImplemented stands for other calls, among them those with an array that may be written to: after ``positional``\n"
"arguments by position, or by a keyword of a set. The rules are: the most elements of all arrays, this set, a function\n"
"that returns the device of results if there are no arrays, and ``placed(value, device)``, which returns what an unusual\n"
"result becomes.");

static PyObject *call_with_values(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Rules rules;
    if (count != 5 || !PyTuple_Check(args[1]) || !PyDict_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "call_with_values takes a function, a tuple, a dict, a number and four rules");
    if (!read_rules(args[4], args[3], &rules))
        return NULL;
    PyObject *items[MOST_ARGUMENTS], *names, *result = NULL;
    if (unpack(args[1], args[2], items, &names)) {
        result = result_by_values(args[0], &rules, items, PyTuple_GET_SIZE(args[1]), names);
        Py_XDECREF(names);
    }
    return result != NULL || PyErr_Occurred() ? result : Py_NewRef(Py_NotImplemented);
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

/* The device of arrays that are made of numbers, borrowed; NULL without an error if NumPy does not make them, or if a package
   was imported that may have to know arrays. */
static PyObject *device_of_numbers(void)
{
    PyObject *current = NULL, *name, *device, *checked = PyObject_GetAttr(clients, str_checked_modules);
    Py_ssize_t modules = checked == NULL ? -1 : PyLong_AsSsize_t(checked);
    Py_XDECREF(checked);
    if (modules != PyDict_GET_SIZE(PyImport_GetModuleDict()) || PyContextVar_Get(setting, NULL, &current) < 0 || current == NULL)
        return NULL;
    name = AT(current, of_setting.default_device);
    device = is_set(name) ? PyDict_GetItemWithError(known_devices, name) : NULL; /* which keeps it */
    Py_DECREF(current);
    return device;
}

/* What bounds an array that is made of numbers, if it is not a power of their product: the first argument is the data
   (numbers, sequences of them, or an array of NumPy), or the shape; the first three are the ends and the step of a range,
   or the ends and the number of elements. */
enum { DATA = 0, SHAPE = -1, RANGE = -2, SPACED = -3 };

/* The most elements of an array that is made of plain arguments, whose product is given. */
static double size_of_numbers(long bound, PyObject *const *args, Py_ssize_t count, double product)
{
    double numbers[3] = {0, 0, bound == RANGE ? 1 : 50}, size = 1;
    if (bound == SHAPE)
        return count && is_plain(args[0], &size) ? size : product;
    if (bound >= 0)
        return pow(product, (double)bound);
    for (Py_ssize_t i = 0; i < Py_MIN(count, 3); i++) {
        if (!PyLong_CheckExact(args[i]) && !PyFloat_CheckExact(args[i]))
            return product;
        numbers[i] = PyFloat_AsDouble(args[i]); /* an integer may be too large */
        if (numbers[i] == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return INFINITY;
        }
    }
    return fabs(bound == RANGE ? (numbers[1] - numbers[0]) / numbers[2] : numbers[2]);
}

/* The array, or the tuple of arrays, that a function of NumPy makes of numbers; NULL without an error if the call is not plain,
   or if an array is large. */
static PyObject *result_of_numbers(PyObject *function, long bound, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    int on_pinned = 0;
    long limit = limit_now(&on_pinned);
    PyObject *device = limit > 0 ? device_of_numbers() : NULL, *result = NULL, *context;
    Py_ssize_t first = 0;
    if (device == NULL || (!on_pinned && device != cpu && device != automatic))
        return NULL;
    double most = (double)most_elements(device, limit), size = 1;
    if (bound == DATA && count) {
        first = PyArray_CheckExact(args[0]);
        if (first)
            size = (double)PyArray_SIZE((PyArrayObject *)args[0]);
        else if (PyTuple_CheckExact(args[0]) || PyList_CheckExact(args[0]))
            size = (double)PySequence_Fast_GET_SIZE(args[0]);
    }
    if (size > most)
        return NULL;
    for (Py_ssize_t i = first; i < count; i++)
        if (!is_plain(args[i], &size))
            return NULL;
    for (Py_ssize_t i = 0; i < number_of(names); i++)
        if (!is_name(PyTuple_GET_ITEM(names, i), str_dtype) || !is_plain(args[count + i], &size))
            return NULL;
    if ((bound != DATA && !(size_of_numbers(bound, args, count, size) <= most)) || (context = enter_quiet()) == NULL)
        return NULL;
    result = PyObject_Vectorcall(function, args, count, names);
    leave_quiet(context, result == NULL);
    int is_new = result != NULL && (PyArray_CheckExact(result) || PyTuple_CheckExact(result));
    if (result != NULL && (!is_new || (count && result == args[0])))
        Py_CLEAR(result);
    if (result != NULL)
        result = array_of_result(result, device, limit, NULL, 0, 1);
    operations += result != NULL;
    return result;
}
