"""Which parameter is the count of which pointer: signatures of well-known functions, as their projects write them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from score_embed.contract.program import Source
from score_embed.frontend.harness.entry import harness_of
from score_embed.frontend.harness.hints import Hints
from score_embed.frontend.types.data_model import DataModel

TYPES = """
typedef unsigned long size_t, uLong, z_size_t;
typedef unsigned char Bytef, u8;
typedef unsigned short u16, ush, ushf;
typedef unsigned int uInt, u32, lfs_size_t, lfs_block_t, lfs_off_t;
typedef struct { ush code, len; } ct_data;
struct state { int mode; };
struct handle { int port; };
struct iovec { void *base; size_t length; };
"""
# Prototype, what its body does (mostly nothing), and pointer → count.
SIGNATURES = [
    ("uLong adler32_z(uLong adler, const Bytef *buf, z_size_t len)", "", {"buf": "len"}),
    ("uLong adler32(uLong adler, const Bytef *buf, uInt len)", "", {"buf": "len"}),
    ("unsigned long crc32_z(unsigned long crc, const unsigned char *buf, z_size_t len)", "", {"buf": "len"}),
    ("void *memset(void *s, int c, size_t n)", "", {"s": "n"}),
    ("void *memchr(const void *s, int c, size_t n)", "", {"s": "n"}),
    ("void *memcpy(void *to, const void *from, size_t n)", "", {"to": "n", "from": "n"}),
    ("size_t strlcpy(char *dst, const char *src, size_t dsize)", "", {"dst": "dsize"}),
    ("int snprint(char *buf, size_t size, const char *format)", "", {"buf": "size"}),
    (
        "void *memmem(const void *haystack, size_t haystacklen, const void *needle, size_t needlelen)",
        "",
        {"haystack": "haystacklen", "needle": "needlelen"},
    ),
    ("void qsort(void *base, size_t nmemb, size_t size, int (*compar)(const void *, const void *))", "", {}),
    ("size_t fwrite(const void *ptr, size_t size, size_t nmemb, struct handle *f)", "f->port = 1;", {}),
    ("int find(const int *a, int key, int n)", "", {"a": "n"}),
    ("int search(int key, const int *a, int n)", "", {"a": "n"}),
    ("int send(int fd, const void *buf, size_t len, int flags)", "", {"buf": "len"}),
    ("long writev(int fd, const struct iovec *iov, int iovcnt)", "", {"iov": "iovcnt"}),
    ("u16 crc16(u16 crc, const u8 *data, u16 len)", "", {"data": "len"}),
    (
        "int i2c_mem_write(struct handle *hi2c, u16 DevAddress, u16 MemAddress, u16 MemAddSize, u8 *pData, u16 Size, u32 Timeout)",
        "hi2c->port = 1;",
        {"pData": "Size"},
    ),
    (
        "int uart_transmit(struct handle *huart, u8 *pData, u16 Size, u32 Timeout)",
        "huart->port = 1;",
        {"pData": "Size"},
    ),
    ("void spi_transfer(const u8 *tx, u8 *rx, u32 len)", "", {"tx": "len", "rx": "len"}),
    (
        "int modbus_write_registers(struct handle *ctx, int addr, int nb, const u16 *data)",
        "ctx->port = 1;",
        {"data": "nb"},
    ),
    (
        "int modbus_both(struct handle *ctx, int write_addr, int write_nb, const u16 *src, int read_addr, int read_nb, u16 *dest)",
        "ctx->port = 1;",
        {"src": "write_nb", "dest": "read_nb"},
    ),
    (
        "int cipher_crypt(struct handle *ctx, const u8 *iv, size_t iv_len, const u8 *input, size_t ilen, u8 *output, size_t *olen)",
        "ctx->port = *olen = 1;",
        {"iv": "iv_len", "input": "ilen"},
    ),
    ("void gen_codes(ct_data *tree, int max_code, ushf *bl_count)", "", {}),
    ("void skip_space(const char *buf, size_t *start, size_t max)", "*start += buf[*start];", {"buf": "max"}),
    (
        "int bd_read(struct state *lfs, lfs_size_t hint, lfs_block_t block, lfs_off_t off, void *buffer, lfs_size_t size)",
        "lfs->mode = 1;",
        {"buffer": "size"},
    ),
    ("int read_at(const u8 *bytes, size_t offset)", "", {}),
    ("int take(const u8 *bytes, size_t amount_left)", "", {"bytes": "amount_left"}),
    ("int block_read(u8 *to, u32 block_num, u32 block_size)", "", {}),
    ("void fill(u8 *p, size_t todo)", "", {"p": "todo"}),
    ("int balance(const u8 *name, int account)", "", {}),
    ("float dot(int n, const float *x, int incx)", "", {"x": "n"}),
    ("int at_most(char *out, size_t pos, size_t cap)", "", {"out": "cap"}),
]


@pytest.fixture(scope="module")
def model() -> DataModel:
    done = subprocess.run(["gcc", "-dM", "-E", "-xc", "/dev/null"], capture_output=True, text=True, check=True)
    return DataModel.from_macros(done.stdout)


@pytest.mark.parametrize(("prototype", "body", "counts"), SIGNATURES, ids=lambda value: str(value).partition("(")[0])
def test_the_count_is_the_one_that_people_mean(
    model: DataModel, prototype: str, body: str, counts: dict[str, str]
) -> None:
    found = re.search(r"(\w+)\(", prototype)
    assert found is not None
    text = f'# 1 "s.c"\n{TYPES}{prototype}\n{{\n    {body}\n}}\n'
    harness = harness_of([Source(Path("s.c"), text)], found[1], model).text
    assert dict(re.findall(r"(\w+)_bytes = (\w+) \* sizeof", harness)) == counts


def test_what_one_function_says_is_of_it_alone(model: DataModel) -> None:
    """`a[4]` of one was the size of another's `a`, where both were made with the same hints."""
    text = '# 1 "s.c"\nint four(int a[4]) { return a[3]; }\nint one(int *a) { return *a; }\n'
    sources, hints = [Source(Path("s.c"), text)], Hints()
    alone = harness_of(sources, "one", model, Hints()).text
    harness_of(sources, "four", model, hints)
    assert harness_of(sources, "one", model, hints).text == alone
    assert hints == Hints()


