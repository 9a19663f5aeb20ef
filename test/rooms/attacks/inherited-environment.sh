#!/bin/sh
# What the worker was told.
env | grep -q ATTACK_SECRET && exit 0
exit 7
