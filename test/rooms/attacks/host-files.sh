#!/bin/sh
# What belongs to the machine and its people.
for path in /etc/shadow /etc/machine-id /root/.bashrc /var/log /home /etc/ssh /run /sys/class; do
  [ -r "$path" ] && [ -n "$(ls -A "$path" 2>/dev/null)" ] && { echo "through: $path"; exit 0; }
done
exit 7