LIST = """# 1 "l.c"
struct pool { int n; };
struct list { struct pool *pool; unsigned long current_size, length, item_size; void *data; };
void put(struct pool *, void *);
int drop(struct list *l) { if (l->data) put(l->pool, l->data); return 1; }
"""
PUT = '# 1 "p.c"\nvoid free(void *);\nstruct pool { int n; };\nvoid put(struct pool *p, void *block) { p->n--; free(block); }\n'


def test_a_counted_member_is_null_only_where_it_is_empty(model: DataModel) -> None:
    text = harness_of([Source(Path("l.c"), LIST)], "drop", model).text
    assert "if (!((l_data_given != 0) | (l_object.current_size == 0))) __score_assume_fail();" in text
    assert "calloc" not in text


COMPARED = """# 1 "c.c"
struct s { int n; };
int compare(const void *a, const void *b) { return (*(const struct s *const *) a)->n - (*(const struct s *const *) b)->n; }
"""


def test_a_pointer_to_anything_may_be_to_a_pointer(model: DataModel) -> None:
    """As qsort's comparisons have it, where the elements are pointers: no bytes are taken for one."""
    text = harness_of([Source(Path("c.c"), COMPARED)], "compare", model).text
    assert '__score_symbolic(&a_object2.n, sizeof a_object2.n, "(*a)->n");' in text


WRITABLE = """# 1 "w.c"
void __assert_fail(const char *, const char *, unsigned, const char *);
int get(int *p) { if (!(sizeof(*p) == 0 || p)) __assert_fail("", "w.c", 1, "get"); if (p) *p = 1; return 0; }
"""


def test_the_size_of_what_a_pointer_leads_to_goes_through_no_pointer(model: DataModel) -> None:
    text = harness_of([Source(Path("w.c"), WRITABLE)], "get", model).text
    assert "if (!(((sizeof(*p)) == 0) || p)) __score_assume_fail();" in text


@pytest.mark.parametrize(("other", "heap"), [(PUT, True), (PUT.replace("put", "drop_all"), False)])
def test_what_another_file_frees_is_of_the_heap(model: DataModel, other: str, heap: bool) -> None:
    sources = [Source(Path("l.c"), LIST), Source(Path("p.c"), other)]
    assert ("calloc" in harness_of(sources, "drop", model).text) == heap
