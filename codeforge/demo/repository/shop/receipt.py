"""Receipts."""


def format_cents(cents):
    """An amount such as 12.05."""
    return f"{cents // 100}.{cents % 100}"


def receipt(lines, total):
    """A receipt as text: one line an item, then the total."""
    body = [f"{name:<20}{format_cents(cents):>10}" for name, cents in lines]
    return "\n".join([*body, f"{'total':<20}{format_cents(total):>10}"])
