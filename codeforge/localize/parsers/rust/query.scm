; See parsers/driver.py for what each capture means.
(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (identifier) @name) @function
(struct_item name: (type_identifier) @name body: (_)? @body) @class
(enum_item name: (type_identifier) @name body: (_) @body) @class
(union_item name: (type_identifier) @name body: (_) @body) @class
(trait_item name: (type_identifier) @name body: (_) @body) @class
(source_file (type_item name: (type_identifier) @name) @class)
(mod_item name: (identifier) @name body: (_)) @scope
(impl_item type: [
  (type_identifier) @name
  (scoped_type_identifier name: (_) @name)
  (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (_) @name)])
  (reference_type type: (type_identifier) @name)]) @scope
(attribute_item) @attribute
(line_comment) @comment
(block_comment) @comment

(function_item return_type: (_) @returns)
(function_signature_item return_type: (_) @returns)
(impl_item trait: [
  (type_identifier) @base
  (scoped_type_identifier) @base
  (generic_type type: (_) @base)])
(trait_item bounds: (trait_bounds [
  (type_identifier) @base
  (scoped_type_identifier) @base
  (generic_type type: (_) @base)]))

(call_expression function: [(identifier) (field_expression) (scoped_identifier)] @call)
(call_expression function: (generic_function function: (_) @call))
(macro_invocation macro: (_) @call)
(struct_expression name: (_) @call)
(token_tree (identifier) @token . (token_tree))

(use_declaration) @import
(mod_item !body) @import
(extern_crate_declaration) @import

(parameter pattern: (identifier) @typed.name type: (_) @typed.type)
(let_declaration pattern: (identifier) @typed.name type: (_) @typed.type)
(field_declaration name: (_) @typed.name type: (_) @typed.type)
(let_declaration pattern: (identifier) @typed.name value: (struct_expression name: (_) @typed.type))
(let_declaration pattern: (identifier) @hint.name value: [
  (call_expression function: [(identifier) (field_expression) (scoped_identifier)] @hint.made)
  (try_expression (call_expression function: [(identifier) (field_expression) (scoped_identifier)] @hint.made))
  (await_expression (call_expression function: [(identifier) (field_expression) (scoped_identifier)] @hint.made))
  (try_expression (await_expression
    (call_expression function: [(identifier) (field_expression) (scoped_identifier)] @hint.made)))])
