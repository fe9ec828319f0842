/* The extension module: calls of recorded functions whose recordings are plain.

   A replay handles the calls of one recording in which all arguments are arrays and numbers, all values are where the
   recording needs them, and nothing but the results changes. For every other call it returns NotImplemented before it
   has done anything, and the methods in Python (Jitted.__call__, Recording.play, Segment.run, execute, Schedule.run)
   handle the call. They define what a call does, and this module repeats no decision of theirs but that of the plain
   case. The module is one translation unit. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#ifdef Py_GIL_DISABLED
#error "these functions rely on the global interpreter lock"
#endif

/* A change of what this module and the package ask of each other changes this and the number in compiled.py. */
#define VERSION 3

#include "../_slots.h" /* attributes */
#include "_state.h" /* what `install` is given, and replays */
#include "_runs.h"  /* arguments, the run, results */

/* Whether the device is still the one of the recording, and the variables around the function have not changed. */
static int is_current(Replay *self)
{
    PyObject *opened = PyObject_CallOneArg(open_device, self->device);
    if (opened == NULL)
        return -1;
    Py_DECREF(opened);
    if (opened != self->provider)
        return 0;
    PyObject *same = PyObject_CallMethodNoArgs(self->guards, str_are_same);
    int answer = same == NULL ? -1 : PyObject_IsTrue(same);
    Py_XDECREF(same);
    return answer;
}

#define MOST_ARGUMENTS 64

static PyObject *replay_call(PyObject *object, PyObject *args, PyObject *keywords)
{
    Replay *self = (Replay *)object;
    PyObject *cells[MOST_ARGUMENTS], *values = NULL, *lock = NULL, *none, *result = NULL;
    Py_ssize_t found = 0;
    if (is_ordinary(&self->settings) <= 0 ||
        (values = parsed(self, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), cells, &found)) == NULL)
        goto end;
    if (is_current(self) > 0)
        lock = PyObject_CallOneArg(lock_of, self->provider);
    none = lock == NULL ? NULL : PyObject_CallMethodNoArgs(lock, str_enter);
    if (none != NULL) {
        Py_DECREF(none);
        result = run(self, values, cells);
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        none = PyObject_CallMethodObjArgs(lock, str_exit, Py_None, Py_None, Py_None, NULL);
        Py_XDECREF(none);
        if (type != NULL)
            PyErr_Restore(type, error, traceback);
        else if (none == NULL)
            Py_CLEAR(result);
    }
end:
    while (found)
        Py_DECREF(cells[--found]);
    Py_XDECREF(lock);
    Py_XDECREF(values);
    return result != NULL || PyErr_Occurred() ? result : Py_NewRef(Py_NotImplemented);
}

static PyObject **part_of(PyObject *self, int number) { return (PyObject **)((char *)self + parts[number].offset); }

static PyObject *replay_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    if (PyTuple_GET_SIZE(args) || keywords == NULL || PyDict_GET_SIZE(keywords) != PART_COUNT)
        return PyErr_Format(PyExc_TypeError, "a replay takes %d keywords", PART_COUNT);
    PyObject *self = type->tp_alloc(type, 0);
    for (int i = 0; self != NULL && i < PART_COUNT; i++) {
        PyObject *part = PyDict_GetItemString(keywords, parts[i].name);
        if (part == NULL) {
            PyErr_Format(PyExc_TypeError, "a replay needs the keyword '%s'", parts[i].name);
            Py_CLEAR(self);
        } else
            *part_of(self, i) = Py_NewRef(part);
    }
    if (self != NULL && PyTuple_GET_SIZE(((Replay *)self)->arguments) > MOST_ARGUMENTS) {
        Py_DECREF(self);
        return PyErr_Format(PyExc_ValueError, "a replay has at most %d arguments", MOST_ARGUMENTS);
    }
    return self;
}

static int replay_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    for (int i = 0; i < PART_COUNT; i++)
        Py_VISIT(*part_of(self, i));
    return 0;
}

static int replay_clear(PyObject *self)
{
    for (int i = 0; i < PART_COUNT; i++)
        Py_CLEAR(*part_of(self, i));
    return 0;
}

static void replay_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    replay_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

PyDoc_STRVAR(replay_doc,
"Replay(*, settings, arguments, aliases, guards, device, provider, sources, constants, fills, leaves, before, prepared,\n"
"placed, schedule, order, origins, loads, sizes, actions, outputs, kind)\n--\n\n"
"The calls of one recording; gpuarray/jit/compiled.py makes it. Called with the arguments, it returns the result, or\n"
"NotImplemented if it has done nothing.");

