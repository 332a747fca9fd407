#!/usr/bin/env python3
"""Recomputes the hash of a journal from its JSON lines: journal_hash.py JOURNAL [--expect HASH].

A second implementation of scenario.md section 5 (canonical binary stream) and of XXH3-64, with the
standard library only, so that the program's own hash has something to be compared with. Plain
files; prints the hash, exits with 1 when it is not the expected one.
"""

import argparse
import json
import struct
import sys

# ---- XXH3-64, seed 0 ----

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
M64 = (1 << 64) - 1
STRIPE = 64
STRIPES_IN_BLOCK = (192 - STRIPE) // 8
BLOCK = STRIPE * STRIPES_IN_BLOCK


def _u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def _u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def _fold(a, b):
    product = a * b
    return (product ^ (product >> 64)) & M64


def _avalanche(h):
    h ^= h >> 37
    h = h * MX1 & M64
    return h ^ (h >> 32)


def _avalanche64(h):
    h ^= h >> 33
    h = h * P64_2 & M64
    h ^= h >> 29
    h = h * P64_3 & M64
    return h ^ (h >> 32)


def _swap32(x):
    return int.from_bytes(x.to_bytes(4, "little"), "big")


def _swap64(x):
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def _rotl64(x, n):
    return ((x << n) | (x >> (64 - n))) & M64


def _mix16(data, at, secret_at):
    return _fold(_u64(data, at) ^ _u64(SECRET, secret_at),
                 _u64(data, at + 8) ^ _u64(SECRET, secret_at + 8))


def _short(data):
    size = len(data)
    if size == 0:
        return _avalanche64(_u64(SECRET, 56) ^ _u64(SECRET, 64))
    if size <= 3:
        combined = (data[0] << 16) | (data[size >> 1] << 24) | data[size - 1] | (size << 8)
        return _avalanche64(combined ^ _u32(SECRET, 0) ^ _u32(SECRET, 4))
    if size <= 8:
        low, high = _u32(data, 0), _u32(data, size - 4)
        h = (high + (low << 32)) ^ _u64(SECRET, 8) ^ _u64(SECRET, 16)
        h ^= _rotl64(h, 49) ^ _rotl64(h, 24)
        h = h * MX2 & M64
        h ^= (h >> 35) + size
        h = h * MX2 & M64
        return h ^ (h >> 28)
    low = _u64(data, 0) ^ _u64(SECRET, 24) ^ _u64(SECRET, 32)
    high = _u64(data, size - 8) ^ _u64(SECRET, 40) ^ _u64(SECRET, 48)
    return _avalanche((size + _swap64(low) + high + _fold(low, high)) & M64)


