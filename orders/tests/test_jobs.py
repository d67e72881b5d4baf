"""What is handed to Celery, and how often it may run at once."""

import threading

from orders.jobs import one_at_a_time


def test_a_sweep_that_is_still_at_work_is_not_begun_beside_itself() -> None:
    begun, released = threading.Event(), threading.Event()

    @one_at_a_time
    def sweep() -> str:
        begun.set()
        released.wait(20)
        return "swept"

    first = threading.Thread(target=sweep)
    first.start()
    assert begun.wait(20)
    assert sweep() is None
    released.set()
    first.join()
    assert sweep() == "swept"


def test_a_sweep_that_failed_can_run_again() -> None:
    rounds = iter([1, 0])

    @one_at_a_time
    def sweep() -> float:
        return 1 / (1 - next(rounds))

    try:
        sweep()
    except ZeroDivisionError:
        assert sweep() == 1
