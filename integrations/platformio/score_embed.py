"""`pio run -t score-embed`: explores the project with the include paths and definitions of its environment.

In platformio.ini:

    [env:explore]
    platform = native
    extra_scripts = post:score_embed.py
    custom_score_embed_sources = test/explore_frame.c src/frame.c
    custom_score_embed_board = native mps2-an385
    custom_score_embed_options = --time 30s

`sources` are relative to the project; `board` is score-embed's (one or more), which brings compiler and flags of its
own: of the environment's build only -I and -D are taken. Results are in .pio/score-embed/ENVIRONMENT-BOARD.
"""

import os
import shlex
import shutil
import subprocess

Import("env")  # noqa: F821  (PlatformIO's)


def definition(one):
    """-D of what SCons has: a name, or a name and its value."""
    if isinstance(one, (tuple, list)):
        name, value = (*one, None)[:2]
        return f"-D{name}" if value is None else f"-D{name}={env.subst(str(value))}"  # noqa: F821
    return f"-D{env.subst(str(one))}"  # noqa: F821


def flags():
    places = [env.subst(str(place)) for place in env.get("CPPPATH", [])]  # noqa: F821
    # SCons writes quotes of values for a shell, which is not asked here.
    words = [definition(one).replace('\\"', '"') for one in env.get("CPPDEFINES", [])]  # noqa: F821
    return [f"-I{place}" for place in dict.fromkeys(places)] + words


def option(name, default=""):
    return shlex.split(str(env.GetProjectOption(f"custom_score_embed_{name}", default)))  # noqa: F821


def explore(*_args, **_kwargs):
    """Each board in turn. The exit code is the worst, so that bugs fail the target."""
    worst = 0
    for board in option("board", "native"):
        name = f"{env.subst('$PIOENV')}-{os.path.splitext(os.path.basename(board))[0]}"  # noqa: F821
        out = os.path.join(env.subst("$PROJECT_DIR"), ".pio", "score-embed", name)  # noqa: F821
        if os.path.exists(os.path.join(out, "campaign.db")):  # of the last time
            shutil.rmtree(out)
        command = ["score-embed", "run", "--board", board, "--out", out, *option("options", "--time 60s")]
        words = [*command, *option("sources"), "--", *flags()]
        print(shlex.join(words))
        worst = max(worst, subprocess.call(words, cwd=env.subst("$PROJECT_DIR")))  # noqa: F821
    return worst


env.AddCustomTarget(  # noqa: F821
    name="score-embed",
    dependencies=None,
    actions=[explore],
    title="score-embed",
    description="Find an input for every path",
)
