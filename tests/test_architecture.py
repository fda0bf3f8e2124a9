"""The laws of the folder tree that no type checker knows."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("rules", "vision", "firmware", "companion_web")
MODULES = sorted(p for name in PACKAGES for p in (ROOT / name).rglob("*.py"))


def imports(module: Path) -> set[str]:
    """The top-level packages a module names in its import statements, wherever they stand."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_the_import_contracts_hold():
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("gpiozero", {"firmware/panel.py"}),
        ("picamera2", set()),
        ("RPi", set()),
        ("reportlab", {"firmware/printing.py"}),
        ("torch", {"vision/dice/nets.py", "vision/dice/train.py"}),
        ("mitsuba", {"vision/studio/renderer.py"}),
        ("sqlite3", {"rules/journal.py"}),
    ],
)
def test_a_part_of_the_machine_is_touched_in_one_module(package, allowed):
    users = {m.relative_to(ROOT).as_posix() for m in MODULES if package in imports(m)}
    assert users == allowed


def test_rules_import_nothing_but_the_standard_library():
    for module in MODULES:
        if module.is_relative_to(ROOT / "rules"):
            foreign = imports(module) - sys.stdlib_module_names - {"rules"}
            assert not foreign, module


def test_no_folder_of_tests_shadows_a_package():
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_every_module_says_what_it_is_for():
    for module in MODULES:
        tree = ast.parse(module.read_text("utf-8"))
        assert ast.get_docstring(tree) or not tree.body, module


def test_no_module_outside_a_game_names_one():
    names = [p.name for p in (ROOT / "rules" / "games").iterdir() if (p / "game.py").exists()]
    assert names
    pattern = re.compile(rf"\b({'|'.join(names)})\b", re.IGNORECASE)
    for module in MODULES:
        if (ROOT / "rules" / "games") in module.parents and module.parent.name != "games":
            continue
        code = ast.unparse(ast.parse(module.read_text("utf-8")))
        without_docstrings = re.sub(r'"""(.|\n)*?"""', "", code)
        assert not pattern.search(without_docstrings), module


def test_templates_and_scripts_put_no_foreign_text_into_the_page():
    files = [*(ROOT / "companion_web").rglob("*.html"), *(ROOT / "companion_web").rglob("*.js")]
    assert files
    for file in files:
        text = file.read_text("utf-8")
        assert "innerHTML" not in text, file
        assert not re.search(r"""(src|href)=["']https?://""", text), file
