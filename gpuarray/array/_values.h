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

/* The calls of functions of values that are made here: with at most so many arguments, and elements of all arrays, of which
   none may be written to after `positional` arguments by position, or by a keyword of the set `written`. */
enum { MOST_ARGUMENTS = 16 };
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
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
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
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "where") == 0)
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
    Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names)), known = 0;
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
    while (known > 0)
        Py_DECREF(values[--known]);
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
    PyObject *items[MOST_ARGUMENTS], *names = NULL, *name, *argument, *result = NULL;
    Py_ssize_t positional = PyTuple_GET_SIZE(args[1]), named = PyDict_GET_SIZE(args[2]), position = 0, number = 0;
    if (positional + named <= MOST_ARGUMENTS) {
        for (; number < positional; number++)
            items[number] = PyTuple_GET_ITEM(args[1], number);
        if (named && (names = PyTuple_New(named)) == NULL)
            return NULL;
        for (; PyDict_Next(args[2], &position, &name, &argument); number++) {
            items[number] = argument;
            PyTuple_SET_ITEM(names, number - positional, Py_NewRef(name));
        }
        result = result_by_values(args[0], &rules, items, positional, names);
        Py_XDECREF(names);
    }
    return result != NULL || PyErr_Occurred() ? result : Py_NewRef(Py_NotImplemented);
}

/* A function of which calls with small arrays are calls of a function of values. */
typedef struct {
    PyObject_HEAD
    PyObject *attributes, *references, *function, *general, *rules_given;
    Rules rules;
    vectorcallfunc vectorcall;
} FunctionOfValues;

static PyObject *call_function_of_values(PyObject *object, PyObject *const *args, size_t count, PyObject *names)
{
    FunctionOfValues *self = (FunctionOfValues *)object;
    PyObject *result = result_by_values(self->function, &self->rules, args, PyVectorcall_NARGS(count), names);
    return result != NULL || PyErr_Occurred() ? result : PyObject_Vectorcall(self->general, args, count, names);
}

static PyObject *new_function_of_values(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *general, *function, *positional, *tuple;
    Rules rules;
    if (!PyArg_ParseTuple(args, "OOOO", &general, &function, &positional, &tuple) || !read_rules(tuple, positional, &rules))
        return NULL;
    FunctionOfValues *self = (FunctionOfValues *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->function = Py_NewRef(function);
    self->general = Py_NewRef(general);
    self->rules_given = Py_NewRef(tuple);
    self->rules = rules;
    self->vectorcall = call_function_of_values;
    return (PyObject *)self;
}

static int traverse_function(PyObject *object, visitproc visit, void *arg)
{
    FunctionOfValues *self = (FunctionOfValues *)object;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->attributes);
    Py_VISIT(self->function);
    Py_VISIT(self->general);
    Py_VISIT(self->rules_given);
    return 0;
}

static int clear_function(PyObject *object)
{
    FunctionOfValues *self = (FunctionOfValues *)object;
    Py_CLEAR(self->attributes);
    Py_CLEAR(self->function);
    Py_CLEAR(self->general);
    Py_CLEAR(self->rules_given);
    return 0;
}

static void dealloc_function(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (((FunctionOfValues *)object)->references != NULL)
        PyObject_ClearWeakRefs(object);
    clear_function(object);
    type->tp_free(object);
    Py_DECREF(type);
}

/* As functions in Python, it is a method where it is an attribute of a class, and a pickle has its name. */
static PyObject *bound_function(PyObject *self, PyObject *object, PyObject *type)
{
    return object == NULL ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyObject *name_of_function(PyObject *self, PyObject *unused) { return PyObject_GetAttrString(self, "__qualname__"); }

static PyObject *repr_of_function(PyObject *self)
{
    PyObject *name = name_of_function(self, NULL);
    PyObject *text = name == NULL ? NULL : PyUnicode_FromFormat("<function %U at %p>", name, self);
    Py_XDECREF(name);
    return text;
}

static PyMethodDef methods_of_function[] = {
    {"__reduce__", name_of_function, METH_NOARGS, "Return the name, by which a pickle finds the function."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties_of_function[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members_of_function[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionOfValues, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionOfValues, references), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionOfValues, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots_of_function[] = {
    {Py_tp_doc, "FunctionOfValues(general, function, positional, rules, /)\n--\n\n"
                "A function that calls another one with the elements of small arrays, as ``call_with_values`` does, and "
                "the\ngeneral one for other calls."},
    {Py_tp_new, new_function_of_values}, {Py_tp_dealloc, dealloc_function}, {Py_tp_traverse, traverse_function},
    {Py_tp_clear, clear_function}, {Py_tp_call, PyVectorcall_Call}, {Py_tp_descr_get, bound_function},
    {Py_tp_repr, repr_of_function}, {Py_tp_methods, methods_of_function}, {Py_tp_getset, properties_of_function},
    {Py_tp_members, members_of_function}, {0, NULL},
};

static PyType_Spec spec_of_function = {
    .name = "gpuarray.array._compiled.FunctionOfValues",
    .basicsize = sizeof(FunctionOfValues),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = slots_of_function,
};

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
