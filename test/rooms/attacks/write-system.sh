#!/bin/sh
# Programs and settings of the machine.
for path in /usr/bin/windlass-attack /etc/passwd /bin/sh /usr/lib/windlass-attack /windlass-attack /etc/ld.so.preload; do
  (echo x >> "$path") 2>/dev/null && { echo "through: $path"; exit 0; }
done
exit 7
