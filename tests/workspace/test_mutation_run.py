"""The tenth of the mutants that a continuous run tries: the same for the same commit, and over time every one."""

from __future__ import annotations

from mutation.run import read_mutants, tenth

MUTANTS = read_mutants()


def test_a_tenth_is_a_tenth_and_the_same_for_the_same_seed() -> None:
    drawn = tenth(MUTANTS, "1f2e3d")
    assert len(drawn) == -(-len(MUTANTS) // 10)
    assert drawn == tenth(MUTANTS, "1f2e3d") != tenth(MUTANTS, "1f2e3e")
    assert [m.id for m in drawn] == [m.id for m in MUTANTS if m in drawn]


def test_two_hundred_commits_try_every_mutant() -> None:
    tried = {mutant.id for seed in range(200) for mutant in tenth(MUTANTS, f"commit {seed}")}
    assert tried == {mutant.id for mutant in MUTANTS}


def test_there_is_always_one() -> None:
    assert len(tenth(MUTANTS[:1], "x")) == 1
