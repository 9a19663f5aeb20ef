/** The C++ clients of the BuildBox suite, from a root of Debian's unstable branch. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bringIntoSid, inSid, sidHas } from '../../bench/cache/peers/sid-root.ts'
import { type Client, Skip } from './client.ts'
import { runCommand } from './run-command.ts'

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

const recc: Client = {
  name: 'BuildBox recc, cache only',
  async check(server, folder) {
    bring('recc')
    writeFileSync(join(folder, 'lib.c'), 'int turns(int n) { return n * 7; }\n')
    const settings = {
      RECC_SERVER: `http://${server}`,
      RECC_PROJECT_ROOT: folder,
      RECC_CACHE_ONLY: '1',
      RECC_CACHE_UPLOAD_LOCAL_BUILD: '1',
      RECC_LOG_LEVEL: 'info',
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
    return 'compiled once, then taken from the cache'
  },
}

export const BUILDBOX: readonly Client[] = [upAndDown, recc]
