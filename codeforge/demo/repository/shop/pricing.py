"""Prices and discounts."""

BULK_QUANTITY = 10
BULK_PERCENT = 20


def discounted(price, quantity):
    """Price of `quantity` pieces: from ten pieces on, a fifth is taken off."""
    total = price * quantity
    if quantity >= BULK_QUANTITY:
        total -= total * BULK_PERCENT // 100
    return total
