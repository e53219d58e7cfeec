"""1, 4, 16 and 64 clients with short and long texts in a mix, and short texts beside one client who speaks a book."""
from __future__ import annotations

import argparse
import statistics
import threading
import time

from benchmarks.client import Heard, listen
from benchmarks.common import Result
from tests.served import Served, serve

ROUNDS = 1
SHORT = [f"{name} is here and would like to speak to you." for name in ("Anna", "Peter", "Maria", "Thomas")]
LONG = " ".join(f"On day {day} the ship sailed along the coast, and in the evening the crew sat on deck and sang."
                for day in ("one", "two", "three", "four", "five", "six"))
BOOK = " ".join(f"Chapter {number}. {LONG}" for number in range(1, 40))
TEXTS = [*SHORT, LONG]  # one long text to four short ones


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="kokoro", help="model id (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each crowd stays (default %(default)s)")
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 4, 16, 64])


def run(options: argparse.Namespace) -> Result:
    rows, samples = [], {}
    with serve() as served:
        # the same seed must give the same bytes however full the room is: nothing lost, nothing mixed
        right = {text: listen(served, text=text, model=options.model, seed=1).digest for text in TEXTS}
        for clients in options.clients:
            heard, lasted = crowd(served, options.model, clients, options.seconds)
            rows.append(_row(f"{clients} clients", heard, lasted, right))
        idle = [listen(served, text=SHORT[n % 4], model=options.model, seed=1).ttfa for n in range(20)]
        beside = beside_a_book(served, options.model, 30)
        rows.append(_row("short, idle", [], 1, right, idle))
        rows.append(_row("short, beside a book", [], 1, right, beside))
    speeds = {row[0]: row[4] for row in rows}
    ours = {"p95_ratio_beside_a_book": rows[-1][2] / rows[-2][2], "rows": rows}
    if "1 clients" in speeds and "16 clients" in speeds:
        ours["throughput_16_over_1"] = speeds["16 clients"] / speeds["1 clients"]
    samples |= {"idle_ttfa_s": idle, "beside_a_book_ttfa_s": beside}
    return Result("crowd", ours["p95_ratio_beside_a_book"], ours, {},
                  ("", "TTFA p50, ms", "TTFA p95, ms", "requests", "audio s per s", "errors", "mixed or lost"), rows,
                  "throughput at 16 >= at 1; no error, nothing mixed; short texts beside a book: p95 at most 4 x idle", samples)


def crowd(served: Served, model: str, clients: int, seconds: float) -> tuple[list[tuple[str, Heard]], float]:
    """All clients speak one text after another until the time is over; also how long it really took."""
    heard: list[tuple[str, Heard]] = []
    began = time.monotonic()

    def client(number: int) -> None:
        while time.monotonic() - began < seconds:
            text = TEXTS[number % len(TEXTS)]
            heard.append((text, listen(served, text=text, model=model, seed=1)))
            number += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return heard, time.monotonic() - began


def beside_a_book(served: Served, model: str, count: int) -> list[float]:
    """TTFA of short texts while one client takes a book."""
    reading = threading.Event()

    def read() -> None:
        with served.post("api/stream", {"text": BOOK[:19_000], "model": model}) as answer:
            while answer.read1(65536) and not reading.is_set():
                pass

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(2)
    taken = []
    for number in range(count):
        taken.append(listen(served, text=SHORT[number % 4], model=model, seed=1).ttfa)
        time.sleep(0.13)  # out of step with the book's segments
    reading.set()
    reader.join()
    return taken


def _row(name: str, heard: list[tuple[str, Heard]], lasted: float, right: dict[str, str], ttfa: list[float] = ()) -> tuple:
    good = [(text, one) for text, one in heard if not one.error]
    ttfa = sorted(ttfa or [one.ttfa for _, one in good])
    wrong = sum(one.digest != right[text] for text, one in good)
    p95 = statistics.quantiles(ttfa, n=20)[-1] if len(ttfa) > 1 else ttfa[0]
    speed = sum(one.audio_seconds for _, one in good) / lasted
    return (name, statistics.median(ttfa) * 1000, p95 * 1000, len(heard) or len(ttfa), speed, len(heard) - len(good), wrong)
