#!/usr/bin/env bash
# Works on the tasks 0 to 11: takes the lock of each that it owns and holds them until its end.
# Locks are the system's own, so they end with the process and all that it started, whatever
# the way. Writes to the log what happens, and CONFLICT if another one holds a task.
#
#   task-locks.sh DIRECTORY polite    finishes within its drain window when asked to
#   task-locks.sh DIRECTORY stubborn  notes that it was asked to, and goes on
directory=$1 manner=$2

log() { echo "$1 $$ $N_AND_I_I/$N_AND_I_N $N_AND_I_TOKEN ${2:-}" >>"$directory/log"; }

asked() {
    log asked "$N_AND_I_DRAIN_SECONDS"
    if [ "$manner" = polite ]; then
        # Of seconds with three decimals, as milliseconds, a third.
        third=$((10#${N_AND_I_DRAIN_SECONDS/./} / 3))
        sleep "$((third / 1000)).$(printf %03d $((third % 1000)))"
        log finished
        exit 0
    fi
}
trap asked TERM

for task in {0..11}; do
    [ $((task % N_AND_I_N)) = "$N_AND_I_I" ] || continue
    exec {lock}>>"$directory/task-$task"
    flock --nonblock "$lock" || log CONFLICT "$task"
done
log working "$manner"
while :; do sleep 0.02; done
