/* A call: arguments and what they are compared with, leaves and their buffers, the run, and the results. */

/* The leaf with the value of a cell, borrowed; NULL if it is to be computed. */
static PyObject *leaf_of(PyObject *cell)
{
    PyObject *node = AT(cell, of_cell.node);
    if (node == NULL)
        return NULL;
    if (Py_IS_TYPE(node, leaf_type))
        return node;
    if (!PyObject_TypeCheck(node, leaf_type->tp_base))
        return NULL;
    node = AT(node, of_node.result);
    return node != NULL && Py_IS_TYPE(node, leaf_type) ? node : NULL;
}

/* Whether an attribute of an object is true; -1 with an error. */
static int is_true(PyObject *object, PyObject *name)
{
    PyObject *item = PyObject_GetAttr(object, name);
    int answer = item == NULL ? -1 : PyObject_IsTrue(item);
    Py_XDECREF(item);
    return answer;
}

/* Whether this thread only computes, and its settings are equal to those of the recording, which these then replace. */
static int is_ordinary(PyObject **settings)
{
    int active = is_true(observers, str_active);
    int differentiates = active ? active : is_true(tapes, str_tapes);
    if (differentiates)
        return differentiates < 0 ? -1 : 0;
    PyObject *trace = PyObject_GetAttr(tracing, str_trace), *current;
    if (trace == NULL)
        return -1;
    Py_DECREF(trace);
    if (trace != Py_None)
        return 0;
    if (PyContextVar_Get(scoped, NULL, &current) < 0)
        return -1;
    if (current == NULL || current == Py_None) {
        Py_XDECREF(current);
        if ((current = PyObject_GetAttr(config, str_base)) == NULL)
            return -1;
    }
    int same = current == *settings ? 1 : PyObject_RichCompareBool(current, *settings, Py_EQ);
    if (same > 0)
        Py_XSETREF(*settings, Py_NewRef(current));
    Py_DECREF(current);
    return same;
}

/* Whether an array is like the one of the recording: all of its storage, in C order, with the same attributes. */
static int is_alike(PyObject *array, PyObject *traits)
{
    PyObject *value = AT(array, of_array.value), *cell = AT(array, of_array.cell);
    if ((value != NULL && value != Py_None) || cell == NULL || AT(array, of_array.layout) != Py_None ||
        AT(array, of_array.part) != Py_None || AT(array, of_array.dtype) != PyTuple_GET_ITEM(traits, 1) ||
        AT(cell, of_cell.device) != PyTuple_GET_ITEM(traits, 2))
        return 0;
    int same = PyObject_RichCompareBool(AT(array, of_array.access), PyTuple_GET_ITEM(traits, 3), Py_EQ);
    return same <= 0 ? same : PyObject_RichCompareBool(AT(array, of_array.shape), PyTuple_GET_ITEM(traits, 0), Py_EQ);
}

/* The numbers among the arguments, as a new list, and new references to the cells of the arrays, whose number is
   `found`; NULL, with an error or without one, if the arguments are not like those of the recording. */
static PyObject *parsed(Replay *self, PyObject *const *arguments, Py_ssize_t count, PyObject **cells, Py_ssize_t *found)
{
    if (PyTuple_GET_SIZE(self->arguments) != count)
        return NULL;
    PyObject *values = PyList_New(0);
    for (Py_ssize_t i = 0; values != NULL && i < count; i++) {
        PyObject *expected = PyTuple_GET_ITEM(self->arguments, i), *argument = arguments[i];
        int same;
        if (PyTuple_CheckExact(expected)) {
            same = Py_IS_TYPE(argument, array_type) ? is_alike(argument, expected) : 0;
            if (same > 0) {
                cells[*found] = Py_NewRef(AT(argument, of_array.cell));
                /* which earlier argument has the same storage, or else itself */
                Py_ssize_t first = 0;
                while (cells[first] != cells[*found])
                    first++;
                same = first == PyLong_AsSsize_t(PyTuple_GET_ITEM(self->aliases, *found));
                ++*found;
            }
        }
        else
            same = (PyObject *)Py_TYPE(argument) == expected ? 1 - 2 * (PyList_Append(values, argument) < 0) : 0;
        if (same <= 0)
            Py_CLEAR(values);
    }
    return values;
}

/* The leaves of the plan, as a new list; NULL, with an error or without one, if one is not there. Where a value comes
   from an argument, its cell is in `cells`. */
