/* Ufuncs and functions of NumPy, called with the values of arrays. */

/* The values of the operands of a ufunc, borrowed; 0 if the method in Python is to be called. */
static int ufunc_operands(PyObject *ufunc, PyObject *const *inputs, Py_ssize_t count, PyObject **values, PyObject **device)
{
    PyObject *operation = PyDict_GetItemWithError(known_ufuncs, ufunc); /* some ufuncs have several operations */
    if (operation == NULL || !PyTuple_Check(operation) || PyTuple_GET_SIZE(operation) != 1 || count < 1 || count > 2)
        return 0;
    int second = (int)count - 1, is_reflected = Py_TYPE(inputs[0]) != array_type;
    if (is_reflected && (Py_TYPE(inputs[second]) != array_type || !is_scalar(inputs[0])))
        return 0;
    PyObject *array = inputs[is_reflected], *other = inputs[is_reflected ? 0 : second];
    return operands(array, other, &values[is_reflected], &values[!is_reflected], device);
}

/* Whether a function is a ufunc of vectors or matrices. */
static int is_generalised(PyObject *function) { return Py_IS_TYPE(function, &PyUFunc_Type) && ((PyUFuncObject *)function)->core_enabled; }

/* The result of a ufunc; NULL without an error if the method in Python is to be called. */
static PyObject *ufunc_result(PyObject *ufunc, PyObject *const *inputs, Py_ssize_t count)
{
    PyObject *values[2], *device, *result = NULL, *context;
    if (is_generalised(ufunc)) /* its size is that of its multiplications */
        return count == 2 ? small_product(ufunc, inputs[0], inputs[1]) : NULL;
    if (!ufunc_operands(ufunc, inputs, count, values, &device))
        return NULL;
    Py_INCREF(values[0]);
    Py_INCREF(values[1]);
    Py_INCREF(device);
    result = looped(ufunc, values, (int)count, NULL);
    if (result == NULL && (context = enter_quiet()) != NULL) {
        result = PyObject_Vectorcall(ufunc, values, count, NULL);
        leave_quiet(context, result == NULL);
    }
    result = counted_array(result, device);
    Py_DECREF(values[0]);
    Py_DECREF(values[1]);
    Py_DECREF(device);
    return result;
}

/* Whether the result of a ufunc could be written to the elements of an array, as a new reference to it; NULL without an error
   if the method in Python is to be called. Nothing else runs during a loop. */
static PyObject *written(PyObject *ufunc, PyObject *const *inputs, Py_ssize_t count, PyObject *target)
{
    int on_pinned;
    PyObject *values[2], *device, *device_of_target, *host;
    if (Py_TYPE(target) != array_type || !ufunc_operands(ufunc, inputs, count, values, &device) || limit_now(&on_pinned) <= 0)
        return NULL;
    host = value_of(target, on_pinned, &device_of_target);
    if (host == NULL || !PyArray_CheckExact(host) || device_of_target != device || !can_update(target, host))
        return NULL;
    if (may_fail_midway(ufunc, host))
        return NULL;
    PyObject *result = looped(ufunc, values, (int)count, host);
    operations += result != NULL;
    return result == NULL ? NULL : (Py_DECREF(result), Py_NewRef(target));
}

static PyObject *array_ufunc(PyObject *array, PyObject *args, PyObject *keywords)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args), named = keywords == NULL ? 0 : PyDict_GET_SIZE(keywords);
    if (count > 2 && named < 2 && Py_TYPE(array) == array_type) {
        PyObject *method = PyTuple_GET_ITEM(args, 1), *out = named ? PyDict_GetItemWithError(keywords, str_out) : NULL;
        PyObject *const *items = &PyTuple_GET_ITEM(args, 0), *result = NULL;
        if (PyUnicode_Check(method) && PyUnicode_Compare(method, str_call) == 0) {
            if (!named)
                result = ufunc_result(items[0], items + 2, count - 2);
            else if (out != NULL && PyTuple_Check(out) && PyTuple_GET_SIZE(out) == 1)
                result = written(items[0], items + 2, count - 2, PyTuple_GET_ITEM(out, 0));
        }
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    PyObject *bound = PyMethod_New(other_methods[ARRAY_UFUNC], array);
    PyObject *result = bound == NULL ? NULL : PyObject_Call(bound, args, keywords);
    Py_XDECREF(bound);
    return of_method(result);
}

