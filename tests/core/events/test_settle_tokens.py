"""Settle tokens name a place in the log to the tenant whose they are, and to nobody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config import Settings
from core.errors import Invalid
from core.events.settle_tokens import SettleTokens, load

TOKENS = SettleTokens(bytes(32))


@given(st.integers(0, 2**63 - 1), st.text())
def test_a_token_names_its_place(seq: int, tenant: str) -> None:
    assert TOKENS.seq(tenant, TOKENS.of(tenant, seq)) == seq


@pytest.mark.parametrize("token", ["", "x", "====", "é", "c2VxOg", "c2VxOmE", "\x00", "bm90OjE", "c2VxOuKB", "\ud800"])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(Invalid):
        TOKENS.seq("acme", token)


@given(st.text(), st.text())
def test_a_token_of_one_tenant_is_none_of_another(one: str, other: str) -> None:
    if one != other:
        with pytest.raises(Invalid):
            TOKENS.seq(other, TOKENS.of(one, 7))


def test_another_installation_reads_none_of_it(upgraded: Settings) -> None:
    with pytest.raises(Invalid):
        load(upgraded).seq("acme", TOKENS.of("acme", 7))
