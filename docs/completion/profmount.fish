# fish completion for profmount(1)

# What is inside of the profile that --ls or --cat was given.
function __profmount_paths
    set -l all (commandline -opc)
    set -l words (string match -v -- '-*' $all)
    set -l sources $words[2]
    # Several sources end with `--`.
    if set -l end (contains -i -- -- $all)
        set sources (string match -v -- '-*' $all[2..$end])
    end
    set -l folder (commandline -ct | string match -r '^.*/')
    for name in (profmount --ls $sources -- "$folder" 2>/dev/null | string replace -r ' -> \.\./.*[^/]$' '')
        echo "$folder$name"
    end
end

function __profmount_options
    set -l before (commandline -ct | string match -r '^.*,')
    printf "$before%s\n" allow_other allow_root auto_unmount base= cache= derive= evals exact focus= follow from= gid= hide= idle= ignore= iterations= lean max= memory= metric= metrics=all normalize parquet repetitions=no repetitions=yes run= scaling=strong scaling=weak symbols= sysroot= tsv uid= values= xattr
    profmount --formats 2>/dev/null | string replace -r '^(\S+) +' "$before""format=\$1\t"
end

function __profmount_has_source
    test (count (commandline -opc | string match -v -- '-*')) -ge 2
end

complete -c profmount -s h -l help -d 'Print a summary'
complete -c profmount -s V -l version -d 'Print the version'
complete -c profmount -s u -l unmount -xa '(__fish_complete_directories)' -d 'Unmount'
complete -c profmount -l formats -d 'List the formats'
complete -c profmount -l ls -d 'List a directory'
complete -c profmount -l cat -d 'Write files to standard output'
complete -c profmount -l extract -d 'Write everything below a directory'
complete -c profmount -l check -d 'Report damage'
complete -c profmount -s f -d 'Stay in the foreground'
complete -c profmount -s d -d 'Print each FUSE request'
complete -c profmount -s s -d 'Single-threaded'
complete -c profmount -s o -x -d 'Mount options' -a '(__profmount_options)'
complete -c profmount -f -n '__fish_contains_opt ls cat; and __profmount_has_source' -a '(__profmount_paths)'
