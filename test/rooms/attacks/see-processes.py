#!/usr/bin/python3
# Whose else can be seen, with their arguments.
import os, sys
mine = {os.getpid(), os.getppid(), 1}
others = [pid for pid in os.listdir('/proc') if pid.isdigit() and int(pid) not in mine]
print(len(others), 'other processes')
sys.exit(0 if len(others) > 2 else 7)
