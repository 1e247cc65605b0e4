"""``python -m verify certificate.json table.csv ...``

Exit code 0: all is proved and the verdict is pass; 1: it is not; 2: the certificate is not one, or a file cannot be
read.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .certificate_form import MalformedError, NotProvedError, load_certificate, unpacked
from .whole_certificate import verify, what_is_proved


def checked_files(arguments: list[str]) -> int:
    """Check the certificate of the first path against the tables of the others."""
    try:
        certificate = load_certificate(Path(arguments[0]).read_bytes())
        verdict = verify(certificate, [unpacked(Path(name).read_bytes()) for name in arguments[1:]])
    except (OSError, EOFError, MalformedError, IndexError) as error:
        why = error if isinstance(error, MalformedError) else type(error).__name__
        sys.stderr.write(f"{why}: give a certificate (JSON) and the tables (CSV) it is about\n")
        return 2
    except NotProvedError as error:
        sys.stdout.write(f"not proved: {error}\n")
        return 1
    sys.stdout.write("\n".join([f"proved; verdict: {verdict}", *what_is_proved(certificate), ""]))
    return 0 if verdict == "pass" else 1


if __name__ == "__main__":
    sys.exit(checked_files(sys.argv[1:]))
