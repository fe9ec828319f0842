/* The inner loops of NumPy's ufuncs, called without the ufunc.

   A ufunc takes some 300 nanoseconds to choose a loop, to prepare an iterator and to look for errors of floating point,
   before and after the loop runs. The loops are in a public table of the ufunc, by dtype. Where the operands have one
   dtype, which is that of a loop, the results are those of the ufunc, bit for bit. */

#define MOST_AXES 4
#define MOST_ITEMS 3 /* two operands and a result */

/* Aligned memory for a number, which the loop reads again for each element. */
typedef union {
    npy_bool truth;
    npy_int64 integer;
    float single;
    double real[2];
} Number;

/* A number as an element of a dtype; 0 if NumPy would compute with another dtype, or convert it in another way. */
static int as_element(PyObject *item, int type, Number *number)
{
    if (type == NPY_DOUBLE || type == NPY_CDOUBLE) {
        number->real[1] = 0.0;
        if (PyFloat_CheckExact(item) || Py_IS_TYPE(item, &PyDoubleArrType_Type))
            number->real[0] = PyFloat_AS_DOUBLE(item);
        else if (PyLong_Check(item)) {
            number->real[0] = PyLong_AsDouble(item);
            if (PyErr_Occurred()) { /* too large a number */
                PyErr_Clear();
                return 0;
            }
        }
        else if (type == NPY_CDOUBLE && PyComplex_CheckExact(item)) {
            number->real[0] = PyComplex_RealAsDouble(item);
            number->real[1] = PyComplex_ImagAsDouble(item);
        }
        else
            return 0;
        return 1;
    }
    if (type == NPY_FLOAT) {
        if (PyFloat_CheckExact(item))
            number->single = (float)PyFloat_AS_DOUBLE(item);
        else if (Py_IS_TYPE(item, &PyFloatArrType_Type))
            number->single = PyArrayScalar_VAL(item, Float);
        else
            return 0;
        return 1;
    }
    if (type == NPY_BOOL && PyBool_Check(item)) {
        number->truth = item == Py_True;
        return 1;
    }
    if (type == NPY_INT64 && PyLong_CheckExact(item)) {
        int overflow;
        number->integer = PyLong_AsLongLongAndOverflow(item, &overflow);
        return !overflow;
    }
    return 0;
}

/* Whether an array may be written to while another one is read: they are one array, or have memory of their own. */
static int can_share_loop(PyArrayObject *target, PyArrayObject *operand)
{
    PyObject *first = PyArray_BASE(target), *second = PyArray_BASE(operand);
    if (target == operand)
        return 1;
    return (first == NULL && second != (PyObject *)target) || (second == NULL && first != (PyObject *)operand);
}

/* The shape to which operands broadcast; the number of axes, 0 if there are none, -1 if they do not or have too many. */
static int broadcast_shape(PyObject *const *operands, int count, npy_intp *shape)
{
    int ndim = 0;
    for (int i = 0; i < count; i++)
        if (PyArray_CheckExact(operands[i]) && PyArray_NDIM((PyArrayObject *)operands[i]) > ndim)
            ndim = PyArray_NDIM((PyArrayObject *)operands[i]);
    if (ndim > MOST_AXES)
        return -1;
    for (int axis = 0; axis < ndim; axis++)
        shape[axis] = 1;
    for (int i = 0; i < count; i++) {
        if (!PyArray_CheckExact(operands[i]))
            continue;
        PyArrayObject *array = (PyArrayObject *)operands[i];
        npy_intp *last = shape + ndim - PyArray_NDIM(array);
        for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
            npy_intp extent = PyArray_DIM(array, axis);
            if (extent != 1 && last[axis] != 1 && last[axis] != extent)
                return -1;
            if (extent != 1)
                last[axis] = extent;
        }
    }
    return ndim;
}

/* The position of the loop of a ufunc for operands of one dtype; -1 if there is none, or if one before it takes several
   dtypes, this one at some place: NumPy may choose that one for numbers. */
static int loop_for(PyUFuncObject *ufunc, int type)
{
    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        if (types[0] == type && types[ufunc->nin - 1] == type)
            return ufunc->functions[i] == NULL ? -1 : i;
        if (types[0] != types[ufunc->nin - 1])
            for (int k = 0; k < ufunc->nin; k++)
                if (PyArray_CanCastSafely(type, types[k]))
                    return -1;
    }
    return -1;
}