static PyObject *leaves_of(Replay *self, PyObject **cells)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->leaves);
    PyObject *leaves = PyList_New(count);
    for (Py_ssize_t i = 0; leaves != NULL && i < count; i++) {
        PyObject *leaf = PyTuple_GET_ITEM(self->leaves, i);
        if (PyLong_CheckExact(leaf)) {
            PyObject *source = PyTuple_GET_ITEM(self->sources, PyLong_AsSsize_t(leaf));
            int is_argument = PyLong_CheckExact(source); /* else a variable: the reference to its cell, and its device */
            PyObject *cell = is_argument ? Py_NewRef(cells[PyLong_AsSsize_t(source)])
                                         : PyObject_CallNoArgs(PyTuple_GET_ITEM(source, 0));
            if (cell == NULL || !Py_IS_TYPE(cell, cell_type) ||
                (!is_argument && AT(cell, of_cell.device) != PyTuple_GET_ITEM(source, 1)))
                leaf = NULL;
            else
                leaf = leaf_of(cell);
            Py_XINCREF(leaf);
            Py_XDECREF(cell);
            if (leaf == NULL)
                Py_CLEAR(leaves);
            else
                PyList_SET_ITEM(leaves, i, leaf);
        }
        else
            PyList_SET_ITEM(leaves, i, Py_NewRef(leaf));
    }
    return leaves;
}

/* The registers of the schedule with the buffers of leaves, as a new list; NULL, with an error or without one, if a value
   is at another place. */
static PyObject *loaded(Replay *self, PyObject *leaves)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->loads);
    PyObject *registers = PyList_New(0);
    for (Py_ssize_t i = 0; registers != NULL && i < count; i++) {
        PyObject *load = PyTuple_GET_ITEM(self->loads, i); /* the number of a leaf, and the place */
        PyObject *leaf = PyList_GET_ITEM(leaves, PyLong_AsSsize_t(PyTuple_GET_ITEM(load, 0)));
        PyObject *buffer = PyDict_GetItemWithError(AT(leaf, of_node.buffers), PyTuple_GET_ITEM(load, 1));
        if (buffer == NULL || PyList_Append(registers, buffer) < 0)
            Py_CLEAR(registers);
    }
    return registers;
}

/* Set the parameters of generators that depend on the numbers of the call. */
static int fill(Replay *self, PyObject *values)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->fills);
    if (count == 0)
        return 0;
    if (PyList_SetSlice(values, PyList_GET_SIZE(values), PyList_GET_SIZE(values), self->constants) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *nodes = PyTuple_GET_ITEM(PyTuple_GET_ITEM(self->fills, i), 1);
        PyObject *parameters = PyObject_CallOneArg(PyTuple_GET_ITEM(PyTuple_GET_ITEM(self->fills, i), 0), values);
        if (parameters == NULL)
            return -1;
        for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(nodes); j++)
            Py_XSETREF(AT(PyTuple_GET_ITEM(nodes, j), of_node.detail), Py_NewRef(parameters));
        Py_DECREF(parameters);
    }
    return 0;
}

/* Run an action that the device may keep, as Schedule._act does, but without a step in Python. Returns 0 if the device
   has not kept it, -1 with an error. */
static int repeat(PyObject *action, PyObject *registers)
{
    PyObject *device = PyTuple_GET_ITEM(action, 1), *scalars = PyTuple_GET_ITEM(action, 3);
    Py_ssize_t count = PyList_GET_SIZE(registers), scalar_count = PyTuple_GET_SIZE(scalars);
    PyObject *key = PyTuple_New(count + 1), *values = PyList_New(scalar_count), *done = NULL;
    if (key == NULL || values == NULL)
        goto end;
    PyTuple_SET_ITEM(key, 0, Py_NewRef(PyTuple_GET_ITEM(action, 2)));
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *serial = PyObject_GetAttr(PyList_GET_ITEM(registers, i), str_serial);
        if (serial == NULL)
            goto end;
        PyTuple_SET_ITEM(key, i + 1, serial);
    }
    for (Py_ssize_t i = 0; i < scalar_count; i++) {
        PyObject *scalar = PyTuple_GET_ITEM(scalars, i); /* the node, and the number of the parameter */
        PyObject *parameters = AT(PyTuple_GET_ITEM(scalar, 0), of_node.detail);
        Py_ssize_t part = PyLong_AsSsize_t(PyTuple_GET_ITEM(scalar, 1));
        if (parameters == NULL || !PyTuple_Check(parameters) || part >= PyTuple_GET_SIZE(parameters))
            goto end; /* the step in Python raises the error */
        PyList_SET_ITEM(values, i, Py_NewRef(PyTuple_GET_ITEM(parameters, part)));
    }
    done = PyObject_CallMethodObjArgs(device, str_repeat, key, values, NULL);
