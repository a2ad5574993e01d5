; What only the grammar of JavaScript has; see shared.scm.
(class_declaration name: (identifier) @name body: (_) @body) @class
(class_heritage [(identifier) @base (member_expression) @base (call_expression function: (_) @base)])
(field_definition property: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)]) @function
(field_definition property: (_) @hint.name value: (new_expression constructor: [(identifier) (member_expression)] @hint.made))
