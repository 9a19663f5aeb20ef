#!/bin/sh
# A hundred megabytes at once.
head -c 100000000 /dev/zero
exit 7
