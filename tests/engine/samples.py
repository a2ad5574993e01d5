"""Small broken repositories."""

import sys

PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"

CALC = """\
def mean(values):
    total = 0
    for value in values:
        total += value
    return total / (len(values) + 1)


def double(value):
    return value * 2
"""

TEST_CALC = """\
from calc import double, mean


def test_mean():
    assert mean([2, 4]) == 3


def test_mean_of_one():
    assert mean([5]) == 5


def test_double():
    assert double(4) == 8
"""

UNITTEST_CALC = """\
import unittest

from calc import double, mean


class CalcTest(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([2, 4]), 3)

    def test_double(self):
        self.assertEqual(double(4), 8)
"""

GOOD_ANSWER = """\
The sum is divided by one too many.

calc.py
<<<<<<< SEARCH
    return total / (len(values) + 1)
=======
    return total / len(values)
>>>>>>> REPLACE
"""

WRONG_ANSWER = GOOD_ANSWER.replace("total / len(values)\n", "total / (len(values) + 2)\n")
