"""What names mean in the languages beside Python, in real small repositories."""

import pytest

from tests.localize.graph.conftest import Link


@pytest.mark.parametrize(
    ("statement", "call", "target"),
    [
        ("import { start } from './engine.js';", "start()", "web/engine.js:start"),
        ("import { start as go } from './engine';", "go()", "web/engine.js:start"),
        ("import * as engine from './engine.js';", "engine.start()", "web/engine.js:start"),
        ("import Engine from './engine.js';", "new Engine()", "web/engine.js:Engine"),
        ("import { begin } from './engine.js';", "begin()", "web/engine.js:start"),
        ("const { start } = require('./engine');", "start()", "web/engine.js:start"),
        ("const engine = require('./engine.js');", "engine.start()", "web/engine.js:start"),
        ("const go = require('./engine').start;", "go()", "web/engine.js:start"),
        ("import { start } from '.';", "start()", "web/engine.js:start"),
        ("import { polish } from './index.js';", "polish()", "web/tools/deep.js:polish"),
        ("import { shared } from './engine.js';", "shared.run()", "web/engine.js:Engine.run"),
    ],
)
def test_javascript_calls_across_files(link: Link, statement: str, call: str, target: str) -> None:
    edges = link(
        {
            "web/engine.js": """
                export function start() { return 1; }
                export { start as begin };
                export const shared = new Engine();
                export default class Engine {
                  constructor() { this.run(); }
                  run() { return start(); }
                }
                """,
            "web/index.js": "export { start } from './engine.js';\nexport * from './tools/deep.js';\n",
            "web/tools/deep.js": "export const polish = () => 2;\n",
            "web/main.js": f"{statement}\nfunction main() {{ {call}; }}\n",
        }
    )
    assert target in edges.invokes("web/main.js:main")
    assert edges.imports("web/main.js") & {"web/engine.js", "web/index.js"}
    assert edges.invokes("web/engine.js:Engine.constructor") == {"web/engine.js:Engine.run"}
    assert edges.invokes("web/engine.js:Engine.run") == {"web/engine.js:start"}


def test_commonjs_exports(link: Link) -> None:
    edges = link(
        {
            "lib/a.js": """
                function inner() {}
                module.exports = { outer: inner, direct() { return inner(); } };
                """,
            "lib/b.js": "module.exports = function () { helper(); };\nfunction helper() {}\n",
            "main.js": """
                const a = require('./lib/a');
                const b = require('./lib/b');
                exports.run = function () { a.outer(); b(); };
                """,
        }
    )
    assert edges.invokes("main.js:run") == {"lib/a.js:inner", "lib/b.js:exports"}
    assert edges.invokes("lib/b.js:exports") == {"lib/b.js:helper"}


def test_typescript(link: Link) -> None:
    edges = link(
        {
            "src/pen.ts": """
                import type { Tool } from './tool';
                export class Pen implements Tool {
                  use(): Pen { return this; }
                  draw() { return 1; }
                }
                export function makePen(): Pen { return new Pen(); }
                """,
            "src/tool.ts": "export interface Tool { use(): void; }\n",
            "src/base.ts": "export abstract class Base { protected log(text: string) {} }\n",
            "src/index.ts": "export * from './pen';\nexport { Base } from './base';\n",
            "app/view.tsx": """
                import { Base, Pen, makePen } from '../src';
                import { Card } from '@/widgets/card';
                export class View extends Base {
                  private spare = new Pen();
                  constructor(private pen: Pen) { super(); }
                  paint(other: Pen) {
                    this.log('x');
                    this.pen.draw();
                    other.use().draw();
                    makePen().draw();
                    this.spare.use();
                  }
                  render() { return <Card/>; }
                }
                """,
            "app/widgets/card.tsx": "export const Card = () => null;\n",
        }
    )
    view = "app/view.tsx:View"
    assert edges.invokes(f"{view}.paint") == {
        "src/base.ts:Base.log",
        "src/pen.ts:Pen.draw",
        "src/pen.ts:Pen.use",
        "src/pen.ts:makePen",
    }
    assert edges.invokes(f"{view}.render") == {"app/widgets/card.tsx:Card"}
    assert edges.inherits(view) == {"src/base.ts:Base"}
    assert edges.inherits("src/pen.ts:Pen") == {"src/tool.ts:Tool"}
    assert {"src/index.ts", "src/pen.ts:Pen", "app/widgets/card.tsx"} <= edges.imports("app/view.tsx")