end:
    Py_XDECREF(key);
    Py_XDECREF(values);
    int is_done = done == NULL ? (PyErr_Occurred() ? -1 : 0) : PyObject_IsTrue(done);
    Py_XDECREF(done);
    return is_done;
}

/* Run all actions. */
static int act(Replay *self, PyObject *registers, PyObject *leaves)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->actions); i++) {
        PyObject *action = PyTuple_GET_ITEM(self->actions, i);
        int done = PyTuple_GET_ITEM(action, 2) == Py_None ? 0 : repeat(action, registers);
        if (done < 0)
            return -1;
        if (!done) {
            PyObject *none = PyObject_CallMethodObjArgs(self->schedule, str_act, PyTuple_GET_ITEM(action, 0), registers,
                                                        leaves, self->order, Py_None, Py_None, Py_None, NULL);
            if (none == NULL)
                return -1;
            Py_DECREF(none);
        }
    }
    return 0;
}

/* A new leaf with a buffer; `output` is (register, place, is_device, shape, dtype, origin, layout, shown shape, access,
   device). */
static PyObject *new_leaf(PyObject *output, PyObject *registers, PyObject *serial)
{
    PyObject *leaf = leaf_type->tp_alloc(leaf_type, 0), *buffers = PyDict_New();
    PyObject *buffer = PyList_GET_ITEM(registers, PyLong_AsSsize_t(PyTuple_GET_ITEM(output, 0)));
    if (leaf == NULL || buffers == NULL || PyDict_SetItem(buffers, PyTuple_GET_ITEM(output, 1), buffer) < 0) {
        Py_XDECREF(leaf);
        Py_XDECREF(buffers);
        return NULL;
    }
    AT(leaf, of_node.op) = Py_NewRef(leaf_type);
    AT(leaf, of_node.detail) = Py_NewRef(Py_None);
    AT(leaf, of_node.shape) = Py_NewRef(PyTuple_GET_ITEM(output, 3));
    AT(leaf, of_node.dtype) = Py_NewRef(PyTuple_GET_ITEM(output, 4));
    AT(leaf, of_node.inputs) = Py_NewRef(empty);
    AT(leaf, of_node.result) = Py_NewRef(Py_None);
    AT(leaf, of_node.holder) = Py_NewRef(Py_None);
    AT(leaf, of_node.origin) = Py_NewRef(PyTuple_GET_ITEM(output, 5));
    AT(leaf, of_node.needs_plan) = Py_NewRef(Py_False);
    AT(leaf, of_node.depth) = Py_NewRef(zero);
    AT(leaf, of_node.host) = Py_NewRef(Py_None);
    AT(leaf, of_node.buffers) = buffers;
    AT(leaf, of_node.evaluation) = Py_NewRef(serial);
    AT(leaf, of_node.used) = Py_NewRef(serial);
    AT(leaf, of_node.saving) = Py_NewRef(zero_float);
    if (PyTuple_GET_ITEM(output, 2) == Py_True) {
        PyObject *reference = PyWeakref_NewRef(leaf, discard);
        if (reference == NULL || PySet_Add(holders, reference) < 0)
            Py_CLEAR(leaf);
        Py_XDECREF(reference);
    }
    return leaf;
}

