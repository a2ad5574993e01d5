; What only C++ has; see c/shared.scm.
(function_definition
  declarator: [
    (function_declarator declarator: [
      (identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name) (template_function)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [
      (identifier) (field_identifier) (qualified_identifier) (operator_name) (template_function)] @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [
      (identifier) (field_identifier) (qualified_identifier)] @name)))
    (reference_declarator (function_declarator declarator: [
      (identifier) (field_identifier) (qualified_identifier) (operator_name) (template_function)] @name))]
  body: (_)? @body) @function
; A method without a definition.
(field_declaration
  declarator: [
    (function_declarator declarator: (field_identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
    (reference_declarator (function_declarator declarator: (field_identifier) @name))]
  default_value: (_)) @function
(class_specifier name: (_) @name body: (_) @body) @class
(struct_specifier name: (_) @name body: (_) @body) @class
(union_specifier name: (_) @name body: (_) @body) @class
(enum_specifier name: (_) @name body: (_) @body) @class
(alias_declaration name: (type_identifier) @name) @class
(namespace_definition name: (_) @name body: (_)) @scope
(template_declaration "template" @attribute parameters: (_) @attribute)
(template_declaration (requires_clause) @attribute)
(base_class_clause [(type_identifier) @base (qualified_identifier) @base (template_type name: (_) @base)])

(call_expression function: [(qualified_identifier) (template_function)] @call)
(new_expression type: (_) @call)
; A base class, or an attribute.
(field_initializer [(field_identifier) @call (qualified_identifier) @call (template_method name: (_) @call)])
(compound_literal_expression type: (_) @call)
(declaration type: [(type_identifier) (qualified_identifier) (template_type)] @call
  declarator: (init_declarator value: [(argument_list) (initializer_list)]))

(declaration type: (_) @typed.type declarator: (init_declarator declarator: (reference_declarator (identifier) @typed.name)))
(parameter_declaration type: (_) @typed.type declarator: (reference_declarator (identifier) @typed.name))
(optional_parameter_declaration type: (_) @typed.type declarator: [
  (identifier) @typed.name
  (pointer_declarator declarator: (identifier) @typed.name)
  (reference_declarator (identifier) @typed.name)])
(field_declaration type: (_) @typed.type declarator: (reference_declarator (field_identifier) @typed.name))
(for_range_loop type: (_) @typed.type declarator: [(identifier) @typed.name (reference_declarator (identifier) @typed.name)])
(declaration declarator: (init_declarator
  declarator: [
    (identifier) @hint.name
    (pointer_declarator declarator: (identifier) @hint.name)
    (reference_declarator (identifier) @hint.name)]
  value: [
    (call_expression function: [(identifier) (field_expression) (qualified_identifier) (template_function)] @hint.made)
    (new_expression type: (_) @hint.made)]))
