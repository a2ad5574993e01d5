"""Files that judge a change and so can't be part of it: tests, and what steers their runner."""

from pathlib import PurePosixPath

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "spec", "specs", "__tests__", "testdata", "fixtures"})
_RUNNER_FILES = frozenset(
    (
        *("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py", "sitecustomize.py"),
        *("usercustomize.py", ".coveragerc", "jest.config.js", "jest.config.ts", "vitest.config.ts"),
        *("vitest.config.js", ".mocharc.json", "karma.conf.js", "phpunit.xml"),
    )
)


def protected_reason(path: str) -> str | None:
    """Why `path` is protected ("is a test"), or `None` when a change may touch it."""
    pure = PurePosixPath(path)
    name = pure.name.lower()
    if name in _RUNNER_FILES:
        return "steers the test runner"
    if any(part.lower() in _TEST_FOLDERS for part in pure.parts[:-1]) or _is_test_name(name):
        return "is a test"
    return None


def _is_test_name(name: str) -> bool:
    stem, _, suffix = name.rpartition(".")
    if suffix in ("py", "go", "rb", "c", "cc", "cpp", "rs", "php"):
        return stem.startswith("test_") or stem.endswith("_test") or stem in ("test", "tests")
    if suffix in ("js", "jsx", "ts", "tsx", "mjs", "cjs"):
        return stem.endswith((".test", ".spec", "_test")) or stem == "test"
    if suffix in ("java", "kt", "cs"):
        return stem.endswith(("test", "tests")) or stem.startswith("test")
    return False
