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

/* The parts of a replay, which are the keywords of its constructor; compiled.py has the values. */
#define PARTS(PART) \
    PART(settings) PART(arguments) PART(aliases) PART(guards) PART(device) PART(provider) PART(sources) PART(constants) \
    PART(fills) PART(leaves) PART(before) PART(prepared) PART(placed) PART(schedule) PART(order) PART(origins) \
    PART(loads) PART(sizes) PART(actions) PART(outputs) PART(kind)

typedef struct {
    PyObject_HEAD
#define MEMBER(name) PyObject *name;
    PARTS(MEMBER)
} Replay;

static const struct { const char *name; size_t offset; } parts[] = {
#define NAMED(name) {#name, offsetof(Replay, name)},
    PARTS(NAMED)
};
enum { PART_COUNT = sizeof parts / sizeof *parts };
