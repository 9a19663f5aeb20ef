#!/bin/sh
# Disks and virtual machines.
for path in /dev/vda /dev/sda /dev/nvme0n1 /dev/kvm /dev/fuse /dev/loop-control /dev/net/tun; do
  (: < "$path") 2>/dev/null && { echo "through: $path"; exit 0; }
done
exit 7
