#!/bin/sh
# Many files.
i=0
while :; do i=$((i + 1)); head -c 500000 /dev/zero > "f$i" || exit 7; done
