"""A small log analyser, for utils/demo to profile; it runs until it is killed.

The main thread makes up lines of an access log, parses them with a regular
expression, builds a sorted index of the words and compresses the lines. Three
more threads live from what it finds:

    json        turns parsed requests into JSON and back
    archive     waits on a queue for compressed blocks
    heartbeat   sleeps, and wakes once a second

It prints one line when all of them run. Any Python from 3.7 on, and nothing
but its standard library.
"""

import collections
import json
import queue
import random
import re
import threading
import time
import zlib

BATCH = 15000
PAUSE = 0.02  # between two batches, as if waiting for more lines

LINE = re.compile(
    r'(?P<host>\d+\.\d+\.\d+\.\d+) - (?P<user>\w+|-) \[(?P<time>[^\]]+)\] '
    r'"(?P<method>[A-Z]+) (?P<path>\S+) HTTP/1\.[01]" '
    r'(?P<status>\d{3}) (?P<size>\d+) "(?P<agent>[^"]*)"')
WORD = re.compile(r"[a-z]{3,}")

HOSTS = ["10.0.%d.%d" % (net, host) for net in range(4) for host in range(1, 255)]
METHODS = ("GET", "GET", "GET", "HEAD", "POST")
USERS = ("-", "-", "-", "ada", "grace", "linus")
SECTIONS = ("articles", "authors", "images", "search", "static", "tags")
TOPICS = ("compilers", "debuggers", "kernels", "linkers", "parsers", "profilers")
STATUSES = (200, 200, 200, 304, 404)
AGENTS = ("curl/8.5", "Mozilla/5.0 (X11; Linux x86_64)", "feed reader", "monitor")


def make_lines(dice):
    def some(things):
        return dice.choices(things, k=BATCH)

    columns = zip(some(HOSTS), some(USERS), range(BATCH), some(METHODS), some(SECTIONS),
                  some(TOPICS), some(range(5000)), some(STATUSES), some(AGENTS))
    return [format_line(*column) for column in columns]


def format_line(host, user, number, method, section, topic, article, status, agent):
    return '%s - %s [%02d:%02d:%02d] "%s /%s/%s/%d HTTP/1.1" %d %d "%s"' % (
        host, user, number // 3600, number // 60 % 60, number % 60, method,
        section, topic, article, status, article * 7919 % 90000, agent)


def parse_line(line):
    request = LINE.match(line).groupdict()
    request["status"] = int(request["status"])
    request["size"] = int(request["size"])
    return request


def parse_lines(lines):
    return [parse_line(line) for line in lines]


def split_words(line):
    return WORD.findall(line.lower())


def build_index(lines):
    """Word -> the numbers of the lines that hold it."""
    index = collections.defaultdict(set)
    for number, line in enumerate(lines):
        for word in split_words(line):
            index[word].add(number)
    return index


def sort_index(index, requests):
    """The words, the most frequent first; each word's lines, the largest first."""
    def size(number):
        return -requests[number]["size"]

    words = sorted(index, key=lambda word: (-len(index[word]), word))
    return [(word, sorted(index[word], key=size)) for word in words]


def shared_start(one, other):
    length = 0
    for left, right in zip(one, other):
        if left != right:
            break
        length += 1
    return length


def front_code(lines):
    """Of each line only what differs from the one before, as in a dictionary."""
    before, coded = "", []
    for line in sorted(lines):
        shared = shared_start(before, line)
        coded.append("%d %s" % (shared, line[shared:]))
        before = line
    return "\n".join(coded)


def compress_lines(lines):
    return zlib.compress(front_code(lines).encode(), 6)


def encode_requests(requests):
    return json.dumps({"requests": requests}, sort_keys=True, indent=1)


def decode_requests(text):
    return json.loads(text)["requests"]


def json_worker(inbox):
    while True:
        requests = inbox.get()
        if decode_requests(encode_requests(requests)) != requests:
            raise AssertionError("JSON changed the requests")


def archive_worker(inbox, blocks):
    while True:
        blocks.append(len(inbox.get()))


def heartbeat(beats):
    while True:
        time.sleep(1)
        beats.append(time.time())


def start_thread(work, *arguments):
    threading.Thread(target=work, args=arguments, name=work.__name__, daemon=True).start()


def analyse_batch(dice, to_json, to_archive):
    lines = make_lines(dice)
    requests = parse_lines(lines)
    to_json.put(requests[:len(requests) // 4])
    sort_index(build_index(lines), requests)
    to_archive.put(compress_lines(lines))


def main():
    # Bounded, so that a program that runs for days does not grow.
    to_json, to_archive = queue.Queue(maxsize=2), queue.Queue(maxsize=2)
    blocks, beats = collections.deque(maxlen=100), collections.deque(maxlen=100)
    start_thread(json_worker, to_json)
    start_thread(archive_worker, to_archive, blocks)
    start_thread(heartbeat, beats)
    print("running", flush=True)
    dice = random.Random(2019)
    while True:
        analyse_batch(dice, to_json, to_archive)
        time.sleep(PAUSE)


if __name__ == "__main__":
    main()
