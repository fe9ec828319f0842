/* Reads and writes by keys, and views that methods return. */

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
        int item_kind = kind_of_item(PyTuple_GET_ITEM(key, i));
        if (item_kind < kind)
            kind = item_kind;
    }
    return kind;
}

/* The number of an integer, be it a number or an array of a device; 0 if it is something else. */
static int as_position(PyObject *item, PyObject *device, npy_int64 *position)
{
    int type;
    if (Py_IS_TYPE(item, array_type)) {
        if (!is_set(AT(item, of_array.value)) || AT(item, of_array.device) != device)
            return 0;
        item = AT(item, of_array.value);
    }
    return as_integer(item, position, &type);
}

/* A list of integers and booleans, or of such lists, with the elements of arrays; NULL without an error if it has anything else. */
static PyObject *list_of_positions(PyObject *list, PyObject *device, int depth)
{
    PyObject *items = depth == MOST_NESTED ? NULL : PyList_New(PyList_GET_SIZE(list));
    npy_int64 position;
    for (Py_ssize_t i = 0; items != NULL && i < PyList_GET_SIZE(list); i++) {
        PyObject *item = PyList_GET_ITEM(list, i);
        if (PyList_CheckExact(item))
            item = list_of_positions(item, device, depth + 1);
        else if (PyBool_Check(item))
            Py_INCREF(item);
        else
            item = as_position(item, device, &position) ? PyLong_FromLongLong(position) : NULL;
        if (item == NULL)
            Py_CLEAR(items);
        else
            PyList_SET_ITEM(items, i, item);
    }
    return items;
}

/* An unusual key as NumPy takes it, with the elements of arrays of integers and booleans; NULL without an error if it
   has anything else. */
static PyObject *advanced_key(PyObject *key, PyObject *device, npy_intp most, int on_pinned)
{
    PyObject *device_of_key, *value = key;
    if (PyTuple_CheckExact(key)) {
        PyObject *items = PyTuple_New(PyTuple_GET_SIZE(key));
        for (Py_ssize_t i = 0; items != NULL && i < PyTuple_GET_SIZE(key); i++) {
            PyObject *item = PyTuple_GET_ITEM(key, i);
            item = kind_of_item(item) != NOT_BASIC ? Py_NewRef(item) : advanced_key(item, device, most, on_pinned);
            if (item == NULL)
                Py_CLEAR(items);
            else
                PyTuple_SET_ITEM(items, i, item);
        }
        return items;
    }
    if (PyList_CheckExact(key))
        return list_of_positions(key, device, 0);
    if (PyBool_Check(key))
        return Py_NewRef(key);
    if (Py_IS_TYPE(key, array_type) && ((value = value_of(key, on_pinned, &device_of_key)) == NULL || device_of_key != device))
        return NULL;
    if (PyArray_IsScalar(value, Integer) && !PyArray_IsScalar(value, Timedelta))
        return PyNumber_Index(value);
    if (!PyArray_CheckExact(value) || PyArray_NDIM((PyArrayObject *)value) < 1 || PyArray_SIZE((PyArrayObject *)value) > most)
        return NULL;
    return PyArray_ISINTEGER((PyArrayObject *)value) || PyArray_ISBOOL((PyArrayObject *)value) ? Py_NewRef(value) : NULL;
}

