/* Attributes of objects at the offsets of the slots of their classes. */

#define AT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* Where a slot of a class is in its instances; -1 with an error. */
static Py_ssize_t offset_of(PyTypeObject *type, const char *name)
{
    PyObject *descriptor = PyObject_GetAttrString((PyObject *)type, name);
    Py_ssize_t offset = -1;
    if (descriptor != NULL && Py_IS_TYPE(descriptor, &PyMemberDescr_Type))
        offset = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    else if (descriptor != NULL)
        PyErr_Format(PyExc_TypeError, "%s is no slot", name);
    Py_XDECREF(descriptor);
    return offset;
}
