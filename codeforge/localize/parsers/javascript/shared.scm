; See parsers/driver.py for what each capture means. These patterns hold in the grammars of JavaScript and TypeScript.
(function_declaration name: (identifier) @name body: (_) @body) @function
(generator_function_declaration name: (identifier) @name body: (_) @body) @function
(method_definition name: (_) @name body: (_) @body) @function

; Functions and classes that are bound to a name.
(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(variable_declarator name: (identifier) @name value: (object)) @scope
(pair key: [(property_identifier) (string)] @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @function
(assignment_expression left: (identifier) @name right: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)]) @function
(assignment_expression left: (identifier) @name right: (class body: (_) @body)) @class
(variable_declarator name: (identifier) @name value: (call_expression
  function: (_) @_wrapper
  arguments: (arguments . [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))
  (#match? @_wrapper "^(React\\.)?(memo|forwardRef|useCallback|lazy|observer|debounce|throttle|asyncHandler|defineComponent)$")) @function

; exports.name, module.exports.name, object.name, this.name and Class.prototype.name
(assignment_expression
  left: (member_expression object: (identifier) @_object property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]
  (#eq? @_object "exports")) @function
(assignment_expression
  left: (member_expression object: (identifier) @_object property: (property_identifier) @name)
  right: (class body: (_) @body)
  (#eq? @_object "exports")) @class
(assignment_expression
  left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]
  (#not-match? @owner "^(exports|module)$")) @function
(assignment_expression
  left: (member_expression object: (this) property: (_) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_object property: (property_identifier) @_part)
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]
  (#eq? @_object "module") (#eq? @_part "exports")) @function
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @owner property: (property_identifier) @_part)
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]
  (#eq? @_part "prototype")) @function
(assignment_expression
  left: (member_expression object: (identifier) @name property: (property_identifier) @_part)
  right: (object)
  (#eq? @_part "prototype")) @scope

; module.exports = ..., by the name of what is exported when it has one.
(assignment_expression
  left: (member_expression object: (identifier) @_object property: (property_identifier) @_part)
  right: (function_expression name: (identifier) @name body: (_) @body)
  (#eq? @_object "module") (#eq? @_part "exports")) @function
(assignment_expression
  left: (member_expression object: (identifier) @_object property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]
  (#eq? @_object "module") (#eq? @name "exports")) @function
(assignment_expression
  left: (member_expression object: (identifier) @_object property: (property_identifier) @_part)
  right: (class name: (_) @name body: (_) @body)
  (#eq? @_object "module") (#eq? @_part "exports")) @class
(assignment_expression
  left: (member_expression object: (identifier) @_object property: (property_identifier) @name)
  right: (class !name body: (_) @body)
  (#eq? @_object "module") (#eq? @name "exports")) @class

(export_statement "default" @name value: [
  (arrow_function body: (_) @body)
  (function_expression !name body: (_) @body)
  (generator_function !name body: (_) @body)]) @function
(export_statement "default" @name value: (class !name body: (_) @body)) @class

(lexical_declaration . (variable_declarator) .) @outer
(variable_declaration . (variable_declarator) .) @outer
(export_statement declaration: (_)) @outer
(comment) @comment

(call_expression function: [(identifier) (member_expression)] @call)
(call_expression function: (super) @super)
(new_expression constructor: (_) @call)
(decorator [(identifier) @decorator (member_expression) @decorator (call_expression function: (_) @decorator)])

(import_statement) @import
(export_statement source: (_)) @import
(export_statement (export_clause)) @import
(export_statement "default") @import
(call_expression function: (import)) @import
(call_expression function: (identifier) @_require arguments: (arguments . [(string) (template_string)]) (#eq? @_require "require")) @import
(variable_declarator
  value: [
    (call_expression function: (identifier) @_require)
    (member_expression object: (call_expression function: (identifier) @_require))]
  (#eq? @_require "require")) @import
(assignment_expression
  left: (member_expression) @_exports
  right: [(identifier) (object) (call_expression) (arrow_function) (function_expression) (class) (assignment_expression)]
  (#match? @_exports "^(module[.])?exports([.]\\w+)?$")) @import

(variable_declarator name: (identifier) @hint.name value: [
  (new_expression constructor: [(identifier) (member_expression)] @hint.made)
  (call_expression function: [(identifier) (member_expression)] @hint.made)
  (await_expression (call_expression function: [(identifier) (member_expression)] @hint.made))])
(assignment_expression left: [(identifier) (member_expression)] @hint.name right: [
  (new_expression constructor: [(identifier) (member_expression)] @hint.made)
  (call_expression function: [(identifier) (member_expression)] @hint.made)])
(assignment_expression left: (member_expression) @alias.name right: (identifier) @alias.value)
