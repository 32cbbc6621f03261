#!/bin/sh
# Runs conformance over every source of ../shared/corpus that can be opened: corpus.sh CONFORMANCE
set -u
corpus=../shared/corpus
[ -d $corpus ] || { echo "SKIPPED: the corpus is not here ($corpus)"; exit 77; }
failed=0
for source in $corpus/*/data/*; do
    said=$("$1" "$source" 2>&1) && continue
    case $said in
        *directories,*) failed=$((failed + 1)); echo "$said" ;; # it was opened
    esac
done
echo "$failed failed"
[ $failed = 0 ]
