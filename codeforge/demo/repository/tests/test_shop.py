import unittest

from shop.cart import Cart
from shop.pricing import discounted
from shop.receipt import format_cents, receipt


class ShopTest(unittest.TestCase):
    def test_single_item(self):
        self.assertEqual(discounted(250, 1), 250)

    def test_no_discount_below_ten(self):
        self.assertEqual(discounted(100, 9), 900)

    def test_discount_from_ten_on(self):
        self.assertEqual(discounted(100, 10), 800)

    def test_cart_total(self):
        cart = Cart()
        cart.add("pen", 100, 4)
        cart.add("pen", 100, 6)
        cart.add("pad", 350)
        self.assertEqual(cart.count(), 11)
        self.assertEqual(cart.total(), 1150)

    def test_receipt(self):
        self.assertEqual(format_cents(1205), "12.05")
        self.assertIn("total", receipt([("pen", 800)], 800))


if __name__ == "__main__":
    unittest.main()
