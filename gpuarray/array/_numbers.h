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

/* Most elements are of float64 or of integers. Their sums, products and comparisons take less time here than to ask NumPy,
   whose scalars look for errors of floating point. */

/* The value of a number of float64 or of Python, to which an integer beside it is converted, too. */
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

/* The dtypes of integers whose numbers are read, written and computed here: NumPy's name of the class, and of the dtype. */
#define FOR_EACH_INTEGER(DO) \
    DO(Int64, INT64, int64) DO(Int32, INT32, int32) DO(UInt8, UINT8, uint8) DO(UInt32, UINT32, uint32) \
    DO(Int16, INT16, int16) DO(UInt16, UINT16, uint16) DO(Int8, INT8, int8)

/* The value and the dtype of an integer, NPY_NOTYPE if it is Python's; only of numbers below 2^62 in magnitude, so that sums
   do not overflow. */
static int as_integer(PyObject *item, npy_int64 *number, int *type)
{
    PyTypeObject *class = Py_TYPE(item);
    int overflow = 0;
    *type = NPY_NOTYPE;
    if (class == &PyLong_Type)
        *number = PyLong_AsLongLongAndOverflow(item, &overflow);
#define READ(scalar, dtype, name) \
    else if (class == &Py##scalar##ArrType_Type) \
        *number = PyArrayScalar_VAL(item, scalar), *type = NPY_##dtype;
    FOR_EACH_INTEGER(READ)
    else
        return 0;
    return !overflow && *number < ((npy_int64)1 << 62) && *number > -((npy_int64)1 << 62);
}

/* Whether an operand beside an array is a number of Python, or a scalar of NumPy of one of these dtypes or another usual one. */
static int is_scalar(PyObject *item)
{
    PyTypeObject *class = Py_TYPE(item);
#define IS(scalar, dtype, name) || class == &Py##scalar##ArrType_Type
    return is_number(item) || class == &PyDoubleArrType_Type || class == &PyFloatArrType_Type ||
           class == &PyBoolArrType_Type || class == &PyCDoubleArrType_Type FOR_EACH_INTEGER(IS);
}

/* Whether a dtype of integers has a number. */
static int has_number(int type, npy_int64 number)
{
#define HAS(scalar, dtype, name) \
    case NPY_##dtype: return number == (npy_##name)number;
    switch (type) {
    FOR_EACH_INTEGER(HAS)
    default: return 0;
    }
}

/* Write a number that a dtype has. */
static void write_integer(char *target, int type, npy_int64 number)
{
#define WRITE(scalar, dtype, name) \
    case NPY_##dtype: *(npy_##name *)target = (npy_##name)number; break;
    switch (type) { FOR_EACH_INTEGER(WRITE) }
}

/* A scalar of a number that a dtype has. */
static PyObject *new_integer(int type, npy_int64 number)
{
    PyObject *result = NULL;
#define NEW(scalar, dtype, name) \
    case NPY_##dtype: \
        if ((result = PyArrayScalar_New(scalar)) != NULL) \
            PyArrayScalar_ASSIGN(result, scalar, (npy_##name)number); \
        break;
    switch (type) { FOR_EACH_INTEGER(NEW) }
    return result;
}

static PyObject *new_double(double number)
{
    PyObject *result = PyArrayScalar_New(Double);
    if (result != NULL)
        PyArrayScalar_ASSIGN(result, Double, number);
    return result;
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

/* The result of an operator of integers that have no warning of NumPy's; 0 if they may have one. */
static int integer_result(npy_int64 i, npy_int64 j, int op, npy_int64 *result)
{
    const npy_int64 most = (npy_int64)1 << 31;
    switch (op) {
    case ADD: *result = i + j; return 1;
    case SUBTRACT: *result = i - j; return 1;
    case MULTIPLY: *result = i * j; return i < most && i > -most && j < most && j > -most;
    case FLOOR_DIVIDE: *result = i / (j > 0 ? j : 1); return i >= 0 && j > 0;
    case REMAINDER: *result = i % (j > 0 ? j : 1); return i >= 0 && j > 0;
    case AND: *result = i & j; return 1;
    case OR: *result = i | j; return 1;
    case XOR: *result = i ^ j; return 1;
    case LEFT_SHIFT: *result = i << (j & 31); return i >= 0 && i < most && j >= 0 && j < 31;
    case RIGHT_SHIFT: *result = i >> (j & 63); return i >= 0 && j >= 0 && j < 63;
    default: return 0;
    }
}

/* The result of an operator or a comparison of numbers as a NumPy scalar; NULL without an error if NumPy computes it. */
static PyObject *of_numbers(PyObject *left, PyObject *right, int op, int comparison)
{
    npy_int64 i, j, number;
    int type_of_left, type_of_right;
    double x, y;
    int is_left_double = as_double(left, &x), is_right_double = as_double(right, &y);
    if (!is_left_double && !is_right_double) {
        if (!as_integer(left, &i, &type_of_left) || !as_integer(right, &j, &type_of_right))
            return NULL;
        int type = type_of_left == NPY_NOTYPE ? type_of_right : type_of_left;
        if ((type_of_right != NPY_NOTYPE && type_of_right != type) || !has_number(type, i) || !has_number(type, j))
            return NULL;
        if (comparison >= 0)
            return compared(i < j, i == j, comparison);
        if (integer_result(i, j, op, &number))
            return has_number(type, number) ? new_integer(type, number) : NULL;
        return NULL;
    }
    if (!is_left_double) {
        if (!as_integer(left, &i, &type_of_left))
            return NULL;
        x = (double)i;
    }
    if (!is_right_double) {
        if (!as_integer(right, &j, &type_of_right))
            return NULL;
        y = (double)j;
    }
    if (comparison >= 0)
        return compared(x < y ? 1 : x >= y ? 0 : -1, x == y, comparison);
    switch (op) {
    case ADD: return new_double(x + y);
    case SUBTRACT: return new_double(x - y);
    case MULTIPLY: return new_double(x * y);
    case DIVIDE: return new_double(x / y);
    default: return NULL;
    }
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
