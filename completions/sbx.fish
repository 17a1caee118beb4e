# fish completion for sbx: asks sbx itself, so that it never knows less than the sbx that is installed.

function __sbx_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l typed (commandline -ct)
    set -l answer (command sbx completion complete fish $words "$typed" 2>/dev/null </dev/null | string split0)
    set -l orders (string split ' ' -- $answer[1])
    set -e answer[1]
    # A name may hold a line break.
    for each in $answer
        printf '%s\0' $each
    end
    if contains -- files $orders; or contains -- folders $orders
        set -l before (string match -r -- '^--[^=]*=' $typed)
        set -l path (string replace -- "$before" '' $typed)
        for each in (__fish_complete_path $path)
            if not contains -- folders $orders; or string match -q -- '*/*' $each
                printf '%s%s\0' $before $each
            end
        end
    end
    if test "$orders[-2]" = inner
        # The command that is to run in the sandbox, as if it were one of this machine.
        set -l inner (string escape -- $words[(math $orders[-1] + 1)..])
        for each in (complete -C (string join ' ' -- $inner $typed))
            printf '%s\0' $each
        end
    end
end

complete -c sbx -f -a '(__sbx_complete | string split0)'
