import pytest

from block_course.grading import cluster as grading_cluster
from block_course.grading.attempt import Limits
from block_course.grading.cluster import Cluster, ClusterError, team
from block_course.grading.worker import EXERCISES, Terms
from tests.block_course.grading.examples import SECRET

TERMS = Terms(SECRET, Limits(), EXERCISES)
BAD = {
    "another machine": ("tcp://10.1.2.3:8786", "is on another machine: .* protected by tls:// alone"),
    "another machine by name": ("scheduler.example.org:8786", "is on another machine"),
    "a name that looks like here": ("tcp://127.0.0.1.example.org:1", "is on another machine"),
    "another way": ("ws://localhost:8786", "is no address of a scheduler"),
    "no host": ("tls://", "is no address of a scheduler"),
    "no port": ("tcp://localhost:x", "is no address of a scheduler"),
}


@pytest.mark.parametrize(("address", "sentence"), BAD.values(), ids=BAD.keys())
def test_an_address_that_is_not_safe_is_refused(address: str, sentence: str) -> None:
    with pytest.raises(ClusterError, match=sentence), team(Cluster(address), TERMS):
        pass


@pytest.mark.parametrize(
    ("address", "whole"),
    [
        ("localhost", "tcp://localhost:8786"),
        ("127.8.0.1:1", "tcp://127.8.0.1:1"),
        ("tcp://[::1]:99", "tcp://[::1]:99"),
        ("tls://scheduler.example.org", "tls://scheduler.example.org:8786"),
    ],
)
def test_an_address_that_is_safe_is_completed(address: str, whole: str) -> None:
    assert grading_cluster._checked(address) == whole
