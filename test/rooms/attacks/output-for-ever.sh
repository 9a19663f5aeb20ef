#!/bin/sh
# Never stops.
while :; do echo more and more and more and more; done
