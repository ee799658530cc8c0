#!/bin/sh
# Make ./configure.  Needs autoconf, automake, pkg-config.
cd "$(dirname "$0")" && exec autoreconf --install --force
