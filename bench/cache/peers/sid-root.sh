#!/usr/bin/env bash
# Runs programs that only Debian unstable has on a machine with another system: makes a root file system of Debian
# unstable in a folder, and runs commands in it. Needs root and debootstrap; changes nothing outside of the folder.
#
#   sid-root.sh make FOLDER PACKAGE…        installs the packages, and makes the root file system first if needed
#   sid-root.sh run FOLDER SHARED COMMAND…  runs the command; the folder SHARED has the same path inside
#
# A command replaces this script (with the same process ID). It has the same network, and its own mount namespace,
# which ends with it. A plain chroot would be enough for some programs, but others refuse to start in one.
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
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # installed services must not start
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
  "${inside[@]}" apt-get -qq update || true # an old package list may be enough
  "${inside[@]}" apt-get -qq install -y --no-install-recommends "${missing[@]}"
  "${inside[@]}" apt-get -qq clean
}

# Prints the mirror of this machine's own Debian packages.
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
    mount -t tmpfs tmpfs "$root/tmp" # most shared folders are here: their mount points must not stay
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
