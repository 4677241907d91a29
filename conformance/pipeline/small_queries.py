"""Check SQL for DuckDB: only one query over the tables of a lake is answered, which computes and does nothing else.

DuckDB's own parser reads the text and returns its result as JSON, which it does for queries alone. The result is walked
to the last leaf before DuckDB looks up or runs any of it. Every kind of node, table and function must be known here, so
that features of a later DuckDB are refused. The walk goes by the names of members that all its versions have used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.queries import MAX_NODES, MAX_TEXT
from conformance.pipeline.schemas import TABLES
from conformance.report.text import label


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NODES: Final = _words(
    """
    SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE
    BASE_TABLE SUBQUERY JOIN TABLE_FUNCTION EXPRESSION_LIST EMPTY PIVOT SHOW_REF
    ORDER_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER DISTINCT_MODIFIER
    ORDER_DEFAULT ASCENDING DESCENDING
    """
)
"""Queries, what they read, and how their rows are ordered and limited."""
_CLASSES: Final = _words(
    """
    BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA LAMBDA_REF OPERATOR
    POSITIONAL_REFERENCE STAR SUBQUERY TYPE WINDOW
    """
)
"""Classes of expressions. A parameter is none of them: there is nothing to fill it with."""
_SHOWN: Final = _words("DESCRIBE SUMMARY SUMMARIZE")
_TABLE_FUNCTIONS: Final = _words("generate_series json_each json_tree range unnest")
"""Functions that return a table, made of their arguments."""
_OPERATOR: Final = re.compile(r"[-+*/%<>=!~^&|@?]+")
_FUNCTIONS: Final = _words(
    """
    abs acos acosh add age aggregate any_value apply approx_count_distinct approx_quantile arbitrary arg_max arg_min
    argmax argmin array_agg array_aggr array_aggregate array_append array_apply array_cat array_concat array_contains
    array_distinct array_extract array_filter array_has array_has_all array_has_any array_indexof array_intersect
    array_length array_pop_back array_pop_front array_position array_prepend array_push_back array_push_front
    array_reduce array_reverse array_reverse_sort array_select array_slice array_sort array_to_json array_to_string
    array_transform array_unique array_value array_where array_zip ascii asin asinh atan atan2 atanh avg bar base64 bin
    bit_and bit_count bit_length bit_or bit_position bit_xor bitstring bitstring_agg bool_and bool_or cardinality cbrt
    ceil ceiling century char_length character_length chr coalesce concat concat_ws constant_or_null contains corr cos
    cosh cot count count_if count_star countif covar_pop covar_samp cume_dist current_date current_localtime
    current_localtimestamp damerau_levenshtein date_add date_diff date_part date_sub date_trunc datediff datepart
    datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade decode degrees dense_rank divide
    element_at encode ends_with entropy epoch epoch_ms epoch_ns epoch_us equi_width_bins era error even exp factorial
    favg fdiv fill filter first first_value flatten floor fmod format format_bytes formatreadabledecimalsize
    formatreadablesize from_base64 from_binary from_hex from_json from_json_strict fsum gcd gen_random_uuid
    generate_subscripts geomean geometric_mean get_bit get_current_time get_current_timestamp grade_up
    greatest greatest_common_divisor group_concat grouping grouping_id hamming hash hex histogram histogram_exact hour
    if instr isfinite isinf isnan isodow isoyear jaccard jaro_similarity jaro_winkler_similarity json json_array
    json_array_length json_contains json_exists json_extract json_extract_path json_extract_path_text
    json_extract_string json_group_array json_group_object json_group_structure json_keys json_merge_patch json_object
    json_pretty json_quote json_structure json_transform json_transform_strict json_type json_valid json_value julian
    kahan_sum kurtosis kurtosis_pop lag last last_day last_value lcase lcm lead least least_common_multiple left
    left_grapheme len length length_grapheme levenshtein like_escape ilike_escape not_like_escape not_ilike_escape list
    list_aggr list_aggregate list_any_value list_append list_apply list_avg list_cat list_concat list_contains
    list_count list_distinct list_element list_extract list_filter list_first list_grade_up list_has list_has_all
    list_has_any list_histogram list_indexof list_intersect list_last list_max list_median list_min list_mode list_pack
    list_position list_prepend list_product list_reduce list_reverse list_reverse_sort list_select
    list_slice list_sort list_string_agg list_sum list_transform list_unique list_value list_where list_zip listagg ln
    log log10 log2 lower ltrim mad make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns
    make_timestamptz map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
    map_extract_value map_from_entries map_keys map_values max max_by md5 md5_number mean median microsecond millennium
    millisecond min min_by minute mismatches mod mode month monthname multiply nanosecond nfc_normalize
    normalized_interval now nth_value ntile nullif octet_length ord overlay parse_dirname parse_dirpath parse_filename
    parse_path percent_rank percentile_cont percentile_disc pi position pow power prefix printf product quantile
    quantile_cont quantile_disc quarter radians random rank rank_dense reduce regexp_escape regexp_extract
    regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array regr_avgx regr_avgy
    regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy replace reverse right right_grapheme
    round round_even roundbankers row row_number row_to_json rtrim second sem set_bit sha1 sha256 sign signbit sin
    sinh skewness split split_part sqrt starts_with stddev stddev_pop stddev_samp str_split str_split_regex strftime
    string_agg string_split string_split_regex string_to_array strip_accents strlen strpos strptime struct_concat
    struct_contains struct_extract struct_extract_at struct_has struct_insert struct_keys struct_pack struct_update
    struct_values substr substring substring_grapheme subtract suffix sum sum_no_overflow sumkahan switch tan tanh
    time_bucket timezone timezone_hour timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades
    to_hex to_hours to_json to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds
    to_timestamp to_weeks to_years today transaction_timestamp translate trim trunc try_strptime typeof ucase unbin
    unhex unicode unnest upper url_decode url_encode uuid uuidv4 uuidv7 var_pop var_samp variance version wavg week
    weekday weekofyear weighted_avg xor year yearweek
    """
)
"""Functions that compute from their arguments, in lower case. Those that make much of one number (repeat, lpad, a list
from range) are not among them, because the limit of memory does not count what they make."""
_QUERY_ONLY: Final = (
    "Only one query over the tables of the lake is answered (select, with, values or table; describe TABLE); "
    "this {what}."
)


def check(connection: Any, text: str) -> None:
    """Raise PipelineError if the text is no query that is answered. connection: of DuckDB; nothing of the text runs."""
    if len(text) > MAX_TEXT:
        raise PipelineError(f"The query has {len(text):,} characters; at most {MAX_TEXT:,} are read.")
    if not text.strip(" \t\r\n;"):
        raise PipelineError("The query is empty; ask for example: select requirement, count from verdicts")
    try:
        ((told,),) = connection.execute("select json_serialize_sql(?::varchar)", [text]).fetchall()
        found = json.loads(told)
    except RecursionError:
        raise PipelineError(f"The query has more than {MAX_NODES:,} parts; ask for less at once.") from None
    if found["error"]:
        if found.get("error_type") == "not implemented":
            raise PipelineError(_QUERY_ONLY.format(what="is another statement"))
        raise PipelineError(unanswered(str(found.get("error_message", "")), "syntax"))
    statements = found["statements"]
    if len(statements) != 1:
        raise PipelineError(_QUERY_ONLY.format(what=f"has {len(statements):,} statements"))
    nodes = list(_nodes(statements[0]))
    tables = set(TABLES) | {name.lower() for node in nodes for name in _defined(node)}
    called = {id(node["function"]) for node in nodes if node.get("type") == "TABLE_FUNCTION"}
    for node in nodes:
        _check(node, tables, table_function=id(node) in called)


def unanswered(message: str, kind: str) -> str:
    """Return an error of DuckDB as one sentence: its own first line."""
    first = next((line.strip() for line in message.splitlines() if line.strip()), "no reason given")
    told = label(first.rstrip(".!"), 300)
    return f"The query cannot be answered by DuckDB ({kind}): {told} (--engine spark takes Spark's SQL)."


def _nodes(root: Any) -> Iterator[Mapping[str, Any]]:
    waiting, count = [root], 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            count += 1
            if count > MAX_NODES * 4:  # An expression is several objects.
                raise PipelineError(f"The query has more than {MAX_NODES:,} parts; ask for less at once.")
            yield one
            if one.get("class") == "CONSTANT":
                continue
            waiting += one.values()


def _defined(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the tables that a `with` defines."""
    found = node.get("cte_map")
    if isinstance(found, dict):
        yield from (str(one["key"]) for one in found.get("map", ()))
    if node.get("type") in ("RECURSIVE_CTE_NODE", "CTE_NODE"):
        yield str(node.get("cte_name"))


