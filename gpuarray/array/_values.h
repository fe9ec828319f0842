/* Functions that only read the elements of arrays, such as SciPy's; functions that make arrays of numbers. */

/* What a function that runs on values gets in place of an argument, as a new reference: views of the elements of arrays,
   which cannot be written to; NULL without an error if those of an array are many, or elsewhere. */
static PyObject *argument_of_values(PyObject *argument, Arguments *arguments)
{
    PyTypeObject *type = Py_TYPE(argument);
    if (type == array_type) {
        PyObject *device, *value = value_of(argument, 0, &device);
        if (value == NULL || (arguments->device != NULL && arguments->device != device))
            return NULL;
        arguments->device = device;
        if (!PyArray_CheckExact(value))
            return Py_NewRef(value);
        arguments->sum += (double)PyArray_SIZE((PyArrayObject *)value);
        if (arguments->sum > (double)most_elements(device, arguments->limit))
            return NULL;
        PyObject *view = PyArray_View((PyArrayObject *)value, NULL, NULL);
        if (view == NULL)
            return NULL;
        PyArray_CLEARFLAGS((PyArrayObject *)view, NPY_ARRAY_WRITEABLE);
        return PyArray_Return((PyArrayObject *)view); /* which is a scalar if there are no axes */
    }
    if (type == &PyTuple_Type || type == &PyList_Type) {
        Py_ssize_t count = PySequence_Fast_GET_SIZE(argument);
        PyObject *items = type == &PyTuple_Type ? PyTuple_New(count) : PyList_New(count);
        for (Py_ssize_t i = 0; items != NULL && i < count; i++) {
            PyObject *item = argument_of_values(PySequence_Fast_GET_ITEM(argument, i), arguments);
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
            PyObject *item = argument_of_values(value, arguments);
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
    PyObject *result = is_usual ? new_array_of(value, device) : PyObject_CallFunctionObjArgs(placed, value, device, NULL);
    if (!is_usual)
        Py_DECREF(value);
    return result;
}

/* Whether an argument that a function may write to is one to be written to: an array, or a permission. */
static int is_written(PyObject *argument)
{
    return argument == Py_True || PyArray_Check(argument) || PyObject_TypeCheck(argument, array_type);
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
    if (count != 5 || !PyTuple_Check(args[1]) || !PyDict_Check(args[2]) || !PyTuple_Check(args[4]) || PyTuple_GET_SIZE(args[4]) != 4)
        return PyErr_Format(PyExc_TypeError, "call_with_values takes a function, a tuple, a dict, a number and four rules");
    PyObject *const *rules = &PyTuple_GET_ITEM(args[4], 0);
    Arguments arguments = {.product = 1, .multiple = 1};
    arguments.limit = Py_MIN(limit_now(&arguments.on_pinned), PyLong_AsLong(rules[0]));
    PyObject *named = NULL, *values = NULL, *result = NULL, *name, *argument;
    Py_ssize_t position = 0;
    int is_plain_call = arguments.limit > 0;
    for (Py_ssize_t i = PyLong_AsSsize_t(args[3]); is_plain_call && i < PyTuple_GET_SIZE(args[1]); i++)
        is_plain_call = !is_written(PyTuple_GET_ITEM(args[1], i));
    while (is_plain_call && PyDict_Next(args[2], &position, &name, &argument))
        is_plain_call = !is_written(argument) || PySet_Contains(rules[1], name) == 0;
    if (is_plain_call)
        is_plain_call = (values = argument_of_values(args[1], &arguments)) != NULL;
    if (is_plain_call && PyDict_GET_SIZE(args[2]))
        is_plain_call = (named = argument_of_values(args[2], &arguments)) != NULL;
    PyObject *device = Py_XNewRef(arguments.device);
    if (is_plain_call && device == NULL) {
        device = PyObject_CallNoArgs(rules[2]);
        is_plain_call = device == cpu;
    }
    if (is_plain_call && (result = PyObject_Call(args[0], values, named)) != NULL)
        result = result_of_values(result, device, arguments.limit, rules[3], 1);
    Py_XDECREF(device);
    Py_XDECREF(values);
    Py_XDECREF(named);
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

PyDoc_STRVAR(create_doc,
"create($module, function, arguments, keywords, device, power, /)\n--\n\n"
"Return the array, or the tuple of arrays, that a function of NumPy makes of numbers; None if the call is not plain, or\n"
"if an array is large.\n\n"
"It has at most as many elements as the product of the numbers to a power. If that is 0, the first argument is\n"
"the data: numbers, sequences of them, or an array of NumPy.");

static PyObject *create(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !PyTuple_Check(args[1]) || !PyDict_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "create takes a function, a tuple, a dict, a device and a number");
    PyObject *device = args[3], *result = NULL, *context, *name, *argument;
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
        result = PyObject_Call(args[0], args[1], args[2]);
        leave_quiet(context, result == NULL);
        int is_new = result != NULL && (PyArray_CheckExact(result) || PyTuple_CheckExact(result));
        if (result != NULL && (!is_new || (number && result == PyTuple_GET_ITEM(args[1], 0))))
            Py_CLEAR(result);
        if (result != NULL)
            result = array_of_result(result, device, limit, NULL, 0, 1);
        operations += result != NULL;
    }
    return result_or_none(result);
}
