import type { Limits } from '../../src/model/command.ts'

/** The kinds of rooms that are attacked. Podman has Docker's API, but creates containers in its own way. */
export const ATTACKED_ROOMS = ['bare', 'unshare', 'sandbox', 'docker', 'podman', 'apptainer'] as const
export type AttackedRoom = (typeof ATTACKED_ROOMS)[number]

/**
 * `through`: the attack succeeded; `refused`: it got an error or had no effect; `as the kernel is set`: either, because
 * a sysctl of the machine decides it and not the room; otherwise the command was ended with that cause. After every
 * outcome nothing is left on the machine, except what a bare room leaves (see attack-suite.ts).
 */
export type Outcome =
  | 'as the kernel is set'
  | 'through'
  | 'refused'
  | 'timeout'
  | 'timeout or pid-limit'
  | 'out-of-memory'
  | 'out-of-memory or refused'
  | 'cpu-time'
  | 'disk-limit'
  | 'signal'

export interface Attack {
  /** The name of its file in attacks/, whose first line describes it. */
  readonly file: string
  readonly part: 'processes' | 'memory' | 'disk' | 'output' | 'files' | 'kernel' | 'network' | 'start'
  readonly limits?: Limits
  readonly env?: Readonly<Record<string, string>>
  readonly expected: Readonly<Record<AttackedRoom, Outcome>>
}

/** Containers have the same rules as a sandbox. */
const rooms = (bare: Outcome, unshare: Outcome, sandbox: Outcome) => ({
  ...{ bare, unshare, sandbox },
  ...inContainers(sandbox),
})
const inContainers = (outcome: Outcome) => ({ docker: outcome, podman: outcome, apptainer: outcome })
const all = (outcome: Outcome) => rooms(outcome, outcome, outcome)
/** Bare rooms allow it: they are for trusted commands. */
const bareOnly = rooms('through', 'refused', 'refused')
/** Only the seccomp filter prevents it. */
const filtered = rooms('through', 'through', 'refused')

/** The same where the machine has a sysctl for it. */
const switched = rooms('as the kernel is set', 'as the kernel is set', 'refused')
const bareSwitched = rooms('as the kernel is set', 'refused', 'refused')

const FEW = { pids: 40, wallMs: 8000 }
const MEMORY = { memoryBytes: 96 << 20, wallMs: 15_000 }
const DISK = { diskBytes: 4_000_000, wallMs: 15_000 }
const SHORT = { wallMs: 700 }

