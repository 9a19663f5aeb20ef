import { expect, test } from 'vitest'
import { type KernelView, namespaceProblem } from './namespace-problem.ts'

const EPERM = 'unshare: unshare failed: Operation not permitted'
const ENOSPC = 'unshare: unshare failed: No space left on device'

const kernel = (refused: string | undefined, files: Readonly<Record<string, string>> = {}): KernelView => ({
  read: (path) => files[path],
  exists: (path) => path === '/proc/self/ns/user' && files[path] !== 'missing',
  unshare: async () => refused,
})

test('namespaceProblem is undefined where namespaces work', async () => {
  expect(await namespaceProblem(kernel(undefined))).toBeUndefined()
})

const SYS = '/proc/sys'

test.each([
  { on: 'a hardened Debian', refused: EPERM, [`${SYS}/kernel/unprivileged_userns_clone`]: '0', cause: 'clone = 0' },
  { on: 'Ubuntu 24', refused: EPERM, [`${SYS}/kernel/apparmor_restrict_unprivileged_userns`]: '1', cause: 'apparmor' },
  { on: 'a kernel that allows 0', refused: ENOSPC, [`${SYS}/user/max_user_namespaces`]: '0', cause: 'namespaces = 0' },
  { on: 'a nested container', refused: ENOSPC, [`${SYS}/user/max_user_namespaces`]: '9', cause: 'outer container' },
  { on: 'a container', refused: EPERM, '/proc/self/status': 'NoNewPrivs:\t0\nSeccomp:\t2', cause: 'seccomp filter' },
  { on: 'a kernel without them', refused: EPERM, '/proc/self/ns/user': 'missing', cause: 'CONFIG_USER_NS' },
  { on: 'other machines', refused: EPERM, cause: 'security module' },
])("on $on the problem has its cause, a remedy and the kernel's error", async ({ refused, cause, on: _, ...files }) => {
  const problem = await namespaceProblem(kernel(refused, files as Record<string, string>))
  expect(problem?.cause).toContain(cause)
  expect(problem?.cause).toContain(refused)
  expect(problem?.remedy).not.toBe('')
})

test('a container with a masked /proc has its own cause and remedy', async () => {
  const masked: KernelView = {
    ...kernel(undefined),
    unshare: async (...flags) => (flags.includes('--mount-proc') ? 'mount /proc failed: EPERM' : undefined),
  }
  expect(await namespaceProblem(masked)).toMatchObject({
    cause: 'a new /proc cannot be mounted (mount /proc failed: EPERM)',
    remedy: expect.stringContaining('systempaths=unconfined'),
  })
})
