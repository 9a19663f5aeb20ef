#!/usr/bin/python3
# Sockets that have no file, and so no permissions.
import os, socket, sys
try:
    socket.socket(socket.AF_UNIX).connect('\0' + os.environ['ATTACK_NAME'])
except OSError as error:
    print('refused', error)
    sys.exit(7)
