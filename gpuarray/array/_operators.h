/* Operators of arrays, in place and reflected ones too, and products of matrices. */

/* The values of two operands, borrowed, of which `array` is an array, and the most elements of a result that is computed here;
   0 if the method in Python is to be called. */
static npy_intp values_of(PyObject *array, PyObject *other, PyObject **mine, PyObject **theirs, PyObject **device)
{
    int on_pinned = 0;
    PyObject *device_of_other = NULL;
    long limit = limit_now(&on_pinned);
    if (limit <= 0 || (*mine = value_of(array, on_pinned, device)) == NULL)
        return 0;
    if (is_scalar(other) || (PyArray_CheckExact(other) && is_canonical((PyObject *)PyArray_DESCR((PyArrayObject *)other))))
        *theirs = other;
    else {
        if (Py_TYPE(other) != array_type || (*theirs = value_of(other, on_pinned, &device_of_other)) == NULL)
            return 0;
        if (device_of_other != *device)
            return 0;
    }
    return most_elements(*device, limit);
}

/* The same for elements of which the result has few. */
static int operands(PyObject *array, PyObject *other, PyObject **mine, PyObject **theirs, PyObject **device)
{
    npy_intp most = values_of(array, other, mine, theirs, device);
    return most && are_few(*mine, *theirs, most);
}

/* Whether an instruction of a frame has left an array with this value on the stack, to which nothing else refers, and the
   present one takes it, as `side` says; -1 with an error. */
static int is_temporary(PyObject *array, PyObject *value, PyObject *present, PyFrameObject *frame, PyObject *side)
{
    if (!Py_IS_TYPE(array, array_type) || Py_REFCNT(array) != 1 || AT(array, of_array.value) != value ||
        AT(array, of_array.maker) == NULL)
        return 0;
    PyObject *maker = AT(array, of_array.maker);
    int is_same_frame = PyObject_RichCompareBool(PyTuple_GET_ITEM(maker, 0), PyTuple_GET_ITEM(present, 0), Py_EQ);
    if (is_same_frame <= 0)
        return is_same_frame;
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyObject *operand = PyObject_CallFunctionObjArgs(taken, code, PyTuple_GET_ITEM(maker, 1), PyTuple_GET_ITEM(present, 1), NULL);
    int answer = operand == NULL ? -1 : PyObject_RichCompareBool(operand, side, Py_EQ);
    Py_DECREF(code);
    Py_XDECREF(operand);
    return answer;
}

/* Whether the result of an operator of an array and another operand, or of an array alone, can be in the memory of the array:
   it has its shape and its dtype, and nothing fails when some elements have been written already. */
static int has_place(PyObject *item, PyObject *other, int op)
{
    PyArrayObject *array = (PyArrayObject *)item;
    int is_of_bits = op == AND || op == OR || op == XOR;
    if (!PyArray_CheckExact(item) || !PyArray_ISNUMBER(array) && !PyArray_ISBOOL(array))
        return 0;
    if (other == NULL)
        return 1;
    if (PyArray_ISBOOL(array) ? !is_of_bits : PyArray_ISINTEGER(array) && (op == DIVIDE || op == POWER))
        return 0;
    if (PyLong_CheckExact(other))
        return !PyArray_ISBOOL(array);
    if (!PyArray_CheckExact(other))
        return PyFloat_CheckExact(other) && !PyArray_ISINTEGER(array) && !PyArray_ISBOOL(array);
    return PyArray_SAMESHAPE(array, (PyArrayObject *)other) && PyArray_DESCR(array) == PyArray_DESCR((PyArrayObject *)other);
}

/* The operand of an operator that is a temporary result, in whose memory the result can be; -1 if there is none, -2 with an
   error. The second of two values is NULL if there is one operand. */
static int place_of_result(PyObject *const *arrays, PyObject *const *values, int op)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyObject *present = present_instruction(frame);
    int is_found = 0, side = 0, sides = values[1] == NULL || op == POWER ? 1 : 2;
    if (present == NULL)
        return PyErr_Occurred() ? -2 : -1;
    for (; !is_found && side < sides; side++)
        if (has_place(values[side], values[!side], op))
            is_found = is_temporary(arrays[side], values[side], present, frame, side ? right_side : left_side);
    Py_DECREF(present);
    return is_found < 0 ? -2 : is_found ? side - 1 : -1;
}

