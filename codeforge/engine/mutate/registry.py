"""Every operator, in one list. An operator looks at one node and proposes replacements.

The operators are the standard ones of mutation testing (Offutt et al. 1996) and of template-based program
repair (PAR, Kim et al. 2013; TBar, Liu et al. 2019; GenProg, Le Goues et al. 2012; Kali, Qi et al. 2015);
their weights follow how often single-statement fixes are of each kind (ManySStuBs4J, Karampatsis and Sutton
2020) and how many proposals an operator makes for one place.
"""

import ast
from collections.abc import Callable, Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.operators import (
    arithmetic,
    calls,
    compare,
    conditions,
    constants,
    handlers,
    insertions,
    names,
    returns,
    reuse,
    slices,
    statements,
)
from codeforge.engine.mutate.view import View

Operator = Callable[[View, ast.AST], Iterator[Proposal]]

OPERATORS: tuple[Operator, ...] = (
    compare.comparison_operator,
    compare.comparison_with_boundary,
    arithmetic.arithmetic_operator,
    arithmetic.swap_operands,
    arithmetic.drop_operand,
    arithmetic.off_by_one,
    arithmetic.add_operand,
    arithmetic.square,
    arithmetic.ceiling_division,
    constants.integer_constant,
    constants.boolean_constant,
    constants.text_constant,
    constants.empty_list,
    names.replace_name,
    names.replace_attribute,
    names.sibling_function,
    calls.swap_arguments,
    calls.swap_elements,
    calls.unwrap_call,
    calls.wrap_in_extreme,
    calls.wrap_in_call,
    calls.drop_argument,
    calls.swap_names,
    slices.take_slice,
    slices.drop_bound,
    slices.negate_bounds,
    conditions.negate_condition,
    conditions.change_connective,
    conditions.guard_condition,
    conditions.endless_loop,
    returns.computed_result,
    returns.add_to_result,
    returns.missing_return,
    reuse.assignment_target,
    reuse.expression_by_name,
    reuse.index_by_index,
    reuse.name_by_expression,
    insertions.record_element,
    insertions.update_variable,
    insertions.flush_after_loop,
    insertions.reset_variable,
    insertions.count_before_test,
    insertions.guard_at_start,
    statements.delete_statement,
    statements.swap_statements,
    statements.move_out,
    statements.move_in,
    statements.call_to_assignment,
    statements.plain_to_augmented,
    statements.loop_exit,
    handlers.exception_type,
)
