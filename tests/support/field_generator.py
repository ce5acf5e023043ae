"""Random functions as generator.py makes them, over structs and unions with random bit-fields.

Fields are narrow and wide, of every type and sign, packed or not, across bytes and words, between other members, in
anonymous members, in records of the file and of the function; they are read, stored, stepped, copied and initialised.
"""

from __future__ import annotations

import random

from generator import CONSTANTS, Function, file_of

WIDTHS = {
    "_Bool": 1,
    "signed char": 8,
    "unsigned char": 8,
    "char": 8,
    "short": 16,
    "unsigned short": 16,
    "enum color": 4,
    "int": 32,
    "unsigned int": 32,
    "long": 32,
    "unsigned long": 32,
    "long long": 64,
    "unsigned long long": 64,
}
WIDER_THAN_INT = (
    "wide"  # what such fields are called: gcc computes with exactly their width, so they are converted at once
)
PLAIN = ("char c{}", "unsigned short s{}", "int i{}", "unsigned char b{}[3]", "long long l{}")


class Record:
    """A random struct or union: its definition and the names of its bit-fields."""

    def __init__(self, rng: random.Random, tag: str) -> None:
        self.rng = rng
        self.tag = tag
        self.kind = "union" if rng.random() < 0.15 else "struct"
        self.fields: list[str] = []
        packed = "__attribute__((packed)) " if rng.random() < 0.35 else ""
        self.widest = 57 if packed else 64  # so that 8 bytes hold every field
        members = [self._member(2) for _ in range(rng.randint(2, 7))]
        members.append(self._field("unsigned int", rng.randint(2, 20)))  # at least one that can be read
        rng.shuffle(members)
        members += ["long long pad;"] if packed else []
        self.definition = f"{self.kind} {packed}{tag} {{ {' '.join(members)} }};"

    def _member(self, depth: int) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.1:
            return rng.choice(PLAIN).format(rng.randrange(10**6)) + ";"
        if kind < 0.2:
            return rng.choice(["int : 0;", "unsigned char : 0;", "int : 3;", "unsigned : 7;", "long long : 0;"])
        if kind < 0.28 and depth:
            inner = " ".join(self._member(depth - 1) for _ in range(2))
            return f"struct {{ int n{rng.randrange(10**6)} : 1; {inner} }};"
        of = rng.choice(list(WIDTHS))
        width = rng.randint(1, min(WIDTHS[of], rng.choice([7, 13, self.widest])))
        if "long long" in of and rng.random() < 0.2:
            width = self.widest
        return self._field(of, width)

    def _field(self, of: str, width: int) -> str:
        name = f"{WIDER_THAN_INT if 32 < width < 64 else 'f'}{len(self.fields)}"
        self.fields.append(name)
        return f"{of} {name} : {width};"

    def readable(self) -> list[str]:
        return [name for name in self.fields if not name.startswith(WIDER_THAN_INT)]


class FieldFunction(Function):
    def __init__(self, rng: random.Random, name: str) -> None:
        super().__init__(rng, name)
        self.records = [Record(rng, f"{name}_r"), Record(rng, f"{name}_l")]
        outer, inner = self.records
        objects = [("y", outer), ("(*z)", outer), ("k[1]", outer), ("k[b & 1]", outer), ("u", inner)]
        fields = [f"{where}.{field}" for where, record in objects for field in record.readable()]
        self.written = [
            f"{where}.{field}" for where, record in objects for field in record.fields if field not in record.readable()
        ]
        self.wide = [f"((long long){place})" for place in self.written]
        self.scalars = ["a", "b", "v0", *(rng.choice([*fields, *self.wide]) for _ in range(5))]
        self.places = ["v0", "v1", "r.s", *fields]
        self.stepped = ["v0", *fields]
        self.narrow = ["r.s", "r.c"]

    def before(self) -> str:
        return f"{self.records[0].definition}\nstatic {self.kind_of(0)} {self.name}_g;"

    def kind_of(self, index: int) -> str:
        return f"{self.records[index].kind} {self.records[index].tag}"

    def declarations(self) -> list[str]:
        pick, outer, inner = self.rng.choice, self.kind_of(0), self.kind_of(1)
        return [
            *super().declarations(),
            f"    {self.records[1].definition}",
            f"    static {inner} {self.name}_zero;",
            f"    {outer} y = {self.initial(0, 'g')}, k[2] = {{ {self.name}_g, {self.name}_g }};",
            f"    {outer} *z = {pick(['&y', '&k[0]', f'&{self.name}_g'])};",
            f"    {inner} u = {self.initial(1, 'zero')};",
        ]

    def initial(self, index: int, zero: str) -> str:
        """An initialiser; of a union only one that sets all its bytes."""
        record, pick = self.records[index], self.rng.choice
        if record.kind == "union" or pick([True, False]):
            return f"{self.name}_{zero}"
        chosen = self.rng.sample(record.fields, min(2, len(record.fields)))
        values = [f".{field} = {pick(['a', 'b + 1', 'a * 3', *CONSTANTS])}" for field in chosen]
        return f"{{ {', '.join(values)} }}"

    def statement(self, depth: int) -> list[str]:
        if self.rng.random() < 0.2:
            return [
                f"    {self.rng.choice(['y = *z;', '*z = y;', 'k[1] = y;', f'{self.name}_g = k[1];', '*z = k[0];'])}"
            ]
        if self.written and self.rng.random() < 0.1:
            step = f"{self.rng.choice(['', '+', '-', '*', '&', '|', '^'])}= {self.expression(1)}"
            return [f"    {self.rng.choice(self.written)} {self.rng.choice(['++', '<<= 3', '>>= 2', step, step])};"]
        return super().statement(depth)

    def result(self) -> str:
        readable = [f"{where}.{field}" for where in ("y", "(*z)", "k[1]") for field in self.records[0].readable()]
        readable += [f"u.{field}" for field in self.records[1].readable()]
        readable += self.wide
        return super().result() + "".join(f" + {place} * {n}LL" for n, place in enumerate(readable, 3))


def program(seed: int, count: int) -> str:
    rng = random.Random(seed)
    functions = [FieldFunction(rng, f"case_{i}") for i in range(count)]
    texts = [f"{function.before()}\n{function.text()}" for function in functions]
    # Four bytes everywhere: where firmware has short enums, a field of one lies elsewhere than in the plain program.
    return file_of(["enum color { RED, GREEN = 5, BLUE = 12, WIDE = 70000 };", *texts], count)
