; <Component/> is a call of Component; <div> is none.
(jsx_opening_element name: (_) @component)
(jsx_self_closing_element name: (_) @component)
