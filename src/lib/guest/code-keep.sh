# Runs the interpreter of a context and records how it ended. $1 folder of the context, $2 interpreter, $3 its program.
dir=$1
"$2" "$3" "$dir" >>"$dir/stdout" 2>>"$dir/stderr"
echo $? >"$dir/dead.new" && mv -f "$dir/dead.new" "$dir/dead" && echo dead 1<>"$dir/out"