/* The result of an operator of large arrays, in the memory of an operand that is a temporary result if there is one. */
static PyObject *with_temporaries(PyObject *const *arrays, PyObject *const *values, int op, PyObject *device)
{
    int side = place_of_result(arrays, values, op);
    PyObject *result = NULL, *context = side < -1 ? NULL : enter_quiet();
    if (context == NULL)
        return NULL;
    if (side < 0)
        result = apply(op, values[0], values[1]);
    else if (op == POWER) /* of which squares and roots are functions of their own */
        result = apply_in_place(op, values[0], values[1]);
    else {
        PyObject *inputs[3] = {values[0], values[1], values[side]};
        result = PyObject_Vectorcall(binary_ufuncs[op], inputs, 3, NULL);
    }
    leave_quiet(context, result == NULL);
    result = counted_array(result, device);
    if (result != NULL && side >= 0) /* an extension module that has kept the array does not get another value, but an error */
        Py_XSETREF(AT(arrays[side], of_array.value), Py_NewRef(Py_None));
    return result;
}

/* The result of an operator or a comparison; NULL without an error if the method in Python is to be called. */
static PyObject *operator_result(PyObject *array, PyObject *other, int op, int is_reflected, int comparison)
{
    PyObject *mine, *theirs, *device, *result, *context;
    if (!operands(array, other, &mine, &theirs, &device))
        return NULL;
    Py_INCREF(mine); /* other threads may replace them meanwhile */
    Py_INCREF(theirs);
    Py_INCREF(device);
    PyObject *both[2] = {is_reflected ? theirs : mine, is_reflected ? mine : theirs};
    if (comparison < 0 && (is_large(mine) || is_large(theirs))) {
        PyObject *arrays[2] = {is_reflected ? other : array, is_reflected ? array : other};
        result = with_temporaries(arrays, both, op, device);
        goto done;
    }
    result = of_numbers(both[0], both[1], op, comparison);
    if (result == NULL && !PyErr_Occurred())
        result = in_loop(both, op, comparison, NULL);
    if (result == NULL && !PyErr_Occurred() && (context = enter_quiet()) != NULL) {
        result = comparison >= 0 ? PyObject_RichCompare(both[0], both[1], comparison) : apply(op, both[0], both[1]);
        leave_quiet(context, result == NULL);
    }
    result = counted_array(result, device);
done:
    Py_DECREF(mine);
    Py_DECREF(theirs);
    Py_DECREF(device);
    return result;
}

static PyObject *binary(PyObject *left, PyObject *right, int op)
{
    PyObject *result = NULL;
    if (Py_TYPE(left) == array_type)
        result = operator_result(left, right, op, 0, -1);
    else if (Py_TYPE(right) == array_type && is_scalar(left))
        result = operator_result(right, left, op, 1, -1);
    if (result != NULL || PyErr_Occurred())
        return result;
    if (PyObject_TypeCheck(left, array_type))
        return of_method(PyObject_CallFunctionObjArgs(forward_methods[op], left, right, NULL));
    if (PyObject_TypeCheck(right, array_type))
        return of_method(PyObject_CallFunctionObjArgs(reflected_methods[op], right, left, NULL));
    Py_RETURN_NOTIMPLEMENTED;
}

static PyObject *compare(PyObject *array, PyObject *other, int comparison)
{
    PyObject *result = Py_TYPE(array) == array_type ? operator_result(array, other, 0, 0, comparison) : NULL;
    if (result != NULL || PyErr_Occurred())
        return result;
    return of_method(PyObject_CallFunctionObjArgs(comparison_methods[comparison], array, other, NULL));
}

/* Whether `mine`, the elements of an array, can be updated. */
static int can_update(PyObject *array, PyObject *mine)
{
    PyObject *value = AT(array, of_array.value), *access = AT(array, of_array.made_access);
    if (is_set(value))
        return value == mine;
    PyObject *cell = AT(array, of_array.made_cell);
    return access != NULL && PyLong_AsLong(access) == 1 && AT(array, of_array.host) == mine &&
           AT(array, of_array.memory) == AT(cell, of_cell.memory) && is_own(cell);
}

