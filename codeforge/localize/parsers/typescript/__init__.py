"""TypeScript, with and without JSX."""

from codeforge.localize.parsers.javascript import EcmaScriptRules

RULES = EcmaScriptRules((".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"))