export const ATTACKS: readonly Attack[] = [
  { file: 'fork-bomb.c', part: 'processes', limits: FEW, expected: all('refused') },
  {
    file: 'fork-bomb-shell.sh',
    part: 'processes',
    limits: { pids: 40, wallMs: 1000 },
    // The first shell forks twice. On a busy machine the bomb can reach the limit before the second fork.
    expected: all('timeout or pid-limit'),
  },
  { file: 'thread-bomb.c', part: 'processes', limits: FEW, expected: all('refused') },
  { file: 'straggler.c', part: 'processes', expected: all('refused') },
  { file: 'zombie-flood.c', part: 'processes', limits: { pids: 60, wallMs: 15_000 }, expected: all('refused') },
  { file: 'kill-everyone.c', part: 'processes', expected: all('refused') },
  { file: 'kill-parents.c', part: 'processes', expected: all('refused') },
  { file: 'deaf.c', part: 'processes', limits: SHORT, expected: all('timeout') },
  { file: 'stopped.c', part: 'processes', limits: SHORT, expected: all('timeout') },
  { file: 'silent.c', part: 'processes', limits: SHORT, expected: all('timeout') },
  { file: 'processor-hog.c', part: 'processes', limits: { cpuMs: 300, wallMs: 15_000 }, expected: all('cpu-time') },
  { file: 'ptrace-parent.c', part: 'processes', expected: all('refused') },
  { file: 'ptrace-child.c', part: 'processes', expected: filtered },
  { file: 'read-memory.c', part: 'processes', expected: all('refused') },
  { file: 'write-init.c', part: 'processes', expected: all('refused') },
  { file: 'grab-init.c', part: 'processes', expected: all('refused') },
  { file: 'false-end.c', part: 'processes', expected: all('refused') },
  { file: 'parent-environment.sh', part: 'processes', expected: all('refused') },
  { file: 'see-processes.py', part: 'processes', expected: bareOnly },

  { file: 'memory-eater.c', part: 'memory', limits: MEMORY, expected: all('out-of-memory') },
  { file: 'memory-by-children.c', part: 'memory', limits: MEMORY, expected: all('out-of-memory') },
  { file: 'memfd-fill.c', part: 'memory', limits: MEMORY, expected: all('out-of-memory') },
  {
    file: 'shm-fill.c',
    part: 'memory',
    limits: MEMORY,
    // Where /dev/shm has no size limit of its own it counts as memory.
    expected: { ...rooms('out-of-memory', 'refused', 'refused'), apptainer: 'out-of-memory' },
  },
  { file: 'sysv-memory.c', part: 'memory', expected: bareOnly },
  {
    file: 'sysv-fill.c',
    part: 'memory',
    limits: MEMORY,
    // Counted by a control group, or by the kernel for the room's IPC namespace. A bare room shares that of the
    // machine.
    expected: { ...all('out-of-memory or refused'), bare: 'through' },
  },

  { file: 'disk-fill.sh', part: 'disk', limits: DISK, expected: all('disk-limit') },
  { file: 'inode-fill.c', part: 'disk', limits: DISK, expected: all('disk-limit') },
  { file: 'unlinked-fill.c', part: 'disk', limits: DISK, expected: all('disk-limit') },
  { file: 'sparse-file.c', part: 'disk', limits: DISK, expected: all('disk-limit') },
  { file: 'deep-directories.c', part: 'disk', expected: all('refused') },
  { file: 'closed-directories.sh', part: 'disk', expected: all('refused') },
  { file: 'odd-names.py', part: 'disk', expected: all('refused') },
  // Apptainer's /etc/passwd is a copy that is deleted with the container.
  { file: 'write-system.sh', part: 'disk', expected: { ...all('refused'), apptainer: 'through' } },

  { file: 'output-flood.sh', part: 'output', limits: { outputBytes: 1 << 20 }, expected: all('refused') },
  { file: 'output-for-ever.sh', part: 'output', limits: { ...SHORT, outputBytes: 65_536 }, expected: all('timeout') },

  // The /run of Podman's containers has a file by which programs detect the container.
  { file: 'host-files.sh', part: 'files', expected: { ...bareOnly, podman: 'through' } },
  { file: 'other-room.sh', part: 'files', expected: bareOnly },
  { file: 'hardlink-out.c', part: 'files', expected: all('refused') },
  { file: 'kernel-files.sh', part: 'files', expected: all('refused') },
  { file: 'cgroup-escape.sh', part: 'files', expected: all('refused') },
  { file: 'devices.sh', part: 'files', expected: all('refused') },
  { file: 'device-node.c', part: 'files', expected: all('refused') },
  { file: 'device-modes.c', part: 'files', expected: all('refused') },
  { file: 'setuid-file.c', part: 'files', expected: filtered },
  { file: 'setuid-program.c', part: 'files', expected: bareOnly },
  { file: 'become-root.c', part: 'files', expected: all('refused') },

  { file: 'user-namespace.c', part: 'kernel', expected: bareSwitched },
  { file: 'clone-namespace.c', part: 'kernel', expected: bareSwitched },
  { file: 'clone3-namespace.c', part: 'kernel', expected: bareSwitched },
  { file: 'mount-something.c', part: 'kernel', expected: all('refused') },
  { file: 'chroot-out.c', part: 'kernel', expected: all('refused') },
  { file: 'bpf-program.c', part: 'kernel', expected: switched },
  { file: 'keyring.c', part: 'kernel', expected: filtered },
  { file: 'io-uring.c', part: 'kernel', expected: switched },
  { file: 'perf-counters.c', part: 'kernel', expected: switched },
  { file: 'fault-handler.c', part: 'kernel', expected: switched },
  { file: 'new-kernel.c', part: 'kernel', expected: all('refused') },
  { file: 'file-handle.c', part: 'kernel', expected: all('refused') },
  { file: 'odd-sockets.c', part: 'kernel', expected: switched },
  {
    file: 'other-interface.c',
    part: 'kernel',
    expected: rooms('as the kernel is set', 'as the kernel is set', 'signal'),
  },
  { file: 'type-for-others.c', part: 'kernel', expected: switched },
  { file: 'set-clock.c', part: 'kernel', expected: all('refused') },
  { file: 'first-in-line.c', part: 'kernel', expected: all('refused') },
  { file: 'raise-limits.c', part: 'kernel', limits: { openFiles: 64 }, expected: all('refused') },
  { file: 'core-dump.c', part: 'kernel', expected: all('signal') },
  { file: 'rename-machine.c', part: 'kernel', expected: all('refused') },

  { file: 'loopback.py', part: 'network', expected: bareOnly },
  { file: 'abstract-socket.py', part: 'network', expected: bareOnly },
  { file: 'socket-file.py', part: 'network', expected: bareOnly },
  { file: 'look-around-network.py', part: 'network', expected: bareOnly },

  { file: 'inherited-files.c', part: 'start', expected: all('refused') },
  { file: 'inherited-environment.sh', part: 'start', expected: all('refused') },
  { file: 'preload.c', part: 'start', env: { LD_PRELOAD: '$ROOM/attack.so' }, expected: bareOnly },
  { file: 'long-arguments.sh', part: 'start', expected: all('refused') },
]
