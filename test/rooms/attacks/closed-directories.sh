#!/bin/sh
# What its owner has closed even to itself.
mkdir -p a/b/c && echo x > a/b/c/file && chmod 000 a/b/c/file a/b/c a/b a
exit 7