/* Whether a negative exponent would be found when some elements have been written already: of a power of integers. */
static int may_fail_midway(PyObject *ufunc, PyObject *target)
{
    return ufunc == binary_ufuncs[POWER] && PyArray_ISINTEGER((PyArrayObject *)target);
}

/* Update the elements of an array; 1 if the method in Python is to be called, -1 with an error. */
static int update(PyObject *array, PyObject *other, int op)
{
    PyObject *mine, *theirs, *device, *result = NULL, *context, *lock;
    if (!operands(array, other, &mine, &theirs, &device) || !PyArray_CheckExact(mine))
        return 1;
    if (PyArray_CheckExact(theirs) && !PyArray_SAMESHAPE((PyArrayObject *)mine, (PyArrayObject *)theirs))
        return 1;
    if (PyArray_CheckExact(theirs) && may_fail_midway(binary_ufuncs[op], mine))
        return 1;
    Py_INCREF(mine);
    Py_INCREF(theirs);
    int is_left = 1;
    PyObject *both[2] = {mine, theirs};
    if (can_update(array, mine)) /* nothing else runs during a loop */
        result = in_loop(both, op, -1, mine);
    if (result == NULL && (lock = lock_of_cells()) == NULL)
        is_left = 0;
    else if (result == NULL) {
        if (can_update(array, mine) && (context = enter_quiet()) != NULL) {
            result = apply_in_place(op, mine, theirs);
            is_left = leave_quiet(context, result == NULL);
        }
        if (unlock(lock) < 0)
            is_left = 0;
    }
    int is_done = result == mine;
    Py_XDECREF(result);
    Py_DECREF(mine);
    Py_DECREF(theirs);
    if (!is_left)
        return -1;
    operations += is_done;
    return is_done ? 0 : 1;
}

static PyObject *inplace(PyObject *array, PyObject *other, int op)
{
    if (Py_TYPE(array) == array_type) {
        PyObject *value = AT(array, of_array.value);
        if (is_set(value) && !PyArray_CheckExact(value)) { /* scalars are not written to */
            PyObject *result = operator_result(array, other, op, 0, -1);
            if (result != NULL || PyErr_Occurred())
                return result;
        }
        else {
            int is_left = update(array, other, op);
            if (is_left <= 0)
                return is_left < 0 ? NULL : Py_NewRef(array);
        }
    }
    return of_method(PyObject_CallFunctionObjArgs(inplace_methods[op], array, other, NULL));
}

#define OPERATOR(name, op) \
    static PyObject *name(PyObject *left, PyObject *right) { return binary(left, right, op); } \
    static PyObject *i##name(PyObject *left, PyObject *right) { return inplace(left, right, op); }
OPERATOR(add, ADD)
OPERATOR(subtract, SUBTRACT)
OPERATOR(multiply, MULTIPLY)
OPERATOR(divide, DIVIDE)
OPERATOR(floor_divide, FLOOR_DIVIDE)
OPERATOR(remainder_of, REMAINDER)
OPERATOR(and_, AND)
OPERATOR(or_, OR)
OPERATOR(xor_, XOR)
OPERATOR(left_shift, LEFT_SHIFT)
OPERATOR(right_shift, RIGHT_SHIFT)

static PyObject *power(PyObject *left, PyObject *right, PyObject *modulus)
{
    if (modulus != Py_None)
        Py_RETURN_NOTIMPLEMENTED;
    return binary(left, right, POWER);
}

static PyObject *ipower(PyObject *left, PyObject *right, PyObject *modulus)
{
    return inplace(left, right, POWER);
}

/* Whether the result of an operator of one array can be in its memory, since it is a temporary result; -1 with an error. */
static int is_place_of_result(PyObject *array, PyObject *value, int op)
{
    PyObject *values[2] = {value, NULL};
    if ((op != NEGATIVE && op != INVERT) || !is_large(value)) /* others are functions, whose calls take their arguments */
        return 0;
    int side = place_of_result(&array, values, op);
    return side < -1 ? -1 : side == 0;
}

