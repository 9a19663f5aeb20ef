#!/bin/sh
# Switches of the kernel.
for path in /proc/sysrq-trigger /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sys/kernel/hostname; do
  [ -w "$path" ] && (echo windlass > "$path") 2>/dev/null && { echo "through: $path"; exit 0; }
done
for path in /proc/kcore /proc/kmsg /dev/mem /dev/kmsg; do
  head -c 1 "$path" >/dev/null 2>&1 && { echo "through: $path"; exit 0; }
done
exit 7