static PyType_Slot slots[] = {
    {Py_tp_new, replay_new}, {Py_tp_call, replay_call}, {Py_tp_traverse, replay_traverse}, {Py_tp_clear, replay_clear},
    {Py_tp_dealloc, replay_dealloc}, {Py_tp_doc, (void *)replay_doc}, {0, NULL},
};

static PyType_Spec spec = {
    .name = "gpuarray.jit._compiled.Replay",
    .basicsize = sizeof(Replay),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

PyDoc_STRVAR(install_doc,
"install($module, array, cell, leaf, config, scoped, tracing, tapes, observers, open_device, lock_of, begin, blame, holders, discard, nothing, /)\n--\n\n"
"Tell the module the classes of arrays, cells and leaves; the configuration and the context variable with that of a\n"
"thread; the states of recording and of differentiating, and the module of observers; functions that open a device,\n"
"return the lock of one, begin an evaluation, and add notes to an error; the set of leaves on devices, and its method\n"
"that removes one; and what an array has that has seen no memory.");

static PyObject *install(PyObject *module, PyObject *args)
{
    PyObject *array, *cell, *leaf;
    if (!PyArg_ParseTuple(args, "O!O!O!OOOOOOOOOO!OO", &PyType_Type, &array, &PyType_Type, &cell, &PyType_Type, &leaf,
                          &config, &scoped, &tracing, &tapes, &observers, &open_device, &lock_of, &begin, &blame,
                          &PySet_Type, &holders, &discard, &nothing))
        return NULL;
    array_type = (PyTypeObject *)array, cell_type = (PyTypeObject *)cell, leaf_type = (PyTypeObject *)leaf;
    const struct { PyTypeObject *type; const char *name; Py_ssize_t *offset; } members[] = {
        {array_type, "_value", &of_array.value}, {array_type, "_made_cell", &of_array.cell},
        {array_type, "_made_layout", &of_array.layout}, {array_type, "_made_owner", &of_array.owner},
        {array_type, "_made_part", &of_array.part}, {array_type, "_made_shape", &of_array.shape},
        {array_type, "_made_dtype", &of_array.dtype}, {array_type, "_made_access", &of_array.access},
        {array_type, "_memory", &of_array.memory}, {array_type, "_large", &of_array.large},
        {cell_type, "_node", &of_cell.node}, {cell_type, "device", &of_cell.device},
        {cell_type, "memory", &of_cell.memory}, {cell_type, "own", &of_cell.own},
        {leaf_type, "op", &of_node.op}, {leaf_type, "detail", &of_node.detail}, {leaf_type, "shape", &of_node.shape},
        {leaf_type, "dtype", &of_node.dtype}, {leaf_type, "inputs", &of_node.inputs},
        {leaf_type, "result", &of_node.result}, {leaf_type, "holder", &of_node.holder},
        {leaf_type, "origin", &of_node.origin}, {leaf_type, "needs_plan", &of_node.needs_plan},
        {leaf_type, "depth", &of_node.depth}, {leaf_type, "host", &of_node.host},
        {leaf_type, "buffers", &of_node.buffers}, {leaf_type, "evaluation", &of_node.evaluation},
        {leaf_type, "used", &of_node.used}, {leaf_type, "saving", &of_node.saving},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if ((*members[i].offset = offset_of(members[i].type, members[i].name)) < 0)
            return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++)
        Py_INCREF(PyTuple_GET_ITEM(args, i));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"install", install, METH_VARARGS, install_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gpuarray.jit._compiled", "Calls of recorded functions.", -1, functions,
};

PyMODINIT_FUNC PyInit__compiled(void)
{
    const struct { PyObject **string; const char *text; } strings[] = {
        {&str_base, "_base"}, {&str_trace, "trace"}, {&str_tapes, "tapes"}, {&str_active, "active"},
        {&str_are_same, "are_same"}, {&str_enter, "__enter__"}, {&str_exit, "__exit__"}, {&str_serial, "serial"},
        {&str_allocate_all, "allocate_all"}, {&str_repeat, "repeat"}, {&str_act, "_act"},
    };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if ((*strings[i].string = PyUnicode_InternFromString(strings[i].text)) == NULL)
            return NULL;
    PyObject *module = PyModule_Create(&definition), *type = PyType_FromSpec(&spec);
    empty = PyTuple_New(0), zero = PyLong_FromLong(0), zero_float = PyFloat_FromDouble(0.0);
    if (module == NULL || type == NULL || empty == NULL || zero == NULL || zero_float == NULL ||
        PyModule_AddIntConstant(module, "VERSION", VERSION) < 0 ||
        PyModule_AddIntConstant(module, "MOST_ARGUMENTS", MOST_ARGUMENTS) < 0 ||
        PyModule_AddObjectRef(module, "Replay", type) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
