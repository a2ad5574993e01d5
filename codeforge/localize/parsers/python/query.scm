; See parsers/driver.py for what each capture means.
(function_definition name: (identifier) @name body: (block . (expression_statement . (string) @doc)?) @body) @function
(class_definition name: (identifier) @name body: (block . (expression_statement . (string) @doc)?) @body) @class
(decorated_definition) @outer
(function_definition return_type: (type) @returns)

(class_definition superclasses: (argument_list [
  (identifier) @base
  (attribute) @base
  (subscript value: (_) @base)
  (call function: (_) @base)]))
(decorator [(identifier) @decorator (attribute) @decorator (call function: (_) @decorator)])
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

(assignment left: (identifier) @local)
(for_statement left: (identifier) @local)
(for_in_clause left: (identifier) @local)
(pattern_list [(identifier) @local (list_splat_pattern (identifier) @local)])
(tuple_pattern [(identifier) @local (list_splat_pattern (identifier) @local)])
(as_pattern_target (identifier) @local)
(named_expression name: (identifier) @local)
(lambda_parameters [(identifier) @local (default_parameter name: (identifier) @local)])
(global_statement (identifier) @outer_variable)
(nonlocal_statement (identifier) @outer_variable)
