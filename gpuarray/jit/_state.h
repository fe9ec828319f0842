/* What the files of this module use: the classes and functions that `install` is given, and where the attributes of
   objects are. */

/* The classes, and where the attributes of their instances are. */
static PyTypeObject *array_type, *leaf_type;
static struct {
    Py_ssize_t value, cell, layout, owner, part, shape, dtype, access, memory, large;
} of_array;
static struct { Py_ssize_t node, device, memory, own; } of_cell;
static struct {
    Py_ssize_t op, detail, shape, dtype, inputs, result, holder, origin, needs_plan, depth, host, buffers, evaluation,
        used, saving;
} of_node;
static PyTypeObject *cell_type;
/* Where the modes of threads are: the configuration with its context variable, the states of recording and of
   differentiating, and the module of observers. */
static PyObject *config, *scoped, *tracing, *tapes, *observers;
/* Functions and constants of the package: see `install`. */
static PyObject *open_device, *lock_of, *begin, *blame, *holders, *discard, *nothing;
static PyObject *str_base, *str_trace, *str_tapes, *str_active, *str_are_same, *str_enter, *str_exit, *str_serial,
    *str_allocate_all, *str_repeat, *str_act, *empty, *zero, *zero_float;

/* What a replay was made of; compiled.py documents each. */
typedef struct {
    PyObject_HEAD
    PyObject *settings, *arguments, *aliases, *guards, *device, *provider, *sources, *constants, *fills, *leaves,
        *before, *prepared, *placed, *schedule, *order, *origins, *loads, *sizes, *actions, *outputs, *kind;
} Replay;
#define FIELDS 21
