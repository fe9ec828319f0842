/* Functions of which calls with small arrays are computed here, without a step in Python, and others by another function. */

typedef struct FunctionAtOnce FunctionAtOnce;

/* What computes a call; NULL without an error if it is another one, in which case `unusual` may get a result. */
typedef PyObject *(*Attempt)(const FunctionAtOnce *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **unusual);

/* The calls of functions of NumPy that are made here: the position of the parameter for an array that gets the result,
   whether there may be a mask, whether the function writes to its first argument, and what makes a named tuple, or None. */
typedef struct {
    Bounds bounds;
    Py_ssize_t out;
    int takes_masks, is_in_place;
    PyObject *group;
} NumpyRules;

struct FunctionAtOnce {
    PyObject_HEAD
    PyObject *attributes, *references, *function, *general, *given; /* the last one has what the rules borrow,
                                                                             or is called if the first argument is an array */
    Attempt attempt;
    union {
        Rules of_values;
        NumpyRules of_numpy;
        long bound;
    } rules;
    vectorcallfunc vectorcall;
};

static PyTypeObject *function_type;

static PyObject *attempt_by_values(const FunctionAtOnce *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **unusual)
{
    return result_by_values(self->function, &self->rules.of_values, args, count, names);
}

/* Whether a function of NumPy may be called with arguments of these names: no device or mask that needs care. */
static int are_plain_names(const NumpyRules *rules, PyObject *const *arguments, PyObject *names)
{
    for (Py_ssize_t i = 0; i < number_of(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if ((!rules->takes_masks && is_name(name, str_where)) || (arguments[i] != Py_None && is_name(name, str_device)))
            return 0;
    }
    return 1;
}

/* The position of the argument to which a function of NumPy writes; -1 if there is none. */
static Py_ssize_t position_of_target(const NumpyRules *rules, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (rules->is_in_place)
        return 0;
    Py_ssize_t position = count > rules->out ? rules->out : -1;
    for (Py_ssize_t i = 0; i < number_of(names); i++)
        if (is_name(PyTuple_GET_ITEM(names, i), str_out))
            position = count + i;
    return position >= 0 && args[position] != Py_None ? position : -1;
}

static PyObject *attempt_by_numpy(const FunctionAtOnce *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **unusual)
{
    const NumpyRules *rules = &self->rules.of_numpy;
    if (!are_plain_names(rules, args + count, names))
        return NULL;
    Py_ssize_t target = position_of_target(rules, args, count, names);
    if (target >= 0) {
        int is_done = changed_by_numpy(self->function, args, count, names, target) == 1;
        return is_done ? Py_NewRef(rules->is_in_place ? Py_None : args[target]) : NULL;
    }
    PyObject *result = result_by_numpy(self->function, &rules->bounds, args, count, names, unusual);
    if (result != NULL && rules->group != Py_None && PyTuple_Check(result))
        Py_SETREF(result, PyObject_CallObject(rules->group, result));
    return result;
}

/* A ufunc, with an array for the result behind the operands or by its name. */
static PyObject *attempt_by_loop(const FunctionAtOnce *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **unusual)
{
    Py_ssize_t operands = ((PyUFuncObject *)self->function)->nin, named = number_of(names);
    if (count == operands && !named)
        return ufunc_result(self->function, args, count);
    if (count + named == operands + 1 && (!named || (named == 1 && is_name(PyTuple_GET_ITEM(names, 0), str_out))))
        return written(self->function, args, operands, args[operands]);
    return NULL;
}

static PyObject *attempt_by_numbers(const FunctionAtOnce *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **unusual)
{
    return result_of_numbers(self->function, self->rules.bound, args, count, names);
}

/* A general function of one of NumPy gets its result, if there is an unusual one, a tuple of arguments and a dict of others. */
static PyObject *call_with_result(PyObject *general, PyObject *unusual, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *positional = PyTuple_New(count), *keywords = PyDict_New(), *result = NULL;
    int failed = positional == NULL || keywords == NULL;
    for (Py_ssize_t i = 0; !failed && i < count; i++)
        PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; !failed && i < number_of(names); i++)
        failed = PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), args[count + i]) < 0;
    if (!failed)
        result = PyObject_CallFunctionObjArgs(general, unusual == NULL ? Py_None : unusual, positional, keywords, NULL);
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    Py_XDECREF(unusual);
    return result;
}

