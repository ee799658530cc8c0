"""A program that only sleeps."""
import time

import truth

truth.tell()
time.sleep(3600)
