"""Statements that DuckDB must refuse beside `sql_attacks.ATTACKS`, and queries that both engines answer alike.
`{file}` is a file of a secret, `{folder}` one to write to."""

from __future__ import annotations

import re
from pathlib import Path

ATTACKS = (
    # files and addresses for tables
    "select * from '{file}'",
    "from '{file}'",
    'select * from "{file}"',
    "select * from read_text('{file}')",
    "select * from READ_CSV('{file}')",
    "select * from read_csv_auto(['{file}'])",
    "select * from read_blob('{file}')",
    "select * from read_json('{file}')",
    "select * from read_parquet('{file}')",
    "select * from parquet_metadata('{file}')",
    "select * from sniff_csv('{file}')",
    "select * from glob('{folder}*')",
    "select * from read_csv('https://localhost/x.csv')",
    "select * from 's3://bucket/x.parquet'",
    "select (select max(content) from read_text('{file}')) from verdicts",
    "select * from verdicts v, lateral (select content from read_text('{file}'))",
    "with verdicts as (select * from read_text('{file}')) select * from verdicts",
    "with recursive a as (select 1 union all select content from read_text('{file}')) select * from a",
    "select list_transform([1], lambda x: (select content from read_text('{file}'))) from verdicts",
    "select * from verdicts order by (select content from read_text('{file}'))",
    "select sum(count) over (order by (select content from read_text('{file}'))) from verdicts",
    "select sum(count) filter (where (select content from read_text('{file}')) = '') from verdicts",
    "select * from verdicts pivot (max((select content from read_text('{file}'))) for outcome in ('fail'))",
    "select * from verdicts limit (select length(content) from read_text('{file}'))",
    "select * from verdicts qualify (select content from read_text('{file}')) = ''",
    "values ((select content from read_text('{file}')))",
    "describe select * from read_text('{file}')",
    "summarize '{file}'",
    # what is in the process, in DuckDB itself and in its settings
    "select * from ATTACKS",
    "select * from _stored_verdicts",
    "select * from _former",
    "select * from duckdb_settings()",
    "select * from duckdb_secrets()",
    "select * from duckdb_functions()",
    "select * from information_schema.tables",
    "select * from pg_catalog.pg_tables",
    "select * from main.verdicts",
    "select * from memory.main.verdicts",
    "select * from sqlite_master",
    "select * from arrow_scan(1, 2, 3)",
    "select * from python_map_function(1)",
    "select * from pandas_scan(1)",
    "select * from query('select 1')",
    "select * from query_table('verdicts')",
    "select * from json_execute_serialized_sql('x')",
    "select * from test_all_types()",
    "select * from pragma_version()",
    "select current_setting('temp_directory')",
    "select getvariable('x')",
    "select getenv('PATH')",
    "select system.main.current_setting('memory_limit')",
    "select nextval('s')",
    "select sleep_ms(1000000)",
    "select write_log('x')",
    "select * from verdicts at (version => 1)",
    "select ?",
    "select $1",
    "show tables",
    "show all tables",
    "show databases",
    # what makes much of one number
    "select repeat('x', 4000000000)",
    "select range(4000000000)",
    "select lpad('x', 4000000000, 'y')",
    # statements that do something
    "attach '{folder}' as x",
    "detach memory",
    "copy verdicts to '{folder}'",
    "copy (select 1) to '{folder}' (format parquet)",
    "copy verdicts from '{file}'",
    "export database '{folder}'",
    "import database '{folder}'",
    "install httpfs",
    "load httpfs",
    "load '{file}'",
    "pragma database_list",
    "pragma memory_limit='1GB'",
    "set enable_external_access=true",
    "set lock_configuration=false",
    "reset memory_limit",
    "set variable x = 1",
    "create table x as select 1",
    "create or replace view verdicts as select 1",
    "create macro m() as 1",
    "create secret (type s3)",
    "create type t as int",
    "drop view verdicts",
    "insert into _former values ('a', 'b')",
    "update _former set new = 'x'",
    "alter view verdicts rename to x",
    "prepare p as select 1",
    "execute p",
    "call pragma_version()",
    "call read_text('{file}')",
    "begin",
    "checkpoint",
    "vacuum",
    "use memory",
    "explain analyze select * from verdicts",
    "with a as (select 1) insert into _former select * from a",
)

