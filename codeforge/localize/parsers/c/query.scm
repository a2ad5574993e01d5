; What is written in another way in C++; see shared.scm.
(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))]
  body: (_) @body) @function
(struct_specifier name: (type_identifier) @name body: (_) @body) @class
(union_specifier name: (type_identifier) @name body: (_) @body) @class
(enum_specifier name: (type_identifier) @name body: (_) @body) @class
