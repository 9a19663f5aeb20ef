import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apptainerBy } from '../../src/runtimes/apptainer/apptainer.fixture.ts'
import { runtimeContract } from '../../src/runtimes/run/contract.ts'
import { emptyRoom, runOf, shell } from '../../src/runtimes/run/rooms.fixture.ts'
import { describeWith, requireTool } from '../../src/testing/require.ts'
import { busyboxRootfs } from './docker-image.ts'
import { tinyRegistry } from './docker-registry.ts'

const never = new AbortController().signal
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describeWith(['apptainer', 'busybox'], 'rooms of Apptainer', () => {
  let folder: string
  let image: string
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-apptainer-')))
    chmodSync(folder, 0o755)
    image = busyboxRootfs(folder, requireTool('busybox').command as string)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const made = (useGroups = true) => {
    const images = { pull: 'never', maxBytes: 1 << 30, image } as const
    return apptainerBy({ way: 'spawner', useGroups }, { images, imageFolders: [folder] })
  }

  runtimeContract('through a spawner, with control groups where there are any', async () => made())

  test('accept a SIF file as an image', async () => {
    const sif = join(folder, 'busybox.sif')
    const built = spawnSync('apptainer', ['build', sif, image], { encoding: 'utf8' })
    expect(built.status, built.stderr).toBe(0)
    await using by = made()
    using room = emptyRoom()
    const end = await by.runtime.run(runOf(shell('echo from a file'), { room, command: { image: sif } }), never)
    expect([end.cause, text(end.stdout.bytes)], end.reason).toEqual(['ok', 'from a file\n'])
  })

  test('unpack a registry image once, and name an image that does not exist', async () => {
    await using registry = await tinyRegistry()
    const pinned = registry.add('tools/a', '1', image)
    const registries = [registry.host, '127.0.0.1:1']
    const images = { pull: 'if-missing', maxBytes: 1 << 30, image: undefined, registries } as const
    await using by = apptainerBy({ way: 'spawner', useGroups: true }, { images, plainRegistries: [registry.host] })
    using room = emptyRoom()
    const run = (name: string, nth: number) =>
      by.runtime.run(
        runOf(shell('id -u; ls /room'), { room: { ...room, name: `${room.name}-${nth}` }, command: { image: name } }),
        never,
      )
    const end = await run(`docker://${registry.host}/tools/a:1`, 1)
    expect([end.cause, text(end.stdout.bytes), text(end.stderr.bytes)]).toEqual(['ok', '65534\n', ''])
    const before = registry.timesAsked()
    expect((await run(`${registry.host}/tools/a:1`, 2)).cause).toBe('ok')
    expect(registry.timesAsked()).toBe(before)
    expect((await run(`${registry.host}/tools/a@${pinned}`, 3)).cause).toBe('ok')
    await expect(run(`${registry.host}/tools/none:1`, 4)).rejects.toMatchObject({
      fault: { kind: 'invalid', what: expect.stringContaining(`${registry.host}/tools/none:1`) },
    })
    await expect(run('127.0.0.1:1/tools/a:1', 5)).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
  })

  test('have a seccomp filter that refuses namespaces and mounts', async () => {
    await using by = made()
    using room = emptyRoom()
    const script =
      'unshare -U true 2>/dev/null || echo no namespaces; mount -t tmpfs x /tmp 2>/dev/null || echo no mounts'
    const end = await by.runtime.run(runOf(shell(script), { room }), never)
    expect(text(end.stdout.bytes)).toBe('no namespaces\nno mounts\n')
  })

  test('are refused for a worker that runs commands as root', async () => {
    const images = { pull: 'never', maxBytes: 1, image } as const
    await using by = apptainerBy({ way: 'direct', useGroups: false }, { images, user: undefined, isRoot: true })
    expect(await by.runtime.probe()).toMatchObject({ works: false, reason: expect.stringContaining('as root') })
  })

  test('refuse an image path outside of the image folders, whether it exists or not', async () => {
    await using by = made()
    using room = emptyRoom()
    for (const path of ['/', '/etc', `${folder}/../../etc`, join(folder, 'nowhere'), folder])
      await expect(
        by.runtime.run(runOf(['true'], { room, command: { image: path } }), never),
        path,
      ).rejects.toMatchObject({
        fault: { kind: 'unavailable', what: expect.stringContaining('not among the images of this worker') },
      })
  })

  test('show nothing of the host, and cannot change kernel settings', async () => {
    await using by = made()
    using room = emptyRoom()
    const script =
      'hostname; cat /etc/hosts; ls /home /srv /mnt 2>/dev/null; echo x > /proc/sys/kernel/domainname || echo closed'
    const end = await by.runtime.run(runOf(shell(script), { room }), never)
    expect(text(end.stdout.bytes)).toBe('windlass\nclosed\n')
  })
})
