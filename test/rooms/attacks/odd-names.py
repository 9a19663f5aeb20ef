#!/usr/bin/python3
# Names that are no text, or look like something else.
import os, sys
for name in [b'-rf', b'\xff\xfe', b'a\nb', b'*', b' ', b'$(id)', b'x' * 255, '\u202e'.encode()]:
    os.mkdir(name)
    open(os.path.join(name, name), 'w').close()
sys.exit(7)