/* The dtype of all arrays, a simple one; -1 if there are several, or if a loop could not read one of them. */
static int common_type(PyObject *const *operands, int count)
{
    int type = -1;
    for (int i = 0; i < count; i++) {
        if (!PyArray_CheckExact(operands[i]))
            continue;
        PyArrayObject *array = (PyArrayObject *)operands[i];
        int this_type = PyArray_TYPE(array);
        if ((type >= 0 && this_type != type) || this_type > NPY_CDOUBLE || !PyArray_ISBEHAVED_RO(array))
            return -1;
        type = this_type;
    }
    return type;
}

/* Arrays and numbers that a loop passes together: where each begins, and for each axis the extent and the steps. */
typedef struct {
    int count, axes;
    char *data[MOST_ITEMS];
    npy_intp shape[MOST_AXES], steps[MOST_AXES][MOST_ITEMS];
} Passed;

/* Add an axis within the others. Axes of one element are left out, and axes that all items pass in equal steps are one. */
static void add_axis(Passed *passed, npy_intp extent, const npy_intp *steps)
{
    int outer = passed->axes - 1, is_one = passed->axes > 0;
    for (int i = 0; is_one && i < passed->count; i++)
        is_one = passed->steps[outer][i] == steps[i] * extent;
    if (is_one || (passed->axes && passed->shape[outer] == 1))
        extent *= passed->shape[outer];
    else if (extent == 1 && passed->axes)
        return;
    else
        outer = passed->axes++;
    passed->shape[outer] = extent;
    memcpy(passed->steps[outer], steps, passed->count * sizeof(npy_intp));
}

static void run_loop(Passed *passed, PyUFuncGenericFunction function, void *extra)
{
    npy_intp index[MOST_AXES] = {0};
    int last = passed->axes - 1, axis;
    do {
        char *data[MOST_ITEMS];
        memcpy(data, passed->data, sizeof data);
        function(data, &passed->shape[last], passed->steps[last], extra);
        for (axis = last - 1; axis >= 0; axis--) {
            int is_next = ++index[axis] < passed->shape[axis];
            for (int i = 0; i < passed->count; i++)
                passed->data[i] += passed->steps[axis][i] * (is_next ? 1 : 1 - passed->shape[axis]);
            if (is_next)
                break;
            index[axis] = 0;
        }
    } while (axis >= 0);
}

/* Note where the items of a loop are, and the axes of the shape to which they broadcast. */
static void note_items(Passed *passed, PyObject *const *items, Number *numbers, int ndim, const npy_intp *shape)
{
    for (int i = 0; i < passed->count; i++)
        passed->data[i] = PyArray_CheckExact(items[i]) ? PyArray_DATA((PyArrayObject *)items[i]) : (char *)&numbers[i];
    for (int axis = 0; axis < ndim; axis++) {
        npy_intp steps[MOST_ITEMS];
        for (int i = 0; i < passed->count; i++) {
            PyArrayObject *array = PyArray_CheckExact(items[i]) ? (PyArrayObject *)items[i] : NULL;
            int own = array == NULL ? -1 : axis - ndim + PyArray_NDIM(array);
            steps[i] = own < 0 || PyArray_DIM(array, own) == 1 ? 0 : PyArray_STRIDE(array, own);
        }
        add_axis(passed, shape[axis], steps);
    }
}

/* Whether an array can get the result of a loop over operands. */
static int can_get(PyArrayObject *target, int type, int ndim, npy_intp *shape, PyObject *const *operands, int count)
{
    for (int i = 0; i < count; i++)
        if (PyArray_CheckExact(operands[i]) && !can_share_loop(target, (PyArrayObject *)operands[i]))
            return 0;
    return PyArray_TYPE(target) == type && PyArray_ISBEHAVED(target) && PyArray_NDIM(target) == ndim &&
           PyArray_CompareLists(PyArray_DIMS(target), shape, ndim);
}

/* Whether the strides of an array grow along some axis: the results of NumPy's ufuncs are in the order of memory. */
static int is_permuted(PyObject *item)
{
    if (!PyArray_CheckExact(item) || PyArray_IS_C_CONTIGUOUS((PyArrayObject *)item))
        return 0;
    npy_intp before = NPY_MAX_INTP;
    for (int axis = 0; axis < PyArray_NDIM((PyArrayObject *)item); axis++) {
        npy_intp stride = PyArray_STRIDE((PyArrayObject *)item, axis);
        if (stride == 0 || PyArray_DIM((PyArrayObject *)item, axis) == 1)
            continue;
        stride = stride < 0 ? -stride : stride;
        if (stride > before)
            return 1;
        before = stride;
    }
    return 0;
}