static PyObject *call_function(PyObject *object, PyObject *const *args, size_t flagged, PyObject *names)
{
    const FunctionAtOnce *self = (FunctionAtOnce *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    PyObject *unusual = NULL, *result = self->attempt(self, args, count, names, &unusual);
    if (result != NULL || PyErr_Occurred())
        return result;
    if (self->attempt == attempt_by_numpy)
        return of_method(call_with_result(self->general, unusual, args, count, names));
    int is_of_array = self->attempt == attempt_by_numbers && count && Py_IS_TYPE(args[0], array_type);
    result = PyObject_Vectorcall(is_of_array ? self->given : self->general, args, flagged, names);
    return self->attempt == attempt_by_values ? result : of_method(result);
}

/* A new function; its rules are to be set. */
static FunctionAtOnce *new_function(Attempt attempt, PyObject *general, PyObject *function, PyObject *given)
{
    FunctionAtOnce *self = (FunctionAtOnce *)function_type->tp_alloc(function_type, 0);
    if (self != NULL) {
        self->function = Py_NewRef(function);
        self->general = Py_NewRef(general);
        self->given = Py_NewRef(given);
        self->attempt = attempt;
        self->vectorcall = call_function;
    }
    return self;
}

PyDoc_STRVAR(of_values_doc,
"of_values($module, general, function, positional, rules, /)\n--\n\n"
"Return a function that calls another one with the elements of small arrays, as ``call_with_values`` does, and the\n"
"general one for other calls.");

static PyObject *new_of_values(PyObject *module, PyObject *args)
{
    PyObject *general, *function, *positional, *tuple;
    Rules rules;
    if (!PyArg_ParseTuple(args, "OOOO", &general, &function, &positional, &tuple) || !read_rules(tuple, positional, &rules))
        return NULL;
    FunctionAtOnce *self = new_function(attempt_by_values, general, function, tuple);
    if (self != NULL)
        self->rules.of_values = rules;
    return (PyObject *)self;
}

PyDoc_STRVAR(of_numpy_doc,
"of_numpy($module, general, function, most, growth, may_be_view, elements, out, takes_masks, is_in_place, group, /)\n--\n\n"
"Return a function that calls one of NumPy with the elements of small arrays, as ``call`` does, or if it writes to an\n"
"argument with these; for other calls it calls ``general(result, arguments, keywords)``, with a result that is\n"
"large or otherwise unusual, or None. ``elements`` is how many elements arrays of the host may have together, ``out`` is\n"
"the position of an array for the result, and ``group`` makes a named tuple of results, or is None.");

static PyObject *new_of_numpy(PyObject *module, PyObject *args)
{
    PyObject *general, *function, *group;
    NumpyRules rules;
    if (!PyArg_ParseTuple(args, "OOdlpdnppO", &general, &function, &rules.bounds.most, &rules.bounds.growth,
                          &rules.bounds.may_be_view, &rules.bounds.elements, &rules.out, &rules.takes_masks,
                          &rules.is_in_place, &group))
        return NULL;
    rules.group = group;
    FunctionAtOnce *self = new_function(attempt_by_numpy, general, function, group);
    if (self != NULL)
        self->rules.of_numpy = rules;
    return (PyObject *)self;
}

PyDoc_STRVAR(of_ufunc_doc,
"of_ufunc($module, general, ufunc, /)\n--\n\n"
"Return a function that applies a ufunc of one result to small arrays, and calls the general one for other calls.");

static PyObject *new_of_ufunc(PyObject *module, PyObject *args)
{
    PyObject *general, *ufunc;
    if (!PyArg_ParseTuple(args, "OO!", &general, &PyUFunc_Type, &ufunc))
        return NULL;
    return (PyObject *)new_function(attempt_by_loop, general, ufunc, Py_None);
}

PyDoc_STRVAR(of_numbers_doc,
"of_numbers($module, general, of_arrays, function, bound, /)\n--\n\n"
"Return a function that calls one of NumPy to make a small array, or several, of numbers; ``of_arrays`` if the first\n"
"argument is an array of this package; and the general one for other calls. An array has at most as many elements as the\n"
"product of the numbers to the power ``bound``. If that is 0, the first argument is the data; if -1, the shape. If it is\n"
"-2, the first three are the ends and the step of a range; if -3, the ends and the number of elements.");

static PyObject *new_of_numbers(PyObject *module, PyObject *args)
{
    PyObject *general, *of_arrays, *function;
    long bound;
    if (!PyArg_ParseTuple(args, "OOOl", &general, &of_arrays, &function, &bound))
        return NULL;
    FunctionAtOnce *self = new_function(attempt_by_numbers, general, function, of_arrays);
    if (self != NULL)
        self->rules.bound = bound;
    return (PyObject *)self;
}

static int traverse_function(PyObject *object, visitproc visit, void *arg)
{
    FunctionAtOnce *self = (FunctionAtOnce *)object;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->attributes);
    Py_VISIT(self->function);
    Py_VISIT(self->general);
    Py_VISIT(self->given);
    return 0;
}

static int clear_function(PyObject *object)
{
    FunctionAtOnce *self = (FunctionAtOnce *)object;
    Py_CLEAR(self->attributes);
    Py_CLEAR(self->function);
    Py_CLEAR(self->general);
    Py_CLEAR(self->given);
    return 0;
}

static void dealloc_function(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (((FunctionAtOnce *)object)->references != NULL)
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
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionAtOnce, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionAtOnce, references), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionAtOnce, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots_of_function[] = {
    {Py_tp_doc, "A function of which calls with small arrays are computed at once, and others by a function in Python."},
    {Py_tp_dealloc, dealloc_function}, {Py_tp_traverse, traverse_function}, {Py_tp_clear, clear_function},
    {Py_tp_call, PyVectorcall_Call}, {Py_tp_descr_get, bound_function}, {Py_tp_repr, repr_of_function},
    {Py_tp_methods, methods_of_function}, {Py_tp_getset, properties_of_function}, {Py_tp_members, members_of_function},
    {0, NULL},
};

static PyType_Spec spec_of_function = {
    .name = "gpuarray.array._compiled.FunctionAtOnce",
    .basicsize = sizeof(FunctionAtOnce),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots_of_function,
};
