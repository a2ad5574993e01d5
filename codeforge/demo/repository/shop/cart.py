"""The shopping cart."""

from shop.pricing import discounted


class Cart:
    """Items with their prices in cents."""

    def __init__(self):
        self._items = {}

    def add(self, name, price, quantity=1):
        """Add `quantity` of an item."""
        _, old_quantity = self._items.get(name, (price, 0))
        self._items[name] = (price, old_quantity + quantity)

    def count(self):
        """How many pieces are in the cart."""
        return sum(quantity for _, quantity in self._items.values())

    def total(self):
        """The sum to pay, discounts included."""
        return sum(discounted(price, quantity) for price, quantity in self._items.values())
