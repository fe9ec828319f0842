/* Conversions of arrays without axes to numbers, and lengths. */

/* The NumPy scalar of a result without axes, borrowed; else NULL. */
static PyObject *scalar_of(PyObject *array)
{
    int on_pinned;
    if (Py_TYPE(array) != array_type)
        return NULL;
    PyObject *value = AT(array, of_array.value);
    if (!is_set(value) || !PyArray_IsScalar(value, Generic) || limit_now(&on_pinned) <= 0)
        return NULL;
    return value;
}

static int is_true(PyObject *array)
{
    PyObject *value = scalar_of(array);
    if (value != NULL)
        return PyObject_IsTrue(value);
    PyObject *answer = PyObject_CallOneArg(unary_methods[BOOL], array);
    int truth = answer == NULL ? -1 : answer == Py_True;
    Py_XDECREF(answer);
    return truth;
}

static int is_real(PyObject *value)
{
    return value != NULL && (PyArray_IsScalar(value, Floating) || PyArray_IsScalar(value, Integer) ||
                             PyArray_IsScalar(value, Bool));
}

static PyObject *as_int(PyObject *array)
{
    PyObject *value = scalar_of(array);
    return is_real(value) ? PyNumber_Long(value) : PyObject_CallOneArg(unary_methods[INT], array);
}

static PyObject *as_float(PyObject *array)
{
    PyObject *value = scalar_of(array);
    return is_real(value) ? PyNumber_Float(value) : PyObject_CallOneArg(unary_methods[FLOAT], array);
}

static PyObject *as_index(PyObject *array)
{
    PyObject *value = scalar_of(array);
    if (value != NULL && PyArray_IsScalar(value, Integer))
        return PyNumber_Index(value);
    return PyObject_CallOneArg(unary_methods[INDEX], array);
}

static Py_ssize_t length(PyObject *array)
{
    if (Py_TYPE(array) == array_type) {
        PyObject *value = AT(array, of_array.value);
        if (value == Py_None) {
            PyObject *shape = AT(array, of_array.made_shape);
            if (shape != NULL && PyTuple_CheckExact(shape) && PyTuple_GET_SIZE(shape))
                return PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, 0));
        }
        else if (value != NULL && PyArray_CheckExact(value) && PyArray_NDIM((PyArrayObject *)value))
            return PyArray_DIM((PyArrayObject *)value, 0);
    }
    PyObject *answer = PyObject_CallOneArg(unary_methods[LEN], array);
    Py_ssize_t number = answer == NULL ? -1 : PyLong_AsSsize_t(answer);
    Py_XDECREF(answer);
    return number;
}
