; See parsers/driver.py for what each capture means.
(function_definition name: (identifier) @name body: (_) @body) @function
(class_definition name: (identifier) @name body: (_) @body) @class
(decorated_definition) @outer

(function_definition body: (block . (expression_statement . (string) @doc)))
(class_definition body: (block . (expression_statement . (string) @doc)))
(function_definition return_type: (type) @returns)

(class_definition superclasses: (argument_list) @bases)
(decorator [(identifier) (attribute)] @decorator)
(call function: (_) @call)

(import_statement) @import
(import_from_statement) @import

(assignment
  left: [(identifier) (attribute)] @hint.name
  right: (call function: [(identifier) (attribute)] @hint.made))
(assignment
  left: [(identifier) (attribute)] @typed.name
  type: (type) @typed.type)
(typed_parameter . (identifier) @typed.name type: (type) @typed.type)
(typed_default_parameter name: (identifier) @typed.name type: (type) @typed.type)
