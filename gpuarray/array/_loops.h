/* The inner loops of NumPy's ufuncs, called without the ufunc.

   A ufunc takes some 300 nanoseconds to choose a loop, to prepare an iterator and to look for errors of floating point,
   before and after the loop runs. The loops are in a public table of the ufunc, by dtype. Where the operands have one
   dtype, which is that of a loop, the results are those of the ufunc, bit for bit. */

#define MOST_AXES 4
#define MOST_ITEMS 3 /* two operands and a result */
#define MOST_CORE 3  /* extents of the matrices and vectors that a product takes */

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

/* The axes over which an item is passed: all but the last ones, which are those of its matrices or vectors. */
static int passed_axes(PyObject *item, int core) { return PyArray_CheckExact(item) ? PyArray_NDIM((PyArrayObject *)item) - core : 0; }

/* The items of an elementwise operation have no axes of matrices or vectors. */
static const int NO_CORE[MOST_ITEMS] = {0};

/* The shape to which operands broadcast; the number of axes, 0 if there are none, -1 if they do not or have too many. */
static int broadcast_shape(PyObject *const *operands, const int *core, int count, npy_intp *shape)
{
    int ndim = 0;
    for (int i = 0; i < count; i++)
        ndim = Py_MAX(ndim, passed_axes(operands[i], core[i]));
    if (ndim > MOST_AXES)
        return -1;
    for (int axis = 0; axis < ndim; axis++)
        shape[axis] = 1;
    for (int i = 0; i < count; i++) {
        PyArrayObject *array = (PyArrayObject *)operands[i];
        int own = passed_axes(operands[i], core[i]);
        npy_intp *last = shape + ndim - own;
        for (int axis = 0; axis < own; axis++) {
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

/* Arrays and numbers that a loop passes together: where each begins, and for each axis the extent and the steps. Those of
   the matrices and vectors of a product are the same for all of them. */
typedef struct {
    int count, axes;
    char *data[MOST_ITEMS];
    npy_intp shape[MOST_AXES], steps[MOST_AXES][MOST_ITEMS], core_extents[MOST_CORE], core_steps[2 * MOST_ITEMS];
} Passed;

/* The step of an item along an axis; 0 if it has no such axis, or one element along it. */
static npy_intp step_along(PyObject *item, int axis)
{
    PyArrayObject *array = (PyArrayObject *)item;
    return axis < 0 || PyArray_DIM(array, axis) == 1 ? 0 : PyArray_STRIDE(array, axis);
}

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
    npy_intp extents[1 + MOST_CORE] = {passed->shape[last]}, steps[3 * MOST_ITEMS];
    memcpy(extents + 1, passed->core_extents, sizeof passed->core_extents);
    memcpy(steps, passed->steps[last], passed->count * sizeof(npy_intp));
    memcpy(steps + passed->count, passed->core_steps, sizeof passed->core_steps);
    do {
        char *data[MOST_ITEMS];
        memcpy(data, passed->data, sizeof data);
        function(data, extents, steps, extra);
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
static void note_items(Passed *passed, PyObject *const *items, const int *core, Number *numbers, int ndim, const npy_intp *shape)
{
    for (int i = 0; i < passed->count; i++)
        passed->data[i] = PyArray_CheckExact(items[i]) ? PyArray_DATA((PyArrayObject *)items[i]) : (char *)&numbers[i];
    for (int axis = 0; axis < ndim; axis++) {
        npy_intp steps[MOST_ITEMS];
        for (int i = 0; i < passed->count; i++) {
            steps[i] = step_along(items[i], axis - ndim + passed_axes(items[i], core[i]));
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
    int type = common_type(operands, count), ndim = broadcast_shape(operands, NO_CORE, count, shape);
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
    note_items(&passed, items, NO_CORE, numbers, ndim, shape);
    run_loop(&passed, ufunc->functions[loop], ufunc->data == NULL ? NULL : ufunc->data[loop]);
    if (PyErr_Occurred()) /* the ufunc is called, and raises it again */
        Py_CLEAR(target);
    return target;
}

/* A product of two arrays by a generalised ufunc, such as `matmul`: the loop, the axes of the stacks of each item's matrices or
   vectors and those of the matrices or vectors themselves, and the number of results and of multiplications. */
typedef struct {
    int loop, type, ndim, core[MOST_ITEMS], is_missing[MOST_CORE];
    npy_intp shape[MOST_AXES + 2], extents[MOST_CORE];
    double results, multiplications;
} Product;

/* Note what a product takes; 0 if the ufunc is to be called, or would raise an error. */
static int note_product(PyUFuncObject *ufunc, PyObject *const *operands, Product *product)
{
    product->type = common_type(operands, 2);
    if (ufunc->nin != 2 || ufunc->nout != 1 || ufunc->core_num_dim_ix > MOST_CORE || product->type < 0 ||
        !PyArray_CheckExact(operands[0]) || !PyArray_CheckExact(operands[1]) || (product->loop = loop_for(ufunc, product->type)) < 0)
        return 0;
    memset(product->is_missing, 0, sizeof product->is_missing);
    memset(product->extents, 0, sizeof product->extents);
    for (int i = 0; i < 2; i++) {
        int missing = ufunc->core_num_dims[i] - PyArray_NDIM((PyArrayObject *)operands[i]);
        for (int k = 0; k < ufunc->core_num_dims[i] && missing > 0; k++) {
            int number = ufunc->core_dim_ixs[ufunc->core_offsets[i] + k];
            product->is_missing[number] = (ufunc->core_dim_flags[number] & UFUNC_CORE_DIM_CAN_IGNORE) != 0;
            missing -= product->is_missing[number];
        }
        if (missing > 0)
            return 0;
    }
    for (int number = 0; number < ufunc->core_num_dim_ix; number++)
        product->extents[number] = product->is_missing[number] ? 1 : -1;
    for (int i = 0; i < MOST_ITEMS; i++) {
        product->core[i] = 0;
        for (int k = 0; k < ufunc->core_num_dims[i]; k++)
            product->core[i] += !product->is_missing[ufunc->core_dim_ixs[ufunc->core_offsets[i] + k]];
    }
    for (int i = 0; i < 2; i++) {
        PyArrayObject *array = (PyArrayObject *)operands[i];
        int axis = PyArray_NDIM(array) - product->core[i];
        for (int k = 0; k < ufunc->core_num_dims[i]; k++) {
            int number = ufunc->core_dim_ixs[ufunc->core_offsets[i] + k];
            if (product->is_missing[number])
                continue;
            npy_intp extent = PyArray_DIM(array, axis++);
            if (product->extents[number] >= 0 && product->extents[number] != extent)
                return 0;
            product->extents[number] = extent;
        }
    }
    product->ndim = broadcast_shape(operands, product->core, 2, product->shape);
    if (product->ndim < 0 || (product->ndim > 1 && (is_permuted(operands[0]) || is_permuted(operands[1]))))
        return 0;
    product->multiplications = product->results = (double)PyArray_MultiplyList(product->shape, product->ndim);
    for (int number = 0; number < ufunc->core_num_dim_ix; number++)
        product->multiplications *= (double)product->extents[number];
    for (int k = 0; k < ufunc->core_num_dims[2]; k++)
        product->results *= (double)product->extents[ufunc->core_dim_ixs[ufunc->core_offsets[2] + k]];
    return product->multiplications > 0;
}

/* The result of a product by the loop of its ufunc. */
static PyObject *looped_product(PyUFuncObject *ufunc, PyObject *const *operands, const Product *product)
{
    npy_intp shape[MOST_AXES + 2];
    int axes = product->ndim, filled = 0, type = ufunc->types[product->loop * ufunc->nargs + 2];
    memcpy(shape, product->shape, axes * sizeof(npy_intp));
    for (int k = 0; k < ufunc->core_num_dims[2]; k++) {
        int number = ufunc->core_dim_ixs[ufunc->core_offsets[2] + k];
        if (!product->is_missing[number])
            shape[axes++] = product->extents[number];
    }
    PyObject *result = PyArray_SimpleNew(axes, shape, type);
    if (result == NULL)
        return NULL;
    PyObject *items[] = {operands[0], operands[1], result};
    Passed passed = {.count = MOST_ITEMS};
    memcpy(passed.core_extents, product->extents, sizeof product->extents);
    for (int i = 0; i < MOST_ITEMS; i++) {
        int axis = PyArray_NDIM((PyArrayObject *)items[i]) - product->core[i];
        for (int k = 0; k < ufunc->core_num_dims[i]; k++) {
            int is_missing = product->is_missing[ufunc->core_dim_ixs[ufunc->core_offsets[i] + k]];
            passed.core_steps[filled++] = is_missing ? 0 : step_along(items[i], axis++);
        }
    }
    note_items(&passed, items, product->core, NULL, product->ndim, product->shape);
    if (!product->ndim)
        add_axis(&passed, 1, (const npy_intp[MOST_ITEMS]){0});
    run_loop(&passed, ufunc->functions[product->loop], ufunc->data == NULL ? NULL : ufunc->data[product->loop]);
    return PyArray_Return((PyArrayObject *)result);
}
