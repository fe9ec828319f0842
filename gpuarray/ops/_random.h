/* Random words, and what is made of them by exact arithmetic. */

/* --- substreams: blocks of Philox4x32-10 ---

   A row is six words: the attempt, the key and the nonce, and a number to which others are added. Each row has a block
   for each number. The words of rows are six lines, each of which has a word of every row. */

#define ROW 6
/* The blocks that are computed together, whose words stay in the cache. */
#define TOGETHER 256

typedef struct { uint32_t word[4]; } Block;

#define ROUND                                                                                                          \
    {                                                                                                                  \
        uint64_t first = (uint64_t)a * 0xD2511F53u, second = (uint64_t)c * 0xCD9E8D57u;                                \
        a = (uint32_t)(second >> 32) ^ b ^ key_0;                                                                      \
        b = (uint32_t)second;                                                                                          \
        c = (uint32_t)(first >> 32) ^ d ^ key_1;                                                                       \
        d = (uint32_t)first;                                                                                           \
        key_0 += 0x9E3779B9u;                                                                                          \
        key_1 += 0xBB67AE85u;                                                                                          \
    }

/* A block of the words of a row, which are `step` apart, and of a number. */
static inline Block block_of(const uint32_t *row, Py_ssize_t step, uint32_t number)
{
    uint32_t a = number + row[5 * step], b = row[0], c = row[3 * step], d = row[4 * step];
    uint32_t key_0 = row[step], key_1 = row[2 * step];
    ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND /* a loop takes twice the time */
    return (Block){{a, b, c, d}};
}

/* Rows and numbers of blocks: the words of a row are `line` apart; those of the next block, `row_step` and `number_step`. */
typedef struct { const uint32_t *rows, *numbers; Py_ssize_t line, row_step, number_step; } Source;

#if defined(__GNUC__) && defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))
typedef __m256i Four; /* words of four blocks, each in 64 bits, of which the upper half is ignored */

WIDE static inline Four take_four(const uint32_t *words, Py_ssize_t place, Py_ssize_t step)
{
    return step ? _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(words + place))) : _mm256_set1_epi64x(*words);
}

WIDE static inline Four both_halves(Four low, Four high)
{
    return _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xAA);
}

/* Four blocks at a time, of consecutive rows or numbers or of the same; return how many there are. */
WIDE static Py_ssize_t compute_by_fours(const Source *source, Py_ssize_t count, Block *blocks)
{
    const Four first_factor = _mm256_set1_epi64x(0xD2511F53), second_factor = _mm256_set1_epi64x(0xCD9E8D57);
    const Four first_step = _mm256_set1_epi64x(0x9E3779B9), second_step = _mm256_set1_epi64x(0xBB67AE85);
    Py_ssize_t i = 0;
    for (; i + 4 <= count; i += 4) {
        Four words[6];
        for (int word = 0; word < 6; word++)
            words[word] = take_four(source->rows + word * source->line, i, source->row_step);
        Four a = _mm256_add_epi64(take_four(source->numbers, i, source->number_step), words[5]), b = words[0];
        Four c = words[3], d = words[4], key_0 = words[1], key_1 = words[2];
        for (int round = 0; round < 10; round++) {
            Four first = _mm256_mul_epu32(a, first_factor), second = _mm256_mul_epu32(c, second_factor);
            a = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(second, 32), b), key_0);
            b = second;
            c = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(first, 32), d), key_1);
            d = first;
            key_0 = _mm256_add_epi64(key_0, first_step);
            key_1 = _mm256_add_epi64(key_1, second_step);
        }
        Four front = both_halves(a, b), back = both_halves(c, d);
        Four even = _mm256_unpacklo_epi64(front, back), odd = _mm256_unpackhi_epi64(front, back);
        _mm256_storeu_si256((__m256i *)(blocks + i), _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256((__m256i *)(blocks + i + 2), _mm256_permute2x128_si256(even, odd, 0x31));
    }
    return i;
}
#endif

static void compute(const Source *source, Py_ssize_t count, Block *blocks)
{
    Py_ssize_t i = 0;
#ifdef WIDE
    if (__builtin_cpu_supports("avx2"))
        i = compute_by_fours(source, count, blocks);
#endif
    for (; i < count; i++)
        blocks[i] = block_of(source->rows + i * source->row_step, source->line, source->numbers[i * source->number_step]);
}

/* The top 53 bits of two words; the second one has the lower bits. */
static inline double fraction(uint32_t first, uint32_t second)
{
    return (double)(int64_t)((uint64_t)(second & 0xFFFFFFE0u) << 21 | first >> 6);
}

