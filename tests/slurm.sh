#!/bin/sh
# A sweep of 40 shards by the real Slurm, on this machine alone: its daemons run as whoever runs the test, with folders
# and ports of their own, and two of them play two nodes. While it works, one task is cancelled and one process killed,
# one task requeued, the controller restarted, and a node's daemon killed with its tasks. Then resume, merge twice,
# db check, and the errors compared, all 17 digits, with the same sweep made in one piece.
set -eu
export PATH="$PATH:/usr/sbin:/sbin"
for tool in munged slurmctld slurmd sbatch squeue scontrol scancel sinfo; do
    command -v $tool >/dev/null || {
        echo "skipped: there is no $tool here (./pbdbench test --with-slurm, or sudo apt-get install slurm-wlm)"
        exit 77
    }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/pbdbench-slurm-XXXXXX")
export SLURM_CONF="$work/slurm.conf" PBDBENCH_ROOT="$work/root" TMPDIR="$work/scratch"
mkdir "$work/root" "$work/scratch" "$work/munge" "$work/state" "$work/log" "$work/n1" "$work/n2"
chmod 700 "$work/munge"
name=$(hostname -s)
pbdbench=$PBDBENCH_PROGRAM
sweep=$work/root/sweep

say() { echo "$(date +%T) $*"; }

# Only what this test started, by its number.
stop() { # SIGNAL WHO...
    signal=$1
    shift
    for who; do
        if [ -s "$work/$who.pid" ]; then kill "-$signal" "$(cat "$work/$who.pid")" 2>/dev/null || :; fi
    done
}

end() {
    code=$?
    if [ $code -ne 0 ]; then
        say "FAILED: what Slurm said last"
        for log in "$work"/log/* "$work"/munge/log; do echo "--- $log" && tail -n 15 "$log"; done
        squeue --noheader --array 2>/dev/null || :
    fi 2>/dev/null
    scancel --quiet --user="$(id -un)" 2>/dev/null || :
    stop TERM slurmctld n1 n2
    sleep 1
    stop KILL slurmctld n1 n2
    stop TERM munged
    sleep 0.2
    rm -rf "$work"
    exit $code
}
trap end EXIT
trap 'exit 1' INT TERM

fail() {
    say "FAILED: $*"
    exit 1
}

# Waits until a command holds.
wait_for() { # SECONDS WHAT COMMAND...
    limit=$(($(date +%s) + $1))
    what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt $limit ] || fail "waited too long until $what"
        sleep 0.1
    done
}

# ---- Slurm ----------------------------------------------------------------------------------------------------------

# Ports from the process's number, below those that the kernel gives out: two tests at one time do not meet.
port=$((20000 + $$ % 4000 * 3))
cat >"$SLURM_CONF" <<END
ClusterName=pbdbench
SlurmctldHost=$name(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$port
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$work/munge/socket,cred_expire=5
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/%n.pid
SlurmctldLogFile=$work/log/slurmctld
SlurmdLogFile=$work/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
SlurmdTimeout=8
SlurmctldTimeout=8
KillWait=1
MaxArraySize=31
NodeName=n1 NodeHostname=$name NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=$name NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END

# A daemon that writes the number of its process late, or not at all, is a daemon that does not run here.
start_or_skip() { # WHO PIDFILE COMMAND...
    who=$1 pid_file=$2
    shift 2
    "$@" >"$work/said" 2>&1 || {
        echo "skipped: $who does not run here: $(tail -n 3 "$work/said" | tr '\n' ' ')"
        trap - EXIT
        stop TERM slurmctld n1 n2 munged
        rm -rf "$work"
        exit 77
    }
    wait_for 20 "$who runs" test -s "$pid_file"
}

node_is_idle() { sinfo --noheader --nodes="$1" --format=%T | grep -qx -e idle -e mixed -e allocated; }
controller_answers() { scontrol ping | grep -q "is UP"; }

head -c 256 /dev/urandom >"$work/munge/key"
chmod 400 "$work/munge/key"
start_or_skip munged "$work/munged.pid" munged --key-file="$work/munge/key" --socket="$work/munge/socket" \
    --pid-file="$work/munged.pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed" --force
start_or_skip slurmctld "$work/slurmctld.pid" slurmctld -f "$SLURM_CONF"
for node in n1 n2; do start_or_skip "slurmd $node" "$work/$node.pid" slurmd -N $node -f "$SLURM_CONF"; done
for node in n1 n2; do wait_for 30 "node $node is up" node_is_idle $node; done
say "Slurm runs: $(sinfo --noheader --format='%D nodes %T')"

# ---- The sweep: 200 cells of a few ms, 40 shards ---------------------------------------------------------------------

cat >"$work/study.yaml" <<END
runs:
  - {name: fit, case: hex_fit, method: pbd_distance, threads: 1, set: [fit=nelder_mead], axes: ["nu=0:0.398:0.002"]}
END
"$pbdbench" sweep "$work/study.yaml" -q --db "$work/whole.db"
"$pbdbench" sweep plan "$work/study.yaml" --shard-cells 5 --dir "$sweep"

is_published() { # SHARD
    for file in "$sweep/shards/$(printf %06d "$1")"-*; do [ -e "$file" ] && return 0; done
    return 1
}
has_published() { [ "$(find "$sweep/shards" -name '[0-9]*.db' | wc -l)" -ge "$1" ]; }
queue_is_empty() { squeue --noheader >"$work/queue" && [ ! -s "$work/queue" ]; }
of_task() { tr '\0' '\n' <"/proc/$pid/environ" | sed -n "s/^$1=//p"; }
is_gone() { [ ! -e "/proc/$1" ]; }

# Finds a process that runs a shard of this sweep (on this node) and stops it before it has published: then it is a
# running task for as long as the test wants. Sets pid, shard, node and job.
catch() { # [NODE]
    limit=$(($(date +%s) + 120))
    while [ "$(date +%s)" -lt $limit ]; do
        # The brackets keep grep from finding itself.
        # shellcheck disable=SC2013 # one word a line
        for file in $(grep -lazx -e "${sweep%p}[p]" /proc/[0-9]*/cmdline 2>/dev/null); do
            pid=${file#/proc/} pid=${pid%/cmdline}
            kill -STOP "$pid" 2>/dev/null || continue
            shard=$(tr '\0' '\n' <"$file" | sed -n '/^run-shard$/{n;p;}')
            node=$(of_task SLURMD_NODENAME) job=$(of_task SLURM_JOB_ID)
            if grep -q '^State:.T' "/proc/$pid/status" && [ -n "$shard" ] && ! is_published "$shard" &&
                [ "${1:-$node}" = "$node" ]; then
                return 0
            fi
            kill -CONT "$pid" 2>/dev/null || :
        done 2>/dev/null
        sleep 0.01
    done
    fail "no running task of the sweep was found"
}

