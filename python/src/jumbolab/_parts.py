"""Tables of shards with common columns."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


def common_schema(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns of all, each with the narrowest type that holds every value.

    Fixed columns and factors come first, then metrics by name, then the evidence.
    """
    types: dict[str, set[pa.DataType]] = {}
    heads: dict[str, None] = {}
    for schema in schemas:
        flags = schema.get_field_index("flags")
        heads.update(dict.fromkeys(schema.names[: flags + 1]))
        for column in schema:
            types.setdefault(column.name, set()).add(column.type)
    tails = sorted(name for name in types if name not in heads and name != "evidence")
    names = [*heads, *tails, "evidence"]
    return pa.schema([(name, _widest(types[name])) for name in names])


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with these columns: absent ones are null."""
    columns = [
        table[column.name].cast(column.type)
        if column.name in table.column_names
        else pa.nulls(table.num_rows, column.type)
        for column in schema
    ]
    return pa.table(columns, schema=schema)


def _widest(types: set[pa.DataType]) -> pa.DataType:
    for kind in (pa.string(), pa.float64()):
        if kind in types:
            return kind
    return next(iter(types))
