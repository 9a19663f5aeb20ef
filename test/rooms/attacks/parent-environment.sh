#!/bin/sh
# What the parent, and process 1, were told.
for pid in 1 "$PPID"; do
  grep -q ATTACK_SECRET "/proc/$pid/environ" 2>/dev/null && { echo "through: environment of $pid"; exit 0; }
  ls "/proc/$pid/fd/" >/dev/null 2>&1 && readlink "/proc/$pid/fd/3" 2>/dev/null | grep -q socket && { echo "through: files of $pid"; exit 0; }
done
exit 7
