#!/usr/bin/env bash
# Programs that only Debian's unstable branch has, on a machine that runs another: a root file system of it in a
# folder, and a way to run a command inside. Needs to be root, and debootstrap; nothing outside of the folder changes.
#
#   sid-root.sh make FOLDER PACKAGE…        brings the packages in, making the root first where there is none
#   sid-root.sh run FOLDER SHARED COMMAND…  runs the command; the folder SHARED is at the same place inside
#
# A command runs in place of this script (its process id stays), on the same network, in a mount namespace of its own
# that ends with it. A plain chroot would do for some programs, but others refuse to start in one.
set -euo pipefail

make_root() {
  local root=$1
  shift
  mkdir -p "$root"
  exec 9>"$root.lock"
  flock 9
  if [ ! -e "$root/.complete" ]; then
    rm -rf "$root"
    debootstrap --variant=minbase sid "$root" "$(mirror)"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # nothing that is installed starts by itself
    chmod +x "$root/usr/sbin/policy-rc.d"
    printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
    touch "$root/.complete"
  fi
  local package missing=()
  for package in "$@"; do
    chroot "$root" dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local inside=("$0" run "$root" "$root" env DEBIAN_FRONTEND=noninteractive)
  "${inside[@]}" apt-get -qq update || true # an old list may do: the first one came with the root
  "${inside[@]}" apt-get -qq install -y --no-install-recommends "${missing[@]}"
  "${inside[@]}" apt-get -qq clean
}

# Where this machine's own Debian packages come from.
mirror() {
  local address
  address=$(grep -rhoE 'https?://[^ ]+/debian/?$' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -n 1) || true
  echo "${address:-http://deb.debian.org/debian}"
}

run_inside() {
  exec unshare -m --propagation private bash -c '
    set -euo pipefail
    root=$1 shared=$2
    shift 2
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp" # where shared folders usually lie: nothing of them stays
    mkdir -p "$root/$shared" "$root/.old"
    [ "$shared" = "$root" ] || mount --bind "$shared" "$root/$shared"
    cat /etc/resolv.conf >"$root/etc/resolv.conf"
    cd "$root"
    pivot_root . .old
    cd /
    umount -l /.old
    exec "$@"' sid-root "$@"
}

case ${1:-} in
  make) shift; make_root "$@" ;;
  run) shift; run_inside "$@" ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
