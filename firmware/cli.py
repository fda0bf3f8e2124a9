"""The command ``tafelmaat``."""

import errno
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from socket import gaierror, getaddrinfo
from typing import Any, TypeVar, get_args

import click

from rules import games
from rules.errors import RulesError
from rules.lessons import Lessons
from rules.texts import Language
from vision.errors import VisionError

from .errors import FirmwareError
from .settings import Settings, load_settings, with_options

F = TypeVar("F", bound=Callable[..., Any])

MISUSED = 2
"""Exit code when something outside the program must be put right first."""


NO_SUCH_PLACE = (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES)


class _Sentences(click.Group):
    """Errors of ours are one sentence, not a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (RulesError, VisionError, FirmwareError) as error:
            click.echo(f"tafelmaat: {error}", err=True)
            sys.exit(MISUSED)


def _state_options(command: F) -> F:
    for option in (
        click.option("--settings", type=click.Path(path_type=Path), help="Settings file."),
        click.option("--state", type=click.Path(path_type=Path), help="Folder of the journal."),
    ):
        command = option(command)
    return command


def _table_options(command: F) -> F:
    for option in (
        click.option("--camera", help="auto, virtual, folder:PATH, webcam:0 …"),
        click.option("--demo", is_flag=True, help="Virtual players on the virtual table."),
    ):
        command = option(command)
    return command


def _web_options(command: F) -> F:
    for option in (
        click.option("--host", help="Address to listen on."),
        click.option("--port", type=click.IntRange(0, 65535), help="Port of the pages."),
    ):
        command = option(command)
    return command


@click.group(cls=_Sentences, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tafelmaat", prog_name="tafelmaat")
def main() -> None:
    """A companion for the game table: sees, checks and explains every move."""


@main.command()
@_web_options
@_table_options
@_state_options
def run(
    settings: Path | None,
    state: Path | None,
    camera: str | None,
    demo: bool,
    host: str | None,
    port: int | None,
) -> None:
    """Table and pages together; without a camera, on the virtual table."""
    from .supervise import supervise

    load_settings(settings)  # a wrong file is said once, not by every process
    _log()
    shared = _arguments(settings=settings, state=state)
    program = [sys.executable, "-m", "firmware"]
    table = [*program, "table", *shared, *_arguments(camera=camera), *["--demo"][: int(demo)]]
    web = [*program, "web", *shared, *_arguments(host=host, port=port)]
    sys.exit(supervise({"table": table, "web": web}))


def _arguments(**options: object) -> list[str]:
    given = [(f"--{name}", str(v)) for name, v in options.items() if v is not None]
    return [word for pair in given for word in pair]


@main.command()
@_table_options
@_state_options
def table(settings: Path | None, state: Path | None, camera: str | None, demo: bool) -> None:
    """The table process: camera, buttons, lamps and journal."""
    from .table import run_table

    _log()
    run_table(with_options(load_settings(settings), camera=camera, state=state), demo=demo)


@main.command()
@_web_options
@_state_options
def web(settings: Path | None, state: Path | None, host: str | None, port: int | None) -> None:
    """The web process: the pages for the phones."""
    from companion_web import serve

    _log()
    chosen = with_options(load_settings(settings), state=state, host=host, port=port)
    at = chosen.web
    try:
        getaddrinfo(at.host, at.port)  # else a wrong name would show up as something obscure
        serve.main(chosen.state_dir, at.host, at.port, at.max_streams)
    except OSError as error:
        if isinstance(error, gaierror) or error.errno in NO_SUCH_PLACE:
            raise FirmwareError(f"pages at {at.host}:{at.port}: {error.strerror}") from error
        raise


@main.command(name="games")
def list_games() -> None:
    """The installed games, and the folders that cannot be used."""
    for name, game in games.installed().items():
        click.echo(f"{name}: {games.speak(name, 'en').say('title')}")
        for variant in game.info.variants:
            seats = ", ".join(map(str, variant.seats))
            click.echo(f"  {variant.name}: for {seats}")
        for option in game.info.options:
            click.echo(f"  option {option.name}: {', '.join(option.values)}")
    for name, reason in games.broken().items():
        click.echo(f"{name}: cannot be used: {reason}")


@main.command()
@click.argument("picture", type=click.Path(path_type=Path))
@click.option("--game", required=True, help="Whose table it is; see `tafelmaat games`.")
@click.option("--out", type=click.Path(path_type=Path), help="Picture to draw the sight into.")
def look(picture: Path, game: str, out: Path | None) -> None:
    """What the camera would see in a picture."""
    from .look import draw_over, look_at, report, save_picture

    found = games.find(game)
    sighting = look_at(picture, found)
    for line in report(sighting, found):
        click.echo(line)
    if out:
        save_picture(out, draw_over(sighting, found))


@main.command()
@click.argument("journal", type=click.Path(path_type=Path), required=False)
@click.option("--game", type=int, help="Which game of the journal, from 1; else the newest.")
@click.option("--language", type=click.Choice(get_args(Language)), default="en")
@_state_options
def replay(
    settings: Path | None,
    state: Path | None,
    journal: Path | None,
    game: int | None,
    language: Language,
) -> None:
    """A game in words: every move with its reasons, refusals, corrections, standings."""
    from .story import read_game, tell

    for line in tell(read_game(journal or _settled(settings, state).journal, game), language):
        click.echo(line)


@main.command()
@click.argument("journal", type=click.Path(path_type=Path), required=False)
@click.option("--format", "form", type=click.Choice(["json", "csv", "txt"]), default="json")
@click.option("--game", type=int, help="Which game of the journal, from 1; else the newest.")
@_state_options
def export(
    settings: Path | None, state: Path | None, journal: Path | None, form: str, game: int | None
) -> None:
    """A game for other programs, to the standard output."""
    from .story import EXPORTS, read_game

    steps = read_game(journal or _settled(settings, state).journal, game)
    click.echo(EXPORTS[form](steps), nl=False)


@main.command()
@click.argument("game")
@click.argument("pictures", nargs=-1, type=click.Path(path_type=Path))
@click.option("--bare", multiple=True, type=click.Path(path_type=Path), help="Of the bare table.")
@click.option("--labels", type=click.Path(path_type=Path), help="Labels that were gone through.")
@click.option("--ask", is_flag=True, help="Ask for the labels here.")
@click.option("--gaps", is_flag=True, help="Keep it though something is missing.")
@click.option("--anew", is_flag=True, help="Begin with nothing, forgetting a draft.")
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for the labels.")
@click.option("--camera", help="Take the pictures with it, after a question for each.")
@click.option("--versions", is_flag=True, help="List what has been taught.")
@click.option("--use", type=int, help="Read with this older version again.")
@click.option("--export", "to", type=click.Path(path_type=Path), help="Write the lesson here.")
@click.option(
    "--import", "origin", type=click.Path(path_type=Path), help="Take a lesson from here."
)
@_state_options
def teach(
    settings: Path | None,
    state: Path | None,
    game: str,
    pictures: tuple[Path, ...],
    bare: tuple[Path, ...],
    labels: Path | None,
    ask: bool,
    gaps: bool,
    anew: bool,
    out: Path,
    camera: str | None,
    versions: bool,
    use: int | None,
    to: Path | None,
    origin: Path | None,
) -> None:
    """Learn how the pieces of a game look, from pictures of them.

    PICTURES show pieces on the sites of the table, or on the sheet of `tafelmaat print sheet`.
    What is seen is proposed in a file of labels beside a contact sheet; go through it and give it
    back with --labels, or answer here with --ask.
    """
    from .desk import Desk, Task, work

    desk = Desk(Lessons(_settled(settings, state).state_dir, game), games.find(game))
    if versions:
        for line in desk.versions():
            click.echo(line)
    elif use is not None:
        click.echo(f"lesson {use} is read with again, as lesson {desk.use(use)}")
    elif to is not None:
        click.echo(f"{to}: lesson {desk.export(to)}")
    elif origin is not None:
        click.echo(f"lesson {desk.bring(origin)}")
    else:
        task = Task(pictures, bare, camera, labels, ask, gaps, anew, out)
        for line in work(desk, task, lambda text, default: str(click.prompt(text, default))):
            click.echo(line)


@main.group(name="print")
def print_group() -> None:
    """Sheets to print at true scale."""


@print_group.command(name="cards")
@click.argument("out", type=click.Path(path_type=Path), default="tafelmaat-cards.pdf")
def cards(out: Path) -> None:
    """The four corner cards as a PDF."""
    from .printing import print_cards

    try:
        print_cards(out)
    except OSError as error:
        raise FirmwareError(f"{out}: {error.strerror}") from error
    click.echo(out)


@print_group.command(name="sheet")
@click.argument("game")
@click.argument("out", type=click.Path(path_type=Path), default="tafelmaat-sheet.pdf")
def sheet(game: str, out: Path) -> None:
    """The sheet on which the pieces of a game are laid to be taught, as a PDF."""
    from .printing import print_sheet

    try:
        pages = print_sheet(out, games.find(game).plan)
    except OSError as error:
        raise FirmwareError(f"{out}: {error.strerror}") from error
    click.echo(f"{out}: {pages} page{'s' * (pages != 1)}")


def _settled(settings: Path | None, state: Path | None) -> Settings:
    return with_options(load_settings(settings), state=state)


def _log() -> None:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
