import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeWith } from '../../testing/require.ts'
import { IS_ROOT } from '../bare/bare.fixture.ts'
import { runtimeContract } from '../run/contract.ts'
import { emptyRoom, runOf, shell, testWhere } from '../run/rooms.fixture.ts'
import type { RunEnd, Runtime } from '../run/runtime.ts'
import { sandboxBy } from './sandbox.fixture.ts'
import { tinyRootfs } from './tiny-rootfs.fixture.ts'

const never = new AbortController().signal
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describeWith('bwrap', 'sandbox', () => {
  runtimeContract('through a spawner, with control groups where there are any', async () =>
    sandboxBy({ way: 'spawner', useGroups: true }),
  )
  runtimeContract('through a spawner, without control groups', async () =>
    sandboxBy({ way: 'spawner', useGroups: false }),
  )
  if (IS_ROOT)
    runtimeContract('whose rooms belong to root', async () =>
      sandboxBy({ way: 'spawner', useGroups: true, more: { user: undefined } }),
    )

  describe('view of a command', () => {
    const says = async (runtime: Runtime, script: string): Promise<string> => {
      using room = emptyRoom()
      const end = await runtime.run(runOf(shell(script), { room, command: { env: [] } }), never)
      expect(end, text(end.stderr.bytes)).toMatchObject({ cause: 'ok' })
      return text(end.stdout.bytes)
    }

    test('user, host name, time zone, paths and variables are the same on every machine', async () => {
      await using sandbox = sandboxBy({ way: 'direct', useGroups: true })
      const { runtime } = sandbox
      expect(await says(runtime, 'id; hostname; pwd; date +%Z; whoami')).toBe(
        'uid=1000(runner) gid=1000(runner) groups=1000(runner)\nwindlass\n/room\nUTC\nrunner\n',
      )
      expect(
        (await says(runtime, 'env'))
          .trim()
          .split('\n')
          .filter((line) => !/^(PWD|SHLVL|_)=/.test(line))
          .sort(),
      ).toEqual([
        'HOME=/tmp',
        'LANG=C.UTF-8',
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'TMPDIR=/tmp',
        'TZ=UTC',
        'USER=runner',
      ])
      expect(await says(runtime, 'ls /home /root /var /sys /run 2>/dev/null; ls /proc | grep -c "^[0-9]"')).toMatch(
        /^[34]\n$/,
      )
    })

    test('the system is read-only, and /tmp, /dev/shm and /room are writable and empty for the next command', async () => {
      await using sandbox = sandboxBy({ way: 'direct', useGroups: true })
      const script =
        'for d in / /usr /etc /dev /bin /proc/sys/kernel; do (: > $d/windlass-x) 2>/dev/null && echo wrote $d; done; for d in /tmp /dev/shm /room; do : > $d/windlass-x && echo made $d; done'
      expect(await says(sandbox.runtime, script)).toBe('made /tmp\nmade /dev/shm\nmade /room\n')
      expect(await says(sandbox.runtime, 'ls -A /tmp /dev/shm /room')).not.toContain('windlass-x')
    })

    test('without a folder for temporary files, /tmp is a tmpfs of a fixed size', async () => {
      await using sandbox = sandboxBy({ way: 'direct', useGroups: true })
      using room = emptyRoom()
      const end = await sandbox.runtime.run(
        runOf(shell('head -c 300000000 /dev/zero > /tmp/f'), { room: { ...room, tmp: undefined } }),
        never,
      )
      expect([end.cause, text(end.stderr.bytes)]).toEqual(['exit', expect.stringContaining('No space left')])
    })

    test('the worker can add read-only paths of the machine', async () => {
      const path = mkdtempSync('/var/tmp/windlass-extra-')
      using _extra = { [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
      chmodSync(path, 0o755)
      writeFileSync(join(path, 'tool'), '#!/bin/sh\necho found\n', { mode: 0o755 })
      await using sandbox = sandboxBy({ way: 'direct', useGroups: true, more: { readable: [path] } })
      expect(await says(sandbox.runtime, `${path}/tool; (: > ${path}/x) 2>/dev/null || echo closed`)).toBe(
        'found\nclosed\n',
      )
    })
  })

  describe('rootfs', () => {
    const runIn = async (rootfs: string, argv: readonly string[]): Promise<RunEnd> => {
      await using sandbox = sandboxBy({ way: 'direct', useGroups: true })
      using room = emptyRoom()
      const command = { env: [{ name: 'PATH', value: '/bin' }] }
      return await sandbox.runtime.run(runOf(argv, { room: { ...room, rootfs }, command }), never)
    }

    test('a command sees only its rootfs, read-only, beside /proc, /room and /tmp', async () => {
      using rootfs = tinyRootfs()
      const script = 'cat /etc/motd; echo /*; : > out; (: > /etc/x) 2>/dev/null || echo closed'
      const end = await runIn(rootfs.path, ['sh', '-c', script])
      expect([end.cause, text(end.stderr.bytes)]).toEqual(['ok', ''])
      const [motd, root, closed] = text(end.stdout.bytes).trim().split('\n')
      expect([motd, closed]).toEqual(['another system', 'closed'])
      expect(root?.split(' ')).toEqual(expect.arrayContaining(['/bin', '/etc', '/proc', '/room', '/system', '/tmp']))
      expect(root).not.toContain('/usr/bin')
    })

    test('a program missing from the rootfs ends with exit code 127, and a file that is no program with 126', async () => {
      using rootfs = tinyRootfs()
      expect(await runIn(rootfs.path, ['python3'])).toMatchObject({ cause: 'not-started', exitCode: 127 })
      expect(await runIn(rootfs.path, ['/etc/motd'])).toMatchObject({ cause: 'not-started', exitCode: 126 })
    })

    test('a rootfs that is missing, is /, or is reached through a symlink or /proc is invalid', async () => {
      for (const rootfs of ['/', '/nowhere', '/bin/../etc', 'etc', '/proc/self/root'])
        await expect(runIn(rootfs, ['true']), rootfs).rejects.toMatchObject({ fault: { kind: 'invalid' } })
    })
  })

  test('a room that cannot be created is unavailable, and the probe gives the reason', async () => {
    await using sandbox = sandboxBy({ way: 'direct', useGroups: true, more: { readable: ['/no/such/folder'] } })
    using room = emptyRoom()
    const run = runOf(['true'], { room })
    await expect(sandbox.runtime.run(run, never)).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    expect(await sandbox.runtime.probe()).toMatchObject({
      works: false,
      reason: expect.stringContaining('/no/such/folder'),
    })
  })

  testWhere(IS_ROOT, 'only root can give a room to another user')(
    "the probe fails for a folder that the room's user cannot reach",
    async () => {
      using closed = emptyRoom()
      const folder = join(closed.path, 'closed')
      mkdirSync(join(folder, 'deep'), { recursive: true, mode: 0o700 })
      await using sandbox = sandboxBy({ way: 'direct', useGroups: true, more: { folder: join(folder, 'deep') } })
      expect(await sandbox.runtime.probe()).toMatchObject({ works: false })
    },
  )

  test('a readable path inside /tmp is refused by the probe', async () => {
    await using sandbox = sandboxBy({ way: 'direct', useGroups: true, more: { readable: ['/tmp/x'] } })
    expect(await sandbox.runtime.probe()).toMatchObject({ works: false, reason: expect.stringContaining('/tmp/x') })
  })

  test('9,000 arguments are refused as not-started, with a reason', async () => {
    await using sandbox = sandboxBy({ way: 'direct', useGroups: true })
    using room = emptyRoom()
    const end = await sandbox.runtime.run(runOf(['true', ...Array(9000).fill('x')], { room }), never)
    expect(end).toMatchObject({ cause: 'not-started', exitCode: 126, reason: expect.stringContaining('too many') })
  })
})
