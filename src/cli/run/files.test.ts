import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { directoryWith, fresh, useGrid, windlass } from '../grid.fixture.ts'

useGrid({ EXECUTION_SCHEDULER_NO_WORKER_GRACE_SECONDS: '0.2' })

const sh = (script: string): string[] => ['--', '/bin/sh', '-c', script]

describe('inputs', () => {
  test('--input sends all files except those that .windlassignore matches', async () => {
    const input = directoryWith({
      '.windlassignore': 'node_modules/\n*.log\n!keep.log\n',
      'src/a.c': 'a',
      'run.sh': '#!/bin/sh\necho ran',
      'node_modules/x/y': 'y',
      'deep/b.log': 'b',
      'deep/keep.log': 'k',
    })
    chmodSync(join(input, 'run.sh'), 0o755)
    symlinkSync('src/a.c', join(input, 'link'))
    const { out } = await windlass([
      'run',
      '--input',
      input,
      ...sh('find . -type f -o -type l | sort; ./run.sh; cat link'),
    ])
    expect(out).toBe('./deep/keep.log\n./link\n./run.sh\n./src/a.c\nran\na')
  })

  test('--input omits .git and files that .gitignore matches at any level, and --all-files sends everything', async () => {
    const repository = directoryWith({
      '.git/HEAD': 'ref: refs/heads/main',
      '.gitignore': '*.o\n/in/build/\n',
      'in/.gitignore': '!keep.o\nsecret\n',
      'in/.windlassignore': '!secret\ndata/\n',
      'in/a.o': '1',
      'in/keep.o': '2',
      'in/secret': '3',
      'in/build/x': '4',
      'in/data/y': '5',
      'in/deep/.gitignore': 'local',
      'in/deep/local': '6',
      'in/deep/build/z': '7',
    })
    const sent = async (...argv: string[]) =>
      (await windlass(['run', ...argv, ...sh('find . -type f | sort')])).out.trim().split('\n')
    const input = join(repository, 'in')
    const kept = ['./.gitignore', './deep/.gitignore', './deep/build/z', './keep.o', './secret']
    expect(await sent('--input', input)).toEqual(kept)
    expect(await sent('--input', input, '--all-files')).toEqual(
      [...kept, './.windlassignore', './a.o', './build/x', './data/y', './deep/local'].sort(),
    )
    expect(await sent('--input', repository)).not.toContain('./.git/HEAD')
    expect(await sent('--input', repository, '--all-files')).toContain('./.git/HEAD')
  })

  test('of a large file that changed in one place, only the chunks around the change are sent', async () => {
    const input = directoryWith({})
    const bytes = randomBytes(16 * 1024 * 1024)
    const run = async () => {
      writeFileSync(join(input, 'large'), bytes)
      return JSON.parse((await windlass(['run', '--json', '--input', input, '--', 'cksum', 'large'])).out)
    }
    const first = await run()
    bytes.write('changed', 9_000_000)
    const second = await run()
    expect(first.moved.bytes).toBeGreaterThanOrEqual(bytes.length)
    expect(second.moved.bytes).toBeLessThan(5 * 1024 * 1024)
    expect(second).toMatchObject({ exitCode: 0, cached: false })
    expect(second.stdout.text).not.toBe(first.stdout.text)
  })

  test('without --input the room is empty', async () => {
    expect((await windlass(['run', ...sh('ls -A')])).out).toBe('')
  })

  test('a terminal gets a progress bar during the upload', async () => {
    const input = directoryWith({ big: 'x'.repeat(3_000_000) })
    const { err } = await windlass(['run', '--input', input, '--', 'true'], { isTerminal: true })
    expect(err).toMatch(/[█░]{20} \d+% {2}\d of \d blobs/)
    expect(err.split('\r\u001b[K').at(-1)).toBe('')
  })

  test.each([
    ['/no/such/directory', '--input: there is no directory /no/such/directory'],
    [import.meta.filename, 'is not a directory'],
  ])('the input %s is refused with exit code 2', async (input, words) => {
    const { code, err } = await windlass(['run', '--input', input, '--', 'true'])
    expect([code, err.includes(words)]).toEqual([2, true])
  })

  test('a second run with equal inputs sends no blob', async () => {
    const input = directoryWith({ 'a/b/c': '1', 'a/x': '2' })
    const first = JSON.parse((await windlass(['run', '--json', '--input', input, '--', 'true'])).out)
    const again = JSON.parse((await windlass(['run', '--json', '--input', input, '--', 'true'])).out)
    expect(first.moved.blobs).toBeGreaterThan(0)
    expect(again.moved.blobs).toBe(0)
    expect(again.cached).toBe(true)
  })
})

describe('outputs', () => {
  test('--output gets the files that the command created or changed', async () => {
    const input = directoryWith({ same: 'same', changed: 'before', 'kept/x': 'x', 'grown/old': 'old' })
    symlinkSync('/absolute', join(input, 'link'))
    const output = fresh()
    const script =
      'rm changed; echo now > changed; echo new > grown/new; mkdir -p made/deep; echo d > made/deep/file; ln -s file made/deep/l'
    expect(await windlass(['run', '--input', input, '--output', output, ...sh(script)])).toMatchObject({
      code: 0,
      err: '',
    })
    expect(readdirSync(output, { recursive: true }).sort()).toEqual([
      ...['changed', 'grown', 'grown/new', 'made', 'made/deep', 'made/deep/file', 'made/deep/l'],
    ])
    expect(readFileSync(join(output, 'changed'), 'utf8')).toBe('now\n')
  })

  test('--output-path selects outputs, and a missing one is reported', async () => {
    const output = fresh()
    const argv = ['run', '--output', output, '--output-path', './a', '--output-path', 'd/', '--output-path', 'no/such']
    const seen = await windlass([...argv, ...sh('echo a > a; mkdir d; echo b > d/b; echo c > c; chmod +x a')])
    expect(seen).toMatchObject({ code: 0, err: 'windlass: the command did not make no/such\n' })
    expect(readdirSync(output, { recursive: true }).sort()).toEqual(['a', 'd', 'd/b'])
  })

  test('outputs of a failed command, and cached ones, are written beside existing files', async () => {
    const output = fresh()
    mkdirSync(output)
    writeFileSync(join(output, 'mine'), 'mine')
    for (const text of ['x', 'y', 'x']) {
      const { code } = await windlass(['run', '-o', output, ...sh(`echo ${text} > made; exit 3`)])
      expect(code).toBe(3)
      expect(readFileSync(join(output, 'made'), 'utf8')).toBe(`${text}\n`)
    }
    expect(readdirSync(output).sort()).toEqual(['made', 'mine'])
  })

  test('a symlink that leads out of the output directory is refused', async () => {
    const output = fresh()
    const { code, err } = await windlass(['run', '-o', output, ...sh('ln -s ../../etc evil')])
    expect(code).toBe(125)
    expect(err).toContain('the symlink "evil" to "../../etc" leads out of the tree (--unsafe-links creates it anyway)')
    expect(existsSync(join(output, 'evil'))).toBe(false)
  })
})