/* What is written of the blocks from `place` on. */
typedef void Maker(const Block *blocks, Py_ssize_t count, void *const *results, Py_ssize_t place);

static void make_words(const Block *blocks, Py_ssize_t count, void *const *results, Py_ssize_t place)
{
    uint64_t *first = (uint64_t *)results[0] + place, *last = (uint64_t *)results[1] + place;
    for (Py_ssize_t i = 0; i < count; i++) {
        first[i] = (uint64_t)blocks[i].word[0] << 32 | blocks[i].word[1];
        last[i] = (uint64_t)blocks[i].word[2] << 32 | blocks[i].word[3];
    }
}

static void make_uniforms(const Block *blocks, Py_ssize_t count, void *const *results, Py_ssize_t place)
{
    double *first = (double *)results[0] + place, *last = (double *)results[1] + place;
    for (Py_ssize_t i = 0; i < count; i++) {
        first[i] = (fraction(blocks[i].word[0], blocks[i].word[1]) + 1.0) * 0x1p-53;
        last[i] = (fraction(blocks[i].word[2], blocks[i].word[3]) + 1.0) * 0x1p-53;
    }
}

static void make_single_uniforms(const Block *blocks, Py_ssize_t count, void *const *results, Py_ssize_t place)
{
    float *first = (float *)results[0] + place, *last = (float *)results[1] + place;
    for (Py_ssize_t i = 0; i < count; i++) {
        first[i] = (float)blocks[i].word[0] * 0x1p-32f + 0x1p-33f;
        last[i] = (float)blocks[i].word[1] * 0x1p-32f + 0x1p-33f;
    }
}

/* The blocks of a single number for each row are computed together, as those of several numbers for a row are. */
static void run(Maker *maker, const uint32_t *numbers, Py_ssize_t count, const uint32_t *rows, Py_ssize_t row_count,
                void *const *results)
{
    Block blocks[TOGETHER];
    Py_ssize_t lines = count == 1 ? 1 : row_count, length = count == 1 ? row_count : count;
    for (Py_ssize_t line = 0; line < lines; line++)
        for (Py_ssize_t start = 0; start < length; start += TOGETHER) {
            Py_ssize_t some = length - start < TOGETHER ? length - start : TOGETHER;
            Source source = count == 1 ? (Source){rows + start, numbers, row_count, 1, 0}
                                       : (Source){rows + line, numbers + start, row_count, 0, 1};
            compute(&source, some, blocks);
            maker(blocks, some, results, line * length + start);
        }
}

static PyObject *call(PyObject *const *arguments, Py_ssize_t given, Maker *maker, Maker *single)
{
    Py_buffer buffers[4];
    if (get_buffers(arguments, given, buffers, 4, 2) < 0)
        return NULL;
    Py_ssize_t count = buffers[0].len / 4, row_count = buffers[1].len / (4 * ROW), elements = count * row_count;
    Py_ssize_t size = elements ? buffers[2].len / elements : 8;
    if (buffers[2].len != size * elements || buffers[3].len != size * elements || (size != 8 && (size != 4 || !single)))
        return release(buffers, 4, "results do not have an element for each block");
    void *results[2] = {buffers[2].buf, buffers[3].buf};
    Py_BEGIN_ALLOW_THREADS
    run(size == 8 ? maker : single, buffers[0].buf, count, buffers[1].buf, row_count, results);
    Py_END_ALLOW_THREADS
    return release(buffers, 4, NULL);
}

PyDoc_STRVAR(words_doc, "words(numbers, rows, first, last, /)\n--\n\n"
                        "Write the first two words and the last two of each block, the earlier one in the upper half.");

static PyObject *words(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    return call(arguments, count, make_words, NULL);
}

PyDoc_STRVAR(uniforms_doc, "uniforms(numbers, rows, first, last, /)\n--\n\n"
                           "Write two numbers in (0, 1] of each block, of float64 or float32.");

static PyObject *uniforms(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    return call(arguments, count, make_uniforms, make_single_uniforms);
}

/* --- streams: words of Philox4x64-10, whose block has four --- */

static inline uint64_t product(uint64_t factor, uint64_t other, uint64_t *high)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 both = (unsigned __int128)factor * other;
    *high = (uint64_t)(both >> 64);
    return (uint64_t)both;
#else
    uint64_t a0 = (uint32_t)factor, a1 = factor >> 32, b0 = (uint32_t)other, b1 = other >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), lower = a0 * b1 + (uint32_t)middle;
    *high = a1 * b1 + (middle >> 32) + (lower >> 32);
    return factor * other;
