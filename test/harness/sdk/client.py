"""The Python SDK of Firebolt as a program: client.py check|load URL. Prints one JSON document.

check: connects and runs statements of every kind; values are printed as Python shows them, with their types.
load:  keeps 50 connections busy with one query after the other until standard input closes; every pod that answers
       for the first time is a line on standard error.
"""

import asyncio
import json
import sys

from firebolt.async_db import connect as connect_async
from firebolt.client.auth import FireboltCore
from firebolt.common.constants import CursorState
from firebolt.db import connect
import firebolt.db as sync_module

CONCURRENT = 50


def check(url: str, types_sql: str) -> dict:
    found: dict = {}
    with connect(auth=FireboltCore(), url=url, database="firebolt") as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT whoami()")
        found["pod"] = cursor.fetchone()[0]
        cursor.execute(types_sql)
        row = cursor.fetchone()
        found["types"] = {
            column.name: [str(column.type_code), repr(value)] for column, value in zip(cursor.description, row)
        }
        cursor.execute("SELECT ? AS a, ? AS b, ? AS c, ? AS d", [7, "it's", None, 2.5])
        found["parameters"] = cursor.fetchone()
        cursor.execute("SET enable_result_cache=false")
        cursor.execute("SELECT 1; SELECT 2")
        found["two statements"] = [cursor.fetchall(), cursor.nextset() and cursor.fetchall()]
        found["rows"] = cursor.execute("SELECT value FROM generate_series(1, 2500)")
        cursor.execute_stream("SELECT value FROM generate_series(1, 2500)")
        found["streamed"] = sum(value for (value,) in cursor)
        found["error"] = failure(lambda: cursor.execute("SELEC 1"))
        found["setting"] = failure(lambda: cursor.execute("SET no_such_setting=1"))
        # A failed statement leaves the connection usable.
        cursor.execute("SELECT 42")
        found["after"] = cursor.fetchone()[0]
        found["state"] = cursor._state is CursorState.DONE
        sync_module.paramstyle = "fb_numeric"
        cursor.execute("SELECT $1 AS a, $2 AS b", [7, "it's"])
        found["server-side parameters"] = cursor.fetchone()
    return found


def failure(action) -> str:
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


async def load(url: str) -> dict:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.run_in_executor(None, lambda: (sys.stdin.read(), loop.call_soon_threadsafe(stopped.set)))
    counts = {"sent": 0, "pods": {}}
    failures: list = []

    async def lane() -> None:
        async with await connect_async(auth=FireboltCore(), url=url) as connection:
            cursor = connection.cursor()
            while not stopped.is_set():
                counts["sent"] += 1
                try:
                    await cursor.execute("SELECT whoami()")
                    pod = (await cursor.fetchone())[0]
                    if pod not in counts["pods"]:
                        print(pod, file=sys.stderr, flush=True)
                    counts["pods"][pod] = counts["pods"].get(pod, 0) + 1
                except Exception as error:
                    failures.append(f"{type(error).__name__}: {error}")
                await asyncio.sleep(0.1)

    await asyncio.gather(*(lane() for _ in range(CONCURRENT)))
    return {**counts, "failed": len(failures), "failures": failures[:5]}


if __name__ == "__main__":
    _, mode, target, *rest = sys.argv
    result = check(target, *rest) if mode == "check" else asyncio.run(load(target))
    print(json.dumps(result, default=repr))
