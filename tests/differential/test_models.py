"""The models of the C library against the library itself, on random data; and campaigns that go through them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from proof import FULL

ROOT = Path(__file__).parents[2]
SUPPORT = Path(__file__).parents[1] / "support"
LIBC = ROOT / "runtime" / "libc"
NAMES = sorted(path.stem for path in LIBC.glob("*.c"))
ROUNDS = 2_000_000 if FULL else 20_000
PROBES = """#include <string.h>
void __score_copy(void *to, const void *from, size_t size) { memmove(to, from, size); }
void __score_fill(void *to, int value, size_t size) { memset(to, value, size); }
size_t __score_large(size_t size) { return size; }
int __score_is_symbolic(size_t value) { return value % 2; } /* both ways of a model give the same */
"""
COMPILERS = {
    "x86-64": ["gcc", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fwrapv"],
    "i686": ["i686-linux-gnu-gcc", "-static", "-fwrapv"],
}


def prototype(name: str) -> str:
    """What the model's own definition says, without its body and under its name for this test."""
    text = re.sub(r"/\*.*?\*/", "", (LIBC / f"{name}.c").read_text(), flags=re.DOTALL)
    found = re.search(rf"^[^;{{}}#]*?\b{name}\([^{{;]*(?=\n{{)", text, re.MULTILINE)
    assert found is not None, name
    return re.sub(rf"\b{name}\(", f"model_{name}(", " ".join(found[0].split())) + ";\n"


def build(folder: Path, command: list[str]) -> Path:
    (folder / "models.h").write_text("#define MODEL(name) model_##name\n" + "".join(map(prototype, NAMES)))
    (folder / "probes.c").write_text(PROBES)
    flags = [*command, "-std=gnu11", "-O1", "-g", "-w", "-fno-builtin", f"-I{folder}"]
    made = []
    for name in NAMES:
        made.append(folder / f"{name}.o")
        renamed = [f"-D{other}=model_{other}" for other in NAMES]
        subprocess.run([*flags, *renamed, "-c", str(LIBC / f"{name}.c"), "-o", str(made[-1])], check=True, timeout=120)
    program = folder / "compare"
    runtime = ROOT / "runtime"
    for source in (runtime / "heap" / "heap.c", SUPPORT / "heap_port.c"):
        made.append(folder / f"{source.stem}.o")
        includes = [f"-I{runtime / folder}" for folder in ("", "heap", "x86", "posix")]
        subprocess.run([*flags, *includes, "-c", str(source), "-o", str(made[-1])], check=True, timeout=120)
    sources = [str(SUPPORT / "models.c"), str(folder / "probes.c"), *map(str, made)]
    subprocess.run([*flags, *sources, "-lm", "-o", str(program)], check=True, timeout=120)
    return program


@pytest.mark.parametrize("machine", COMPILERS)
def test_a_model_does_what_the_library_does(machine: str, tmp_path: Path) -> None:
    program = build(tmp_path, COMPILERS[machine])
    done = subprocess.run([program, "1", str(ROUNDS)], capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[:2000]


@pytest.mark.parametrize("machine", COMPILERS)
def test_models_of_standard_input_do_what_the_library_does(machine: str, tmp_path: Path) -> None:
    """Compiled as one text with other names: <stdio.h>, which they need, declares the library's."""
    unit, declared = tmp_path / "stdin.c", tmp_path / "stdin_models.h"
    models = sorted((LIBC / "stdin").glob("*.c"))
    unit.write_text("#define _GNU_SOURCE\n" + "".join(f'#include "{path}"\n' for path in models))
    flags = [*COMPILERS[machine], "-std=gnu11", "-O1", "-g", "-w", "-fno-builtin", f"-I{tmp_path}"]
    whole = subprocess.run(
        [*flags, "-E", "-P", str(unit)], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    names = "|".join(path.stem for path in models)
    whole = re.sub(r'__asm__ \("" "__isoc\w+"\)', "", whole)  # another name for the linker
    renamed = re.sub(rf'(?<!")\b({names})\b(?!")', r"model_\1", whole)
    (tmp_path / "renamed.c").write_text(renamed)
    declarations = re.findall(r"^[\w *]*?\bmodel_\w+\([^{;]*(?=\s*\{)", renamed, re.MULTILINE)
    assert len(declarations) == len(models)
    declared.write_text("#include <stdio.h>\n" + "".join(f"{one};\n" for one in declarations))
    program = tmp_path / "compare"
    sources = [str(SUPPORT / "stdin_models.c"), str(tmp_path / "renamed.c")]
    subprocess.run([*flags, *sources, "-o", str(program)], check=True, timeout=120)
    done = subprocess.run([program, "1", str(ROUNDS)], capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[:2000]


def test_every_model_is_compared() -> None:
    text = (SUPPORT / "models.c").read_text()
    assert [name for name in NAMES if not re.search(rf"\b(SAME|CLASS|NUMBER)\({name}\b", text)] == []
