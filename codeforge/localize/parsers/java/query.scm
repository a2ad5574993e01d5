; See parsers/driver.py for what each capture means.
(class_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @class
(enum_declaration name: (identifier) @name body: (_) @body) @class
(record_declaration name: (identifier) @name body: (_) @body) @class
(annotation_type_declaration name: (identifier) @name body: (_) @body) @class
(method_declaration name: (identifier) @name body: (_)? @body) @function
(constructor_declaration name: (identifier) @name body: (_) @body) @function
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @function
(line_comment) @comment
(block_comment) @comment

(method_declaration type: (_) @returns)
(superclass (_) @base @superclass)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
(marker_annotation name: (_) @decorator)
(annotation name: (_) @decorator)

(method_invocation arguments: (_) @arguments) @call
(object_creation_expression type: (_) @call)
(method_reference) @call
(explicit_constructor_invocation constructor: (super) @super)

(import_declaration) @import

(field_declaration type: (_) @typed.type declarator: (variable_declarator name: (identifier) @typed.name))
(local_variable_declaration type: (_) @typed.type declarator: (variable_declarator name: (identifier) @typed.name))
(formal_parameter type: (_) @typed.type name: (identifier) @typed.name)
(spread_parameter (type_identifier) @typed.type (variable_declarator name: (identifier) @typed.name))
(enhanced_for_statement type: (_) @typed.type name: (identifier) @typed.name)
(resource type: (_) @typed.type name: (identifier) @typed.name)
(catch_formal_parameter (catch_type) @typed.type name: (identifier) @typed.name)
(instanceof_expression right: (_) @typed.type name: (identifier) @typed.name)
(local_variable_declaration declarator: (variable_declarator
  name: (identifier) @hint.name
  value: [(method_invocation) @hint.made (object_creation_expression type: (_) @hint.made)]))
