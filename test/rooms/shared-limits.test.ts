import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whyNoAttacks } from './attack-suite.ts'
import { sharedWorker } from './two-instances.ts'

/** Each defines `take`, which takes one unit of a limit and returns whether it got it. */
const TAKERS: Readonly<Record<string, string>> = {
  'inotify instances': `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def take():
    return libc.inotify_init() >= 0`,
  'POSIX message queues': `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
made = [0]
def take():
    made[0] += 1
    return libc.mq_open(b"/q%d" % made[0], os.O_CREAT | os.O_RDWR, 0o600, None) >= 0`,
  'pipe pages': `
import fcntl, os
def take():
    one, other = os.pipe()
    try:
        return fcntl.fcntl(other, 1031, 1 << 20) >= 1 << 20
    except OSError:
        return False`,
  'pending signals': `
import ctypes, signal
libc = ctypes.CDLL(None, use_errno=True)
signal.pthread_sigmask(signal.SIG_BLOCK, [34])
def take():
    return libc.sigqueue(__import__("os").getpid(), 34, ctypes.c_void_p(0)) == 0`,
  'file descriptors in flight': `
import array, os, socket
fds = array.array("i", [os.open("/dev/null", os.O_RDONLY) for _ in range(250)])
kept = []
def take():
    pair = socket.socketpair()
    kept.append(pair)
    try:
        return pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)]) == 1
    except OSError:
        return False`,
}
const ALL = `
print("begun", flush=True)
taken = 0
while taken < 200000 and take(): taken += 1
print("took", flush=True)
import time; time.sleep(600)`
const ONE = '\nprint("free" if take() else "used up")'

describe.each(['sandbox', 'unshare'] as const)('per-user kernel limits in rooms of %s', (backend) => {
  const why = whyNoAttacks(backend === 'sandbox' ? 'bwrap' : 'unshare', 'python3')
  let at: Awaited<ReturnType<typeof sharedWorker>>
  beforeAll(async () => {
    if (why === undefined) at = await sharedWorker(backend)
  })
  afterAll(() => at?.close())
  const python = (code: string): readonly string[] => ['python3', '-c', code]

  test.skipIf(why !== undefined).each(Object.entries(TAKERS))(
    'a task cannot exhaust the %s of another instance',
    async (_, taker) => {
      const greedy = at.start('bad', python(taker + ALL))
      await greedy.says('took')
      expect(await at.run('good', python(taker + ONE))).toBe('free\n')
      await greedy.stop()
    },
  )
})