#endif
}

static void stream_block(const uint64_t *key, const uint64_t *counter, uint64_t *words)
{
    uint64_t a = counter[0], b = counter[1], c = counter[2], d = counter[3], key_0 = key[0], key_1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t high_0, high_1;
        uint64_t low_0 = product(0xD2E7470EE14C6C93u, a, &high_0), low_1 = product(0xCA5A826395121157u, c, &high_1);
        a = high_1 ^ b ^ key_0, b = low_1, c = high_0 ^ d ^ key_1, d = low_0;
        key_0 += 0x9E3779B97F4A7C15u, key_1 += 0xBB67AE8584CAA73Bu;
    }
    words[0] = a, words[1] = b, words[2] = c, words[3] = d;
}

/* Write `count` words from the one with the number `start` of a block on, as they are or as numbers in [0, 1). */
static void fill_from_stream(const uint64_t *position, uint64_t *words, Py_ssize_t count, int is_uniform)
{
    uint64_t counter[4], block[4], start = position[6];
    memcpy(counter, position + 2, sizeof counter);
    for (Py_ssize_t filled = 0; filled < count; start = 0) {
        stream_block(position, counter, block);
        for (; start < 4 && filled < count; start++, filled++)
            if (is_uniform)
                ((double *)words)[filled] = (double)(int64_t)(block[start] >> 11) * 0x1p-53;
            else
                words[filled] = block[start];
        for (int digit = 0; digit < 4 && ++counter[digit] == 0; digit++)
            ;
    }
}

static PyObject *from_stream(PyObject *const *arguments, Py_ssize_t given, int is_uniform)
{
    Py_buffer buffers[2];
    if (get_buffers(arguments, given, buffers, 2, 1) < 0)
        return NULL;
    if (buffers[0].len != 7 * sizeof(uint64_t))
        return release(buffers, 2, "a position is seven words: key, counter, and the number of the word in the block");
    Py_BEGIN_ALLOW_THREADS
    fill_from_stream(buffers[0].buf, buffers[1].buf, buffers[1].len / sizeof(uint64_t), is_uniform);
    Py_END_ALLOW_THREADS
    return release(buffers, 2, NULL);
}

PyDoc_STRVAR(stream_words_doc, "stream_words(position, words, /)\n--\n\nWrite the words of a stream from a position on.");

static PyObject *stream_words(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    return from_stream(arguments, count, 0);
}

PyDoc_STRVAR(stream_uniforms_doc, "stream_uniforms(position, numbers, /)\n--\n\n"
                                  "Write the top 53 bits of words from a position on, as numbers in [0, 1).");

static PyObject *stream_uniforms(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    return from_stream(arguments, count, 1);
}

/* --- angles --- */

/* The sine of x quarter turns is x + (pi/2 - 1) x plus these coefficients times x**3, x**5 and so on. */
#define TERMS 10
static const double sine[TERMS] = {
    -0.6459640975062463, 0.07969262624616705, -0.004681754135318688, 0.00016044118478735983, -3.598843235212085e-06,
    5.692172921967927e-08, -6.688035109811468e-10, 6.0669357311061955e-12, -4.377065467313742e-14,
    2.571422892860474e-16,
};

static inline void cosines_of(double *restrict turns, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        double quarters = fabs(turns[i] - (turns[i] > 0.5 ? 1.0 : 0.0)) * -4.0 + 1.0;
        double square = quarters * quarters, series = square * sine[TERMS - 1];
        for (int term = TERMS - 2; term >= 0; term--)
            series = (series + sine[term]) * square;
        turns[i] = (series + 0.5707963267948966192) * quarters + quarters;
    }
}

#ifdef WIDE
__attribute__((target("avx2"), flatten)) static void cosines_by_fours(double *turns, Py_ssize_t count) { cosines_of(turns, count); }
#endif

static void compute_cosines(double *turns, Py_ssize_t count)
{
#ifdef WIDE
    if (__builtin_cpu_supports("avx2")) {
        cosines_by_fours(turns, count);
        return;
    }
#endif
    cosines_of(turns, count);
}

PyDoc_STRVAR(cosines_doc, "cosines(turns, /)\n--\n\n"
                          "Replace angles in turns of float64, from -1/2 to 1, by their cosines.");

static PyObject *cosines(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Py_buffer buffer;
    if (get_buffers(arguments, count, &buffer, 1, 0) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    compute_cosines(buffer.buf, buffer.len / 8);
    Py_END_ALLOW_THREADS
    return release(&buffer, 1, NULL);
}
