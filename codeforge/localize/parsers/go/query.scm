; See parsers/driver.py for what each capture means.
(function_declaration name: (identifier) @name body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name
  body: (_)? @body) @function
(type_declaration (type_spec name: (type_identifier) @name) @class)
(type_declaration (type_alias name: (type_identifier) @name) @class)
(type_declaration . (type_spec) .) @outer
(interface_type (method_elem name: (field_identifier) @name) @function)
(comment) @comment

(function_declaration result: (_) @returns)
(method_declaration result: (_) @returns)
(method_elem result: (_) @returns)
(function_declaration result: (parameter_list . (parameter_declaration type: (_) @returns)))
(method_declaration result: (parameter_list . (parameter_declaration type: (_) @returns)))
(method_elem result: (parameter_list . (parameter_declaration type: (_) @returns)))

; Embedded structs and interfaces.
(field_declaration !name type: [
  (type_identifier) @base
  (qualified_type) @base
  (pointer_type [(type_identifier) @base (qualified_type) @base])
  (generic_type type: (_) @base)])
(interface_type (type_elem . [(type_identifier) @base (qualified_type) @base] .))

(call_expression function: [(identifier) (selector_expression)] @call)
(call_expression function: (parenthesized_expression [(identifier) (selector_expression)] @call))
(type_conversion_expression type: (generic_type type: (_) @call))
(composite_literal type: [(type_identifier) (qualified_type)] @call)
(composite_literal type: (generic_type type: (_) @call))

(import_spec) @import

(parameter_declaration name: (identifier) @typed.name type: (_) @typed.type)
(var_spec name: (identifier) @typed.name type: (_) @typed.type)
(const_spec name: (identifier) @typed.name type: (_) @typed.type)
(field_declaration name: (field_identifier) @typed.name type: (_) @typed.type)
(short_var_declaration
  left: (expression_list . (identifier) @hint.name)
  right: (expression_list . (call_expression function: [(identifier) (selector_expression)] @hint.made) .))
(short_var_declaration
  left: (expression_list . (identifier) @typed.name .)
  right: (expression_list . [
    (composite_literal type: (_) @typed.type)
    (unary_expression operand: (composite_literal type: (_) @typed.type))] .))
(var_spec
  name: (identifier) @hint.name
  value: (expression_list . (call_expression function: [(identifier) (selector_expression)] @hint.made) .))
(var_spec
  name: (identifier) @typed.name
  value: (expression_list . [
    (composite_literal type: (_) @typed.type)
    (unary_expression operand: (composite_literal type: (_) @typed.type))] .))