/* Whether all types are those of arrays of this package and of NumPy. */
static int are_known_types(PyObject *types)
{
    if (!PyTuple_Check(types))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types); i++)
        if (PyTuple_GET_ITEM(types, i) != (PyObject *)array_type && PyTuple_GET_ITEM(types, i) != (PyObject *)&PyArray_Type)
            return 0;
    return 1;
}

/* A function of NumPy, whose implementation is called without a step in Python unless operations are recorded. */
static PyObject *array_function(PyObject *array, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    int on_pinned;
    if (count == 4 && names == NULL && Py_IS_TYPE(array, array_type) && are_known_types(args[1]) && PyTuple_Check(args[2]) &&
        PyDict_Check(args[3]) && limit_now(&on_pinned) > 0) {
        PyObject *function = PyDict_GetItemWithError(known_functions, args[0]);
        if (function != NULL || PyErr_Occurred())
            return function == NULL ? NULL : of_method(PyObject_Call(function, args[2], args[3]));
    }
    PyObject *bound = PyMethod_New(other_methods[ARRAY_FUNCTION], array);
    PyObject *result = bound == NULL ? NULL : PyObject_Vectorcall(bound, args, count, names);
    Py_XDECREF(bound);
    return of_method(result);
}

/* What is known of the arguments of a call: the settings, the device of the arrays, their number and that of their axes,
   the product and the sum of their sizes, the largest extent, the first one, and whether all have its shape; how often
   integers can repeat elements; and the most elements of arrays of the host. */
typedef struct {
    long limit;
    int on_pinned, count, axes, is_one_shape;
    npy_intp extent;
    PyObject *device, *first;
    double product, sum, multiple, most;
} Arguments;

/* What else than the product of sizes can show that a result is small, in any combination: that product, if there are
   several arrays; their shape, if it is the same; the size of the only array and the integers; that one of two factors is
   a vector and the other one a vector or a matrix; the integers alone; the largest extent of matrices; or that product,
   if it is no larger than an array that is computed at once. */
enum { PRODUCTS = 1, ELEMENTS = 2, MULTIPLES = 4, VECTORS = 8, INTEGERS = 16, MATRICES = 32, PAIRS = 64 };
/* The most elements of a result that has all products, or as many as integers tell, and the largest extent of matrices,
   whose products take 2^23 multiplications. */
static const double MOST_PRODUCTS = 1 << 20;
static const npy_intp MOST_ROWS = 203;

static int is_small_result(const Arguments *arguments, double most, long growth)
{
    double limit = (double)most_elements(arguments->device, arguments->limit);
    if (arguments->product <= most || (growth & ELEMENTS && arguments->is_one_shape))
        return 1;
    if (growth & VECTORS && arguments->count == 2 && arguments->axes <= 3)
        return 1;
    if (growth & MATRICES && arguments->extent <= MOST_ROWS && arguments->axes <= 2 * arguments->count)
        return 1;
    if (growth & MULTIPLES && arguments->count == 1)
        return arguments->product * arguments->multiple <= limit;
    if (growth & INTEGERS)
        return arguments->multiple <= MOST_PRODUCTS;
    return growth & ~MULTIPLES && arguments->count > 1 && arguments->product <= (growth & PRODUCTS ? MOST_PRODUCTS : limit);
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
    arguments->axes += PyArray_NDIM(array);
    for (int axis = 0; axis < PyArray_NDIM(array); axis++)
        arguments->extent = PyArray_MAX(arguments->extent, PyArray_DIM(array, axis));
    arguments->product *= (double)PyArray_SIZE(array);
    arguments->sum += (double)PyArray_SIZE(array);
    if (arguments->device == cpu && arguments->sum <= arguments->most)
        return 1;
    return arguments->sum <= (double)most_elements(arguments->device, arguments->limit);
}

/* How deep lists among the arguments are nested: a list may contain itself. */
enum { MOST_NESTED = 8 };

