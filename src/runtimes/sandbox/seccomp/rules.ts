import type { SystemCall } from './system-calls.ts'

/** A test of one argument: some of these bits set, one of these values, or none of them. */
export type ArgumentTest = { readonly arg: number } & (
  | { readonly bits: number }
  | { readonly among: readonly number[] }
  | { readonly notAmong: readonly number[] }
)

/** A call is refused when all tests of a rule hold for its arguments. */
export interface SeccompRule {
  readonly call: SystemCall
  readonly when: readonly ArgumentTest[]
  readonly error: number
}

const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** New namespaces of every kind: user, mount, pid, network, ipc, uts, control group and time. */
const NEW_NAMESPACES = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000 | 0x02000000 | 0x80
/** In clone(2) the lowest byte is a signal: 0x80 is a new time namespace for unshare only. */
const NEW_NAMESPACES_OF_CLONE = NEW_NAMESPACES & ~0xff
/** The setuid and setgid bits: a room must not leave such files on the machine's disk. */
const SET_ID = 0o6000
const O_CREAT = 0o100
/** O_TMPFILE without O_DIRECTORY, which it includes. */
const TMPFILE = 0o20000000
/** ioctls that inject input into a terminal (TIOCSTI, TIOCLINUX). */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
/** unix, inet, inet6, netlink. Other families are for special hardware, or are not isolated by a network namespace. */
const FAMILIES = [1, 2, 10, 16]

const refused = (...calls: SystemCall[]): SeccompRule[] => calls.map((call) => ({ call, when: [], error: EPERM }))
const withBits = (call: SystemCall, arg: number, bits: number): SeccompRule => ({
  call,
  when: [{ arg, bits }],
  error: EPERM,
})
/** A rule for calls that create a file with such a mode. */
const making = (call: SystemCall, flags: number, mode: number): SeccompRule => ({
  call,
  when: [
    { arg: flags, bits: O_CREAT | TMPFILE },
    { arg: mode, bits: SET_ID },
  ],
  error: EPERM,
})

/** For rooms with a memory limit that does not count System V IPC: answers as a kernel without System V IPC. */
export const SYSTEM_V_RULES: readonly SeccompRule[] = (['shmget', 'msgget', 'semget'] as const).map((call) => ({
  ...{ call, when: [], error: ENOSYS },
}))

/**
 * System calls that are refused. All others are allowed: a list of everything that programs need would be outdated
 * every year. Namespaces isolate the room; this removes calls that were used to break out of them.
 */
export const ROOM_RULES: readonly SeccompRule[] = [
  ...refused('ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp', 'pidfd_getfd', 'process_madvise'),
  ...refused('bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'),
  ...refused('modify_ldt', 'uselib', 'vserver', 'lookup_dcookie', 'nfsservctl', 'add_key', 'request_key', 'keyctl'),
  ...refused('mount', 'umount2', 'pivot_root', 'chroot', 'move_mount', 'open_tree', 'open_tree_attr', 'fsopen'),
  ...refused('fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'open_by_handle_at', 'fanotify_init'),
  ...refused('quotactl', 'quotactl_fd', 'kexec_load', 'kexec_file_load', 'init_module', 'finit_module'),
  ...refused('delete_module', 'create_module', 'query_module', 'get_kernel_syms', 'reboot', 'swapon', 'swapoff'),
  ...refused('acct', 'syslog', 'sethostname', 'setdomainname', 'settimeofday', 'clock_settime', 'clock_adjtime'),
  ...refused('adjtimex', 'iopl', 'ioperm', 'vhangup', '_sysctl', 'ustat', 'sysfs', 'move_pages', 'migrate_pages'),
  ...refused('setns'),
  withBits('clone', 0, NEW_NAMESPACES_OF_CLONE),
  withBits('unshare', 0, NEW_NAMESPACES),
  // Their arguments are in memory, which a filter cannot read: ENOSYS makes callers use the older call.
  { call: 'clone3', when: [], error: ENOSYS },
  { call: 'openat2', when: [], error: ENOSYS },
  { call: 'ioctl', when: [{ arg: 1, among: [TIOCSTI, TIOCLINUX] }], error: EPERM },
  { call: 'socket', when: [{ arg: 0, notAmong: FAMILIES }], error: EAFNOSUPPORT },
  withBits('chmod', 1, SET_ID),
  withBits('fchmod', 1, SET_ID),
  withBits('fchmodat', 2, SET_ID),
  withBits('fchmodat2', 2, SET_ID),
  withBits('creat', 1, SET_ID),
  withBits('mknod', 1, SET_ID),
  withBits('mknodat', 2, SET_ID),
  making('open', 1, 2),
  making('openat', 2, 3),
]