"$pbdbench" sweep submit --engine slurm --dir "$sweep" --db "$work/merged.db"
say "submitted"
wait_for 120 "two shards are published" has_published 2

catch
killed=$shard
kill -KILL "$pid"
say "killed the process of shard $killed"

# Slurm's own SIGTERM may come when the shard is done: here it is the first thing the process sees when it goes on.
catch
requeued=$shard
kill -TERM "$pid"
scontrol requeue "$job"
kill -CONT "$pid" 2>/dev/null || :
wait_for 60 "the requeued process ends" is_gone "$pid"
say "requeued job $job, shard $requeued"

catch
cancelled=$shard
kill -TERM "$pid"
scancel "$job"
kill -CONT "$pid" 2>/dev/null || :
wait_for 60 "the cancelled process ends" is_gone "$pid"
say "cancelled job $job, shard $cancelled"

stop TERM slurmctld
wait_for 30 "the controller ends" is_gone "$(cat "$work/slurmctld.pid" 2>/dev/null || echo 0)"
rm -f "$work/slurmctld.pid"
slurmctld -f "$SLURM_CONF"
wait_for 30 "the controller answers" controller_answers
say "restarted the controller"

# The node is lost to Slurm, which gives its task to the other one; the process lives on and does its work as well.
catch n2
orphan=$pid
stop KILL n2
rm -f "$work/n2.pid"
say "killed slurmd of n2, with shard $shard on it"
node_is_down() { sinfo --noheader --nodes=n2 --format=%T | grep -q down; }
wait_for 120 "Slurm misses node n2" node_is_down
kill -CONT "$orphan"
wait_for 60 "the orphan ends" is_gone "$orphan"
slurmd -N n2 -f "$SLURM_CONF"
wait_for 60 "node n2 is back" node_is_idle n2
say "node n2 is back"

wait_for 300 "the queue is empty" queue_is_empty

# ---- What is left ----------------------------------------------------------------------------------------------------

code=0
"$pbdbench" sweep status --dir "$sweep" || code=$?
[ $code -eq 4 ] || fail "status ends with $code where shards are missing"
if is_published "$killed"; then fail "shard $killed is there, whose task was killed"; fi
if is_published "$cancelled"; then say "shard $cancelled was cancelled too late: it is there"; fi
is_published "$requeued" || fail "shard $requeued is missing, whose task was requeued"
grep -h "of 40 shards merged" "$sweep"/jobs/*.txt || fail "the job that merges has not run"

"$pbdbench" sweep resume --dir "$sweep"
wait_for 120 "the queue is empty" queue_is_empty
"$pbdbench" sweep status --dir "$sweep" || fail "status ends with $? after resume"
grep -h "40 of 40 shards merged" "$sweep"/jobs/*.txt || fail "the second merge has not run"

for again in 1 2; do
    "$pbdbench" sweep merge --dir "$sweep" --db "$work/merged.db" >"$work/said" || fail "merge $again ends with $?"
    cat "$work/said"
    grep -q "40 of 40 shards merged: 0 runs added, 200 already present" "$work/said" || fail "merge $again adds something"
done
"$pbdbench" db check --db "$work/merged.db"

# ---- The same answers ------------------------------------------------------------------------------------------------

columns=nu,seed,repeat,state,fit_error,k_edge,k_face,k_diagonal,k_volume,fit_evaluations
for store in whole merged; do
    "$pbdbench" db export --format csv --columns $columns --db "$work/$store.db" | sort >"$work/$store.csv"
    [ "$(wc -l <"$work/$store.csv")" -eq 201 ] || fail "$store.csv has $(wc -l <"$work/$store.csv") lines, not 201"
done
cmp "$work/whole.csv" "$work/merged.csv" || fail "the errors differ"
say "the errors of 200 runs are the same, digit for digit"
