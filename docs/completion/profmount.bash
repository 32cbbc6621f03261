# bash completion for profmount(1)

_profmount()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} word mode= source=
    COMPREPLY=()
    if [[ $prev == -o ]]; then
        _profmount_options "$cur"
        return
    fi
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W '-f -d -s -o -h -V --help --version --ls --cat --extract --check --formats' -- "$cur"))
        return
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            --ls | --cat) mode=$word ;;
            -*) ;;
            *) [[ -z $source && -n $mode ]] && source=$word ;;
        esac
    done
    if [[ -n $source ]]; then
        _profmount_paths "$source" "$cur"
        return
    fi
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

# The last of a list of -o options.
_profmount_options()
{
    local last=${1##*,} before= names='allow_other allow_root auto_unmount cache= evals follow format= gid= iterations= max= metric= symbols= sysroot= uid= xattr'
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
    [[ $2 == */* ]] && folder=${2%/*}/
    compopt -o filenames -o nospace
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" --ls "${1/#\~/$HOME}" "$folder" 2>/dev/null |
        while IFS= read -r name; do
            [[ $folder$name == "$2"* ]] && printf '%s\n' "$folder$name"
        done)
}

complete -F _profmount profmount
complete -f profmount-open
