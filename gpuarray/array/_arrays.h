/* Arrays of this package: their values as NumPy has them, and new arrays of values and of views. */

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

/* Whether a dtype is one of the objects of this package: NumPy has several that are equal. */
static int is_canonical(PyObject *dtype)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dtypes); i++)
        if (PyTuple_GET_ITEM(dtypes, i) == dtype)
            return 1;
    return 0;
}

/* The most elements of the arrays of a device with which operations are computed here. */
static npy_intp most_elements(PyObject *device, long limit)
{
    return device == cpu || limit < MOST_ELEMENTS || midsize < MOST_MIDSIZE ? limit : MOST_ELEMENTS;
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

/* The axes of an array in the order of its memory; 0 if other elements lie between its own. */
static int axes_in_order(PyArrayObject *array, npy_intp *axes)
{
    npy_stride_sort_item sorted[NPY_MAXDIMS];
    npy_intp step = PyArray_ITEMSIZE(array);
    PyArray_CreateSortedStridePerm(PyArray_NDIM(array), PyArray_STRIDES(array), sorted);
    for (int i = PyArray_NDIM(array) - 1; i >= 0; i--) {
        axes[i] = sorted[i].perm;
        if (PyArray_DIM(array, axes[i]) != 1 && PyArray_STRIDE(array, axes[i]) != step)
            return 0;
        step *= PyArray_DIM(array, axes[i]);
    }
    return 1;
}

/* Whether a view shows, with permuted axes, all of an array to which nothing else refers. */
static int is_of_own_memory(PyArrayObject *view)
{
    npy_intp axes[NPY_MAXDIMS];
    PyArrayObject *base = (PyArrayObject *)PyArray_BASE(view);
    return base != NULL && PyArray_CheckExact((PyObject *)base) && Py_REFCNT(base) == 1 && PyArray_ISCARRAY(base) &&
           PyArray_CHKFLAGS(base, NPY_ARRAY_OWNDATA) && PyArray_DESCR(view) == PyArray_DESCR(base) &&
           PyArray_NBYTES(view) == PyArray_NBYTES(base) && PyArray_ISBEHAVED(view) && axes_in_order(view, axes);
}

/* Give an array of memory of its own, and of nothing else, its axes in the order of this memory; return the view with the
   axes as they were. */
static PyObject *straightened(PyArrayObject *array, npy_intp *axes)
{
    int ndim = PyArray_NDIM(array);
    npy_intp shape[NPY_MAXDIMS], places[NPY_MAXDIMS], step = PyArray_ITEMSIZE(array);
    PyArray_Dims order = {places, ndim};
    memcpy(shape, PyArray_DIMS(array), ndim * sizeof(npy_intp));
    for (int i = ndim - 1; i >= 0; i--) {
        places[axes[i]] = i;
        PyArray_DIMS(array)[i] = shape[axes[i]];
        PyArray_STRIDES(array)[i] = step;
        step *= shape[axes[i]];
    }
    PyArray_UpdateFlags(array, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED);
    return PyArray_Transpose(array, &order);
}

static int complete(PyObject *array);

/* An array of a result that is not in C order, which is consumed, in the order of its memory; `holders` is how many
   references to it there are if it is new. */
static PyObject *array_in_order(PyArrayObject *value, PyObject *device, Py_ssize_t holders)
{
    npy_intp axes[NPY_MAXDIMS];
    PyObject *memory = NULL, *view, *result, *shape;
    if (is_of_own_memory(value)) {
        memory = Py_NewRef(PyArray_BASE(value));
        view = (PyObject *)value;
    }
    else {
        if (PyArray_BASE(value) != NULL || Py_REFCNT(value) > holders || !axes_in_order(value, axes)) {
            Py_SETREF(value, (PyArrayObject *)PyArray_NewCopy(value, NPY_KEEPORDER));
            if (value == NULL)
                return NULL;
        }
        memory = (PyObject *)value;
        axes_in_order(value, axes);
        if ((view = straightened(value, axes)) == NULL) {
            Py_DECREF(memory);
            return NULL;
        }
    }
    result = new_array();
    shape = shape_of(view);
    if (result != NULL && shape != NULL) {
        AT(result, of_array.value) = memory;
        AT(result, of_array.device) = Py_NewRef(device);
        memory = NULL;
        if (complete(result) == 0) {
            Py_SETREF(AT(result, of_array.host), Py_NewRef(view));
            Py_SETREF(AT(result, of_array.made_shape), Py_NewRef(shape));
            Py_CLEAR(AT(result, of_array.made_layout));
        }
        else
            Py_CLEAR(result);
    }
    else
        Py_CLEAR(result);
    Py_XDECREF(memory);
    Py_DECREF(view);
    Py_XDECREF(shape);
    return result;
}

static int is_large(PyObject *item)
{
    return PyArray_CheckExact(item) && PyArray_NBYTES((PyArrayObject *)item) >= LARGE;
}

/* The frame of the caller and the offset of its instruction, as a tuple; NULL without an error if there is no caller. */
static PyObject *present_instruction(PyFrameObject *frame)
{
    return frame == NULL ? NULL : Py_BuildValue("Ni", PyLong_FromVoidPtr(frame), PyFrame_GetLasti(frame));
}

/* An array of a result, which is consumed; NULL without an error if it is to be made in Python. A large one notes the
   instruction that has made it. There are `holders` references to a new one. */
static PyObject *new_array_of(PyObject *value, PyObject *device, Py_ssize_t holders)
{
    if (PyArray_CheckExact(value)) {
        PyArrayObject *array = (PyArrayObject *)value;
        if (device != cpu && PyArray_SIZE(array) > MOST_ELEMENTS)
            midsize += PyArray_SIZE(array) - MOST_ELEMENTS;
        if (PyArray_NDIM(array) > 1 && !PyArray_IS_C_CONTIGUOUS(array))
            return array_in_order(array, device, holders);
    }
    else if (!PyArray_IsScalar(value, Generic)) {
        Py_DECREF(value);
        return NULL;
    }
    PyObject *result = new_array();
    if (result == NULL) {
        Py_DECREF(value);
        return NULL;
    }
    AT(result, of_array.value) = value;
    AT(result, of_array.device) = Py_NewRef(device);
    if (is_large(value) && (AT(result, of_array.maker) = present_instruction(PyEval_GetFrame())) == NULL && PyErr_Occurred())
        Py_CLEAR(result);
    return result;
}

/* An array of the result of an operation, which is consumed and may be NULL. */
static PyObject *counted_array(PyObject *value, PyObject *device)
{
    PyObject *result = value == NULL ? NULL : new_array_of(value, device, 1);
    operations += result != NULL;
    return result;
}

/* A view of the memory of an array's cell, which is `source[key]`; the view of NumPy is consumed. */
static PyObject *new_view(PyObject *array, PyObject *view, PyObject *memory, PyObject *source, PyObject *key)
{
    PyObject *access = AT(array, of_array.made_access), *owner = AT(array, of_array.made_owner);
    PyObject *shape = shape_of(view), *result = NULL, *access_of_view = NULL;
    if (shape == NULL)
        goto failed;
    int can_write = PyObject_IsTrue(access);
    access_of_view = can_write < 0 ? NULL : PyLong_FromLong(can_write);
    result = access_of_view == NULL ? NULL : new_array();
    if (result == NULL)
        goto failed;
    AT(result, of_array.value) = Py_NewRef(Py_None);
    AT(result, of_array.made_cell) = Py_NewRef(AT(array, of_array.made_cell));
    AT(result, of_array.made_owner) = Py_NewRef(is_set(owner) ? owner : array);
    AT(result, of_array.made_shape) = shape;
    AT(result, of_array.made_dtype) = Py_NewRef(AT(array, of_array.made_dtype));
    AT(result, of_array.made_part) = Py_NewRef(Py_None);
    AT(result, of_array.made_access) = access_of_view;
    AT(result, of_array.host) = view;
    AT(result, of_array.memory) = Py_NewRef(memory);
    AT(result, of_array.large) = Py_NewRef(nothing);
    AT(result, of_array.source) = Py_NewRef(source);
    AT(result, of_array.key) = Py_NewRef(key);
    return result;
failed:
    Py_DECREF(view);
    Py_XDECREF(shape);
    Py_XDECREF(access_of_view);
    return NULL;
}

/* Give the array of a value the other attributes, and a cell with the value as its memory. The global lock of the
   interpreter takes the place of the lock of cells: nothing else runs once the objects have been made. */
static int complete(PyObject *array)
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

static PyObject *complete_method(PyObject *array, PyObject *unused)
{
    if (!Py_IS_TYPE(array, array_type))
        return PyObject_CallOneArg(other_methods[SETTLE], array);
    if (complete(array) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* Whether the memory of a cell is its own, so that it can be written to. */
static int is_own(PyObject *cell) { return is_set(AT(cell, of_cell.own)); }

/* The memory of its cell, of which the elements of an array are a view, borrowed; NULL if they are a view of none. */
static PyObject *memory_of(PyObject *array)
{
    PyObject *cell = AT(array, of_array.made_cell), *memory = cell == NULL ? NULL : AT(cell, of_cell.memory);
    if (!is_set(memory))
        return NULL;
    return memory == AT(array, of_array.memory) || memory == AT(array, of_array.large) ? memory : NULL;
}

/* The elements of an array of the host, however many, as NumPy has them, borrowed; NULL if it takes more than a look. */
static PyObject *large_value_of(PyObject *array, PyObject **device)
{
    PyObject *cell = AT(array, of_array.made_cell);
    *device = cell == NULL ? NULL : AT(cell, of_cell.device);
    return *device == cpu && memory_of(array) != NULL ? AT(array, of_array.host) : NULL;
}

/* An array of small elements in host memory and this memory, borrowed; NULL if the method in Python is to be called. */
static PyObject *host_elements(PyObject *array, PyObject **memory)
{
    int on_pinned;
    if (!Py_IS_TYPE(array, array_type) || limit_now(&on_pinned) <= 0 || complete(array) < 0)
        return NULL;
    PyObject *host = AT(array, of_array.host);
    *memory = memory_of(array);
    if (*memory == NULL || *memory != AT(array, of_array.memory) || AT(array, of_array.made_part) != Py_None)
        return NULL;
    return PyArray_CheckExact(host) ? host : NULL;
}
