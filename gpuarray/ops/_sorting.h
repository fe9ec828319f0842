/* Sorting of words by their digits, the highest first. */

#define MOST_BITS 11 /* of a digit: the counts of its values stay in the first cache */
#define FEW 24 /* are inserted one by one */

static void insert_all(uint64_t *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t word = words[i];
        size_t place = i;
        for (; place && words[place - 1] > word; place--)
            words[place] = words[place - 1];
        words[place] = word;
    }
}

/* Move words to where those of their value of a digit are, which begin at `starts` and end where the next ones begin. */
static void exchange_all(uint64_t *words, size_t count, size_t *starts, size_t values, int shift)
{
    size_t ends[1 << MOST_BITS];
    for (size_t value = 0; value < values; value++)
        ends[value] = value + 1 < values ? starts[value + 1] : count;
    for (size_t value = 0; value < values; value++)
        while (starts[value] < ends[value]) {
            uint64_t word = words[starts[value]];
            for (size_t place; (place = word >> shift & (values - 1)) != value;) {
                uint64_t next = words[starts[place]];
                words[starts[place]++] = word;
                word = next;
            }
            words[starts[value]++] = word;
        }
}

/* Sort words that differ in their lowest `bits` alone. There is memory for `room` others: more are exchanged. */
static void sort_by_digits(uint64_t *words, uint64_t *other, size_t room, size_t count, int bits)
{
    if (count <= FEW) {
        insert_all(words, count);
        return;
    }
    if (bits == 0)
        return;
    int digit = 2; /* with some eight words for each value */
    while (digit < MOST_BITS && count >> (digit + 3))
        digit++;
    if (digit > bits)
        digit = bits;
    int shift = bits - digit;
    size_t ends[1 << MOST_BITS], values = (size_t)1 << digit, mask = values - 1, start = 0;
    memset(ends, 0, values * sizeof *ends);
    for (size_t i = 0; i < count; i++)
        ends[words[i] >> shift & mask]++;
    for (size_t value = 0; value < values; value++) {
        size_t some = ends[value];
        ends[value] = start;
        start += some;
    }
    if (count > room)
        exchange_all(words, count, ends, values, shift);
    else {
        for (size_t i = 0; i < count; i++)
            other[ends[words[i] >> shift & mask]++] = words[i];
        memcpy(words, other, count * sizeof *words);
    }
    start = 0;
    for (size_t value = 0; value < values; start = ends[value++])
        if (ends[value] - start > 1)
            sort_by_digits(words + start, other, room, ends[value] - start, shift);
}

PyDoc_STRVAR(sort_doc, "sort(words, other, /)\n--\n\nSort a line of uint64 in place, in less time with memory for another.");

static PyObject *sort(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Py_buffer buffers[2];
    if (get_buffers(arguments, count, buffers, 2, 0) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    uint64_t *words = buffers[0].buf, differing = 0;
    size_t size = buffers[0].len / sizeof *words;
    int bits = 0;
    for (size_t i = 1; i < size; i++)
        differing |= words[i] ^ words[0];
    for (; differing; differing >>= 1)
        bits++;
    sort_by_digits(words, buffers[1].buf, buffers[1].len / sizeof *words, size, bits);
    Py_END_ALLOW_THREADS
    return release(buffers, 2, NULL);
}
