"""signoff on the command line."""

__all__ = ["main"]


def main() -> None:
    """The `signoff` command."""
    try:
        import typer  # noqa: F401
    except ImportError:
        raise SystemExit('The command line needs a few packages more: pip install "signoff[cli]"') from None
    from signoff.cli.app import app
    from signoff.cli.output import take_any_text

    take_any_text()
    app(prog_name="signoff")