def _check(node: Mapping[str, Any], tables: set[str], *, table_function: bool) -> None:
    kind, group = node.get("type"), node.get("class")
    if group is not None:
        if group not in _CLASSES:
            raise PipelineError(_QUERY_ONLY.format(what=f"has {label(str(group), 80)}"))
    elif isinstance(kind, str) and kind not in _NODES and "id" not in node:
        raise PipelineError(_QUERY_ONLY.format(what=f"has {label(kind, 80)}"))
    if "table_name" in node and (node.get("schema_name") or node.get("catalog_name")):
        raise _no_table(node)
    if node.get("at_clause") is not None:
        raise PipelineError(_QUERY_ONLY.format(what="asks for another version of a table"))
    if group is None and kind == "SHOW_REF":
        if node.get("query") is None or node.get("show_type") not in _SHOWN:
            raise PipelineError(_QUERY_ONLY.format(what="shows something else"))
    elif "table_name" in node and group is None and str(node["table_name"]).lower() not in tables:
        raise _no_table(node)
    if "function_name" in node:
        name = str(node["function_name"]).lower()
        known = name in _TABLE_FUNCTIONS if table_function else name in _FUNCTIONS or _OPERATOR.fullmatch(name)
        if not known:
            raise PipelineError(
                f"The function {label(name, 80)} is not known, or does more than compute; a query cannot call it here."
            )


def _no_table(node: Mapping[str, Any]) -> PipelineError:
    parts = [str(node.get(one) or "") for one in ("catalog_name", "schema_name", "table_name", "function_name")]
    shown = ".".join(filter(None, parts)) or "this"
    return PipelineError(f"No table of a lake is called {label(shown, 80)}; there are {', '.join(TABLES)}.")
