#!/usr/bin/python3
# A socket that everybody may open, if they see it: an engine of containers, say.
import os, socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(os.environ['ATTACK_SOCKET'])
except OSError as error:
    print('refused', error)
    sys.exit(7)
