"""The tools as commands of the server's shell: the same objects, checks and results as for a model.

Exit codes: 0 done, 1 refused (the error object on stderr), 2 called in a wrong way.
"""

import json
import logging
import sys
from typing import Any, Final

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agent.doors import calls, command_line, identity
from agent.doors.identity import Identity
from agent.states import Door
from agent.tools import registry
from agent.tools.base import Tool
from orders.models import Customer

REFUSED: Final = 1
WRONG_USE: Final = 2


def _in_short(tool: Tool) -> str:
    """What it is for: the first sentence of what a model reads."""
    return tool.description.partition(". ")[0]


class Command(BaseCommand):
    help = "Calls a tool as a model would, for a customer or for a member of staff. Without a name: which there are."
    requires_system_checks: list[str] = []
    # Whose tools are offered; known before the options are, because they depend on it.
    for_staff = False

    def run_from_argv(self, argv: list[str]) -> None:
        self.for_staff = any(each.split("=")[0] == "--staff" for each in argv)
        # Standard error is for the error object; of the log only faults stand there, in front of it.
        logging.getLogger().setLevel(logging.ERROR)
        super().run_from_argv(argv)

    def add_arguments(self, parser: CommandParser) -> None:
        names = parser.add_subparsers(dest="tool", metavar="TOOL", help="one of the tools, with --help for its options")
        for tool in self._offered():
            made = names.add_parser(
                tool.name,
                help=_in_short(tool).replace("%", "%%"),
                description=tool.description.replace("%", "%%"),
                allow_abbrev=False,
            )
            who = made.add_mutually_exclusive_group(required=True)
            who.add_argument("--customer", metavar="ID", help="Call it for this customer, by the shop's own id.")
            who.add_argument("--staff", metavar="USERNAME", help="Call it for this member of staff.")
            made.add_argument("--json", action="store_true", help="Print the result as JSON.")
            command_line.add_options(made.add_argument_group("what the tool takes"), tool)

    def _offered(self) -> tuple[Tool, ...]:
        """Those of colleagues come second where no one is named: one name may be a tool of both."""
        if self.for_staff:
            return registry.COPILOT
        known = {tool.name for tool in registry.ORDER_PAGE}
        return (*registry.ORDER_PAGE, *(tool for tool in registry.COPILOT if tool.name not in known))

    def handle(self, *args: Any, tool: str | None, **options: Any) -> None:
        if tool is None:
            for each in self._offered():
                self.stdout.write(f"{each.name:26} {_in_short(each)}")
            return
        who = self._who(options)
        offered = {each.name: each for each in self._offered()}
        answer = calls.call(who, tool, command_line.arguments_of(offered[tool], options), Door.SHELL)
        shown = json.dumps(answer.result, ensure_ascii=False)
        if answer.is_error:
            self.stderr.write(shown, style_func=str)
            sys.exit(REFUSED)
        self.stdout.write(shown if options["json"] else "\n".join(command_line.told(answer.result)))

    def _who(self, options: dict[str, Any]) -> Identity:
        """Whoever has the server's shell needs no token. Raises CommandError for somebody who is not there."""
        if options["staff"] is not None:
            user = User.objects.filter(username=options["staff"]).first()
            who = identity.of_staff(user) if user else None
            missing = "There is no member of staff of this name who may use the tools of colleagues."
        else:
            customer = Customer.objects.select_related("user").filter(external_id=options["customer"]).first()
            who = identity.of_customer(customer) if customer else None
            missing = "There is no customer with this id, or their account is switched off."
        if who is None:
            raise CommandError(missing, returncode=WRONG_USE)
        return who
