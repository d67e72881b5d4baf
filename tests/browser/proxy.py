"""A proxy between browser and desk that behaves as badly as real ones: cuts connections, or lets them die quietly.

    python -m tests.browser.proxy PORT TARGET_PORT CUT_AFTER_SECONDS

Cuts each connection after so many seconds (0: never). At SIGUSR1 the event streams that are open carry nothing any more
and neither end is told, as after an hour of sleep; other connections are closed.
"""

import asyncio
import signal
import sys
from contextlib import suppress


class Proxy:
    def __init__(self, target: int, cut_after: float) -> None:
        self.target = target
        self.cut_after = cut_after
        self.open: set[Connection] = set()

    async def serve(self, port: int) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self.mute)
        server = await asyncio.start_server(self.connected, "127.0.0.1", port)
        await server.serve_forever()

    def mute(self) -> None:
        for connection in self.open:
            connection.fall_silent()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        connection = Connection(writer, back)
        self.open.add(connection)
        ways = asyncio.gather(connection.carry(reader, back), connection.carry(there, writer))
        with suppress(OSError, TimeoutError):
            await asyncio.wait_for(ways, self.cut_after or None)
        self.open.discard(connection)
        connection.close()


class Connection:
    def __init__(self, *ends: asyncio.StreamWriter) -> None:
        self.ends = ends
        self.streams = self.silent = False

    def fall_silent(self) -> None:
        self.silent = self.streams
        if not self.streams:
            self.close()

    def close(self) -> None:
        for end in self.ends:
            end.close()

    async def carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while piece := await source.read(65536):
            self.streams = self.streams or b"/events/" in piece[:200]
            if not self.silent:
                target.write(piece)
                await target.drain()
        if not self.silent:
            target.close()


if __name__ == "__main__":
    asyncio.run(Proxy(int(sys.argv[2]), float(sys.argv[3])).serve(int(sys.argv[1])))
