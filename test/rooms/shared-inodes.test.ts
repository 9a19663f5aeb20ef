import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { putBlob, putTree } from '../../src/worker/trees.fixture.ts'
import { whyNoAttacks } from './attack-suite.ts'
import { sharedWorker } from './two-instances.ts'

const why = whyNoAttacks('bwrap')

describe.skipIf(why !== undefined)(
  `inputs of two instances on one worker${why === undefined ? '' : ` (${why})`}`,
  () => {
    let at: Awaited<ReturnType<typeof sharedWorker>>
    beforeAll(async () => {
      at = await sharedWorker('sandbox')
    })
    afterAll(() => at?.close())
    const sh = (script: string): readonly string[] => ['sh', '-c', script]
    const input = async (text = 'the same for both') => ({
      placed: [{ path: 'input', digest: await putBlob(at.store, text) }],
    })

    test('a lock of one instance does not block the other', async () => {
      const reported = await input()
      const holder = at.start('bad', sh('exec 9<input; flock -n -x 9 && echo locked; sleep 600'), reported)
      await holder.says('locked')
      expect(await at.run('good', sh('flock -n -x input echo free || echo held'), reported)).toBe('free\n')
      expect(await at.run('bad', sh('flock -n -x input echo free || echo held'), reported)).toMatch(/free|held/)
      await holder.stop()
    })

    test('the link count of a file does not reveal to one instance that the other uses it', async () => {
      const reported = await input('counted')
      const watcher = at.start(
        'bad',
        sh('echo before $(stat -c %h input); while [ ! -e /tmp/x ]; do sleep 0.1; echo $(stat -c %h input); done'),
        reported,
      )
      await watcher.says('before')
      const first = await at.run('good', sh('stat -c %h input; stat -c %i input'), reported)
      await watcher.stop()
      const own = await at.run('bad', sh('stat -c %h input; stat -c %i input'), reported)
      expect(first.split('\n')[1]).not.toBe(own.split('\n')[1])
      expect(first.split('\n')[0]).toBe('2') // the worker's link and this room's
    })

    test('inotify does not reveal to one instance that the other reads the same file', async () => {
      const reported = await input('watched')
      const watch = [
        'import ctypes, os, select',
        'libc = ctypes.CDLL(None)',
        'fd = libc.inotify_init()',
        'assert libc.inotify_add_watch(fd, b"input", 0x21) >= 0',
        'print("watching", flush=True)',
        'seen = select.select([fd], [], [], 600)',
        'print("seen", flush=True)',
      ].join('\n')
      const watcher = at.start('bad', ['python3', '-c', watch], reported)
      await watcher.says('watching')
      expect(await at.run('good', sh('cat input'), reported)).toBe('watched')
      const seen = watcher.says('seen').then(() => 'seen')
      seen.catch(() => {})
      expect(await Promise.race([seen, at.run('good', sh('cat input >/dev/null; echo nothing'), reported)])).toBe(
        'nothing\n',
      )
      await watcher.stop()
    })

    test('files in an input directory are read-only', async () => {
      const root = await putTree(at.store, { folder: { file: 'as it was', deeper: { file: 'this too' } } })
      const script =
        'for f in folder/file folder/deeper/file; do stat -c %a $f; (echo x >>$f) 2>/dev/null; cat $f; echo; done'
      expect(await at.run('good', sh(script), { root })).toBe('444\nas it was\n444\nthis too\n')
    })
  },
)