/* What NumPy gets in place of an argument, as a new reference; NULL without an error if the call is not plain. */
static PyObject *numpy_argument(PyObject *argument, Arguments *arguments, int depth)
{
    PyTypeObject *type = Py_TYPE(argument);
    if (type == array_type) {
        PyObject *device, *value = value_of(argument, arguments->on_pinned, &device);
        if (value == NULL && arguments->most > 0)
            value = large_value_of(argument, &device);
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
    if ((type != &PyTuple_Type && type != &PyList_Type) || depth == MOST_NESTED)
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(argument);
    PyObject *items = type == &PyTuple_Type ? PyTuple_New(count) : PyList_New(count);
    for (Py_ssize_t i = 0; items != NULL && i < count; i++) {
        PyObject *item = numpy_argument(PySequence_Fast_GET_ITEM(argument, i), arguments, depth + 1);
        if (item == NULL)
            Py_CLEAR(items);
        else if (type == &PyTuple_Type)
            PyTuple_SET_ITEM(items, i, item);
        else
            PyList_SET_ITEM(items, i, item);
    }
    return items;
}

/* An array of NumPy with memory of its own in place of a view, which is consumed: without a copy if the view, of which
   there are `holders` references, is all of an array to which nothing else refers. If axes are permuted it stays a view. */
static PyObject *in_own_memory(PyObject *view, Py_ssize_t holders)
{
    PyArrayObject *array = (PyArrayObject *)view, *base = (PyArrayObject *)PyArray_BASE(array);
    PyObject *result;
    if (Py_REFCNT(view) == holders && !PyArray_ISCARRAY(array) && is_of_own_memory(array))
        return view;
    if (PyArray_CheckExact((PyObject *)base) && Py_REFCNT(base) == 1 && Py_REFCNT(view) == holders && PyArray_ISCARRAY(array) &&
        PyArray_ISCARRAY(base) && PyArray_CHKFLAGS(base, NPY_ARRAY_OWNDATA) && PyArray_DESCR(array) == PyArray_DESCR(base) &&
        PyArray_NBYTES(array) == PyArray_NBYTES(base)) {
        PyArray_Dims shape = {PyArray_DIMS(array), PyArray_NDIM(array)};
        PyObject *done = PyArray_Resize(base, &shape, 0, NPY_CORDER);
        result = done == NULL ? NULL : Py_NewRef((PyObject *)base);
        Py_XDECREF(done);
    }
    else
        result = PyArray_NewCopy(array, NPY_KEEPORDER);
    Py_DECREF(view);
    return result;
}

/* The arguments of a call, by position and by name. */
typedef struct {
    PyObject *const *items;
    Py_ssize_t count;
} Inputs;

static PyObject *results_of(PyObject *values, PyObject *device, long limit, const Inputs *inputs, int may_be_view);

/* The array among the arguments whose elements a result is, or a view of its memory; the result is consumed. NULL without
   an error if the method in Python is to be called. */
static PyObject *view_of_argument(const Inputs *inputs, PyObject *result, long limit)
{
    PyObject *view = NULL;
    int is_small = PyArray_SIZE((PyArrayObject *)result) <= limit; /* as a broadcast may not be */
    for (Py_ssize_t i = 0; is_small && view == NULL && i < inputs->count; i++) {
        PyObject *array = inputs->items[i], *memory, *host = host_elements(array, &memory);
        if (host == NULL && PyErr_Occurred())
            break;
        if (host == result) /* there was nothing to do */
            view = Py_NewRef(array);
        else if (host != NULL && PyArray_BASE((PyArrayObject *)result) == memory) {
            view = new_view(array, Py_NewRef(result), memory, Py_None, Py_None);
            if (view != NULL && !PyArray_ISWRITEABLE((PyArrayObject *)result)) /* as NumPy's broadcasts and diagonals */
                Py_SETREF(AT(view, of_array.made_access), PyLong_FromLong(0));
        }
    }
    Py_DECREF(result);
    return view;
}

/* What a call returns for a result of NumPy, which is consumed; NULL without an error if it is unusual. It may be one of
   the arguments `inputs`, if that is not NULL, or a view of one; `holders` is how many references to a new array there
   are. */
static PyObject *array_of_result(PyObject *value, PyObject *device, long limit, const Inputs *inputs, int may_be_view, Py_ssize_t holders)
{
    if (PyBool_Check(value))
        return value;
    if (PyTuple_Check(value) || PyList_CheckExact(value))
        return results_of(value, device, limit, inputs, may_be_view);
    if (!PyArray_CheckExact(value))
        return new_array_of(value, device, holders);
    PyArrayObject *array = (PyArrayObject *)value;
    if (inputs != NULL && (PyArray_BASE(array) != NULL ? may_be_view : Py_REFCNT(value) > holders))
        return view_of_argument(inputs, value, limit);
    if (PyArray_SIZE(array) > most_elements(device, limit) || !PyArray_ISWRITEABLE(array) || Py_REFCNT(value) > holders ||
        !is_canonical((PyObject *)PyArray_DESCR(array))) {
        Py_DECREF(value);
        return NULL;
    }
    if (PyArray_BASE(array) != NULL && (value = in_own_memory(value, holders)) == NULL) /* of memory that others may have */
        return NULL;
    return new_array_of(value, device, holders);
}

/* Several results, which are consumed, in a list or a tuple of the same type; NULL without an error if one is unusual. */
static PyObject *results_of(PyObject *values, PyObject *device, long limit, const Inputs *inputs, int may_be_view)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(values);
    PyObject *results = PyTuple_New(count);
    for (Py_ssize_t i = 0; results != NULL && i < count; i++) {
        PyObject *value = PySequence_Fast_GET_ITEM(values, i), *item;
        Py_ssize_t before = 0, holders = 2; /* the same array may be there several times, as in diag_indices */
        while (before < i && PySequence_Fast_GET_ITEM(values, before) != value)
            before++;
        for (Py_ssize_t j = i + 1; before == i && j < count; j++)
            holders += PySequence_Fast_GET_ITEM(values, j) == value;
        item = before < i ? Py_NewRef(PyTuple_GET_ITEM(results, before))
                          : array_of_result(Py_NewRef(value), device, limit, inputs, may_be_view, holders);
        if (item == NULL)
            Py_CLEAR(results);
        else
            PyTuple_SET_ITEM(results, i, item);
    }
    if (results != NULL && PyList_CheckExact(values))
        Py_SETREF(results, PySequence_List(results));
    else if (results != NULL && !PyTuple_CheckExact(values)) /* a named tuple */
        Py_SETREF(results, PyObject_Call((PyObject *)Py_TYPE(values), results, NULL));
    Py_DECREF(values);
    return results;
}