/* How many elements a key of NumPy selects at most. Arrays of one shape are read side by side. */
static double most_selected(PyArrayObject *host, PyObject *key)
{
    int is_tuple = PyTuple_CheckExact(key), axis = 0, ndim = PyArray_NDIM(host), is_known = 1;
    double positions = 1, rest = 1; /* elements of each other axis */
    PyArrayObject *first = NULL;
    for (Py_ssize_t i = 0; i < (is_tuple ? PyTuple_GET_SIZE(key) : 1); i++, axis++) {
        PyObject *item = is_tuple ? PyTuple_GET_ITEM(key, i) : key;
        for (; PyList_CheckExact(item) && PyList_GET_SIZE(item); item = PyList_GET_ITEM(item, 0))
            positions *= (double)PyList_GET_SIZE(item);
        PyArrayObject *array = PyArray_Check(item) ? (PyArrayObject *)item : NULL;
        is_known &= axis < ndim && (array == NULL ? PyLong_CheckExact(item) || PySlice_Check(item) : PyArray_ISINTEGER(array));
        if (PySlice_Check(item) && is_known)
            rest *= (double)PyArray_DIM(host, axis);
        if (array != NULL && PyArray_ISINTEGER(array)) {
            positions *= first == NULL || !PyArray_SAMESHAPE(array, first) ? (double)PyArray_SIZE(array) : 1;
            first = array;
        }
    }
    for (; axis < ndim; axis++)
        rest *= (double)PyArray_DIM(host, axis);
    return positions * (is_known ? rest : ndim > 1 ? (double)PyArray_SIZE(host) : 1);
}

/* A key as NumPy takes it, as a new reference; NULL without an error if the method in Python is to be called. */
static PyObject *numpy_key(PyObject *key, PyObject *host, PyObject *device, long limit, int on_pinned)
{
    if (kind_of_key(key) != NOT_BASIC)
        return Py_NewRef(key);
    npy_intp most = most_elements(device, limit), elements = PyArray_SIZE((PyArrayObject *)host);
    if (elements > most || !(on_pinned || device == cpu || device == automatic))
        return NULL;
    PyObject *new_key = advanced_key(key, device, most, on_pinned);
    if (new_key != NULL && most_selected((PyArrayObject *)host, new_key) > MOST_SELECTED)
        Py_CLEAR(new_key);
    return new_key;
}

/* Move to the item that an integer selects along an axis; 0 if it is no integer, or if there is no such item. */
static int move_to(char **element, PyArrayObject *host, int axis, PyObject *item, PyObject *device)
{
    npy_int64 position;
    npy_intp extent = PyArray_DIM(host, axis);
    if (!as_position(item, device, &position))
        return 0;
    if (position < 0)
        position += extent;
    if (position < 0 || position >= extent)
        return 0;
    *element += position * PyArray_STRIDE(host, axis);
    return 1;
}

/* Where the element is that integers select, one for each axis; NULL if a key is another one. */
static char *element_at(PyArrayObject *host, PyObject *key, PyObject *device)
{
    int is_tuple = PyTuple_CheckExact(key), ndim = PyArray_NDIM(host);
    char *element = PyArray_DATA(host);
    if (ndim != (is_tuple ? PyTuple_GET_SIZE(key) : 1) || !PyArray_ISBEHAVED_RO(host))
        return NULL;
    for (int axis = 0; axis < ndim; axis++)
        if (!move_to(&element, host, axis, is_tuple ? PyTuple_GET_ITEM(key, axis) : key, device))
            return NULL;
    return element;
}

/* The element as a scalar of NumPy. */
static PyObject *read_element(char *element, PyArrayObject *host)
{
#define ELEMENT_OF(scalar, dtype, name) \
    case NPY_##dtype: return new_integer(NPY_##dtype, *(npy_##name *)element);
    switch (PyArray_TYPE(host)) {
    FOR_EACH_INTEGER(ELEMENT_OF)
    case NPY_DOUBLE: return new_double(*(double *)element);
    default: return PyArray_ToScalar(element, host);
    }
}

/* Write a number in place of an element; 0 if NumPy is to convert it. Nothing else runs meanwhile, so that the global lock
   of the interpreter takes the place of the lock of cells. */
static int write_element(char *element, PyArrayObject *host, PyObject *value)
{
    int type = PyArray_TYPE(host), type_of_value;
    npy_int64 number;
    if (type == NPY_DOUBLE && as_double(value, (double *)element))
        return 1;
    if (!as_integer(value, &number, &type_of_value))
        return 0;
    if (type == NPY_DOUBLE)
        *(double *)element = (double)number;
    else if (has_number(type, number))
        write_integer(element, type, number);
    else
        return 0;
    return 1;
}

