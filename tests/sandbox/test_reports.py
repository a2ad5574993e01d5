"""Report parsing, against real outputs: captured ones, and pytest, unittest and node run here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.reports import PARSERS, parse_outcomes
from codeforge.sandbox.reports.junit import parse_junit

OUTPUTS = Path(__file__).parent / "report_outputs"

PASSED, FAILED, ERROR = TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR
SKIPPED, TIMEOUT = TestStatus.SKIPPED, TestStatus.TIMEOUT


def captured(name: str, command: str = "make test") -> dict[str, TestOutcome]:
    texts = [
        path.read_text(encoding="utf-8") if path.exists() else ""
        for path in (OUTPUTS / f"{name}.out", OUTPUTS / f"{name}.err")
    ]
    return by_id(parse_outcomes(texts[0], texts[1], command))


def by_id(outcomes: tuple[TestOutcome, ...]) -> dict[str, TestOutcome]:
    found = {outcome.id: outcome for outcome in outcomes}
    assert len(found) == len(outcomes), "an id twice"
    return found


def statuses(outcomes: dict[str, TestOutcome]) -> dict[str, TestStatus]:
    return {name: outcome.status for name, outcome in outcomes.items()}


PYTEST_SUITE = """
import unittest, pytest

def test_ok(): pass
def test_bad():
    print("ok 1 - printed TAP")
    print("test fake ... FAILED")
    assert 1 + 1 == 3, "sums - differ"
