#!/usr/bin/python3
# Which networks are there.
import socket, sys
names = [name for _, name in socket.if_nameindex()]
print(names)
sys.exit(0 if len(names) > 1 else 7)
