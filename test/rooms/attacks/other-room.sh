#!/bin/sh
# Another room, whose path is known.
cat "$ATTACK_FILE" 2>/dev/null && { echo through; exit 0; }
cat "/proc/1/root$ATTACK_FILE" 2>/dev/null && { echo through; exit 0; }
exit 7
