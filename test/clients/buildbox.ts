/** The C++ clients of the BuildBox suite, from a root directory with Debian's unstable branch. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bringIntoSid, inSid, sidHas } from '../../bench/cache/peers/sid-root.ts'
import { type Client, Skip } from './client.ts'
import { inWords, runCommand, runToEnd } from './run-command.ts'

function bring(program: string): void {
  if (sidHas(program) && sidHas('g++')) return
  const why = bringIntoSid(['buildbox', 'g++'])
  if (why !== undefined) throw new Skip(why)
}

const LARGE_BYTES = 9_000_000

const upAndDown: Client = {
  name: 'BuildBox casupload, casdownload',
  async check(server, folder) {
    bring('casupload')
    const files: Record<string, Buffer> = {
      'tree/small.txt': Buffer.from('small\n'),
      'tree/empty': Buffer.alloc(0),
      'tree/deep/er/large.bin': Buffer.alloc(LARGE_BYTES, 'windlass '),
    }
    mkdirSync(join(folder, 'tree/deep/er'), { recursive: true })
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    const inside = (args: readonly string[]) => runCommand(inSid(folder, args))
    const digest = join(folder, 'digest')
    await inside(['casupload', `--remote=http://${server}`, `--output-digest-file=${digest}`, join(folder, 'tree')])
    const root = readFileSync(digest, 'utf8').trim()
    const copy = join(folder, 'copy')
    await inside(['casdownload', `--remote=http://${server}`, `--root-digest=${root}`, `--destination-dir=${copy}`])
    for (const [name, content] of Object.entries(files)) {
      assert.ok(readFileSync(join(folder, name.replace('tree', 'copy'))).equals(content), `${name} came back different`)
    }
    return `${Object.keys(files).length} files in 3 folders, up and down`
  },
}

/** Compiles a file twice and returns recc's output of both runs; the second object file must equal the first. */
async function compileTwice(server: string, folder: string, more: Record<string, string>): Promise<[string, string]> {
  bring('recc')
  writeFileSync(join(folder, 'lib.c'), `int turns(int n) { return n * 7; } /* ${randomUUID()} */\n`)
  const settings = {
    RECC_SERVER: `http://${server}`,
    RECC_PROJECT_ROOT: folder,
    RECC_LOG_LEVEL: 'info',
    ...more,
  }
  const assignments = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  const compile = () =>
    runCommand(
      inSid(folder, ['env', ...assignments, ...['sh', '-c', 'cd "$0" && exec recc gcc -c lib.c -o lib.o', folder]]),
    )
  const first = await compile()
  const built = readFileSync(join(folder, 'lib.o'))
  rmSync(join(folder, 'lib.o'))
  const second = await compile()
  assert.doesNotMatch(first, /Action Cache hit/, `the first compilation was a hit:\n${first}`)
  assert.match(second, /Action Cache hit/, `the second compilation was no hit:\n${second}`)
  assert.ok(readFileSync(join(folder, 'lib.o')).equals(built), 'the object file came back different')
  return [first, second]
}

const reccCaching: Client = {
  name: 'BuildBox recc, cache only',
  async check(server, folder) {
    await compileTwice(server, folder, { RECC_CACHE_ONLY: '1', RECC_CACHE_UPLOAD_LOCAL_BUILD: '1' })
    return 'compiled once, then taken from the cache'
  },
}

const reccExecuting: Client = {
  name: 'BuildBox recc, remote execution',
  async check(server, folder) {
    const platform = { RECC_REMOTE_PLATFORM_OSFamily: 'linux' }
    const [first] = await compileTwice(server, folder, platform)
    assert.match(first, /Executing action remotely|Remote execution/i, `it was not compiled elsewhere:\n${first}`)
    return 'compiled once by a worker, then taken from the cache'
  },
}

const trexe: Client = {
  name: 'BuildBox trexe, remote execution',
  async check(server, folder) {
    bring('trexe')
    const word = randomUUID()
    mkdirSync(join(folder, 'out'))
    writeFileSync(join(folder, 'in.txt'), `${word}\n`)
    const order = (script: string): string[] => [
      ...['trexe', `--remote=http://${server}`, '--platform-properties=OSFamily=linux', '--input-path=in.txt'],
      ...['--output-path=made.txt', `--d=${join(folder, 'out')}`, '/bin/sh', '-c', script],
    ]
    const run = (script: string) =>
      runToEnd(inSid(folder, ['sh', '-c', 'cd "$0" && exec "$@"', folder, ...order(script)]))
    const good = await run('tr a-f A-F < in.txt > made.txt; echo done $((40 + 2))')
    assert.equal(good.code, 0, inWords(good))
    assert.match(good.output, /done 42/, `what the command printed did not come back:\n${good.output}`)
    const made = readFileSync(join(folder, 'out/made.txt'), 'utf8')
    assert.equal(made, `${word.replaceAll(/[a-f]/g, (letter) => letter.toUpperCase())}\n`)
    const bad = await run('echo too heavy >&2; exit 7')
    assert.equal(bad.code, 7, `the exit code did not come back: ${inWords(bad)}`)
    assert.match(bad.output, /too heavy/)
    return 'an output, what was printed, and an exit code came back'
  },
}

export const BUILDBOX: readonly Client[] = [upAndDown, reccCaching, reccExecuting, trexe]
