"""What every script of this folder says of its checks: one line a check, `ok` or `FAIL` with the reason."""
import sys


class Checks:
    """Takes the checks of a script. `about` stands before each of them."""

    def __init__(self, about):
        self.about = about
        self.failed = 0

    def __call__(self, what, fine, why=""):
        self.failed += not fine
        said = f"{'ok  ' if fine else 'FAIL'} {self.about} {what}"
        print(said if fine else f"{said}: {why}", flush=True)

    def end(self):
        """Ends the script, with exit 1 if a check failed."""
        sys.exit(1 if self.failed else 0)
