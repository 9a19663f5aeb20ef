import type { IpcSetting } from '../namespaces/ipc-limits.ts'
import { INSIDE } from '../run/inside.ts'

/** Where the script finds its mounts, and where it says that the room is made. */
const TABLE_FD = 3
const STATUS_FD = 4

export const MADE = 'made'

/**
 * The first process of a room, with all rights in namespaces of its own: makes the room, gives up every right, and
 * starts the command as its child. The /proc that it finds is the worker's: there it reads by which pid the worker
 * knows it. As pid 1 it buries who dies in the room, and when it ends, all others do.
 *
 * The second user namespace gives the command another number than that of root, and no rights; a third cannot be made.
 */
export const roomScript = (ipc: readonly IpcSetting[]): string => `
set -e
read -r init rest </proc/self/stat
${ipc.map(({ name, value }) => `echo ${value} > /proc/sys/kernel/${name} 2>/dev/null || :`).join('\n')}
mount -a -T /proc/self/fd/${TABLE_FD}
mount -o remount,bind,ro "$1"
echo 1 > /proc/sys/user/max_user_namespaces
hostname ${INSIDE.hostname} 2>/dev/null || :
ip link set lo up 2>/dev/null || :
echo "{"child-pid": $init}" ${MADE} >&${STATUS_FD}
exec ${TABLE_FD}<&- ${STATUS_FD}>&-
set +e
root=$1 cwd=$2
shift 2
unshare --user --map-user=${INSIDE.uid} --map-group=${INSIDE.gid} --root="$root" --wd="$cwd" setpriv --no-new-privs env -i -- "$@"
exit $?`
