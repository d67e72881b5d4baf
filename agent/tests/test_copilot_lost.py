"""What the sweeper asks about colleagues' talks costs the same however many of them are over."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agent.copilot import lost
from orders.tests import cast

pytestmark = pytest.mark.django_db


def test_runs_that_nobody_works_on_are_found_without_reading_the_talks_that_are_over() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO agent_copilotthread (user_id, language, state, error, lease_token, version, queued_at, "
            "lease_until, created_at, updated_at) SELECT %s, 'en', CASE WHEN n %% 1000 = 0 THEN 'running' ELSE 'idle' "
            "END, '', '', 0, now() - interval '1 hour', now() - interval '1 minute', now(), now() "
            "FROM generate_series(1, 20000) n",
            [cast.staff_user("staff").pk],
        )
        cursor.execute("ANALYZE agent_copilotthread")
        with CaptureQueriesContext(connection) as queries:
            assert len(lost.found()) == 20
        (asked,) = [each["sql"] for each in queries.captured_queries if "agent_copilotthread" in each["sql"]]
        cursor.execute(f"EXPLAIN {asked}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "copilot_live_runs" in plan, plan
    assert "Seq Scan" not in plan, plan