ANSWERED = (
    "select 1;",
    "-- note\nSELECT count(*) FROM Verdicts -- end",
    "from verdicts limit 1",
    "table verdicts",
    "describe verdicts",
    "describe select outcome from verdicts",
    "summarize captures",
    "select 'select * from read_text(''/etc/passwd''); drop view verdicts' as quoted",
    'select "read_text" from (select 1 as "read_text")',
    "with recursive n(x) as (select 1 union all select x + 1 from n where x < 5) select sum(x) from n",
    "select * from verdicts pivot (sum(count) for outcome in ('fail', 'pass'))",
    "select * from (select 1 a, 2 b) unpivot (value for name in (a, b))",
    "select unnest(map_keys(readings)) from verdicts",
    "select x from verdicts, lateral (select count + 1 as x)",
    "select outcome, date, sum(count) from verdicts group by cube(outcome, date) having sum(count) > 0 order by 3 desc "
    "limit 3 offset 1",
    "select * exclude (subject) from verdicts qualify row_number() over (partition by outcome order by date) = 1",
    "select list_filter([1, 2, 3], lambda x: x > 1), list_reduce([1, 2], lambda a, x: a + x)",
    "select try_cast('x' as int), '5'::int, 'a' like 'a%' escape '!', 'a' ~ 'a', 'A' ilike 'a', not true, 5 // 2",
    "select extract(year from first_time), date_trunc('hour', first_time), date + interval 1 day, current_date, now() "
    "from verdicts",
    "select expected ->> '$.a', json_extract_string(expected, '$.a') from verdicts",
    "select quantile_cont(count, 0.5), string_agg(outcome, ','), count(*) filter (where outcome = 'fail') "
    "from verdicts",
    "select {{'a': 1}}.a, map {{'k': 1}}['k'], [1, 2][1], coalesce(null, 1), if(true, 1, 2)",
    "select distinct on (outcome) outcome, date from verdicts order by all",
    "select * from verdicts using sample 50 percent",
    "select * from range(2) t(x), unnest([1, 2]) e(y)",
)

SAME = (
    "select requirement, outcome, count, sender, queue, readings, first_time, packet, date from verdicts "
    "order by outcome, date, count",
    "select date, outcome, sum(count) as n, count(*) as rows, min(first_time) as since from verdicts group by 1, 2 "
    "order by 1, 2",
    "select sender, count from verdicts order by sender, count desc",
    "select avg(count) as mean, sum(count) / 2 as half, max(date) as latest, count(distinct sender) as senders "
    "from verdicts",
    "select path, skipped, skipped['other port'] as other, first_time, incomplete from captures order by path",
    "select date_trunc('month', first_time) as month, sum(count) as n from verdicts group by 1 order by 1",
    "select outcome, sum(count) over (partition by outcome order by date) as so_far, date from verdicts "
    "order by outcome, date, count, so_far",
    "select requirement from verdicts where date >= '2026-03-02' and outcome in ('fail', 'pass') order by 1",
    "select c.path, v.outcome, v.count from verdicts v join captures c using (capture_id) order by 1, 2, 3",
    "select initiator, complete, closed from sessions where initiator_packets > 2 order by initiator",
    "with a as (select outcome, count from verdicts) select outcome, sum(count) as n from a group by outcome "
    "having sum(count) > 1 order by n desc",
    "select case when outcome = 'fail' then 'broken' else 'kept' end as how, coalesce(queue, 'none') as q "
    "from verdicts order by 1, 2",
    "select cast(count as double) as d, cast(date as varchar(10)) as s, true as b, null as n from verdicts "
    "order by d, s",
    "select * from rejected",
    "select deviating, worst from packets order by number",
    "select 9223372036854775807 as most, 1.50 as exact, date '2026-01-31' as day",
)
"""In the words that both dialects have."""


TELLS_NOTHING = ("select user", "select `current_user` from verdicts")
"""Attacks on Spark, which would tell who runs it: every user of DuckDB is called duckdb."""


def queries_of_docs() -> list[str]:
    """The queries for analysts: every block of SQL in the page, one query a paragraph."""
    blocks = re.findall(
        r"```sql\n(.*?)```", (Path(__file__).parents[2] / "docs" / "corpus-report.md").read_text("utf-8"), re.DOTALL
    )
    return [one for block in blocks for one in block.strip().split("\n\n")]
