; What only the grammars of TypeScript have; see javascript/shared.scm.
(class_declaration name: (type_identifier) @name body: (_) @body) @class
(abstract_class_declaration name: (type_identifier) @name body: (_) @body) @class
(interface_declaration name: (type_identifier) @name body: (_) @body) @class
(type_alias_declaration name: (type_identifier) @name) @class
(enum_declaration name: (identifier) @name body: (_) @body) @class
(internal_module name: (_) @name body: (_) @body) @scope
(module name: (identifier) @name body: (_) @body) @scope
(function_signature name: (identifier) @name) @function
(method_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @function
(public_field_definition name: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)]) @function
(ambient_declaration) @outer

(extends_clause value: [(identifier) (member_expression)] @base)
(extends_clause value: (call_expression function: (_) @base))
(implements_clause [(type_identifier) @base (nested_type_identifier) @base (generic_type name: (_) @base)])
(extends_type_clause type: [(type_identifier) @base (nested_type_identifier) @base (generic_type name: (_) @base)])
(export_statement "=" (identifier)) @import

(function_declaration return_type: (type_annotation (_) @returns))
(function_signature return_type: (type_annotation (_) @returns))
(method_definition return_type: (type_annotation (_) @returns))
(method_signature return_type: (type_annotation (_) @returns))
(abstract_method_signature return_type: (type_annotation (_) @returns))
(variable_declarator value: (arrow_function return_type: (type_annotation (_) @returns)))
(public_field_definition value: (arrow_function return_type: (type_annotation (_) @returns)))

(required_parameter pattern: (identifier) @typed.name type: (type_annotation (_) @typed.type))
(optional_parameter pattern: (identifier) @typed.name type: (type_annotation (_) @typed.type))
(required_parameter (accessibility_modifier) pattern: (identifier) @field.name type: (type_annotation (_) @field.type))
(variable_declarator name: (identifier) @typed.name type: (type_annotation (_) @typed.type))
(public_field_definition name: (_) @typed.name type: (type_annotation (_) @typed.type))
(property_signature name: (_) @typed.name type: (type_annotation (_) @typed.type))
(public_field_definition name: (_) @hint.name value: (new_expression constructor: [(identifier) (member_expression)] @hint.made))