/* A new array of a leaf, which is consumed. */
static PyObject *new_array(PyObject *output, PyObject *leaf)
{
    PyObject *cell = leaf == NULL ? NULL : cell_type->tp_alloc(cell_type, 0);
    PyObject *array = cell == NULL ? NULL : array_type->tp_alloc(array_type, 0);
    PyObject *reference = array == NULL ? NULL : PyWeakref_NewRef(cell, NULL);
    if (reference == NULL) {
        Py_XDECREF(leaf);
        Py_XDECREF(cell);
        Py_XDECREF(array);
        return NULL;
    }
    Py_SETREF(AT(leaf, of_node.holder), reference);
    AT(cell, of_cell.node) = leaf;
    AT(cell, of_cell.device) = Py_NewRef(PyTuple_GET_ITEM(output, 9));
    AT(cell, of_cell.memory) = Py_NewRef(Py_None);
    AT(cell, of_cell.own) = Py_NewRef(Py_None);
    AT(array, of_array.value) = Py_NewRef(Py_None);
    AT(array, of_array.cell) = cell;
    AT(array, of_array.layout) = Py_NewRef(PyTuple_GET_ITEM(output, 6));
    AT(array, of_array.owner) = Py_NewRef(Py_None);
    AT(array, of_array.part) = Py_NewRef(Py_None);
    AT(array, of_array.shape) = Py_NewRef(PyTuple_GET_ITEM(output, 7));
    AT(array, of_array.dtype) = Py_NewRef(PyTuple_GET_ITEM(output, 4));
    AT(array, of_array.access) = Py_NewRef(PyTuple_GET_ITEM(output, 8));
    AT(array, of_array.memory) = Py_NewRef(nothing);
    AT(array, of_array.large) = Py_NewRef(nothing);
    return array;
}

/* The arrays of the results: one, or a tuple or list of several. */
static PyObject *made(Replay *self, PyObject *registers, PyObject *serial)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->outputs);
    if (self->kind == Py_None)
        return new_array(PyTuple_GET_ITEM(self->outputs, 0),
                         new_leaf(PyTuple_GET_ITEM(self->outputs, 0), registers, serial));
    int is_list = self->kind == (PyObject *)&PyList_Type;
    PyObject *result = is_list ? PyList_New(count) : PyTuple_New(count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyObject *output = PyTuple_GET_ITEM(self->outputs, i);
        PyObject *array = new_array(output, new_leaf(output, registers, serial));
        if (array == NULL)
            Py_CLEAR(result);
        else if (is_list)
            PyList_SET_ITEM(result, i, array);
        else
            PyTuple_SET_ITEM(result, i, array);
    }
    return result;
}

/* Run the plan under the lock of the device; NULL, with an error or without one, if the values are not there. */
static PyObject *run(Replay *self, PyObject *values, PyObject **cells)
{
    PyObject *result = NULL, *registers = NULL, *buffers = NULL, *serial = NULL;
    PyObject *leaves = leaves_of(self, cells);
    if (leaves == NULL || (registers = loaded(self, leaves)) == NULL)
        goto end;
    if (PyTuple_GET_SIZE(self->sizes)) {
        buffers = PyObject_CallMethodOneArg(self->provider, str_allocate_all, self->sizes);
        if (buffers == NULL) { /* the steps in Python make room, or raise the error */
            if (PyErr_ExceptionMatches(PyExc_Exception))
                PyErr_Clear();
            goto end;
        }
        if (PyList_SetSlice(registers, PyList_GET_SIZE(registers), PyList_GET_SIZE(registers), buffers) < 0)
            goto end;
    }
    if (fill(self, values) < 0)
        goto end;
    if (self->before != Py_None) { /* what is called before a run on the device "auto" */
        PyObject *answer = PyObject_CallOneArg(self->before, self->prepared);
        if (answer == NULL)
            goto end;
        Py_DECREF(answer);
    }
    serial = PyObject_CallFunctionObjArgs(begin, self->prepared, self->placed, self->provider, self->origins, NULL);
    if (serial == NULL)
        goto end;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->loads); i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(PyTuple_GET_ITEM(self->loads, i), 0));
        Py_XSETREF(AT(PyList_GET_ITEM(leaves, number), of_node.used), Py_NewRef(serial));
    }
    if (act(self, registers, leaves) == 0)
        result = made(self, registers, serial);
    else if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        PyErr_NormalizeException(&type, &error, &traceback);
        if (traceback != NULL)
            PyException_SetTraceback(error, traceback);
        PyObject *none = PyObject_CallFunctionObjArgs(blame, error, serial, self->provider, NULL);
        if (none != NULL)
            PyErr_Restore(Py_NewRef(type), Py_NewRef(error), PyException_GetTraceback(error));
        Py_XDECREF(none);
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    }
end:
    Py_XDECREF(leaves);
    Py_XDECREF(registers);
    Py_XDECREF(buffers);
    Py_XDECREF(serial);
    return result;
}