static PyObject *unary(PyObject *array, int op)
{
    int on_pinned = 0;
    int is_in_place = 0;
    PyObject *device, *mine, *context, *result = NULL;
    long limit = Py_TYPE(array) == array_type ? limit_now(&on_pinned) : 0;
    if (limit > 0 && (mine = value_of(array, on_pinned, &device)) != NULL && are_few(mine, NULL, most_elements(device, limit))) {
        Py_INCREF(mine);
        Py_INCREF(device);
        result = looped(unary_ufuncs[op], &mine, 1, NULL);
        if (result == NULL && (is_in_place = is_place_of_result(array, mine, op)) >= 0 && (context = enter_quiet()) != NULL) {
            PyObject *inputs[2] = {mine, mine};
            switch (op) {
            case POSITIVE: result = PyNumber_Positive(mine); break;
            case ABSOLUTE: result = PyNumber_Absolute(mine); break;
            default: result = PyObject_Vectorcall(unary_ufuncs[op], inputs, 1 + is_in_place, NULL);
            }
            leave_quiet(context, result == NULL);
        }
        result = counted_array(result, device);
        if (result != NULL && is_in_place)
            Py_XSETREF(AT(array, of_array.value), Py_NewRef(Py_None));
        Py_DECREF(mine);
        Py_DECREF(device);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    return of_method(PyObject_CallOneArg(unary_methods[op], array));
}

/* The multiplications of products that are computed here: threads, which share a stack, gain less time than a plan takes. */
static const double MOST_MULTIPLICATIONS = 1 << 21;
/* Those of products whose loop runs here, with the lock of the interpreter: some ten microseconds. */
static const double MOST_LOOPED = 1 << 17;

/* The product of small arrays by a generalised ufunc; NULL without an error if the method in Python is to be called. */
static PyObject *small_product(PyObject *callable, PyObject *left, PyObject *right)
{
    PyObject *both[2], *device, *context, *result = NULL;
    PyUFuncObject *ufunc = (PyUFuncObject *)callable;
    Product product;
    npy_intp most;
    if (!Py_IS_TYPE(left, array_type) || !Py_IS_TYPE(right, array_type) ||
        (most = values_of(left, right, &both[0], &both[1], &device)) <= 0 || !note_product(ufunc, both, &product) ||
        product.results > (double)most || product.multiplications > MOST_MULTIPLICATIONS ||
        PyArray_SIZE((PyArrayObject *)both[0]) > most || PyArray_SIZE((PyArrayObject *)both[1]) > most)
        return NULL;
    Py_INCREF(both[0]);
    Py_INCREF(both[1]);
    Py_INCREF(device);
    if (product.multiplications <= MOST_LOOPED)
        result = looped_product(ufunc, both, &product);
    else if ((context = enter_quiet()) != NULL) {
        result = PyObject_Vectorcall(callable, both, 2, NULL);
        leave_quiet(context, result == NULL);
    }
    result = counted_array(result, device);
    Py_DECREF(both[0]);
    Py_DECREF(both[1]);
    Py_DECREF(device);
    return result;
}

static PyObject *product(PyObject *left, PyObject *right)
{
    if (!PyObject_TypeCheck(left, array_type)) {
        if (!PyObject_TypeCheck(right, array_type))
            Py_RETURN_NOTIMPLEMENTED;
        return of_method(PyObject_CallFunctionObjArgs(other_methods[RMATMUL], right, left, NULL));
    }
    PyObject *result = small_product(matmul, left, right);
    if (result != NULL || PyErr_Occurred())
        return result;
    return of_method(PyObject_CallFunctionObjArgs(other_methods[MATMUL], left, right, NULL));
}

static PyObject *iproduct(PyObject *array, PyObject *other)
{
    return of_method(PyObject_CallFunctionObjArgs(other_methods[IMATMUL], array, other, NULL));
}

static PyObject *negative(PyObject *array) { return unary(array, NEGATIVE); }
static PyObject *positive(PyObject *array) { return unary(array, POSITIVE); }
static PyObject *absolute(PyObject *array) { return unary(array, ABSOLUTE); }
static PyObject *invert(PyObject *array) { return unary(array, INVERT); }
