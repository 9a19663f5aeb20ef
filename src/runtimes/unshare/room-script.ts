import type { IpcSetting } from '../namespaces/ipc-limits.ts'
import { INSIDE } from '../run/inside.ts'

/** The descriptors of the mount table and of the status pipe. */
const TABLE_FD = 3
const STATUS_FD = 4

export const MADE = 'made'

/**
 * The script of the room's init, which has all rights in its own namespaces. It makes the room, drops all rights, and
 * starts the command as its child. Its first /proc is the worker's, where it reads its pid in the worker's namespace.
 * As pid 1 it reaps zombies, and when it ends the kernel kills all other processes. The second user namespace gives the
 * command a uid other than root's and no rights; a third cannot be made.
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
