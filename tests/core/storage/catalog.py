"""Reads what PostgreSQL's catalogs say about a database: two databases with equal answers have the same schema.

The order of columns is left out: columns that a migration adds come last, and no statement depends on their order.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text

Catalog = dict[str, set[tuple[Any, ...]]]


def read(connection: Connection) -> Catalog:
    """Definitions by kind; those of extensions and of PostgreSQL itself are left out."""
    return {kind: {tuple(row) for row in connection.execute(text(query))} for kind, query in QUERIES.items()}


def difference(one: Catalog, other: Catalog) -> dict[str, dict[str, list[tuple[Any, ...]]]]:
    """What only one of two catalogs has, by kind; empty where they are equal."""
    return {
        kind: {
            "only in the first": sorted(one[kind] - other[kind]),
            "only in the second": sorted(other[kind] - one[kind]),
        }
        for kind in QUERIES
        if one[kind] != other[kind]
    }


_OWN = """
    nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema' AND NOT EXISTS (
        SELECT FROM pg_depend e WHERE e.classid = c.tableoid AND e.objid = c.oid AND e.deptype = 'e')
"""

_RELATIONS = f"SELECT c.*, nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {_OWN}"

QUERIES = {
    "schemas": f"SELECT nspname, pg_get_userbyid(nspowner) FROM pg_namespace c WHERE {_OWN}",
    "extensions": "SELECT extname, extversion FROM pg_extension",
    "relations": f"""
        SELECT nspname, relname, relkind::text, relpersistence::text, relrowsecurity, relforcerowsecurity,
               relreplident::text, relispartition, array_to_string(reloptions, ', '), amname, pg_get_userbyid(relowner),
               CASE WHEN relkind = 'v' THEN pg_get_viewdef(c.oid) END
        FROM ({_RELATIONS}) c LEFT JOIN pg_am ON pg_am.oid = relam
    """,
    "columns": f"""
        SELECT nspname, relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity::text,
               attgenerated::text, attstorage::text, attcompression::text, attcollation::regcollation::text,
               attstattarget, array_to_string(attoptions, ', '), pg_get_expr(adbin, adrelid)
        FROM ({_RELATIONS}) c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relkind <> 'i'
    """,
    "constraints": f"""
        SELECT nspname, relname, conname, contype::text, convalidated, condeferrable, pg_get_constraintdef(k.oid)
        FROM ({_RELATIONS}) c JOIN pg_constraint k ON conrelid = c.oid
    """,
    "indexes": f"""
        SELECT nspname, relname, pg_get_indexdef(c.oid), indisvalid, indisreplident, indisclustered
        FROM ({_RELATIONS}) c JOIN pg_index ON indexrelid = c.oid
    """,
    "policies": """
        SELECT schemaname, tablename, policyname, permissive, array_to_string(roles, ', '), cmd, qual, with_check
        FROM pg_policies
    """,
    "triggers": f"""
        SELECT nspname, relname, pg_get_triggerdef(t.oid), tgenabled::text
        FROM ({_RELATIONS}) c JOIN pg_trigger t ON tgrelid = c.oid AND NOT tgisinternal
    """,
    "functions": f"""
        SELECT nspname, pg_get_functiondef(c.oid), pg_get_userbyid(proowner)
        FROM pg_proc c JOIN pg_namespace n ON n.oid = pronamespace WHERE {_OWN}
    """,
    "sequences": f"""
        SELECT nspname, c.relname, format_type(seqtypid, NULL), seqstart, seqincrement, seqmin, seqmax, seqcache,
               seqcycle, o.relname, attname, deptype::text
        FROM ({_RELATIONS}) c JOIN pg_sequence ON seqrelid = c.oid
        LEFT JOIN pg_depend d ON d.objid = c.oid AND d.refclassid = 'pg_class'::regclass AND deptype IN ('a', 'i')
        LEFT JOIN pg_class o ON o.oid = refobjid LEFT JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
    """,
    "comments": """
        SELECT type, schema, identity, description
        FROM pg_description, pg_identify_object(classoid, objoid, objsubid)
        WHERE objoid >= 16384 AND NOT EXISTS (
            SELECT FROM pg_depend e WHERE e.classid = classoid AND e.objid = objoid AND e.deptype = 'e')
    """,
    "rights": f"""
        SELECT nspname, relname, NULL AS part, grantee::regrole::text, privilege_type, is_grantable
        FROM ({_RELATIONS}) c,
             aclexplode(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner)))
        WHERE relkind IN ('r', 'v', 'p', 'S', 'm', 'f')
        UNION ALL SELECT nspname, relname, attname, grantee::regrole::text, privilege_type, is_grantable
        FROM ({_RELATIONS}) c JOIN pg_attribute ON attrelid = c.oid, aclexplode(attacl)
        UNION ALL SELECT nspname, NULL, NULL, grantee::regrole::text, privilege_type, is_grantable
        FROM pg_namespace c, aclexplode(coalesce(nspacl, acldefault('n', nspowner))) WHERE {_OWN}
        UNION ALL SELECT nspname, c.oid::regprocedure::text, NULL, grantee::regrole::text, privilege_type, is_grantable
        FROM pg_proc c JOIN pg_namespace n ON n.oid = pronamespace,
             aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE {_OWN}
    """,
    "default rights": "SELECT defaclrole::regrole::text, defaclobjtype::text, defaclacl::text FROM pg_default_acl",
    "types": f"""
        SELECT nspname, typname, typtype::text FROM pg_type c JOIN pg_namespace n ON n.oid = typnamespace
        WHERE typrelid = 0 AND typelem = 0 AND {_OWN}
    """,
}
"""Queries by kind of object."""
