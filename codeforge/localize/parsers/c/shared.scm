; See parsers/driver.py for what each capture means. These patterns hold in the grammars of C and C++.
(preproc_function_def name: (identifier) @name value: (_)? @body) @function
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @class
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @class
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @class
(comment) @comment
(function_definition type: (_) @returns)
(preproc_include path: (_) @import)

(call_expression function: [(identifier) (field_expression)] @call)

(declaration type: (_) @typed.type declarator: [
  (identifier) @typed.name
  (pointer_declarator declarator: (identifier) @typed.name)
  (init_declarator declarator: [(identifier) @typed.name (pointer_declarator declarator: (identifier) @typed.name)])])
(parameter_declaration type: (_) @typed.type declarator: [
  (identifier) @typed.name
  (pointer_declarator declarator: (identifier) @typed.name)])
(field_declaration type: (_) @typed.type declarator: [
  (field_identifier) @typed.name
  (pointer_declarator declarator: (field_identifier) @typed.name)])
