#!/usr/bin/python3
# The control plane listens on this machine.
import os, socket, sys
try:
    socket.create_connection(('127.0.0.1', int(os.environ['ATTACK_PORT'])), 2)
except OSError as error:
    print('refused', error)
    sys.exit(7)