/* The part of an array that a key selects; NULL without an error if the method in Python is to be called. */
static PyObject *item_at(PyObject *array, PyObject *key)
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
        if ((memory = memory_of(array)) == NULL)
            return NULL;
        host = AT(array, of_array.host);
        device = AT(AT(array, of_array.made_cell), of_cell.device);
    }
    if (!PyArray_CheckExact(host))
        return NULL;
    char *element = element_at((PyArrayObject *)host, key, device);
    if (element != NULL) {
        PyObject *number = read_element(element, (PyArrayObject *)host);
        return number == NULL ? NULL : new_array_of(number, device, 1);
    }
    PyObject *index = numpy_key(key, host, device, limit, on_pinned);
    if (index == NULL)
        return NULL;
    Py_INCREF(host);
    Py_INCREF(memory);
    Py_INCREF(device);
    PyObject *item = PyObject_GetItem(host, index), *result = NULL;
    if (item == NULL) {
        if (PyErr_ExceptionMatches(PyExc_Exception))
            PyErr_Clear();
    }
    else if (!PyArray_Check(item))
        result = new_array_of(item, device, 1);
    else if (PyArray_CheckExact(item) && PyArray_BASE((PyArrayObject *)item) == memory &&
             PyArray_SIZE((PyArrayObject *)item) <= limit && (!is_set(value) || complete(array) == 0) &&
             AT(array, of_array.made_part) == Py_None)
        result = new_view(array, item, memory, host, key);
    else if (kind_of_key(key) == NOT_BASIC && PyArray_CheckExact(item) && PyArray_BASE((PyArrayObject *)item) != memory)
        result = array_of_result(item, device, limit, NULL, 0, 1);
    else
        Py_DECREF(item);
    Py_DECREF(index);
    Py_DECREF(host);
    Py_DECREF(memory);
    Py_DECREF(device);
    return result;
}

static PyObject *subscript(PyObject *array, PyObject *key)
{
    if (Py_TYPE(array) == array_type) {
        PyObject *result = item_at(array, key);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    return of_method(PyObject_CallFunctionObjArgs(other_methods[GETITEM], array, key, NULL));
}

/* A view that NumPy made of these elements, which is consumed; NULL without an error if it is none of the memory. */
static PyObject *view_in_memory(PyObject *array, PyObject *view, PyObject *memory)
{
    if (view == NULL) {
        if (PyErr_ExceptionMatches(PyExc_Exception))
            PyErr_Clear();
        return NULL;
    }
    if (PyArray_CheckExact(view) && PyArray_BASE((PyArrayObject *)view) == memory)
        return new_view(array, view, memory, Py_None, Py_None);
    Py_DECREF(view);
    return NULL;
}

/* The properties in Python for the views with reversed axes, and with the last two exchanged. */
static PyObject *transposes[2];

/* The view of one of these properties. */
static PyObject *transposed(PyObject *array, void *property)
{
    PyObject *memory, *host = host_elements(array, &memory), *result = NULL;
    npy_intp order[NPY_MAXDIMS];
    PyArray_Dims axes = {order, host == NULL ? 0 : PyArray_NDIM((PyArrayObject *)host)};
    int is_of_matrices = property == &transposes[1];
    if (host != NULL && (!is_of_matrices || axes.len > 1)) {
        for (int axis = 0; axis < axes.len; axis++)
            order[axis] = is_of_matrices ? axis : axes.len - 1 - axis;
        if (is_of_matrices) {
            order[axes.len - 2] = axes.len - 1;
            order[axes.len - 1] = axes.len - 2;
        }
        Py_INCREF(memory);
        result = view_in_memory(array, PyArray_Transpose((PyArrayObject *)host, &axes), memory);
        Py_DECREF(memory);
    }
    if (result != NULL || PyErr_Occurred())
        return result;
    PyObject *general = *(PyObject **)property;
    return of_method(Py_TYPE(general)->tp_descr_get(general, array, (PyObject *)Py_TYPE(array)));
}

PyDoc_STRVAR(view_doc,
"view($module, array, name, arguments, /)\n--\n\n"
"Return the view of a small array that a method of NumPy returns; None if that is to be found in another way.");

static PyObject *view(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *memory, *host, *result = NULL;
    if (count != 3 || !PyTuple_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "view takes an array, a name and a tuple");
    if ((host = host_elements(args[0], &memory)) != NULL) {
        Py_INCREF(memory);
        PyObject *method = PyObject_GetAttr(host, args[1]);
        PyObject *view = method == NULL ? NULL : PyObject_CallObject(method, args[2]);
        Py_XDECREF(method);
        result = view_in_memory(args[0], view, memory);
        Py_DECREF(memory);
    }
    return result_or_none(result);
}

/* Whether NumPy would discard imaginary parts in an assignment. */
static int loses_imaginary(PyObject *value, PyObject *host)
{
    int is_complex = PyArray_CheckExact(value) ? PyArray_ISCOMPLEX((PyArrayObject *)value)
                                               : PyArray_IsScalar(value, ComplexFloating);
    PyArrayObject *target = (PyArrayObject *)host;
    return is_complex && !PyArray_ISCOMPLEX(target) && !PyArray_ISBOOL(target);
}

/* Whether the part of a large array that a basic key selects has few elements. */
static int is_small_part(PyObject *host, PyObject *key, PyObject *index, long limit)
{
    PyObject *part = kind_of_key(key) == NOT_BASIC ? NULL : PyObject_GetItem(host, index);
    if (part == NULL && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception))
        PyErr_Clear();
    int is_small = part != NULL && PyArray_CheckExact(part) && PyArray_SIZE((PyArrayObject *)part) <= limit;
    Py_XDECREF(part);
    return is_small;
}