def test_javascript_and_typescript_use_each_other(link: Link) -> None:
    edges = link(
        {
            "a.ts": "import { old } from './b.js';\nexport function fresh() { old(); }\n",
            "b.js": "import { fresh } from './a';\nexport function old() { fresh(); }\n",
            "c.py": "def old(): pass\n",
        }
    )
    assert edges.invokes("a.ts:fresh") == {"b.js:old"}
    assert edges.invokes("b.js:old") == {"a.ts:fresh"}


GO = {
    "go.mod": "module example.com/me/shop\n",
    "cart.go": """
        package shop

        import (
            "fmt"
            price "example.com/me/shop/pricing"
        )

        type Cart struct {
            Base
            pen *Pen
        }

        func (c *Cart) Total() int {
            c.add()
            c.log()
            c.pen.Draw()
            fmt.Println(helper())
            p := price.New(1)
            return p.Value()
        }
        """,
    "more.go": """
        package shop

        type Base struct{}

        func (b Base) log() {}

        type Pen struct{}

        func (p *Pen) Draw() {}

        func (c *Cart) add() { helper() }

        func helper() int { return 1 }
        """,
    "other/helper.go": "package other\n\nfunc helper() int { return 2 }\n",
    "pricing/a.go": "package pricing\n\ntype Price struct{}\n\nfunc (p Price) Value() int { return 1 }\n",
    "pricing/b.go": "package pricing\n\nfunc New(n int) *Price { return &Price{} }\n",
    "cart_test.go": "package shop\n\nfunc TestTotal(t *testing.T) { c := &Cart{}; c.Total() }\n",
}


def test_go_packages_share_their_names(link: Link) -> None:
    edges = link(GO)
    assert edges.invokes("cart.go:Cart.Total") == {
        "more.go:Cart.add",
        "more.go:Base.log",
        "more.go:Pen.Draw",
        "more.go:helper",
        "pricing/b.go:New",
        "pricing/a.go:Price.Value",
    }
    assert edges.invokes("more.go:Cart.add") == {"more.go:helper"}
    assert edges.inherits("cart.go:Cart") == {"more.go:Base"}
    assert edges.imports("cart.go") >= {"pricing/a.go", "pricing/b.go"}
    assert edges.invokes("pricing/b.go:New") == {"pricing/a.go:Price"}


def test_go_tests(link: Link) -> None:
    assert link(GO).tests("cart_test.go:TestTotal") == {"cart.go:Cart", "cart.go:Cart.Total"}


def test_rust(link: Link) -> None:
    edges = link(
        {
            "src/lib.rs": """
                pub mod cart;
                mod pricing;
                pub use crate::pricing::Price;

                pub fn open() -> cart::Cart { cart::Cart::new() }
                """,
            "src/cart.rs": """
                use crate::pricing::{self, Price, find as look};
                use super::open;

                pub trait Count { fn count(&self) -> u32; }

                pub struct Cart { price: Price }

                impl Cart {
                    pub fn new() -> Self { Self { price: look(1) } }
                    pub fn total(&self) -> u32 {
                        let other = pricing::find(2);
                        other.value();
                        self.price.value();
                        self.count();
                        Price::zero();
                        let made = open();
                        made.total()
                    }
                }

                impl Count for Cart {
                    fn count(&self) -> u32 { 1 }
                }
                """,
            "src/pricing/mod.rs": """
                mod deep;
                pub use self::deep::*;

                pub struct Price;

                impl Price {
                    pub fn zero() -> Price { Price }
                    pub fn value(&self) -> u32 { bottom() }
                }

                pub fn find(n: u32) -> Price { Price::zero() }
                """,
            "src/pricing/deep.rs": "pub fn bottom() -> u32 { 1 }\n",
        }
    )
    cart, pricing = "src/cart.rs", "src/pricing/mod.rs"
    assert edges.invokes(f"{cart}:Cart.total") == {
        f"{pricing}:find",
        f"{pricing}:Price.value",
        f"{pricing}:Price.zero",
        f"{cart}:Cart.count",
        f"{cart}:Cart.total",
        "src/lib.rs:open",
    }
    assert edges.invokes(f"{cart}:Cart.new") == {f"{pricing}:find", f"{cart}:Cart"}
    assert edges.inherits(f"{cart}:Cart") == {f"{cart}:Count"}
    assert edges.invokes("src/lib.rs:open") == {f"{cart}:Cart.new"}
    assert edges.invokes(f"{pricing}:Price.value") == {"src/pricing/deep.rs:bottom"}
    assert {pricing, f"{pricing}:Price", "src/lib.rs", "src/lib.rs:open"} <= edges.imports(cart)


