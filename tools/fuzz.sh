#!/bin/bash
# tools/fuzz.sh [SECONDS] [TARGET...]: runs each fuzz target (default: all) for SECONDS (default 60), two at a time, and prints a table.
# Fails when a target crashed, leaked, hung, or used more than 1 GB. Build first: cmake --preset fuzz && cmake --build --preset fuzz
set -u
cd "$(dirname "$0")/../build/fuzz" || { echo "no build/fuzz here: cmake --preset fuzz && cmake --build --preset fuzz" >&2; exit 2; }
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < fuzz_targets.txt
for target in make_seeds "${targets[@]}"; do
    [ -x "./$target" ] || { echo "$target is not built: cmake --build --preset fuzz" >&2; exit 2; }
done
./make_seeds seeds || exit 1
mkdir -p corpus findings logs

run_target() {
    local target=$1 name=${1#fuzz_}
    mkdir -p "corpus/$name" "seeds/$name"
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0 "./$target" -max_total_time="$seconds" -rss_limit_mb=1024 \
        -malloc_limit_mb=1024 -timeout=20 -max_len=4096 -print_final_stats=1 -artifact_prefix="findings/$target-" \
        "corpus/$name" "seeds/$name" > "logs/$target.log" 2>&1
    echo $? > "logs/$target.status"
}
export -f run_target
export seconds
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'run_target {}'

failed=0
printf '%-14s %12s %8s %9s %9s  %s\n' target executions edges features "peak MB" result
for target in "${targets[@]}"; do
    log=logs/$target.log
    last=$(grep -a 'cov: ' "$log" | tail -1)
    field() { sed -n "s/.*$1: \([0-9]*\).*/\1/p" <<< "$last"; }
    stat() { sed -n "s/^stat::$1: *//p" "$log"; }
    result=ok
    if [ "$(cat "logs/$target.status")" != 0 ]; then
        result="FAILED: $(grep -a -m1 -E 'ERROR: |SUMMARY: |Test unit written' "$log"), see build/fuzz/$log"
        failed=1
    fi
    printf '%-14s %12s %8s %9s %9s  %s\n' "$target" "$(stat number_of_executed_units)" "$(field cov)" "$(field ft)" "$(stat peak_rss_mb)" "$result"
done
exit $failed
