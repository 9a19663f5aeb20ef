/** Clients of the Go world; each from PATH, for none of them comes as a package. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findOnPath } from '../../bench/cache/peers/on-path.ts'
import { type Client, Skip } from './client.ts'
import { runCommand } from './run-command.ts'

const SDK = 'github.com/bazelbuild/remote-apis-sdks'
const TOOLS = 'github.com/toolchainlabs/remote-api-tools'
const BLOB_BYTES = 5_000_000

function obtain(name: string, home: string): string {
  const obtained = findOnPath({ name, home })
  if ('absent' in obtained) throw new Skip(obtained.absent)
  return obtained.program
}

const remotetool: Client = {
  name: 'remotetool (Go SDK)',
  async check(server, folder) {
    const program = obtain('remotetool', SDK)
    const common = [`--service=${server}`, '--service_no_security', '--instance=', '--alsologtostderr']
    const run = (operation: string, args: readonly string[]) =>
      runCommand({ program, args: [...common, `--operation=${operation}`, ...args], env: { HOME: folder } })
    const place = (name: string): string => join(folder, name)

    const blob = Buffer.alloc(BLOB_BYTES, 'remotetool ')
    const digest = `${createHash('sha256').update(blob).digest('hex')}/${blob.length}`
    writeFileSync(place('up'), blob)
    await run('upload_blob', [`--path=${place('up')}`])
    await run('download_blob', [`--digest=${digest}`, `--path=${place('down')}`])
    assert.ok(readFileSync(place('down')).equals(blob), 'the blob came back different')

    mkdirSync(place('tree/deep/er'), { recursive: true })
    const files = { 'large.bin': blob, 'deep/empty': Buffer.alloc(0), 'deep/er/small.txt': Buffer.from('small\n') }
    for (const [name, content] of Object.entries(files)) writeFileSync(join(place('tree'), name), content)
    const said = await run('upload_dir', [`--path=${place('tree')}`])
    const root = /Directory root digest: (\S+)/.exec(said)?.[1]
    await run('download_dir', [`--digest=${root}`, `--path=${place('copy')}`])
    for (const [name, content] of Object.entries(files)) {
      assert.ok(readFileSync(join(place('copy'), name)).equals(content), `${name} came back different`)
    }
    return `a blob, and ${Object.keys(files).length} files in 3 folders, up and down`
  },
}

/** Blobs from half a MiB on it streams, smaller ones go in batches: here it does both. */
const CASLOAD_ACTIONS = ['generate:200:1024:1048576', 'read:200:2']

const casload: Client = {
  name: 'casload (remote-api-tools)',
  async check(server) {
    const output = await runCommand({
      program: obtain('casload', TOOLS),
      // Without an instance name it puts a slash before resource names, where the specification has none.
      args: ['--remote', server, ...CASLOAD_ACTIONS],
    })
    const tally = (count: number) =>
      RegExp(`success: ${count}\\s+errors: 0\\s+byteStream\\w+: [1-9]\\d*\\s+blob\\w+: [1-9]`)
    assert.match(output, tally(200))
    assert.match(output, tally(400))
    return '200 uploads and 400 downloads, streamed and in batches'
  },
}

const smoketest: Client = {
  name: 'smoketest (remote-api-tools)',
  async check(server) {
    const program = obtain('smoketest', TOOLS)
    const args = ['--remote', server, '--platform', 'OSFamily=linux', '--timeout-secs', '60']
    const output = await runCommand({ program, args }).catch((error: Error) => {
      // It is about execution: a server that only caches cannot pass it.
      if (/(execute error|stream recv).*Unimplemented/.test(error.message))
        throw new Skip('the server does not execute')
      throw error
    })
    assert.match(output, /smoke test succeeded/)
    return 'an action stored, run and found in the cache'
  },
}

export const GO_TOOLS: readonly Client[] = [remotetool, casload, smoketest]
