import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { doublingTree } from '../../testing/doubling-tree.ts'
import { cas, digestOf, fresh, lastDigest, random, target, windlass } from './cas.fixture.ts'

/** A directory with each kind of entry. */
function madeTree(): string {
  const root = fresh()
  mkdirSync(join(root, 'a/b/empty'), { recursive: true })
  mkdirSync(join(root, 'ü 🎉'))
  writeFileSync(join(root, 'plain'), 'plain')
  writeFileSync(join(root, 'nothing'), '')
  writeFileSync(join(root, 'a/run'), '#!/bin/sh\n')
  chmodSync(join(root, 'a/run'), 0o755)
  writeFileSync(join(root, 'a/b/large'), random.bytes(3_000_000))
  writeFileSync(join(root, 'ü 🎉/same'), 'plain')
  symlinkSync('../plain', join(root, 'a/link'))
  symlinkSync('a/b', join(root, 'to-directory'))
  symlinkSync('nowhere', join(root, 'dangling'))
  return root
}

/** A comparable listing of all entries below a directory. */
const looked = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const path = join(root, name)
      const info = lstatSync(path)
      if (info.isSymbolicLink()) return `${name} → ${readlinkSync(path)}`
      if (info.isDirectory()) return `${name}/`
      return `${name} ${(info.mode & 0o100) === 0 ? '-' : 'x'} ${digestOf(readFileSync(path))}`
    })
    .sort()

describe('directories', () => {
  test('a directory is restored unchanged, from Directory messages or from one Tree', async () => {
    const root = madeTree()
    const { code, out } = await cas(['put', root])
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(10) // five files, four directories and the root; symlinks are part of these
    expect(lines.at(-1)).toMatch(new RegExp(`^[0-9a-f]{64}/\\d+ ${root}$`))
    const back = fresh()
    const got = await cas(['get', lastDigest(out), '--dir', '-o', back, '--json'])
    expect(JSON.parse(got.out)).toMatchObject({ path: back, files: 5, directories: 4, symlinks: 3 })
    expect(looked(back)).toEqual(looked(root))

    const tree = await cas(['put', root, '--tree', '--quiet'])
    expect(tree.out.trimEnd().split('\n')).toHaveLength(1)
    expect(lastDigest(tree.out)).not.toBe(lastDigest(out))
    const again = fresh()
    expect((await cas(['get', lastDigest(tree.out), '--tree', '-o', again])).code).toBe(0)
    expect(looked(again)).toEqual(looked(root))
  })

  test('an empty directory is restored', async () => {
    const root = fresh()
    mkdirSync(root)
    const { out } = await cas(['put', root])
    const back = fresh()
    expect((await cas(['get', lastDigest(out), '--dir', '-o', back])).code).toBe(0)
    expect(readdirSync(back)).toEqual([])
  })

  test('a symlink that leads out is uploaded unchanged, and downloaded only with --unsafe-links', async () => {
    const root = fresh()
    mkdirSync(root)
    symlinkSync('/etc/hostname', join(root, 'out'))
    const digest = lastDigest((await cas(['put', root])).out)
    const back = fresh()
    const { code, err } = await cas(['get', digest, '--dir', '-o', back])
    expect([code, existsSync(back)]).toEqual([1, false])
    expect(err).toBe('windlass: the symlink "out" to "/etc/hostname" is absolute (--unsafe-links creates it anyway)\n')
    expect((await cas(['get', digest, '--dir', '-o', back, '--unsafe-links'])).code).toBe(0)
    expect(readlinkSync(join(back, 'out'))).toBe('/etc/hostname')
  })

  test('a pipe is refused with its path', async () => {
    const root = fresh()
    mkdirSync(root)
    await promisify(execFile)('mkfifo', [join(root, 'pipe')])
    const { code, err } = await cas(['put', root])
    expect([code, err]).toEqual([1, `windlass: ${root}/pipe is neither a file nor a directory nor a symlink\n`])
  })

  test('10,000 small files are uploaded and downloaded in bounded memory', async () => {
    const few = fresh()
    const many = fresh()
    for (const [root, count] of [
      [few, 10],
      [many, 10_000],
    ] as const) {
      for (let i = 0; i < count; i++) {
        if (i % 100 === 0) mkdirSync(join(root, `d${i / 100}`), { recursive: true })
        writeFileSync(join(root, `d${Math.floor(i / 100)}`, `${i}`), random.bytes(24_000))
      }
    }
    const back = fresh()
    const base = await inProcess('put', '-q', few)
    const put = await inProcess('put', '-q', many)
    const got = await inProcess('get', lastDigest(put.out), '--dir', '-o', back)
    console.log(`MB at most: put of 10 files ${base.megabytes}, of 10,000 ${put.megabytes}; get ${got.megabytes}`)
    expect(looked(back)).toEqual(looked(many))
    // 240 MB of content would be visible if it were all in memory.
    expect(put.megabytes - base.megabytes).toBeLessThan(160)
    expect(got.megabytes - base.megabytes).toBeLessThan(160)
  })
})

/** Runs as a separate process, and returns its peak memory. */
async function inProcess(...argv: string[]) {
  const report = `process.on('exit',()=>process.stderr.write('rss '+process.resourceUsage().maxRSS))`
  const env = { ...process.env, NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(report)}` }
  const { stdout, stderr } = await promisify(execFile)(windlass, ['cas', ...argv, '-s', target()], { env })
  return { out: stdout, megabytes: Math.round(Number(/rss (\d+)/.exec(stderr)?.[1]) / 1000) }
}

test('a Tree that names 10^27 entries is refused before one is created', async () => {
  const message = fresh()
  writeFileSync(message, doublingTree(90))
  const put = await cas(['put', message])
  const parent = fresh()
  mkdirSync(parent)
  const { code, err } = await cas(['get', lastDigest(put.out), '--tree', '-o', join(parent, 'out')])
  expect(err).toMatch(
    /^windlass: the tree has at least 2\.5e\+27 .*limit is 1000000.*--max-entries raises the limit\n$/,
  )
  expect([code, readdirSync(parent)]).toEqual([1, []])
  const wrong = await cas(['get', lastDigest(put.out), '--tree', '-o', join(parent, 'out'), '--max-entries', 'many'])
  expect(wrong).toMatchObject({ code: 2, err: 'windlass: --max-entries: "many" is not a whole number from 1\n' })
})