JAVA = "src/main/java/com/shop"


def test_java(link: Link) -> None:
    edges = link(
        {
            f"{JAVA}/Cart.java": """
                package com.shop;

                import com.shop.pricing.Price;
                import static com.shop.pricing.Rates.rate;

                public class Cart extends Base implements Tool {
                    private Pen pen = new Pen();

                    public Cart(int size) { super(size); }

                    public int total(Cart other) {
                        Price price = new Price();
                        price.value();
                        pen.draw();
                        helper();
                        shared();
                        other.helper();
                        Cart made = new Cart(1);
                        made.use();
                        return rate();
                    }

                    private void helper() {}

                    public void use() { Factory.make().draw(); }

                    static class Inner {
                        void deep() { helper(); lower(); }

                        void lower() {}
                    }
                }
                """,
            f"{JAVA}/Base.java": """
                package com.shop;

                class Base {
                    Base(int size) {}

                    void shared() {}
                }
                """,
            f"{JAVA}/Tool.java": "package com.shop;\n\ninterface Tool { void use(); }\n",
            f"{JAVA}/Pen.java": "package com.shop;\n\nclass Pen { void draw() {} }\n",
            f"{JAVA}/Factory.java": """
                package com.shop;

                class Factory { static Pen make() { return new Pen(); } }
                """,
            f"{JAVA}/pricing/Price.java": """
                package com.shop.pricing;

                public class Price { int value() { return 1; } }
                """,
            f"{JAVA}/pricing/Rates.java": """
                package com.shop.pricing;

                class Rates { static int rate() { return 1; } }
                """,
            f"{JAVA}/away/Helper.java": """
                package com.shop.away;

                class Helper { void helper() {} void shared() {} }
                """,
            "src/test/java/com/shop/CartTest.java": """
                package com.shop;

                class CartTest {
                    void works() { new Cart(1).total(null); }
                }
                """,
        }
    )
    cart = f"{JAVA}/Cart.java:Cart"
    assert edges.invokes(f"{cart}.total") == {
        f"{JAVA}/pricing/Price.java:Price",
        f"{JAVA}/pricing/Price.java:Price.value",
        f"{JAVA}/Pen.java:Pen.draw",
        f"{cart}.helper",
        f"{JAVA}/Base.java:Base.shared",
        cart,
        f"{cart}.Cart",
        f"{cart}.use",
        f"{JAVA}/pricing/Rates.java:Rates.rate",
    }
    assert edges.guesses(f"{cart}.total") == set()
    assert edges.invokes(f"{cart}.Inner.deep") == {f"{cart}.helper", f"{cart}.Inner.lower"}
    assert edges.invokes(f"{cart}.Cart") == {f"{JAVA}/Base.java:Base", f"{JAVA}/Base.java:Base.Base"}
    assert edges.invokes(f"{cart}.use") == {f"{JAVA}/Factory.java:Factory.make", f"{JAVA}/Pen.java:Pen.draw"}
    assert edges.inherits(cart) == {f"{JAVA}/Base.java:Base", f"{JAVA}/Tool.java:Tool"}
    test = "src/test/java/com/shop/CartTest.java:CartTest.works"
    assert edges.tests(test) == {cart, f"{cart}.Cart", f"{cart}.total"}


