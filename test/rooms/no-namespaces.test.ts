import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seccompFilter } from '../../src/runtimes/sandbox/seccomp/filter.ts'
import { describeWith, OPEN_CHECKOUT } from '../../src/testing/require.ts'
import { startUp } from '../workers/up-process.ts'
import { ownFolder } from '../workers/worker-here.ts'
import { windlass } from '../workers/worker-process.ts'

/** The machine without the right to create user namespaces. */
function hardenedKernel(): string[] {
  const asOrdinaryUser = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
  return [...asOrdinaryUser, 'bwrap', '--unshare-user', '--disable-userns', '--dev-bind', '/', '/', '--']
}

/** As container engines start containers: with a seccomp filter, and without CAP_SYS_ADMIN. */
function unprivilegedContainer(folder: string): string[] {
  const filter = join(folder, 'container.bpf')
  writeFileSync(filter, seccompFilter(process.arch) as Uint8Array, { mode: 0o644 })
  const bwrap = 'exec bwrap --dev-bind / / --cap-drop CAP_SYS_ADMIN --seccomp 9 -- "$@" 9< "$0"'
  return ['bash', '-c', bwrap, filter]
}

const PLACES = [
  ['a kernel without user namespaces', hardenedKernel, 'max_user_namespaces'],
  ['an unprivileged container', unprivilegedContainer, 'the seccomp filter of this container'],
] as const

describeWith(
  ['bwrap', 'setpriv', ...(process.getuid?.() === 0 ? [OPEN_CHECKOUT] : [])],
  'a machine without user namespaces',
  () => {
    test.each(PLACES)(
      'windlass up in %s reports the cause and the alternatives, and does not restart its worker',
      {
        timeout: 120_000,
      },
      async (_, placed, cause) => {
        const folder = ownFolder()
        const up = await startUp({ data: join(folder, 'data'), through: placed(folder), env: { HOME: folder } })
        const reasons = await reasonsAt(up.url, /there is no worker/)
        expect(reasons).toContain(cause)
        expect(reasons).toMatch(/1\. allow them: .* --backend host: /)
        expect(reasons).not.toContain('install bubblewrap')
        expect(up.log().filter(({ msg }) => String(msg).includes('starting another'))).toEqual([])
        expect(up.isReady()).toBe(false)
        up.signal('SIGTERM')
        await up.gone
      },
    )

    test('the reported alternative --backend host works', { timeout: 120_000 }, async () => {
      const folder = ownFolder()
      chmodSync(folder, 0o777)
      const env = { HOME: folder, WINDLASS_WORKER_LANGUAGES: 'bash' }
      const flags = ['--backend', 'host', '--allow-bare-snippets']
      const up = await startUp({ data: join(folder, 'data'), through: hardenedKernel(), env, flags })
      await up.ready
      const ran = await windlass('run', '--server', `grpc://${up.grpc}`, '--', 'echo', 'hello')
      expect(ran).toMatchObject({ code: 0, out: 'hello\n' })
    })
  },
)

async function reasonsAt(url: string, awaited: RegExp): Promise<string> {
  for (;;) {
    const { reasons = [] } = (await (await fetch(`${url}/readyz`)).json()) as { reasons?: string[] }
    if (awaited.test(reasons.join())) return reasons.join()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