/* Write to the part that a key selects; 1 if the method in Python is to be called, -1 with an error. */
static int assign(PyObject *array, PyObject *key, PyObject *value)
{
    int on_pinned = 0;
    long limit = limit_now(&on_pinned);
    if (limit <= 0 || (is_set(AT(array, of_array.value)) && complete(array) < 0))
        return PyErr_Occurred() ? -1 : 1;
    PyObject *access = AT(array, of_array.made_access), *cell = AT(array, of_array.made_cell);
    PyObject *memory = memory_of(array), *host = AT(array, of_array.host), *device = NULL;
    if (memory == NULL || !is_own(cell) || access == NULL || PyLong_AsLong(access) == 0 || !PyArray_CheckExact(host))
        return 1;
    PyObject *elements = value;
    if (!is_scalar(value)) {
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
    char *element = element_at((PyArrayObject *)host, key, AT(cell, of_cell.device));
    if (element != NULL && write_element(element, (PyArrayObject *)host, elements))
        return 0;
    PyObject *index = numpy_key(key, host, AT(cell, of_cell.device), limit, on_pinned);
    if (index == NULL)
        return PyErr_Occurred() ? -1 : 1;
    if (memory != AT(array, of_array.memory) && element == NULL && !is_small_part(host, key, index, limit)) {
        Py_DECREF(index);
        return PyErr_Occurred() ? -1 : 1;
    }
    Py_INCREF(host);
    Py_INCREF(elements);
    PyObject *lock = lock_of_cells(), *context;
    int is_left = 1, is_done = 0;
    if (lock == NULL)
        is_left = 0;
    else {
        if (memory_of(array) != NULL && is_own(cell) && AT(array, of_array.host) == host &&
            (context = enter_quiet()) != NULL) {
            is_done = PyObject_SetItem(host, index, elements) == 0;
            is_left = leave_quiet(context, !is_done);
        }
        if (unlock(lock) < 0)
            is_left = 0;
    }
    Py_DECREF(index);
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
    Py_XDECREF(of_method(done));
    return done == NULL ? -1 : 0;
}
