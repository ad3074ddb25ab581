// A Python library with a command: src layout, unittest, a Makefile.
import { commonFiles, filesFor, type Project } from "./project.ts";

const pricing = `"""Prices, discounts and totals."""
from decimal import ROUND_HALF_UP, Decimal


def discounted(price: Decimal, percent: int) -> Decimal:
    """The price less a percentage, in whole cents."""
    factor = Decimal(100 + percent) / 100
    return (price * factor).quantize(Decimal("0.01"), ROUND_HALF_UP)


def total(prices: list[Decimal]) -> Decimal:
    return sum(prices, Decimal(0))
`;
const tests = `import unittest
from decimal import Decimal

from inventory.pricing import discounted, total


class PricingTest(unittest.TestCase):
    def test_discounted(self):
        self.assertEqual(discounted(Decimal("20.00"), 25), Decimal("15.00"))

    def test_total(self):
        self.assertEqual(total([Decimal("1.10"), Decimal("2.20")]), Decimal("3.30"))
`;

export const python: Project = {
  files: {
    ...commonFiles,
    "README.md": "# inventory\n\nRun the tests: `make test`.\n",
    "pyproject.toml": '[project]\nname = "inventory"\nversion = "1.4.0"\nrequires-python = ">=3.9"\n',
    Makefile: "test:\n\tPYTHONPATH=src python3 -m unittest discover -q -s tests\n",
    ".gitignore": "__pycache__/\n*.egg-info/\n",
    "src/inventory/__init__.py": "",
    "src/inventory/pricing.py": pricing,
    "src/inventory/cli.py": `import sys
from decimal import Decimal

from inventory.pricing import total


def main() -> int:
    print(total([Decimal(each) for each in sys.argv[1:]]))
    return 0
`,
    "tests/test_pricing.py": tests,
    ...filesFor(40, (name) => [`src/inventory/${name}.py`, `def ${name}(value):\n    return value\n`]),
    ...filesFor(40, (name) => [
      `tests/test_${name}.py`,
      `import unittest\n\nfrom inventory.${name} import ${name}\n\n\nclass Test(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(${name}(1), 1)\n`,
    ]),
  },
  repair: {
    test: "make test",
    subject: "Subtract the discount instead of adding it",
    reported: /test_(discounted)\b/,
    change: (path) => [
      `*** Update File: ${path}`,
      "@@ def discounted(price: Decimal, percent: int) -> Decimal:",
      "-    factor = Decimal(100 + percent) / 100",
      "+    factor = Decimal(100 - percent) / 100",
    ],
  },
  extension: {
    test: "cd tests && PYTHONPATH=../src python3 -m unittest discover -q",
    subject: "Add a currency to totals",
    branch: "currency",
    mentioned: "def total",
    change: [
      "*** Update File: src/inventory/pricing.py",
      "@@",
      " def total(prices: list[Decimal]) -> Decimal:",
      "     return sum(prices, Decimal(0))",
      "+",
      "+",
      "+def labelled(prices: list[Decimal], currency: str) -> str:",
      '+    return f"{total(prices)} {curency}"',
      "*** Update File: src/inventory/cli.py",
      "@@",
      "-from inventory.pricing import total",
      "+from inventory.pricing import labelled",
      "@@ def main() -> int:",
      "-    print(total([Decimal(each) for each in sys.argv[1:]]))",
      '+    print(labelled([Decimal(each) for each in sys.argv[1:]], "EUR"))',
      "*** Add File: tests/test_currency.py",
      "+import unittest",
      "+from decimal import Decimal",
      "+",
      "+from inventory.pricing import labelled",
      "+",
      "+",
      "+class CurrencyTest(unittest.TestCase):",
      "+    def test_labelled(self):",
      '+        self.assertEqual(labelled([Decimal("1.50")], "EUR"), "1.50 EUR")',
    ],
    mistake: /NameError: name 'curency' is not defined/,
    correction: [
      "*** Update File: src/inventory/pricing.py",
      "@@",
      '-    return f"{total(prices)} {curency}"',
      '+    return f"{total(prices)} {currency}"',
    ],
  },
};