@pytest.mark.parametrize("x", [1, "a - b", "c::d e"])
def test_param(x): assert x == 1
@pytest.mark.skip(reason="not now")
def test_skipped(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.fixture
def broken(): raise RuntimeError("fixture broke")
def test_setup(broken): pass
@pytest.fixture
def untidy():
    yield
    raise RuntimeError("teardown broke")
def test_teardown(untidy): pass
class TestGroup:
    def test_in_class(self): pass
    class TestInner:
        def test_deep(self): assert [] == [1]
class Case(unittest.TestCase):
    def test_method(self): self.assertEqual(1, 2)
"""

F = "tests/test_suite.py"
PYTEST_FAILING = {
    f"{F}::test_bad": FAILED,
    f"{F}::test_param[a - b]": FAILED,
    f"{F}::test_param[c::d e]": FAILED,
    f"{F}::test_setup": ERROR,
    f"{F}::test_teardown": ERROR,
    f"{F}::TestGroup::TestInner::test_deep": FAILED,
    f"{F}::Case::test_method": FAILED,
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("suite")
    (root / "tests").mkdir()
    (root / "tests" / "test_suite.py").write_text(PYTEST_SUITE)
    (root / "pytest.ini").write_text("[pytest]\n")
    return root


def run(command: list[str], cwd: Path) -> tuple[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "NODE_", "COV"))}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # plugins only cost time here
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def run_pytest(root: Path, *options: str) -> tuple[str, str]:
    return run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options], root)


class TestPytest:
    @pytest.mark.parametrize(
        "options",
        [[], ["-q", "--color=yes"], ["-vv", "-rA"], ["--tb=no"], ["--tb=line", "-v", "-rN"]],
        ids=" ".join,
    )
    def test_every_verbosity_tells_the_same(self, suite: Path, options: list[str]) -> None:
        out, err = run_pytest(suite, *options)
        outcomes = by_id(parse_outcomes(out, err, "python -m pytest"))
        bad = {name: status for name, status in statuses(outcomes).items() if status in (FAILED, ERROR)}
        assert bad == PYTEST_FAILING
        counts = [outcome.status for outcome in outcomes.values()]
        # With a failing teardown pytest counts the test as passed too; its one outcome here is the error.
        assert counts.count(SKIPPED) == 2
        assert counts.count(PASSED) in (3, 4)

    def test_messages_and_details(self, suite: Path) -> None:
        outcomes = by_id(parse_outcomes(*run_pytest(suite), "pytest"))
        bad = outcomes[f"{F}::test_bad"]
        assert bad.message.startswith("AssertionError: sums - differ")
        assert "assert (1 + 1) == 3" in bad.details and "test_suite.py:8" in bad.details
        assert "fixture broke" in outcomes[f"{F}::test_setup"].details
        assert "assert [] == [1]" in outcomes[f"{F}::TestGroup::TestInner::test_deep"].details

    def test_junit_gives_the_same_ids(self, suite: Path, tmp_path: Path) -> None:
        report = tmp_path / "r.xml"
        out, err = run_pytest(suite, f"--junitxml={report}", "-o", "junit_family=xunit1")
        outcomes = by_id(parse_outcomes(out, err, "pytest", report.read_bytes()))
        bad = {name: status for name, status in statuses(outcomes).items() if status in (FAILED, ERROR)}
        assert bad == PYTEST_FAILING
        assert outcomes[f"{F}::TestGroup::test_in_class"].status is PASSED
        assert outcomes[f"{F}::test_skipped"].message == "not now"
        assert outcomes[f"{F}::test_bad"].message.startswith("AssertionError: sums - differ")
        assert "assert (1 + 1) == 3" in outcomes[f"{F}::test_bad"].details

    def test_collection_error(self, tmp_path: Path) -> None:
        (tmp_path / "test_a.py").write_text("import nowhere_at_all\n")
        (tmp_path / "test_b.py").write_text("def test_b(): pass\n")
        report = tmp_path / "r.xml"
        out, err = run_pytest(tmp_path, f"--junitxml={report}", "-o", "junit_family=xunit1")
        for xml in (None, report.read_bytes()):
            outcomes = by_id(parse_outcomes(out, err, "pytest", xml))
            assert statuses(outcomes) == {"test_a.py": ERROR}
            assert "nowhere_at_all" in outcomes["test_a.py"].details

    def test_no_tests(self, tmp_path: Path) -> None:
        out, err = run_pytest(tmp_path)
        assert parse_outcomes(out, err, "pytest") == ()

    def test_per_test_timeout(self, tmp_path: Path) -> None:
        (tmp_path / "test_t.py").write_text("import time\ndef test_slow(): time.sleep(20)\n")
        report = tmp_path / "r.xml"
        out, err = run_pytest(
            tmp_path, "-ppytest_timeout", "--timeout=0.2", f"--junitxml={report}", "-o", "junit_family=xunit1"
        )
        for xml in (None, report.read_bytes()):
            assert statuses(by_id(parse_outcomes(out, err, "pytest", xml))) == {
                "test_t.py::test_slow": TIMEOUT
            }

    def test_cut_off_in_the_middle(self, suite: Path) -> None:
        out, _ = run_pytest(suite, "-v")
        half = out[: out.index("test_setup")]
        assert statuses(by_id(parse_outcomes(half, "", "pytest")))[f"{F}::test_bad"] is FAILED

    def test_xdist_lines(self) -> None:
        text = (
            "===== test session starts =====\n[gw0] [ 50%] PASSED tests/test_a.py::test_x[a b] \n"
            "[gw1] [100%] FAILED tests/test_a.py::test_y \n"
        )
        assert statuses(by_id(parse_outcomes(text, "", ""))) == {
            "tests/test_a.py::test_x[a b]": PASSED,
            "tests/test_a.py::test_y": FAILED,
        }


UNITTEST_SUITE = '''
import unittest

class Case(unittest.TestCase):
    def test_ok(self): pass
    def test_described(self):
        """Says something."""
    def test_fails(self): self.assertEqual(1, 2, "one is not two")
    def test_described_fails(self):
        """Says another thing."""
        self.assertTrue(False)
    def test_errors(self): raise KeyError("missing")
    @unittest.skip("later")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    def test_subtests(self):
        for n in range(3):
            with self.subTest(n=n): self.assertNotEqual(n, 1)

class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("no class")
    def test_never(self): pass
'''


class TestUnittest:
    @pytest.mark.parametrize("options", [[], ["-v"], ["-q"]], ids=["dots", "verbose", "quiet"])
    def test_real_output(self, tmp_path: Path, options: list[str]) -> None:
        (tmp_path / "test_u.py").write_text(UNITTEST_SUITE)
        out, err = run([sys.executable, "-m", "unittest", *options], tmp_path)
        outcomes = by_id(parse_outcomes(out, err, "python -m unittest"))
        bad = {
            name: outcome.status for name, outcome in outcomes.items() if outcome.status in (FAILED, ERROR)
        }
        assert bad == {
            "test_u.Case.test_fails": FAILED,
            "test_u.Case.test_described_fails": FAILED,
            "test_u.Case.test_errors": ERROR,
            "test_u.Case.test_subtests (n=1)": FAILED,
            "test_u.Broken.setUpClass": ERROR,
        }
        assert outcomes["test_u.Case.test_fails"].message == "AssertionError: 1 != 2 : one is not two"
        assert "test_u.py" in outcomes["test_u.Case.test_fails"].details
        assert outcomes["test_u.Case.test_errors"].message == "KeyError: 'missing'"
        kinds = [outcome.status for outcome in outcomes.values()]
        assert kinds.count(SKIPPED) == 2
        assert kinds.count(PASSED) == 2
        if options == ["-v"]:
            assert outcomes["test_u.Case.test_described"].status is PASSED
            assert outcomes["test_u.Case.test_skipped"].message == "later"

    def test_load_error_and_no_tests(self, tmp_path: Path) -> None:
        (tmp_path / "test_u.py").write_text("import nowhere_at_all\n")
        out, err = run([sys.executable, "-m", "unittest"], tmp_path)
        [outcome] = parse_outcomes(out, err, "python -m unittest")
        assert (outcome.status, "nowhere_at_all" in outcome.message) == (ERROR, True)
        (tmp_path / "test_u.py").write_text("")
        assert parse_outcomes(*run([sys.executable, "-m", "unittest"], tmp_path), "python -m unittest") == ()

    def test_old_name_format(self) -> None:
        text = (
            "test_a (pkg.test_m.Case) ... ok\ntest_b (pkg.test_m.Case)\nIt has a line. ... FAIL\n\n"
            + "=" * 70
            + "\nFAIL: test_b (pkg.test_m.Case)\nIt has a line.\n"
            + "-" * 70
            + "\nTraceback (most recent call last):\n  File 'x', line 1\nAssertionError: no\n\n"
            + "-" * 70
            + "\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n"
        )
        outcomes = by_id(parse_outcomes("", text, ""))
        assert statuses(outcomes) == {"pkg.test_m.Case.test_b": FAILED, "pkg.test_m.Case.test_a": PASSED}
        assert outcomes["pkg.test_m.Case.test_b"].message == "AssertionError: no"


class TestNode:
    @pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
    def test_real_tap(self, tmp_path: Path) -> None:
        (tmp_path / "a.test.js").write_text(
            "const test = require('node:test'); const assert = require('node:assert');\n"
            "test('adds', () => assert.equal(1 + 1, 2));\n"
            "test('fails # here', () => assert.equal(1, 2));\n"
            "test('group', async (t) => {"
            " await t.test('inner', () => { throw new Error('inner boom'); }); });\n"
        )
        out, err = run(["node", "--test", "--test-reporter=tap", "a.test.js"], tmp_path)
        outcomes = by_id(parse_outcomes(out, err, "node --test"))
        assert {name.removeprefix("a.test.js > "): item.status for name, item in outcomes.items()} == {
            "adds": PASSED,
            "fails # here": FAILED,
            "group > inner": FAILED,
        }

    def test_captured_tap(self) -> None:
        outcomes = captured("node_tap")
        assert statuses(outcomes) == {
            "adds": PASSED,
            "fails # here": FAILED,
            "skipped": SKIPPED,
            "todo": SKIPPED,
            "group > inner ok": PASSED,
            "group > inner bad": FAILED,
        }
        assert outcomes["group > inner bad"].message == "inner boom"
        assert outcomes["skipped"].message == "not today"
        assert outcomes["adds"].duration_s == pytest.approx(0.00251712)


class TestTap:
    def test_classic(self) -> None:
        text = (
            "1..4\nok 1 - a\nnot ok 2 - b\n# expected 1, got 2\nok 3 # SKIP no network\n"
            "not ok 4 - d # TODO later\n"
        )
        outcomes = by_id(parse_outcomes(text, "", "prove t"))
        assert statuses(outcomes) == {"a": PASSED, "b": FAILED, "test 3": SKIPPED, "d": SKIPPED}
        assert "expected 1, got 2" in outcomes["b"].details

    def test_version_14_subtests_and_a_parent_that_fails_alone(self) -> None:
        text = (
            "TAP version 14\n1..2\n# Subtest: group\n    1..1\n    ok 1 - inner\nnot ok 1 - group\n"
            "  ---\n  message: 'after hook failed'\n  ...\nok 2 - other\n"
        )
        outcomes = by_id(parse_outcomes(text, "", ""))
        assert statuses(outcomes) == {"group > inner": PASSED, "group": FAILED, "other": PASSED}
        assert outcomes["group"].message == "after hook failed"

    def test_braces(self) -> None:
        assert statuses(captured("vitest_tap")) == {
            "vt/broken.test.js": FAILED,
            "vt/math.test.js > math > adds": PASSED,
            "vt/math.test.js > math > subtracts wrongly": FAILED,
            "vt/math.test.js > math > later": SKIPPED,
            "vt/math.test.js > math > nested > throws": FAILED,
            "vt/math.test.js > write me": SKIPPED,
            "vt/ok.test.js > fine": PASSED,
        }

    def test_bail_out(self) -> None:
        outcomes = by_id(parse_outcomes("1..9\nok 1 - a\nBail out! no database\n", "", ""))
        assert outcomes["bail out"].message == "no database"

    def test_plain_text_is_not_tap(self) -> None:
        assert parse_outcomes("ok then\nnot ok really\n", "", "") == ()


class TestCargo:
    def test_captured(self) -> None:
        outcomes = captured("cargo")
        assert statuses(outcomes) == {
            "tests::slow": SKIPPED,
            "tests::works": PASSED,
            "tests::panics": PASSED,
            "tests::wrong": FAILED,
            "src/lib.rs - add (line 2)": PASSED,
        }
        wrong = outcomes["tests::wrong"]
        assert wrong.message == "assertion `left == right` failed: sum is off"
        assert "src/lib.rs:10:45" in wrong.details and "left: 3" in wrong.details

    def test_does_not_compile(self) -> None:
        [outcome] = captured("cargo_broken").values()
        assert outcome.status is ERROR
        assert outcome.message == "error[E0308]: mismatched types"
        assert "tests/broken.rs:1:31" in outcome.details


class TestGo:
    bad = "example.com/shop/bad"

    def test_plain(self) -> None:
        outcomes = captured("go")
        assert statuses(outcomes) == {
            f"{self.bad}.TestAdd": FAILED,
            f"{self.bad}.TestTable": FAILED,
            f"{self.bad}.TestTable/neg": FAILED,
            "example.com/shop/broken": ERROR,
            "example.com/shop/good": PASSED,
            "example.com/shop/panics.TestP": FAILED,
        }
        assert outcomes[f"{self.bad}.TestAdd"].message == "b_test.go:3: Add(1, 2) = 4, want 3"
        assert "cannot use 5" in outcomes["example.com/shop/broken"].details
        assert outcomes["example.com/shop/panics.TestP"].message.startswith("panic: runtime error")

    @pytest.mark.parametrize("name", ["go_v", "go_json"])
    def test_verbose_and_json_agree(self, name: str) -> None:
        outcomes = captured(name)
        assert statuses(outcomes) == {
            f"{self.bad}.TestAdd": FAILED,
            f"{self.bad}.TestTable": FAILED,
            f"{self.bad}.TestTable/zero": PASSED,
            f"{self.bad}.TestTable/neg": FAILED,
            f"{self.bad}.TestLater": SKIPPED,
            f"{self.bad}.TestFine": PASSED,
            "example.com/shop/broken": ERROR,
            "example.com/shop/good.TestOK": PASSED,
            "example.com/shop/good.TestSub": PASSED,
            "example.com/shop/good.TestSub/a_b": PASSED,
            "example.com/shop/panics.TestP": FAILED,
        }
        assert outcomes[f"{self.bad}.TestAdd"].message == "b_test.go:3: Add(1, 2) = 4, want 3"
        assert "declared and not used" in outcomes["example.com/shop/broken"].details

    def test_only_packages_without_tests(self) -> None:
        text = "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.004s [no tests to run]\n"
        assert parse_outcomes(text, "", "go test ./...") == ()

    def test_cached_and_coverage(self) -> None:
        text = "ok  \texample.com/a\t(cached)\nok  \texample.com/b\t0.004s\tcoverage: 80.0% of statements\n"
        outcomes = by_id(parse_outcomes(text, "", "go test ./..."))
        assert statuses(outcomes) == {"example.com/a": PASSED, "example.com/b": PASSED}


class TestJavaScript:
    def test_jest(self) -> None:
        outcomes = captured("jest")
        named = {name: status for name, status in statuses(outcomes).items() if "#" not in name}
        assert named == {
            "jt/math.test.js › math › subtracts wrongly": FAILED,
            "jt/math.test.js › math › nested › throws": FAILED,
            "jt/broken.test.js": ERROR,
        }
        kinds = [outcome.status for outcome in outcomes.values()]
        assert (kinds.count(PASSED), kinds.count(SKIPPED)) == (2, 2)
        assert "Expected: 1" in outcomes["jt/math.test.js › math › subtracts wrongly"].details
        assert outcomes["jt/broken.test.js"].message.startswith("Cannot find module './nope'")

    def test_jest_verbose_and_json_agree(self) -> None:
        verbose, report = captured("jest_verbose"), captured("jest_json")
        plain = {name.removeprefix("/repo/"): status for name, status in statuses(report).items()}
        assert plain == {
            "jt/math.test.js › math › adds": PASSED,
            "jt/math.test.js › math › subtracts wrongly": FAILED,
            "jt/math.test.js › math › later": SKIPPED,
            "jt/math.test.js › math › nested › throws": FAILED,
            "jt/math.test.js › write me": SKIPPED,
            "jt/broken.test.js": ERROR,
            "jt/ok.test.js › fine": PASSED,
        }
        # The text puts a todo below whatever block it was printed under; all else is the same.
        assert {name.split(" › ")[-1]: status for name, status in statuses(verbose).items()} == {
            name.split(" › ")[-1]: status for name, status in plain.items()
        }

    def test_vitest(self) -> None:
        outcomes = captured("vitest")
        named = {name: status for name, status in statuses(outcomes).items() if "#" not in name}
        assert named == {
            "vt/broken.test.js": ERROR,
            "vt/math.test.js > math > subtracts wrongly": FAILED,
            "vt/math.test.js > math > nested > throws": FAILED,
        }
        kinds = [outcome.status for outcome in outcomes.values()]
        assert (kinds.count(PASSED), kinds.count(SKIPPED)) == (2, 2)
        wrong = outcomes["vt/math.test.js > math > subtracts wrongly"]
        assert wrong.message == "AssertionError: expected 2 to be 1 // Object.is equality"
        assert "vt/math.test.js:4:51" in wrong.details

    def test_vitest_verbose_and_json(self) -> None:
        verbose = statuses(captured("vitest_verbose"))
        assert verbose["vt/math.test.js > math > adds"] is PASSED
        assert verbose["vt/math.test.js > math > later"] is SKIPPED
        report = statuses(captured("vitest_json"))
        assert {
            name.removeprefix("/repo/").replace(" › ", " > "): status for name, status in report.items()
        } == verbose

    def test_no_test_files(self) -> None:
        assert captured("vitest_none") == {}


class TestJunit:
    def test_other_tools(self) -> None:
        xml = (
            b'<testsuites><testsuite name="s"><testcase classname="com.Shop" name="adds" time="0.5"/>'
            b'<testcase classname="com.Shop" name="bad">'
            b'<failure message="no &lt;b&gt;">trace</failure></testcase>'
            b'<testcase name="x"><skipped/></testcase></testsuite></testsuites>'
        )
        outcomes = {outcome.id: outcome for outcome in parse_junit(xml)}
        assert statuses(outcomes) == {"com.Shop::adds": PASSED, "com.Shop::bad": FAILED, "x": SKIPPED}
        assert (outcomes["com.Shop::bad"].message, outcomes["com.Shop::bad"].details) == ("no <b>", "trace")
        assert outcomes["com.Shop::adds"].duration_s == 0.5

    @pytest.mark.parametrize(
        "xml",
        [
            b"",
            b"not xml",
            b"<html/>",
            b'<?xml version="1.0" encoding="no-such-thing"?><testsuite/>',
            b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="&a;"/></testsuite>',
            b"<testsuite>" * 50,
        ],
    )
    def test_bad_reports_fall_back_to_the_text(self, xml: bytes) -> None:
        assert parse_junit(xml) == []
        assert len(parse_outcomes("1..1\nok 1 - a\n", "", "", xml)) == 1

    @given(st.binary(max_size=200))
    def test_never_raises(self, xml: bytes) -> None:
        parse_junit(xml)
        parse_junit(b"<testsuite>" + xml + b"</testsuite>")


PIECES = st.sampled_from(
    [path.read_text(encoding="utf-8")[:3000] for path in sorted(OUTPUTS.glob("*.*")) if path.suffix != ".md"]
    + ["= short test summary info =", "FAILED a.py::b[", "Ran 99999999 tests in 1s", "1..99999999", "ok ٣",
       "=" * 70, "-" * 70, '{"Action":"pass"}', '{"numX":1,"testResults":[{"assertionResults":[1,{}]}]}',
       "[" * 5000, '{"Action":' + "[" * 5000, "test result: ok. 1 passed; 0 failed; 0 ignored;", "\x1b[31m",
       "1 failed, 999999999 passed in 1.0s", "Tests:  5 failed, 9999999 total", "not ok 1 - x {",
       "\0", "\r", "● "]
)  # fmt: skip


class TestAnyText:
    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(PIECES | st.text(max_size=40), max_size=8),
        st.text(max_size=30),
        st.sampled_from(["\n", "", " "]),
    )
    def test_never_raises(self, pieces: list[str], command: str, glue: str) -> None:
        text = glue.join(pieces)
        for outcome in parse_outcomes(text, text[::-1], command):
            assert "\n" not in outcome.message
            assert outcome.duration_s >= 0
            assert outcome.id
        for parser in PARSERS:
            parser.parse(text)

    def test_long_lines_take_no_time(self) -> None:
        import time

        started = time.monotonic()
        for piece in (
            "a ",
            "1 passed, ",
            "::",
            " - ",
            "test x ... ",
            "=" * 3,
            "#",
            "   ",
            "ok ",
            "not ok 1 # ",
        ):
            text = piece * 40_000
            parse_outcomes(f"1..1\n=== test session starts ===\nRan 1 test in 1s\n{text}", "", "")
            for parser in PARSERS:
                parser.parse(text)
        assert time.monotonic() - started < 20

    def test_the_command_decides_between_two_formats(self) -> None:
        text = (
            "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n"
            "1..1\nnot ok 1 - b\n"
        )
        assert statuses(by_id(parse_outcomes(text, "", "cargo test"))) == {"a": PASSED}
        assert statuses(by_id(parse_outcomes(text, "", "prove"))) == {"b": FAILED}