/* The result of a ufunc of arrays of NumPy and numbers, which is written to `target` unless that is NULL; NULL without
   an error if the ufunc is to be called. */
static PyObject *looped(PyObject *callable, PyObject *const *operands, int count, PyObject *target)
{
    PyUFuncObject *ufunc = (PyUFuncObject *)callable;
    if (!Py_IS_TYPE(callable, &PyUFunc_Type) || ufunc->nin != count || ufunc->nout != 1 || ufunc->core_enabled)
        return NULL;
    npy_intp shape[MOST_AXES];
    int type = common_type(operands, count), ndim = broadcast_shape(operands, count, shape);
    int loop = type < 0 || ndim < 1 ? -1 : loop_for(ufunc, type);
    if (loop < 0 || PyArray_MultiplyList(shape, ndim) > MOST_ELEMENTS)
        return NULL;
    Number numbers[MOST_ITEMS];
    PyObject *items[MOST_ITEMS];
    for (int i = 0; i < count; i++) {
        items[i] = operands[i];
        if (!PyArray_CheckExact(operands[i]) && !as_element(operands[i], type, &numbers[i]))
            return NULL;
    }
    int type_of_result = ufunc->types[loop * ufunc->nargs + count];
    if (target == NULL && (is_permuted(operands[0]) || is_permuted(operands[count - 1])))
        return NULL;
    if (target == NULL)
        target = PyArray_SimpleNew(ndim, shape, type_of_result);
    else if (can_get((PyArrayObject *)target, type_of_result, ndim, shape, operands, count))
        Py_INCREF(target);
    else
        return NULL;
    if (target == NULL || PyArray_SIZE((PyArrayObject *)target) == 0)
        return target;
    items[count] = target;
    Passed passed = {.count = count + 1};
    note_items(&passed, items, numbers, ndim, shape);
    run_loop(&passed, ufunc->functions[loop], ufunc->data == NULL ? NULL : ufunc->data[loop]);
    if (PyErr_Occurred()) /* the ufunc is called, and raises it again */
        Py_CLEAR(target);
    return target;
}

/* The step of an array along an axis, as the loops of products take it: 0 along an axis of one element or none. */
static npy_intp step_along(PyArrayObject *array, int axis)
{
    return axis < 0 || axis >= PyArray_NDIM(array) || PyArray_DIM(array, axis) == 1 ? 0 : PyArray_STRIDE(array, axis);
}

/* The product of two vectors or matrices of NumPy by a loop of the ufunc `matmul`; NULL without an error if the ufunc is
   to be called. */
static PyObject *looped_product(PyObject *callable, PyObject *const *operands)
{
    PyUFuncObject *ufunc = (PyUFuncObject *)callable;
    PyArrayObject *left = (PyArrayObject *)operands[0], *right = (PyArrayObject *)operands[1];
    int type = common_type(operands, 2), loop, ndim = 0;
    if (!Py_IS_TYPE(callable, &PyUFunc_Type) || type < 0 || (loop = loop_for(ufunc, type)) < 0)
        return NULL;
    int has_rows = PyArray_NDIM(left) > 1, has_columns = PyArray_NDIM(right) > 1;
    npy_intp rows = has_rows ? PyArray_DIM(left, 0) : 1, columns = has_columns ? PyArray_DIM(right, 1) : 1;
    npy_intp length = PyArray_DIM(left, has_rows), shape[2], count = rows * length * columns;
    if (length != PyArray_DIM(right, 0) || count == 0 || count > MOST_ELEMENTS)
        return NULL;
    if (has_rows)
        shape[ndim++] = rows;
    if (has_columns)
        shape[ndim++] = columns;
    PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(ndim, shape, type);
    if (result == NULL)
        return NULL;
    npy_intp extents[] = {1, rows, length, columns};
    npy_intp steps[] = {
        0, 0, 0, step_along(left, has_rows - 1), step_along(left, has_rows), step_along(right, 0), step_along(right, 1),
        step_along(result, has_rows - 1), has_columns ? step_along(result, has_rows) : 0,
    };
    char *data[] = {PyArray_DATA(left), PyArray_DATA(right), PyArray_DATA(result)};
    ufunc->functions[loop](data, extents, steps, ufunc->data == NULL ? NULL : ufunc->data[loop]);
    return PyArray_Return(result);
}