PyDoc_STRVAR(apply_doc, "apply($module, op, /, *values)\n--\n\nApply an elementwise operation to arrays and scalars.");

static PyObject *apply_operation(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    for (Py_ssize_t i = 1; i < count && count <= 3; i++)
        if (Py_IS_TYPE(args[i], array_type)) {
            PyObject *ufunc = PyObject_GetAttr(args[0], str_numpy), *result = NULL;
            if (ufunc != NULL && Py_IS_TYPE(ufunc, &PyUFunc_Type))
                result = ufunc_result(ufunc, args + 1, count - 1);
            Py_XDECREF(ufunc);
            if (result != NULL || PyErr_Occurred())
                return result;
            break;
        }
    return of_method(PyObject_Vectorcall(other_methods[APPLY], args, count, NULL));
}

/* The calls that are made here have at most so many arguments. */
enum { MOST_ARGUMENTS = 16 };

/* The names of arguments, and their number. */
static Py_ssize_t number_of(PyObject *names) { return names == NULL ? 0 : PyTuple_GET_SIZE(names); }

static int is_name(PyObject *name, PyObject *text) { return name == text || PyUnicode_Compare(name, text) == 0; }

static void release(PyObject **values, Py_ssize_t count)
{
    while (count > 0)
        Py_DECREF(values[--count]);
}

/* What NumPy gets in place of the arguments of a call, as new references; 0 if the call is not plain. */
static int numpy_arguments(PyObject *const *args, Py_ssize_t total, Arguments *arguments, PyObject **values)
{
    for (Py_ssize_t known = 0; known < total; known++)
        if ((values[known] = numpy_argument(args[known], arguments, 0)) == NULL) {
            release(values, known);
            return 0;
        }
    return 1;
}

/* Call a function of NumPy that writes to one of its arguments, a small array; return whether the call is a plain one, -1 with
   an error. */
static int changed_by_numpy(PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names, Py_ssize_t target)
{
    PyObject *values[MOST_ARGUMENTS], *done = NULL, *memory, *lock, *context;
    Py_ssize_t total = count + number_of(names);
    Arguments arguments = {.is_one_shape = 1, .product = 1, .multiple = 1};
    arguments.limit = limit_now(&arguments.on_pinned);
    int is_left = 1;
    if (arguments.limit <= 0 || target >= total || total > MOST_ARGUMENTS || host_elements(args[target], &memory) == NULL ||
        !numpy_arguments(args, total, &arguments, values))
        return PyErr_Occurred() ? -1 : 0;
    if (arguments.product > 0 && (lock = lock_of_cells()) != NULL) {
        if (values[target] == AT(args[target], of_array.host) && can_update(args[target], values[target]) &&
            (context = enter_quiet()) != NULL) {
            done = PyObject_Vectorcall(function, values, count, names);
            is_left = leave_quiet(context, done == NULL);
        }
        is_left &= unlock(lock) == 0;
    }
    int is_done = done != NULL;
    operations += is_done;
    release(values, total);
    Py_XDECREF(done);
    return !is_left || PyErr_Occurred() ? -1 : is_done;
}

