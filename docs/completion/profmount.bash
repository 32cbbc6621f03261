# bash completion for profmount(1)

_profmount()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} word mode= ended= glue= sources=()
    COMPREPLY=()
    if [[ $prev == -o ]]; then
        _profmount_options "$cur"
        return
    fi
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W '-f -d -s -o -h -u -V --help --unmount --version --ls --cat --extract --check --formats' -- "$cur"))
        return
    fi
    # bash splits NAME=SOURCE at the `=`, which is then a word.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            --ls | --cat) mode=$word ;;
            --) ended=yes ;;
            =) glue=yes && sources[${#sources[@]} - 1]+== && continue ;;
            -*) ;;
            *)
                [[ -z $mode || -n $ended ]] && continue
                word=${word/#\~/$HOME}
                if [[ -n $glue ]]; then sources[${#sources[@]} - 1]+=$word; else sources+=("$word"); fi
                ;;
        esac
        glue=
    done
    # Several sources end with `--`. What follows one may be a path in it, or the next one.
    if [[ ${#sources[@]} -gt 0 && $prev != = && $cur != = ]]; then
        _profmount_paths "$cur" "${sources[@]}"
        [[ -n $ended || ${#COMPREPLY[@]} -gt 0 ]] && return
    fi
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "${cur#=}")
}

# The last of a list of -o options.
_profmount_options()
{
    local last=${1##*,} before= names='allow_other allow_root auto_unmount base= cache= derive= evals exact focus= follow format= from= gid= hide= idle= ignore= iterations= lean max= memory= metric= metrics=all normalize parquet repetitions=no repetitions=yes run= scaling=strong scaling=weak symbols= sysroot= tsv uid= values= xattr'
    [[ $1 == *,* ]] && before=${1%,*},
    if [[ $last == format=* ]]; then
        names=$("${COMP_WORDS[0]}" --formats 2>/dev/null | sed 's/ .*//; s/^/format=/')
    fi
    compopt -o nospace
    COMPREPLY=($(compgen -P "$before" -W "$names" -- "$last"))
}

# What is inside of a profile.
_profmount_paths()
{
    local folder=
    [[ $1 == */* ]] && folder=${1%/*}/
    compopt -o filenames -o nospace
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" --ls "${@:2}" -- "$folder" 2>/dev/null |
        sed 's| -> \.\./.*[^/]$||' |
        while IFS= read -r name; do
            [[ $folder$name == "$1"* ]] && printf '%s\n' "$folder$name"
        done)
}

complete -F _profmount profmount
complete -f profmount-open
