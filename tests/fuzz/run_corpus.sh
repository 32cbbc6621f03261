#!/bin/sh
# Runs a fuzz target over every file of a folder: run_corpus.sh TARGET FOLDER
set -eu
set -- "$1" "$2"/*
exec "$@"