/* What bounds the results of a function of NumPy (see `call`), whether they may share memory with an argument, and how many
   elements arrays of the host may have together. */
typedef struct {
    double most;
    long growth;
    int may_be_view;
    double elements;
} Bounds;

/* The result of a function of NumPy that is called with the elements of small arrays; NULL without an error if the call is not
   plain. A result that is large or otherwise unusual is put into `unusual`. */
static PyObject *result_by_numpy(PyObject *function, const Bounds *bounds, PyObject *const *args, Py_ssize_t count, PyObject *names,
                                 PyObject **unusual)
{
    PyObject *values[MOST_ARGUMENTS], *result = NULL, *context;
    Py_ssize_t total = count + number_of(names);
    Arguments arguments = {.is_one_shape = 1, .product = 1, .multiple = 1, .most = bounds->elements};
    arguments.limit = limit_now(&arguments.on_pinned);
    /* a product has no bound by the sizes of its operands, but by its multiplications */
    if (is_generalised(function) && count == 2 && total == 2) {
        result = small_product(function, args[0], args[1]);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    if (arguments.limit <= 0 || total > MOST_ARGUMENTS || !numpy_arguments(args, total, &arguments, values))
        return NULL;
    PyObject *device = arguments.device;
    if (device != NULL && arguments.product > 0 && is_small_result(&arguments, bounds->most, bounds->growth)) {
        Inputs inputs = {args, total};
        Py_INCREF(device);
        if ((context = enter_quiet()) != NULL) {
            result = PyObject_Vectorcall(function, values, count, names);
            leave_quiet(context, result == NULL);
        }
        PyObject *kept = result != NULL && PyArray_CheckExact(result) ? Py_NewRef(result) : NULL;
        if (result != NULL)
            result = array_of_result(result, device, arguments.limit, &inputs, bounds->may_be_view, 1 + (kept != NULL));
        operations += result != NULL;
        if (result == NULL && !PyErr_Occurred())
            *unusual = kept;
        else
            Py_XDECREF(kept);
        Py_DECREF(device);
    }
    release(values, total);
    return result;
}

/* The items of a tuple and the values of a dict, borrowed, of which there are at most so many, and the names of the dict as a
   new reference, or NULL if it is empty; 0 with or without an error if that cannot be. */
static int unpack(PyObject *positional, PyObject *keywords, PyObject **items, PyObject **names)
{
    PyObject *name, *argument;
    Py_ssize_t count = PyTuple_GET_SIZE(positional), named = PyDict_GET_SIZE(keywords), position = 0;
    *names = NULL;
    if (count + named > MOST_ARGUMENTS || (named && (*names = PyTuple_New(named)) == NULL))
        return 0;
    for (Py_ssize_t number = 0; number < count; number++)
        items[number] = PyTuple_GET_ITEM(positional, number);
    for (Py_ssize_t number = 0; PyDict_Next(keywords, &position, &name, &argument); number++) {
        items[count + number] = argument;
        PyTuple_SET_ITEM(*names, number, Py_NewRef(name));
    }
    return 1;
}

PyDoc_STRVAR(call_doc,
"call($module, function, arguments, keywords, most, growth, may_be_view, /)\n--\n\n"
"Return the result of a function of NumPy, called with the elements of small arrays; None if the call is not plain.\n\n"
"The product of the sizes of arrays is at most the fourth argument, or the result is small because it has at most: the\n"
"product of the sizes of several arrays (growth is 1), the shape of all arrays (2), the size of an array times the\n"
"integers (4), the size of a factor whose other one is a vector (8), as many as the integers say (16), the square of the\n"
"largest extent (32), or the least of several of these (their sum). The last argument tells whether a result that shares\n"
"memory with an array is a view of it. An array that is large or otherwise unusual is returned as it is.");

static PyObject *call(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 6 || !PyTuple_Check(args[1]) || !PyDict_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "call takes a function, a tuple, a dict, two numbers and a bool");
    Bounds bounds = {PyFloat_AsDouble(args[3]), PyLong_AsLong(args[4]), args[5] == Py_True};
    PyObject *items[MOST_ARGUMENTS], *names, *result = NULL, *unusual = NULL;
    if (!PyErr_Occurred() && unpack(args[1], args[2], items, &names)) {
        result = result_by_numpy(args[0], &bounds, items, PyTuple_GET_SIZE(args[1]), names, &unusual);
        Py_XDECREF(names);
    }
    return result_or_none(result == NULL ? unusual : result);
}
