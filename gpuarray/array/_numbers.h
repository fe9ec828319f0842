/* Operators of the values of arrays, which are NumPy's arrays and scalars and Python's numbers. */

static PyObject *apply(int op, PyObject *first, PyObject *second)
{
    switch (op) {
    case ADD: return PyNumber_Add(first, second);
    case SUBTRACT: return PyNumber_Subtract(first, second);
    case MULTIPLY: return PyNumber_Multiply(first, second);
    case DIVIDE: return PyNumber_TrueDivide(first, second);
    case FLOOR_DIVIDE: return PyNumber_FloorDivide(first, second);
    case REMAINDER: return PyNumber_Remainder(first, second);
    case POWER: return PyNumber_Power(first, second, Py_None);
    case AND: return PyNumber_And(first, second);
    case OR: return PyNumber_Or(first, second);
    case XOR: return PyNumber_Xor(first, second);
    case LEFT_SHIFT: return PyNumber_Lshift(first, second);
    default: return PyNumber_Rshift(first, second);
    }
}

static PyObject *apply_in_place(int op, PyObject *first, PyObject *second)
{
    switch (op) {
    case ADD: return PyNumber_InPlaceAdd(first, second);
    case SUBTRACT: return PyNumber_InPlaceSubtract(first, second);
    case MULTIPLY: return PyNumber_InPlaceMultiply(first, second);
    case DIVIDE: return PyNumber_InPlaceTrueDivide(first, second);
    case FLOOR_DIVIDE: return PyNumber_InPlaceFloorDivide(first, second);
    case REMAINDER: return PyNumber_InPlaceRemainder(first, second);
    case POWER: return PyNumber_InPlacePower(first, second, Py_None);
    case AND: return PyNumber_InPlaceAnd(first, second);
    case OR: return PyNumber_InPlaceOr(first, second);
    case XOR: return PyNumber_InPlaceXor(first, second);
    case LEFT_SHIFT: return PyNumber_InPlaceLshift(first, second);
    default: return PyNumber_InPlaceRshift(first, second);
    }
}

/* Most elements are of float64 or int64. Their sums, products and comparisons take less time here than to ask NumPy,
   whose scalars look for errors of floating point. */

static int as_double(PyObject *item, double *number)
{
    if (Py_IS_TYPE(item, &PyDoubleArrType_Type))
        *number = PyArrayScalar_VAL(item, Double);
    else if (PyFloat_CheckExact(item))
        *number = PyFloat_AS_DOUBLE(item);
    else
        return 0;
    return 1;
}

/* Only numbers below 2^62 in magnitude, so that sums do not overflow. */
static int as_integer(PyObject *item, npy_int64 *number)
{
    if (Py_IS_TYPE(item, &PyInt64ArrType_Type))
        *number = PyArrayScalar_VAL(item, Int64);
    else if (PyLong_CheckExact(item)) {
        int overflow;
        *number = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow)
            return 0;
    }
    else
        return 0;
    return *number < ((npy_int64)1 << 62) && *number > -((npy_int64)1 << 62);
}

static PyObject *compared(int is_less, int is_equal, int comparison)
{
    int is_unordered = is_less < 0, answer;
    switch (comparison) {
    case Py_LT: answer = is_less; break;
    case Py_LE: answer = is_less || is_equal; break;
    case Py_EQ: answer = is_equal; break;
    case Py_NE: answer = !is_equal; break;
    case Py_GT: answer = !is_less && !is_equal; break;
    default: answer = !is_less;
    }
    if (is_unordered)
        answer = comparison == Py_NE;
    return Py_NewRef(answer ? PyArrayScalar_True : PyArrayScalar_False);
}

/* The result of an operator or a comparison of numbers as a NumPy scalar; NULL without an error if NumPy computes it. */
static PyObject *of_numbers(PyObject *left, PyObject *right, int op, int comparison)
{
    PyObject *result;
    npy_int64 i, j;
    double x, y;
    if (as_double(left, &x) && as_double(right, &y)) {
        if (comparison >= 0)
            return compared(x < y ? 1 : x >= y ? 0 : -1, x == y, comparison);
        if (op > DIVIDE || (result = PyArrayScalar_New(Double)) == NULL)
            return NULL;
        PyArrayScalar_ASSIGN(result, Double, op == ADD ? x + y : op == SUBTRACT ? x - y : op == MULTIPLY ? x * y : x / y);
        return result;
    }
    if (as_integer(left, &i) && as_integer(right, &j)) {
        if (comparison >= 0)
            return compared(i < j, i == j, comparison);
        npy_int64 most = (npy_int64)1 << 31;
        if (op > MULTIPLY || (op == MULTIPLY && (i >= most || i <= -most || j >= most || j <= -most)))
            return NULL;
        if ((result = PyArrayScalar_New(Int64)) == NULL)
            return NULL;
        PyArrayScalar_ASSIGN(result, Int64, op == ADD ? i + j : op == SUBTRACT ? i - j : i * j);
        return result;
    }
    return NULL;
}

/* The same of arrays of NumPy and numbers, by the loop of a ufunc, written to `target` unless that is NULL. */
static PyObject *in_loop(PyObject *const *both, int op, int comparison, PyObject *target)
{
    if (comparison >= 0)
        return looped(comparison_ufuncs[comparison], both, 2, target);
    if (op != POWER || (PyArray_CheckExact(both[1]) && target == NULL)) /* powers of integers may fail half way */
        return looped(binary_ufuncs[op], both, 2, target);
    int overflow; /* NumPy's operator has other functions for some exponents */
    int is_square = PyLong_CheckExact(both[1]) && PyLong_AsLongAndOverflow(both[1], &overflow) == 2;
    return is_square && PyArray_CheckExact(both[0]) ? looped(square, both, 1, target) : NULL;
}
