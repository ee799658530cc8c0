"""Threads with names of all kinds."""
import sys
import threading
import time

import truth

NAMES = {
    'plain': 'worker-1',
    'blanks': 'a name with blanks',
    'latin': '\xc3\xbcn\xc3\xafc\xc3\xb6de',
    'greek': '\xce\xb1\xce\xb2\xce\xb3',
    'astral': 'face \xf0\x9f\x98\x80',
    'renamed': 'second name',
}


def text(name):
    """UTF-8 as the version's own kind of text for names."""
    if sys.version_info[0] > 2:
        return name.encode('latin-1').decode('utf-8')
    return name


def body(key):
    truth.note(key, sys._getframe())
    time.sleep(3600)


def unknown():
    truth.note('unknown', sys._getframe())
    time.sleep(3600)


for key in NAMES:
    t = threading.Thread(target=body, args=(key,), name=text(key == 'renamed' and 'first name' or NAMES[key]))
    truth.daemon(t)
    t.start()
    if key == 'renamed':
        if hasattr(t, 'name'):
            t.name = text(NAMES[key])
        else:
            t.setName(text(NAMES[key]))
truth._thread.start_new_thread(unknown, ())
truth.wait_for(len(NAMES) + 1)
truth.note('main', sys._getframe())
names = {'main': 'MainThread'}
for key in NAMES:
    names[key] = text(NAMES[key])
truth.tell(names=names); time.sleep(3600)