def test_c(link: Link) -> None:
    edges = link(
        {
            "include/shop/cart.h": """
                #ifndef CART_H
                #define CART_H
                struct cart { int count; };
                #define TWICE(x) twice(x)
                int cart_total(struct cart *c);
                static inline int cart_count(struct cart *c) { return c->count; }
                #endif
                """,
            "src/cart.c": """
                #include "shop/cart.h"

                static int helper(int n) { return n; }

                int cart_total(struct cart *c) { return helper(cart_count(c)); }
                """,
            "src/other.c": "int helper(int n) { return n + 1; }\n",
            "app/main.c": """
                #include <stdio.h>
                #include <shop/cart.h>

                int main(void) {
                    struct cart c;
                    printf("%d", TWICE(cart_total(&c)));
                    return cart_count(&c);
                }
                """,
        }
    )
    assert edges.invokes("app/main.c:main") == {
        "src/cart.c:cart_total",
        "include/shop/cart.h:TWICE",
        "include/shop/cart.h:cart_count",
    }
    assert edges.invokes("src/cart.c:cart_total") == {"src/cart.c:helper", "include/shop/cart.h:cart_count"}
    assert {"include/shop/cart.h", "src/cart.c"} <= edges.imports("app/main.c")


def test_cpp(link: Link) -> None:
    edges = link(
        {
            "shop/base.hpp": """
                #pragma once
                namespace shop {
                class Base {
                public:
                    explicit Base(int size) {}
                    void shared() {}
                    virtual void hook() = 0;
                };
                }
                """,
            "shop/cart.hpp": """
                #pragma once
                #include "base.hpp"
                namespace shop {
                class Pen { public: void draw(); };
                class Cart : public Base {
                public:
                    Cart();
                    int total(int rate) const;
                    void hook() override { inner(); }
                private:
                    void inner();
                    Pen* pen_;
                };
                }
                """,
            "shop/cart.cpp": """
                #include "cart.hpp"
                namespace shop {
                void Pen::draw() {}

                Cart::Cart() : Base(1), pen_(nullptr) {}

                int Cart::total(int rate) const {
                    inner();
                    shared();
                    pen_->draw();
                    this->hook();
                    Cart other;
                    other.inner();
                    return helper(rate);
                }

                void Cart::inner() {}

                static int helper(int n) { return n; }
                }
                """,
            "app/main.cpp": """
                #include "shop/cart.hpp"

                int main() {
                    shop::Cart cart;
                    auto other = std::make_unique<shop::Cart>();
                    other->hook();
                    return cart.total(1);
                }
                """,
        }
    )
    base, header, source = "shop/base.hpp:shop", "shop/cart.hpp:shop", "shop/cart.cpp:shop"
    assert edges.invokes(f"{source}.Cart.total") == {
        f"{source}.Cart.inner",
        f"{base}.Base.shared",
        f"{source}.Pen.draw",
        f"{header}.Cart.hook",
        f"{source}.helper",
    }
    assert edges.invokes(f"{header}.Cart.hook") == {f"{source}.Cart.inner"}
    assert edges.invokes(f"{source}.Cart.Cart") == {f"{base}.Base", f"{base}.Base.Base"}
    assert edges.inherits(f"{header}.Cart") == {f"{base}.Base"}
    assert edges.invokes("app/main.cpp:main") >= {f"{header}.Cart.hook", f"{source}.Cart.total"}


def test_names_of_other_languages_are_never_meant(link: Link) -> None:
    edges = link(
        {
            "a.py": "def very_special(x):\n    x.quite_special()\n",
            "b.go": "package b\n\nfunc quite_special() {}\n\nfunc run() { very_special(1) }\n",
            "c.rs": "fn run() { very_special(1); }\n",
        }
    )
    assert edges.invokes("b.go:run") == edges.guesses("b.go:run") == set()
    assert edges.invokes("c.rs:run") == edges.guesses("c.rs:run") == set()
    assert edges.guesses("a.py:very_special") == set()