def _middle(data):
    size = len(data)
    h = size * P64_1
    if size <= 128:
        for i in range((size - 1) // 32, -1, -1):
            h += _mix16(data, 16 * i, 32 * i)
            h += _mix16(data, size - 16 * (i + 1), 32 * i + 16)
        return _avalanche(h & M64)
    for i in range(8):
        h += _mix16(data, 16 * i, 16 * i)
    h = _avalanche(h & M64)
    for i in range(8, size // 16):
        h += _mix16(data, 16 * i, 16 * (i - 8) + 3)
    h += _mix16(data, size - 16, 136 - 17)
    return _avalanche(h & M64)


class _Long:
    """The accumulators of inputs longer than 240 bytes."""

    def __init__(self):
        self.acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]

    def stripe(self, data, at, secret_at):
        lanes = struct.unpack_from("<8Q", data, at)
        keys = struct.unpack_from("<8Q", SECRET, secret_at)
        acc = self.acc
        for i in range(8):
            keyed = lanes[i] ^ keys[i]
            acc[i ^ 1] = (acc[i ^ 1] + lanes[i]) & M64
            acc[i] = (acc[i] + (keyed & 0xFFFFFFFF) * (keyed >> 32)) & M64

    def scramble(self):
        keys = struct.unpack_from("<8Q", SECRET, len(SECRET) - STRIPE)
        for i in range(8):
            a = self.acc[i]
            self.acc[i] = ((a ^ (a >> 47) ^ keys[i]) * P32_1) & M64

    def merge(self, secret_at, start):
        h = start
        for i in range(4):
            h += _fold(self.acc[2 * i] ^ _u64(SECRET, secret_at + 16 * i),
                       self.acc[2 * i + 1] ^ _u64(SECRET, secret_at + 16 * i + 8))
        return _avalanche(h & M64)


def xxh3_64(data):
    size = len(data)
    if size <= 16:
        return _short(data)
    if size <= 240:
        return _middle(data)
    state = _Long()
    blocks = (size - 1) // BLOCK
    for block in range(blocks):
        for i in range(STRIPES_IN_BLOCK):
            state.stripe(data, block * BLOCK + i * STRIPE, 8 * i)
        state.scramble()
    for i in range((size - 1 - blocks * BLOCK) // STRIPE):
        state.stripe(data, blocks * BLOCK + i * STRIPE, 8 * i)
    state.stripe(data, size - STRIPE, len(SECRET) - STRIPE - 7)
    return state.merge(11, size * P64_1 & M64)


# ---- the events: name, then keys with their types, in the order of the table ----
# int, bool, name; enum lists its values; [x] is a list, {x: y} an object that is a list of pairs on
# the wire, (key, ...) the fields of an item.

CODES = """INSUFFICIENT_SLOTS DAG_CYCLE GROUP_CYCLE REGULAR_INSIDE_GROUP MIXED_JOB SHARED_PRODUCER
FAN_OUT PROFILE_CONFLICT BARRIER_MEMBER DYNAMIC_ALLOCATION SPECULATION PUSH_MERGE
INDETERMINATE_PRODUCER CHECKSUM_RETRY CACHED_MEMBER CHECKPOINTED_MEMBER ADAPTIVE_EXCHANGE
NON_IDEMPOTENT_COMMIT PULL_SCHEDULING NO_EXECUTORS ADMISSION_TIMEOUT TASK_FAILED EXECUTOR_LOST
FETCH_FAILED GROUP_FAILED STAGE_ATTEMPTS_EXCEEDED INDETERMINATE_RESULT DEADLOCK CANCELLED"""


def enum(values):
    return ("enum", values.split())


def fields(*keys):
    return ("fields", keys)


def many(item):
    return ("list", item)


INT, BOOL, NAME = "int", "bool", "name"
CODE = enum(CODES)
KIND = enum("regular pipelined")
COUNTS = "counts"
RANGES = many(fields(("first", INT), ("last", INT)))
EDGES = many(fields(("from", NAME), ("to", NAME), ("kind", KIND)))
STAGE = (("job", NAME), ("stage", NAME), ("attempt", INT))
TASK = STAGE + (("partition", INT), ("partitions", RANGES), ("try", INT), ("executor", NAME))
SHORTFALL = (("need", COUNTS), ("have", COUNTS))
BLOCK_KEYS = (("on", enum("space data slot registration client memory disk")), ("of", NAME))

EVENTS = [
    ("run", None),
    ("executor_added", (("executor", NAME), ("host", NAME), ("rack", NAME),
                        ("resources", COUNTS), ("profile", NAME), ("speed", INT))),
    ("executor_lost", (("executor", NAME),
                       ("cause", enum("process host decommission exit_by_app")))),
    ("executor_held", (("executor", NAME), ("cause", enum("hold decommission")))),
    ("executor_released", (("executor", NAME),)),
    ("job_submitted", (("job", NAME), ("pool", NAME), ("priority", INT),
                       ("stages", many(fields(("name", NAME), ("tasks", INT), ("profile", NAME),
                                              ("barrier", BOOL),
                                              ("commits", enum("none idempotent once"))))),
                       ("edges", EDGES))),
    ("job_rejected", (("job", NAME), ("code", CODE), ("codes", many(CODE)),
                      ("detail", NAME)) + SHORTFALL),
    ("job_started", (("job", NAME),)),
    ("job_end", (("job", NAME), ("outcome", enum("succeeded failed cancelled")),
                 ("code", CODE), ("detail", NAME)) + SHORTFALL),
    ("group_formed", (("job", NAME), ("stage", NAME), ("stages", many(NAME)),
                      ("demand", COUNTS))),
    ("group_queued", (("job", NAME), ("stage", NAME), ("reason", enum("inputs slots"))) +
     SHORTFALL),
    ("group_admitted", STAGE + (("slots", COUNTS),)),
    ("group_committed", STAGE),
    ("group_failed", STAGE + (("cause", CODE),)),
    ("group_cancelled", STAGE + (("cause", enum("job_failed job_cancelled job_done")),)),
    ("edges_changed", (("job", NAME), ("stage", NAME), ("edges", EDGES))),
    ("stage_submitted", STAGE + (("tasks", INT), ("partitions", RANGES))),
    ("stage_completed", STAGE + (("status", enum("success failed cancelled")),
                                 ("reason", enum("task_failed fetch_failed executor_lost "
                                                 "group_failed incomplete rolled_back job_failed "
                                                 "job_cancelled job_done")))),
    ("task_start", TASK + (("speculative", BOOL),)),
    ("task_end", TASK + (("speculative", BOOL), ("status", enum("success failed killed")),
                         ("reason", enum("exception fetch_failed result_lost out_of_memory "
                                         "commit_denied executor_lost group_failed job_ended "
                                         "cancelled other_attempt superseded external")),
                         ("counted", BOOL), ("slot", enum("held")))),
    ("slot_returned", (("executor", NAME), ("profile", NAME), ("count", INT), ("job", NAME))),
    ("member_finished", STAGE),
    ("outputs_registered", STAGE),
    ("outputs_lost", (("job", NAME), ("stage", NAME), ("executor", NAME),
                      ("partitions", RANGES))),
    ("output_committed", TASK),
    ("output_discarded", TASK),
    ("reservation", (("job", NAME), ("stage", NAME), ("executor", NAME), ("profile", NAME),
                     ("slots", INT), ("delta", INT))),
    ("blocked", TASK + BLOCK_KEYS),
    ("unblocked", TASK + BLOCK_KEYS),
    ("record_latency", (("job", NAME), ("stage", NAME), ("count", INT), ("min", INT),
                        ("p50", INT), ("p90", INT), ("p99", INT), ("max", INT))),
    ("message", None),
    ("probe", None),
    ("first_row", (("job", NAME),)),
    ("rows_delivered", (("job", NAME), ("count", INT))),
    ("disk_used", (("executor", NAME), ("bytes", INT))),
    ("run_end", None),
]
NUMBERS = {name: (i + 1, keys) for i, (name, keys) in enumerate(EVENTS)}


class Encoder:
    """Appends events to `out`; those without keys in the table are passed over."""

    def __init__(self):
        self.out = bytearray()
        self.names = {}

    def event(self, line):
        number, keys = NUMBERS[line["e"]]
        if keys is None:
            return
        unknown = set(line) - {"t", "e"} - {key for key, _ in keys}
        if unknown:
            raise ValueError(f"{line['e']} has unknown keys {sorted(unknown)}")
        self.out += struct.pack("<Bq", number, line["t"])
        self.keys(keys, line)

    def keys(self, keys, values):
        for key, kind in keys:
            if key in values:
                self.out.append(1)
                self.value(kind, values[key])
            else:
                self.out.append(0)

    def name(self, text):
        known = self.names.get(text)
        if known is not None:
            self.out += struct.pack("<I", known)
            return
        number = self.names[text] = len(self.names)
        data = text.encode("utf-8")
        self.out += struct.pack("<II", number, len(data)) + data

    def value(self, kind, value):
        if kind == INT:
            self.out += struct.pack("<q", value)
        elif kind == BOOL:
            self.out.append(1 if value else 0)
        elif kind == NAME:
            self.name(value)
        elif kind == COUNTS:  # a list of (name, int) items
            self.out += struct.pack("<I", len(value))
            for name, count in value.items():
                self.out.append(1)
                self.name(name)
                self.out += struct.pack("<Bq", 1, count)
        elif kind[0] == "enum":
            self.out.append(kind[1].index(value))
        elif kind[0] == "list":
            self.out += struct.pack("<I", len(value))
            for item in value:
                self.value(kind[1], item)
        else:
            self.keys(kind[1], value)


def canonical_stream(lines):
    encoder = Encoder()
    for line in lines:
        encoder.event(json.loads(line))
    return bytes(encoder.out)


def journal_hash(path):
    with open(path, encoding="utf-8") as lines:
        return f"xxh3:{xxh3_64(canonical_stream(lines)):016x}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("journal")
    parser.add_argument("--expect", help="exit with 1 unless this is the hash")
    arguments = parser.parse_args()
    computed = journal_hash(arguments.journal)
    print(computed)
    if arguments.expect and arguments.expect != computed:
        print(f"{arguments.journal}: expected {arguments.expect}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
